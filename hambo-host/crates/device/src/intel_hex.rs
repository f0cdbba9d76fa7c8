//! Bytes at an address as an Intel HEX file, which the emulator's loader takes for machines without
//! a size of RAM.

use std::fmt::Write;

/// The file's text.
#[must_use]
pub fn intel_hex(address: u32, bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut page = None;
    for (place, chunk) in (address..).step_by(16).zip(bytes.chunks(16)) {
        if page != Some(place >> 16) {
            page = Some(place >> 16);
            let upper = (place >> 16) as u16;
            record(&mut text, 0, 4, &upper.to_be_bytes());
        }
        record(&mut text, place as u16, 0, chunk);
    }
    record(&mut text, 0, 1, &[]);
    text
}

fn record(text: &mut String, place: u16, kind: u8, data: &[u8]) {
    let [high, low] = place.to_be_bytes();
    let mut bytes = vec![data.len() as u8, high, low, kind];
    bytes.extend(data);
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.push(sum.wrapping_neg());
    text.push(':');
    for byte in bytes {
        let _ = write!(text, "{byte:02X}");
    }
    text.push('\n');
}
