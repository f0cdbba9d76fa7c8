//! Any bytes as a bundle with its signature. Nothing may panic; what is read as a whole file is read
//! from the start of flash as well, and a signature is one of exactly these bytes.
//!
//! No fuzzer guesses the hashes that a manifest lists. So each input is tried twice: as it is, and
//! with its manifest and the headers of its parts written anew, as somebody would who wants to be
//! heard.
#![no_main]

use hambo_core::Floor;
use hambo_core::image::container::{ALIGNMENT, HEADER, header};
use hambo_core::image::{Bundle, BundleManifest, Part, PartHashes, Role, Signed, message};
use hambo_core::link::handover::{Doubt, Handover, WORDS};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

/// The floor of a point.
static FLOOR: &[u8] = include_bytes!("../../hambo-core/examples/point.floor");

/// Rows of the monitor that counts the floor's transitions.
const ROWS: usize = 4096;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    if let Some(bytes) = with_new_manifest(bytes) {
        read(&bytes);
    }
    words(bytes);
});

fn aligned(bytes: &[u8]) -> Vec<u128> {
    let mut blocks = vec![0_u128; bytes.len().div_ceil(ALIGNMENT)];
    let all: &mut [u8] = bytemuck::cast_slice_mut(&mut blocks);
    all[..bytes.len()].copy_from_slice(bytes);
    blocks
}

fn read(bytes: &[u8]) {
    let blocks = aligned(bytes);
    let bytes = &bytemuck::cast_slice::<u128, u8>(&blocks)[..bytes.len()];
    let whole = Bundle::parse(bytes).is_ok();
    let signed = Signed::parse(bytes, Role::Controllers);
    let Ok(bundle) = Bundle::parse_prefix(bytes) else {
        assert!(!whole, "what fills the bytes is also their start");
        return;
    };
    let own = bundle.bytes();
    assert_eq!(own, &bytes[..own.len()]);
    let is_signed = own.len() < bytes.len();
    assert_eq!(whole, !is_signed || signed.is_ok());
    if let Ok(signed) = signed {
        assert_eq!(signed.bytes, own);
        assert_eq!(signed.message(), message(Role::Controllers, own));
        assert_ne!(signed.message(), message(Role::Floor, own));
    }
    // What a verifier verified is taken, and nothing else.
    let handover = Handover {
        bundle: Ok(Sha256::digest(own).into()),
        candidate: Err(Doubt::Unsigned),
        floor: Err(Doubt::Unsigned),
    };
    assert_eq!(handover.ensure(Role::Controllers, own), Ok(()));
    assert_eq!(
        handover.ensure(Role::Controllers, &own[1..]),
        Err(Doubt::Changed)
    );
    assert_eq!(handover.ensure(Role::Floor, own), Err(Doubt::Unsigned));
    assert_eq!(Handover::of_words(&handover.to_words()), Some(handover));
    let floor = aligned(FLOOR);
    let floor = &bytemuck::cast_slice::<u128, u8>(&floor)[..FLOOR.len()];
    let floor = Floor::parse_prefix(floor).unwrap_or_else(|error| panic!("{error:?}"));
    let mut rows = vec![[0.0; 1]; ROWS];
    // Judged again it is as it was.
    let first = floor.admit(&bundle, &mut rows).map(|_| ());
    let second = floor.admit(&bundle, &mut rows).map(|_| ());
    assert_eq!(first, second);
}

/// What a verifier left: none, or what is written as these very words.
fn words(bytes: &[u8]) {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    if let Some(handover) = Handover::of_words(&words) {
        assert_eq!(handover.to_words(), words);
    }
}

/// The same bytes, taken as parts in their order. The first one is a bundle's manifest, whose
/// hashes are those of the others; every header states the lengths that it states, if they are
/// possible, and a checksum and a hash that agree.
fn with_new_manifest(bytes: &[u8]) -> Option<Vec<u8>> {
    let (first, mut rest) = part(bytes)?;
    let mut manifest: BundleManifest = postcard::take_from_bytes(&first.manifest).ok()?.0;
    let mut parts = Vec::new();
    manifest.parts = PartHashes::new();
    while let Some((next, after)) = part(rest) {
        let header = header(next.kind, next.manifest.len(), &next.payload)?;
        if next.kind != Part::Signature {
            let _ = manifest.parts.push(Sha256::digest(&next.payload).into());
        }
        parts.extend(header);
        parts.extend(next.payload);
        rest = after;
    }
    let mut payload = postcard::to_stdvec(&manifest).ok()?;
    let length = payload.len();
    payload.resize(length.next_multiple_of(ALIGNMENT), 0);
    let mut bundle = header(Part::Bundle, length, &payload)?.to_vec();
    bundle.extend(payload);
    bundle.extend(parts);
    bundle.extend(rest);
    Some(bundle)
}

/// A part as its header states it.
struct Stated {
    kind: Part,
    manifest: Vec<u8>,
    payload: Vec<u8>,
}

fn part(bytes: &[u8]) -> Option<(Stated, &[u8])> {
    let (header, after) = bytes.split_first_chunk::<HEADER>()?;
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|place| header[at + place]));
    let most = after.len() - after.len() % ALIGNMENT;
    let length = (word(8) as usize).next_multiple_of(ALIGNMENT).min(most);
    let (payload, after) = after.split_at(length);
    let kinds = [
        Part::Model,
        Part::Task,
        Part::Policy,
        Part::Adversary,
        Part::Signature,
    ];
    let kind = kinds.into_iter().find(|kind| *kind as u8 == header[6]);
    let stated = Stated {
        kind: kind.unwrap_or(Part::Adversary),
        manifest: payload[..(word(12) as usize).min(length)].to_vec(),
        payload: payload.to_vec(),
    };
    Some((stated, after))
}
