//! A CRC-32 over what lies in memory: one flipped bit of it always changes the sum.

use core::ptr;

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};
use serde::Serialize;

/// The checksum of parts, and of whatever else must be compared in one number.
pub(crate) const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// The longest value, in the bytes that postcard makes of it.
const LONGEST: usize = 96;

pub(crate) struct Checksum(Digest<'static, u32, Table<1>>);

impl Checksum {
    pub fn new() -> Self {
        Self(CRC.digest())
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds numbers, bit by bit.
    pub fn numbers(&mut self, numbers: &[f32]) {
        for number in numbers {
            self.bytes(&number.to_bits().to_le_bytes());
        }
    }

    /// Adds a value with its variants. `None` if it is too long.
    pub fn value(&mut self, value: &impl Serialize) -> Option<()> {
        let mut bytes = [0; LONGEST];
        let bytes = postcard::to_slice(value, &mut bytes).ok()?;
        self.bytes(bytes);
        Some(())
    }

    /// Adds where something lies and how long it is, not what it holds.
    pub fn place<T: ?Sized>(&mut self, place: &T) {
        let address = ptr::from_ref(place).addr();
        self.bytes(&address.to_le_bytes());
        self.bytes(&size_of_val(place).to_le_bytes());
    }

    /// The sum of all.
    pub fn finish(self) -> u32 {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_counts() {
        let numbers = [1.0_f32, 2.0];
        let sum = |add: &dyn Fn(&mut Checksum)| {
            let mut sum = Checksum::new();
            add(&mut sum);
            sum.finish()
        };
        let empty = sum(&|_| ());
        let others = [
            sum(&|sum| sum.bytes(&[1])),
            sum(&|sum| sum.numbers(&numbers)),
            sum(&|sum| sum.numbers(&[1.0, -2.0])),
            sum(&|sum| sum.value(&Some(3_u8)).unwrap()),
            sum(&|sum| sum.value(&None::<u8>).unwrap()),
            sum(&|sum| sum.place(&numbers[..])),
            sum(&|sum| sum.place(&numbers[..1])),
            sum(&|sum| sum.place(&numbers[1..])),
        ];
        for (at, own) in others.iter().enumerate() {
            assert_ne!(*own, empty, "{at}");
            assert!(!others[..at].contains(own), "{at}");
        }
        assert!(Checksum::new().value(&[u64::MAX; 10]).is_none());
    }
}
