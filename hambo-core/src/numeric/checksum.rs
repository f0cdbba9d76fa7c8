//! A CRC-32 over what lies in memory: one flipped bit of it always changes the sum.

use core::ptr;

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};
use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// The checksum of parts, and of whatever else must be compared in one number.
pub(crate) const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// A sum of what lies in memory, value by value.
pub(crate) struct Checksum {
    digest: Digest<'static, u32, Table<1>>,
    /// Whether a value had no bytes.
    failed: bool,
}

/// Where a value's bytes go. Out of line: there are many values, and each has code of its own.
struct Sink<'s>(&'s mut Checksum);

impl Flavor for Sink<'_> {
    type Output = ();

    #[inline(never)]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.bytes(bytes);
        Ok(())
    }

    #[inline(never)]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.bytes(&[byte]);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

impl Checksum {
    pub fn new() -> Self {
        Self {
            digest: CRC.digest(),
            failed: false,
        }
    }

    #[inline(never)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
    }

    /// Adds numbers, bit by bit.
    #[inline(never)]
    pub fn numbers(&mut self, numbers: &[f32]) {
        for number in numbers {
            self.bytes(&number.to_bits().to_le_bytes());
        }
    }

    /// Adds a value with its variants.
    pub fn value(&mut self, value: &impl Serialize) {
        let added = postcard::serialize_with_flavor(value, Sink(self));
        self.failed |= added.is_err();
    }

    /// Adds where something lies and how long it is, not what it holds. Nothing lies nowhere.
    pub fn place<T: ?Sized>(&mut self, place: &T) {
        self.place_at(ptr::from_ref(place).addr(), size_of_val(place));
    }

    #[inline(never)]
    fn place_at(&mut self, address: usize, size: usize) {
        let address = if size == 0 { 0 } else { address };
        self.bytes(&address.to_le_bytes());
        self.bytes(&size.to_le_bytes());
    }

    /// The sum of all. `None` if a value had no bytes.
    pub fn finish(self) -> Option<u32> {
        (!self.failed).then(|| self.digest.finalize())
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
            sum.finish().unwrap()
        };
        let empty = sum(&|_| ());
        let others = [
            sum(&|sum| sum.bytes(&[1])),
            sum(&|sum| sum.numbers(&numbers)),
            sum(&|sum| sum.numbers(&[1.0, -2.0])),
            sum(&|sum| sum.value(&Some(3_u8))),
            sum(&|sum| sum.value(&None::<u8>)),
            sum(&|sum| sum.place::<[f32]>(&[])),
            sum(&|sum| sum.place(&numbers[..])),
            sum(&|sum| sum.place(&numbers[..1])),
            sum(&|sum| sum.place(&numbers[1..])),
        ];
        for (at, own) in others.iter().enumerate() {
            assert_ne!(*own, empty, "{at}");
            assert!(!others[..at].contains(own), "{at}");
        }
        // No empty slice lies elsewhere than another.
        assert_eq!(
            sum(&|sum| sum.place(&numbers[..0])),
            sum(&|sum| sum.place(&numbers[2..]))
        );
        // A value that has no bytes spoils the sum.
        struct Nothing;
        impl Serialize for Nothing {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(serde::ser::Error::custom("none"))
            }
        }
        let mut spoilt = Checksum::new();
        spoilt.value(&Nothing);
        spoilt.value(&1);
        assert_eq!(spoilt.finish(), None);
    }
}
