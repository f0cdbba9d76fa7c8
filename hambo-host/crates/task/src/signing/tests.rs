//! What is refused: mutants, stumps, mixtures, other keys.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::image::container::{HEADER, header};
use hambo_core::image::{Bundle, Part, Problem, Role};

use super::{PublicKey, SecretKey, SignatureError, sign, verify};
use crate::image::{AlignedBytes, BundleAbout, encode_bundle};

const BUNDLE: &[u8] = include_bytes!("../../../../../hambo-core/examples/point_bundle.hmb");
const FLOOR: &[u8] = include_bytes!("../../../../../hambo-core/examples/point.floor");

fn key(role: Role) -> SecretKey {
    SecretKey::of_seed(role, [role as u8 + 1; 32])
}

/// Bundle and floor, signed, with the keys that verify them.
fn signed() -> [(AlignedBytes, PublicKey); 2] {
    [(BUNDLE, Role::Controllers), (FLOOR, Role::Floor)].map(|(bytes, role)| {
        let key = key(role);
        let signed = sign(&AlignedBytes::new(bytes), &key).unwrap();
        (signed, key.public())
    })
}

fn is_verified(bytes: &[u8], key: &PublicKey) -> bool {
    verify(&AlignedBytes::new(bytes), key).is_ok()
}

/// The parts of a file, one after the other.
fn parts(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    while !bytes.is_empty() {
        let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
        let (part, rest) = bytes.split_at(HEADER + length);
        parts.push(part.to_vec());
        bytes = rest;
    }
    parts
}

#[test]
fn a_signature_leaves_what_it_signs_as_it_was() {
    for ((signed, key), plain) in signed().iter().zip([BUNDLE, FLOOR]) {
        verify(signed, key).unwrap();
        assert_eq!(signed.as_bytes()[..plain.len()], *plain);
        assert_eq!(signed.as_bytes().len(), plain.len() + HEADER + 96);
        let refused = verify(&AlignedBytes::new(plain), key).unwrap_err();
        let SignatureError::Damaged(error) = refused else {
            panic!("{refused}");
        };
        assert_eq!(error.problem, Problem::Unsigned);
    }
    let [(bundle, _), _] = signed();
    // A bundle is read as before, with its signature and without.
    let with = Bundle::parse(bundle.as_bytes()).unwrap();
    let plain = AlignedBytes::new(BUNDLE);
    let without = Bundle::parse(plain.as_bytes()).unwrap();
    assert_eq!(with.image().hash(), without.image().hash());
    assert_eq!(with.bytes(), BUNDLE);
    // And takes no second signature.
    let again = sign(&bundle, &key(Role::Controllers));
    assert!(matches!(again, Err(SignatureError::Signed)), "{again:?}");
    let longer = AlignedBytes::new(&[bundle.as_bytes(), &[0; 16]].concat());
    assert!(Bundle::parse(longer.as_bytes()).is_err());
}

