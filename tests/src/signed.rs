//! Signed files as somebody without the keys would change them.

use hambo_core::image::Part;
use hambo_core::image::container::{HEADER, header};

/// Bytes of a signature part: its header, a key and two numbers.
const SIGNATURE: usize = HEADER + 96;

/// The parts of a file, one after the other.
#[must_use]
pub fn parts(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    while let Some(length) = bytes.get(8..12).and_then(|length| length.first_chunk()) {
        let length = HEADER + u32::from_le_bytes(*length) as usize;
        let (part, rest) = bytes.split_at(length.min(bytes.len()));
        parts.push(part.to_vec());
        bytes = rest;
    }
    parts
}

/// A signed file whose signature stands under the name of another key.
#[must_use]
pub fn claiming(whole: &[u8], key: &[u8; 32]) -> Vec<u8> {
    let (before, part) = whole.split_at(whole.len().saturating_sub(SIGNATURE));
    let mut payload = part.get(HEADER..).unwrap_or_default().to_vec();
    for (to, from) in payload.iter_mut().zip(key) {
        *to = *from;
    }
    let header = header(Part::Signature, payload.len(), &payload).unwrap_or([0; HEADER]);
    [before, &header, &payload].concat()
}
