//! The bundle's bytes are hashed again while its controller drives, a piece in every period.
//!
//! Weights are read from flash where they lie: what changes there drives. A round of pieces comes
//! to the hash that the permit names, or the drive ends; and then the next round begins.

use core::hint::black_box;

use crate::gate::{ROUND, Reread};
use crate::image::rehash::{Piece, Rehash};
use crate::numeric::checksum::Checksum;

/// The rounds of a drive.
#[derive(Debug)]
pub(super) struct Rounds<'d> {
    bytes: &'d [u8],
    under_way: Rehash<'d>,
    /// Bytes of a piece: a round has [`ROUND`] pieces at most.
    piece: usize,
    /// Pieces so far.
    pieces: u32,
    /// Rounds that have ended.
    rounds: u32,
    /// What the last one came to.
    found: [u8; 32],
}

impl<'d> Rounds<'d> {
    /// The first round of bytes that had a hash when they were read.
    pub fn new(bytes: &'d [u8], hash: [u8; 32]) -> Self {
        Self {
            bytes,
            under_way: Rehash::new(bytes),
            piece: bytes.len().div_ceil(ROUND as usize).max(1),
            pieces: 0,
            rounds: 0,
            found: hash,
        }
    }

    /// One piece. False if a round has come to something else than `hash`.
    #[inline(never)]
    pub fn go_on(&mut self, hash: &[u8; 32]) -> bool {
        self.pieces = self.pieces.wrapping_add(1);
        match self.under_way.go_on(self.piece) {
            Piece::More => return true,
            Piece::Last(found) => self.found = found,
            // Nothing that was ever permitted.
            Piece::Broken => self.found = [0xff; 32],
        }
        self.rounds = self.rounds.wrapping_add(1);
        // Read again, whatever the compiler knows of bytes that nobody writes.
        self.under_way = Rehash::new(black_box(self.bytes));
        self.found == *hash
    }

    /// What is said to the line.
    pub fn progress(&self) -> Reread<'_> {
        Reread {
            pieces: self.pieces,
            rounds: self.rounds,
            found: &self.found,
        }
    }

    /// Adds all of it.
    pub fn add_to(&self, sum: &mut Checksum) {
        let Self {
            bytes,
            under_way,
            piece,
            pieces,
            rounds,
            found,
        } = self;
        sum.place(*bytes);
        under_way.add_to(sum);
        sum.value(&(piece, pieces, rounds));
        sum.bytes(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of the example, aligned as in flash.
    fn bundle() -> Vec<u128> {
        let bytes = include_bytes!("../../examples/point_bundle.hmb");
        let mut blocks = vec![0_u128; bytes.len().div_ceil(16)];
        bytemuck::cast_slice_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        blocks
    }

    #[test]
    fn a_round_ends_in_time_with_the_permitted_hash_and_the_next_begins() {
        let blocks = bundle();
        let bytes: &[u8] = bytemuck::cast_slice(&blocks);
        let hash = *crate::Bundle::parse(bytes).unwrap().image().hash();
        let mut rounds = Rounds::new(bytes, hash);
        assert_eq!(rounds.progress().rounds, 0);
        for round in 1..4 {
            let before = rounds.pieces;
            while rounds.rounds < round {
                assert!(rounds.go_on(&hash));
            }
            let taken = rounds.pieces - before;
            assert!(taken <= ROUND && taken > ROUND / 2, "{taken}");
            assert_eq!(rounds.progress().found, &hash);
        }
        // Whose hash is another one.
        let other = [7; 32];
        let mut rounds = Rounds::new(bytes, other);
        let pieces = (0..ROUND).take_while(|_| rounds.go_on(&other)).count();
        assert!(pieces < ROUND as usize);
        assert_eq!(rounds.progress().found, &hash);
        // No part at all.
        let mut rounds = Rounds::new(&bytes[1..], hash);
        assert!((0..ROUND).any(|_| !rounds.go_on(&hash)));
    }
}
