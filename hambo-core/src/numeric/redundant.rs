//! A number that is kept with a redundant copy, which is complemented.
//!
//! A flipped bit of memory, or an instruction that did not run, changes one copy and
//! not the other. What rests on such numbers is evaluated once from each copy.

use core::hint::black_box;
use core::ops::Not;

/// Which copy is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The number as it is.
    Plain,
    /// Its complement.
    Complement,
}

/// An integer kept with a redundant copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Redundant<T> {
    plain: T,
    complement: T,
}

impl<T: Copy + Eq + Not<Output = T>> Redundant<T> {
    /// Two findings of the same number, each in its copy.
    pub fn of(plain: T, other: T) -> Self {
        Self {
            plain,
            complement: !other,
        }
    }

    /// The number as one of the copies has it.
    pub fn read(&self, side: Side) -> T {
        match side {
            Side::Plain => black_box(self.plain),
            Side::Complement => !black_box(self.complement),
        }
    }

    /// Whether both copies have the same number.
    pub fn agrees(&self) -> bool {
        self.read(Side::Plain) == self.read(Side::Complement)
    }

    /// Changes each copy by itself: none is made from the other.
    pub fn update(&mut self, change: impl Fn(T) -> T) {
        self.plain = change(black_box(self.plain));
        self.complement = !change(!black_box(self.complement));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_of_either_copy_is_seen() {
        let mut number = Redundant::of(7_u32, 7);
        number.update(|x| x + 1);
        assert!(number.agrees());
        assert_eq!(
            (number.read(Side::Plain), number.read(Side::Complement)),
            (8, 8)
        );
        for bit in 0..32 {
            let mut flipped = number;
            flipped.plain ^= 1 << bit;
            assert!(!flipped.agrees());
            let mut flipped = number;
            flipped.complement ^= 1 << bit;
            assert!(!flipped.agrees());
            // And stays seen.
            flipped.update(|x| x.wrapping_add(5));
            assert!(!flipped.agrees());
        }
        assert!(!Redundant::of(1_u32, 2).agrees());
    }
}
