//! Any bytes as an image. Nothing may panic, and only an intact image whose
//! bound reaches its threshold may deploy.
//!
//! A checksum and a hash stand before everything else in a part, and a fuzzer
//! guesses neither. So each input is tried twice: as it is, and with the
//! headers of its parts written anew, as somebody would who wants to be heard.
#![no_main]

use hambo_core::Floor;
use hambo_core::check::Check;
use hambo_core::gate::Verdict;
use hambo_core::image::container::{ALIGNMENT, HEADER, header};
use hambo_core::image::{Bundle, Image, Part, Role, Signed};
use libfuzzer_sys::fuzz_target;

/// A check that needs more rows is not run: it would be slow, and no different.
const MOST_ROWS: usize = 4096;
/// Sweeps of an accepted image's check.
const SWEEPS: u32 = 2;
/// Those of every eighth: most small checks end within.
const MANY_SWEEPS: u32 = 32;
const LANES: usize = 8;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    read(&with_new_headers(bytes));
});

/// Parses, and checks what was accepted.
fn read(bytes: &[u8]) {
    let mut blocks = vec![0_u128; bytes.len().div_ceil(ALIGNMENT)];
    let aligned: &mut [u8] = bytemuck::cast_slice_mut(&mut blocks);
    let aligned = &mut aligned[..bytes.len()];
    aligned.copy_from_slice(bytes);
    // What a device reads first: neither may panic.
    let _ = Bundle::parse_prefix(aligned).map(|bundle| bundle.counter());
    let _ = Floor::parse_prefix(aligned).map(|floor| floor.period());
    for role in [Role::Controllers, Role::Floor] {
        if let Ok(signed) = Signed::parse_prefix(aligned, role) {
            assert!(!signed.bytes.is_empty() && signed.bytes.len() < aligned.len());
        }
    }
    let whole = Image::parse(aligned).is_ok();
    let Ok(image) = Image::parse_prefix(aligned) else {
        assert!(!whole, "what fills the bytes is also their start");
        return;
    };
    let Ok(rows) = Check::<LANES>::rows_needed(&image) else {
        return;
    };
    if rows > MOST_ROWS {
        return;
    }
    let mut rows = vec![[0.0; LANES]; rows];
    let Ok(mut check) = Check::new(&image, &mut rows) else {
        return;
    };
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    let _ = check.advance(if sum % 8 == 0 { MANY_SWEEPS } else { SWEEPS });
    let outcome = check.stop();
    if outcome.verdict == Verdict::Deploy {
        let reached = image
            .task()
            .threshold
            .is_some_and(|least| outcome.bound >= least);
        assert!(reached && outcome.bound.is_finite(), "{outcome:?}");
    }
}

/// The same bytes, taken as parts in their order, each with the lengths that
/// its header states if they are possible, and a checksum and hash that agree.
fn with_new_headers(bytes: &[u8]) -> Vec<u8> {
    let kinds = [Part::Model, Part::Task, Part::Policy].into_iter();
    let mut kinds = kinds.chain(std::iter::repeat(Part::Adversary));
    let mut repaired = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((old, after)) = rest.split_first_chunk::<HEADER>() {
        let word = |at: usize| u32::from_le_bytes([old[at], old[at + 1], old[at + 2], old[at + 3]]);
        let most = after.len() - after.len() % ALIGNMENT;
        let length = (word(8) as usize).next_multiple_of(ALIGNMENT).min(most);
        let (payload, after) = after.split_at(length);
        let manifest = (word(12) as usize).min(length);
        let part = kinds.next().unwrap_or(Part::Adversary);
        repaired.extend(header(part, manifest, payload).unwrap_or(*old));
        repaired.extend(payload);
        rest = after;
    }
    repaired.extend(rest);
    repaired
}