#[test]
fn a_thousand_mutants_are_refused() {
    for (signed, key) in &signed() {
        let mut bytes = signed.as_bytes().to_vec();
        let bits = 8 * bytes.len();
        let mut state = 40_u64;
        for _ in 0..1000 {
            // SplitMix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            let bit = (mixed ^ mixed >> 31) as usize % bits;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_verified(&bytes, key), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        // All of the signature's own bits.
        for bit in bits - 8 * (HEADER + 96)..bits {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_verified(&bytes, key), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(is_verified(&bytes, key));
    }
}

#[test]
fn every_stump_is_refused_and_so_is_what_is_longer() {
    for (signed, key) in &signed() {
        let bytes = signed.as_bytes();
        for length in 0..bytes.len() {
            assert!(!is_verified(&bytes[..length], key), "{length}");
        }
        for more in [1, 16, 160] {
            assert!(
                !is_verified(&[bytes, &vec![0; more]].concat(), key),
                "{more}"
            );
        }
        // Its signature twice.
        assert!(!is_verified(
            &[bytes, &bytes[bytes.len() - 160..]].concat(),
            key
        ));
    }
}

/// The bundle with the next counter, and another number in every part that has any.
fn other_bundle() -> Vec<u8> {
    let mut changed = Vec::new();
    for part in &parts(BUNDLE)[1..] {
        let mut payload = part[HEADER..].to_vec();
        let manifest = u32::from_le_bytes(part[12..16].try_into().unwrap()) as usize;
        let arena = manifest.next_multiple_of(16);
        let mut numbers = payload[arena..].chunks_exact_mut(4);
        // A number that stays one.
        if let Some(number) = numbers.find(|number| number[3] & 0x7f > 0x30) {
            number[0] ^= 1;
        }
        let kinds = [Part::Model, Part::Task, Part::Policy, Part::Adversary];
        let kind = kinds
            .into_iter()
            .find(|kind| *kind as u8 == part[6])
            .unwrap();
        changed.extend(header(kind, manifest, &payload).unwrap());
        changed.append(&mut payload);
    }
    let plain = AlignedBytes::new(BUNDLE);
    let bundle = Bundle::parse(plain.as_bytes()).unwrap();
    let (image, fallback) = match bundle.fallback() {
        None => (changed, None),
        Some(_) => {
            let all = parts(&changed);
            let (last, image) = all.split_last().unwrap();
            (image.concat(), Some(last.clone()))
        }
    };
    let about = BundleAbout {
        board: bundle.board().into(),
        robot: bundle.robot().into(),
        counter: bundle.counter() + 1,
        period: bundle.period(),
        monitor: bundle.monitor(),
    };
    encode_bundle(&image, &about, fallback.as_deref())
        .unwrap()
        .as_bytes()
        .to_vec()
}

#[test]
fn parts_of_two_signed_bundles_do_not_mix() {
    let key = key(Role::Controllers);
    let [first, second] = [BUNDLE.to_vec(), other_bundle()].map(|bytes| {
        let signed = sign(&AlignedBytes::new(&bytes), &key).unwrap();
        assert!(is_verified(signed.as_bytes(), &key.public()));
        parts(signed.as_bytes())
    });
    assert_eq!(first.len(), second.len());
    let differ = first.iter().zip(&second).filter(|(a, b)| a != b).count();
    assert!(
        differ >= 4,
        "manifest, model, a controller and signature: {differ}"
    );
    let mut mixed = 0;
    for choice in 0..1_u32 << first.len() {
        let of = |place: usize| {
            let from = if choice >> place & 1 == 0 {
                &first
            } else {
                &second
            };
            from[place].clone()
        };
        let chosen: Vec<Vec<u8>> = (0..first.len()).map(of).collect();
        let own = chosen == first || chosen == second;
        let bytes = chosen.concat();
        assert_eq!(is_verified(&bytes, &key.public()), own, "{choice:b}");
        mixed += u32::from(!own);
    }
    assert!(mixed > 10, "{mixed}");
    // Nor in another order, nor one of them twice.
    for place in 0..first.len() - 1 {
        let mut moved = first.clone();
        moved.swap(place, place + 1);
        assert!(!is_verified(&moved.concat(), &key.public()), "{place}");
        let mut twice = first.clone();
        twice.insert(place, first[place].clone());
        assert!(!is_verified(&twice.concat(), &key.public()), "{place}");
    }
}

#[test]
fn the_counter_is_signed() {
    let key = key(Role::Controllers);
    let [old, new] = [BUNDLE.to_vec(), other_bundle()]
        .map(|bytes| parts(sign(&AlignedBytes::new(&bytes), &key).unwrap().as_bytes()));
    // An old bundle with a new manifest of its own parts and either signature.
    let plain = AlignedBytes::new(BUNDLE);
    let bundle = Bundle::parse(plain.as_bytes()).unwrap();
    let about = BundleAbout {
        board: bundle.board().into(),
        robot: bundle.robot().into(),
        counter: bundle.counter() + 1,
        period: bundle.period(),
        monitor: bundle.monitor(),
    };
    let fallback = bundle.fallback().map(|_| old[old.len() - 2].clone());
    let end = old.len() - 1 - usize::from(fallback.is_some());
    let lifted = encode_bundle(&old[1..end].concat(), &about, fallback.as_deref()).unwrap();
    for signature in [&old, &new].map(|parts| parts.last().unwrap()) {
        let bytes = [lifted.as_bytes(), signature].concat();
        let aligned = AlignedBytes::new(&bytes);
        assert_eq!(
            Bundle::parse(aligned.as_bytes()).unwrap().counter(),
            about.counter
        );
        let refused = verify(&aligned, &key.public()).unwrap_err();
        assert!(matches!(refused, SignatureError::Wrong), "{refused}");
    }
}

#[test]
fn a_key_is_for_one_thing() {
    let [(bundle, controllers), (floor, owner)] = signed();
    let refused = |error: Result<(), SignatureError>| error.unwrap_err().to_string();
    for error in [
        refused(verify(&floor, &controllers)),
        refused(verify(&bundle, &owner)),
        refused(sign(&AlignedBytes::new(FLOOR), &key(Role::Controllers)).map(|_| ())),
        refused(sign(&AlignedBytes::new(BUNDLE), &key(Role::Floor)).map(|_| ())),
    ] {
        assert!(
            error.contains("the key is one for") && error.contains("help: "),
            "{error}"
        );
    }
    // The same number under the other name signs other messages.
    let both = [Role::Controllers, Role::Floor].map(|role| SecretKey::of_seed(role, [9; 32]));
    let [as_controllers, as_floor] = &both;
    assert_eq!(
        as_controllers.public().as_bytes(),
        as_floor.public().as_bytes()
    );
    let of_bundle = sign(&AlignedBytes::new(BUNDLE), as_controllers).unwrap();
    let signature = &of_bundle.as_bytes()[BUNDLE.len()..];
    assert!(!is_verified(
        &[FLOOR, signature].concat(),
        &as_floor.public()
    ));
    // Another key of the same role, also one that the file claims.
    let other = SecretKey::of_seed(Role::Controllers, [8; 32]);
    let error = refused(verify(&bundle, &other.public()));
    assert!(error.contains("signed with another key"), "{error}");
    let whole = sign(&AlignedBytes::new(BUNDLE), &other).unwrap();
    let mut payload = whole.as_bytes()[BUNDLE.len() + HEADER..].to_vec();
    payload[..32].copy_from_slice(controllers.as_bytes());
    let header = header(Part::Signature, payload.len(), &payload).unwrap();
    let claimed = AlignedBytes::new(&[BUNDLE, &header, &payload].concat());
    let refused = verify(&claimed, &controllers).unwrap_err();
    assert!(matches!(refused, SignatureError::Wrong), "{refused}");
}
