//! The verifier's Ed25519 (`salty`) and the host's (`ed25519-dalek`) come to the same verdict on
//! what may stand in a file, signed by whomever.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::image::container::{HEADER, header};
use hambo_core::image::{Part, Role, Signed};
use hambo_task::image::AlignedBytes;
use hambo_task::signing::{PublicKey, SecretKey, sign, verify};
use hambo_tests::fixture::Draw;

const FLOOR: &[u8] = include_bytes!("../../hambo-core/examples/point.floor");

/// As `hambo-firmware/verifier` does it.
fn device(bytes: &AlignedBytes, key: &PublicKey) -> bool {
    let Ok(signed) = Signed::parse(bytes.as_bytes(), Role::Floor) else {
        return false;
    };
    let public = salty::PublicKey::try_from(key.as_bytes());
    signed.manifest.key == *key.as_bytes()
        && public.is_ok_and(|public| {
            let signature = salty::Signature::from(&signed.signature());
            public.verify(&signed.message(), &signature).is_ok()
        })
}

/// The floor under a signature of these bytes: key, R and s.
fn with(floor: &[u8], payload: &[u8]) -> AlignedBytes {
    let header = header(Part::Signature, payload.len(), payload).unwrap();
    AlignedBytes::new(&[floor, &header, payload].concat())
}

/// The order of the base point.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// s and the order, without what leaves 32 bytes.
fn added(s: &[u8]) -> [u8; 32] {
    let mut sum = [0; 32];
    let mut carry = 0;
    for (place, byte) in sum.iter_mut().enumerate() {
        let both = u16::from(s[place]) + u16::from(ORDER[place]) + carry;
        (*byte, carry) = (both as u8, both >> 8);
    }
    sum
}

/// y of the points of small order, and of some that are no canonical numbers.
const ODD_POINTS: [[u8; 2]; 6] = [
    [0, 0],
    [1, 0],
    [0xec, 0x7f],
    [0xed, 0x7f],
    [0xee, 0x7f],
    [0xff, 0xff],
];

fn odd_point([low, high]: [u8; 2]) -> [u8; 32] {
    let mut bytes = [if high == 0 { 0 } else { 0xff }; 32];
    (bytes[0], bytes[31]) = (low, high);
    bytes
}

#[test]
fn host_and_device_take_the_same_signatures() {
    let mut draw = Draw::new(40);
    let mut random = |count: usize| -> Vec<u8> {
        let mut byte = || (256.0 * draw.between(0.0, 1.0)) as u8;
        (0..count).map(|_| byte()).collect()
    };
    let (mut taken, mut refused) = (0, 0);
    for round in 0..60_u32 {
        let seed: [u8; 32] = random(32).try_into().unwrap();
        let secret = SecretKey::of_seed(Role::Floor, seed);
        let key = secret.public();
        let good = sign(&AlignedBytes::new(FLOOR), &secret).unwrap();
        let payload = &good.as_bytes()[FLOOR.len() + HEADER..];
        let mut cases = vec![payload.to_vec()];
        let mut changed = |change: &dyn Fn(&mut [u8])| {
            let mut other = payload.to_vec();
            change(&mut other);
            cases.push(other);
        };
        // A second spelling of s, which salty alone would take.
        changed(&|bytes| {
            let s = added(&bytes[64..]);
            bytes[64..].copy_from_slice(&s);
        });
        changed(&|bytes| bytes[64..].fill(0));
        changed(&|bytes| bytes[64..].copy_from_slice(&ORDER));
        for point in ODD_POINTS {
            changed(&|bytes| bytes[32..64].copy_from_slice(&odd_point(point)));
            changed(&|bytes| {
                bytes[32..64].copy_from_slice(&odd_point(point));
                bytes[64..].fill(0);
            });
        }
        let noise = random(64);
        changed(&|bytes| bytes[32..].copy_from_slice(&noise));
        changed(&|bytes| bytes[32..64].copy_from_slice(&noise[..32]));
        for bit in random(8) {
            changed(&|bytes| bytes[32 + usize::from(bit) % 64] ^= 1 << (bit % 7));
        }
        for (number, case) in cases.iter().enumerate() {
            let file = with(FLOOR, case);
            let host = verify(&file, &key).is_ok();
            assert_eq!(device(&file, &key), host, "round {round}, case {number}");
            assert_eq!(host, number == 0, "round {round}, case {number}");
            (taken, refused) = (taken + u32::from(host), refused + u32::from(!host));
        }
        // Other bytes under the same signature.
        let mut floor = FLOOR.to_vec();
        let place = HEADER + random(1)[0] as usize % (FLOOR.len() - HEADER);
        floor[place] ^= 1;
        let file = with(&floor, payload);
        assert!(!device(&file, &key) && verify(&file, &key).is_err());
    }
    assert_eq!(taken, 60);
    assert!(refused > 1000, "{refused}");
}

/// What salty does not look at, and the core does.
#[test]
fn salty_alone_would_take_a_second_spelling() {
    let secret = SecretKey::of_seed(Role::Floor, [1; 32]);
    let good = sign(&AlignedBytes::new(FLOOR), &secret).unwrap();
    let signed = Signed::parse(good.as_bytes(), Role::Floor).unwrap();
    let mut both = signed.signature();
    let s = added(&both[32..]);
    both[32..].copy_from_slice(&s);
    let key = salty::PublicKey::try_from(secret.public().as_bytes()).unwrap();
    let alone = key.verify(&signed.message(), &salty::Signature::from(&both));
    assert!(alone.is_ok());
}
