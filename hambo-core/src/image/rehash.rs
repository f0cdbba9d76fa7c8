//! The hash of a bundle's parts once more, a few bytes at a time.

use sha2::{Digest, Sha256};

use super::container::{HEADER, name, payload_hash, payload_length};
use super::part_reader::chained;
use crate::numeric::checksum::Checksum;

/// Parts that are hashed piece by piece.
#[derive(Clone, Debug)]
pub(crate) struct Rehash<'a> {
    /// What is not hashed yet.
    rest: &'a [u8],
    /// How much of it belongs to the part under way.
    left: usize,
    part: Sha256,
    /// The name of that part, and what its payload must come to.
    listed: [[u8; 32]; 2],
    /// The hash of the parts before it.
    hash: [u8; 32],
}

/// What a piece came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// There is more.
    More,
    /// That was the last: the hash of all parts.
    Last([u8; 32]),
    /// No part begins here, it is longer than what is left, or its payload is not its header's.
    Broken,
}

impl<'a> Rehash<'a> {
    /// Parts of which nothing is hashed yet.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            left: 0,
            part: Sha256::new(),
            listed: [[0; 32]; 2],
            hash: [0; 32],
        }
    }

    /// Goes on by `count` bytes, headers included, or as many as are left.
    pub fn go_on(&mut self, count: usize) -> Piece {
        let mut count = count;
        while count > 0 && !self.rest.is_empty() {
            if self.left == 0 {
                let Some((header, rest)) = self.rest.split_first_chunk::<HEADER>() else {
                    return Piece::Broken;
                };
                match payload_length(header) {
                    Some(length) if length > 0 && length <= rest.len() => self.left = length,
                    _ => return Piece::Broken,
                }
                self.listed = [name(header), payload_hash(header)];
                self.rest = rest;
                count = count.saturating_sub(HEADER);
            }
            let taken = count.min(self.left);
            let Some((bytes, rest)) = self.rest.split_at_checked(taken) else {
                return Piece::Broken;
            };
            self.part.update(bytes);
            (self.rest, self.left) = (rest, self.left.saturating_sub(taken));
            count = count.saturating_sub(taken);
            if self.left == 0 {
                let found: [u8; 32] = self.part.finalize_reset().into();
                let [name, payload] = &self.listed;
                if found != *payload {
                    return Piece::Broken;
                }
                self.hash = chained(&self.hash, name);
            }
        }
        if self.rest.is_empty() {
            Piece::Last(self.hash)
        } else {
            Piece::More
        }
    }

    /// Adds where it is. A wrong bit of the hash under way is found at its end.
    pub fn add_to(&self, sum: &mut Checksum) {
        let Self {
            rest,
            left,
            listed,
            hash,
            ..
        } = self;
        sum.place(*rest);
        sum.value(left);
        sum.bytes(listed.as_flattened());
        sum.bytes(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Bundle;

    /// Aligned as in flash.
    fn bundle() -> Vec<u128> {
        let bytes = include_bytes!("../../examples/point_bundle.hmb");
        let mut blocks = vec![0_u128; bytes.len().div_ceil(16)];
        bytemuck::cast_slice_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        blocks
    }

    fn pieces(bytes: &[u8], each: usize) -> (usize, Piece) {
        let mut rehash = Rehash::new(bytes);
        for number in 1.. {
            match rehash.go_on(each) {
                Piece::More => {}
                end => return (number, end),
            }
        }
        unreachable!("it has an end")
    }

    #[test]
    fn pieces_of_any_length_come_to_the_bundles_hash() {
        let blocks = bundle();
        let bytes: &[u8] = bytemuck::cast_slice(&blocks);
        let bundle = Bundle::parse(bytes).unwrap();
        assert_eq!(bundle.bytes(), bytes);
        for each in [1, 7, 63, 64, 65, 100, bytes.len() - 1, bytes.len()] {
            let (count, end) = pieces(bytes, each);
            assert_eq!(end, Piece::Last(*bundle.image().hash()), "{each}");
            assert!(count <= bytes.len().div_ceil(each), "{each}: {count}");
        }
    }

    #[test]
    fn every_bit_counts() {
        let mut blocks = bundle();
        let own = pieces(bytemuck::cast_slice(&blocks), 64).1;
        let length = 16 * blocks.len();
        for place in (0..length).step_by(if cfg!(miri) { 97 } else { 1 }) {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut blocks);
            bytes[place] ^= 1 << (place % 8);
            let found = pieces(bytes, 64).1;
            bytes[place] ^= 1 << (place % 8);
            assert_ne!(found, own, "{place}");
        }
    }
}
