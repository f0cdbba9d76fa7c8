//! The frame around a message: a postcard value, its CRC-32 (little-endian)
//! behind it, both in COBS, between two zero bytes.
//!
//! No byte of a frame's inside is zero, so a reader that starts anywhere finds
//! the next frame at the next zero byte.

use heapless::Vec;
use serde::{Serialize, de::DeserializeOwned};

use crate::numeric::checksum::CRC;

/// Bytes of the longest frame: a piece of a bundle of 256 bytes, and what is around it.
pub const MAX_FRAME: usize = 288;

const CHECKSUM: usize = size_of::<u32>();

/// A frame with both of its zero bytes.
pub type Frame = Vec<u8, MAX_FRAME>;

/// The value between two zero bytes. `None` if that is longer than
/// [`MAX_FRAME`].
///
/// ```
/// use hambo_core::link::frame::{decode, encode};
/// let mut frame = encode(&(7_u8, 0.5_f32)).ok_or("too long")?;
/// let [0, inside @ .., 0] = frame.as_mut_slice() else {
///     return Err("no delimiters");
/// };
/// assert!(!inside.contains(&0));
/// assert_eq!(decode(inside), Some((7_u8, 0.5_f32)));
/// # Ok::<(), &str>(())
/// ```
pub fn encode(value: &impl Serialize) -> Option<Frame> {
    let mut payload = [0; MAX_FRAME];
    let length = postcard::to_slice(value, &mut payload).ok()?.len();
    let (value, rest) = payload.split_at_mut_checked(length)?;
    *rest.first_chunk_mut::<CHECKSUM>()? = CRC.checksum(value).to_le_bytes();

    let mut frame = Vec::from_array([0; MAX_FRAME]);
    let payload = payload.get(..length + CHECKSUM)?;
    let encoded = cobs::try_encode(payload, frame.get_mut(1..MAX_FRAME - 1)?).ok()?;
    frame.truncate(encoded + 2);
    Some(frame)
}

/// Reads what lies between two zero bytes, and decodes it in place. `None` if
/// it is not a whole value as it was sent.
pub fn decode<T: DeserializeOwned>(frame: &mut [u8]) -> Option<T> {
    let length = decode_cobs(frame)?;
    let (value, checksum) = frame.get(..length)?.split_last_chunk::<CHECKSUM>()?;
    let intact = CRC.checksum(value) == u32::from_le_bytes(*checksum);
    let (message, rest) = postcard::take_from_bytes(value).ok()?;
    (intact && rest.is_empty()).then_some(message)
}

/// COBS in place: the length of what was encoded. Written here because that of the
/// `cobs` crate can panic, and no firmware with a reachable panic links.
fn decode_cobs(frame: &mut [u8]) -> Option<usize> {
    let (mut from, mut to) = (0_usize, 0_usize);
    while let Some(code) = frame.get(from).copied() {
        from = from.checked_add(1)?;
        for _ in 1..code {
            let byte = *frame.get(from)?;
            *frame.get_mut(to)? = byte;
            (from, to) = (from.checked_add(1)?, to.checked_add(1)?);
        }
        match code {
            0 => return None,
            u8::MAX => {}
            _ if from < frame.len() => {
                *frame.get_mut(to)? = 0;
                to = to.checked_add(1)?;
            }
            _ => {}
        }
    }
    Some(to)
}

/// Collects bytes up to the zero byte that ends a frame.
#[derive(Clone, Debug, Default)]
pub struct FrameReader {
    inside: Vec<u8, MAX_FRAME>,
    /// Whether bytes of this frame were left out, since it is too long.
    is_cut: bool,
}

impl FrameReader {
    /// Takes in a byte; the value if the byte ends an intact frame of one.
    /// What is damaged, cut or too long is left out.
    pub fn push<T: DeserializeOwned>(&mut self, byte: u8) -> Option<T> {
        if byte != 0 {
            self.is_cut |= self.inside.push(byte).is_err();
            return None;
        }
        let whole = !self.inside.is_empty() && !self.is_cut;
        let value = whole.then(|| decode(&mut self.inside)).flatten();
        self.inside.clear();
        self.is_cut = false;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_and_long_frames_are_left_out_and_the_next_one_is_read() {
        let good = encode(&0x0102_0304_u32).unwrap();
        let mut damaged = good.clone();
        damaged[2] ^= 1;
        let long = [1; 2 * MAX_FRAME];
        let mut reader = FrameReader::default();
        let mut found = std::vec::Vec::new();
        let bytes = damaged.iter().chain(&good).chain(&long).chain(&good);
        for byte in bytes.chain(&good[1..]) {
            found.extend(reader.push::<u32>(*byte));
        }
        assert_eq!(found, [0x0102_0304; 3]);
    }

    #[test]
    fn decoding_is_that_of_the_cobs_crate() {
        for length in 0..600_usize {
            for kind in 0..4_usize {
                let byte = |at: usize| match kind {
                    0 => 0,
                    1 => 7,
                    2 => (at % 3) as u8,
                    _ => (at * at % 251) as u8,
                };
                let plain: std::vec::Vec<u8> = (0..length).map(byte).collect();
                let mut encoded = vec![0; cobs::max_encoding_length(length)];
                let size = cobs::try_encode(&plain, &mut encoded).unwrap();
                encoded.truncate(size);
                let decoded = decode_cobs(&mut encoded).unwrap();
                assert_eq!(encoded[..decoded], plain, "{length} {kind}");
            }
        }
        // A code that points behind the end, and a zero inside.
        assert_eq!(decode_cobs(&mut [3, 1]), None);
        assert_eq!(decode_cobs(&mut [1, 0, 1]), None);
    }

    #[test]
    fn what_is_longer_than_a_frame_has_none() {
        assert!(encode(&[0x55_u8; MAX_FRAME - 12].as_slice()).is_some());
        assert!(encode(&[0x55_u8; MAX_FRAME - 6].as_slice()).is_none());
    }
}
