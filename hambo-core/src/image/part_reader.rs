//! Takes parts off bytes, one after the other, and hashes what it took.

use heapless::Vec;
use sha2::{Digest, Sha256};

use super::container::Container;
use super::error::{ImageError, Part, Problem};

/// The most parts of a bundle behind its manifest: model, task, two policies, adversaries.
const MAX_PARTS: usize = 24;

/// The hashes of parts' payloads in their order.
pub type PartHashes = Vec<[u8; 32], MAX_PARTS>;

/// The parts that are left, and a hash of those that were taken.
pub(super) struct PartReader<'a> {
    rest: &'a [u8],
    hash: [u8; 32],
    /// The parts that may come, where a manifest lists them.
    listed: Option<PartHashes>,
    taken: usize,
}

impl<'a> PartReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            hash: [0; 32],
            listed: None,
            taken: 0,
        }
    }

    /// From now on only these parts, in this order.
    pub fn allow_only(&mut self, listed: PartHashes) {
        self.listed = Some(listed);
        self.taken = 0;
    }

    /// The next part, which must be of the given kind.
    pub fn take(&mut self, part: Part) -> Result<Container<'a>, ImageError> {
        let container = Container::take(&mut self.rest, part)?;
        if let Some(listed) = &self.listed
            && listed.get(self.taken) != Some(&container.payload_hash)
        {
            return Err(part.error(Problem::NotListed));
        }
        self.taken = self.taken.saturating_add(1);
        self.hash = chained(&self.hash, &container.hash);
        Ok(container)
    }

    /// The hash of all parts, if every listed one was taken, and the bytes after them.
    pub fn finish(self) -> Result<([u8; 32], &'a [u8]), ImageError> {
        match self.listed {
            Some(listed) if listed.len() != self.taken => {
                Err(Part::Bundle.error(Problem::NotListed))
            }
            _ => Ok((self.hash, self.rest)),
        }
    }
}

/// The hash of what was hashed before and of one part more.
pub(super) fn chained(before: &[u8; 32], part: &[u8; 32]) -> [u8; 32] {
    let mut both = Sha256::new();
    both.update(before);
    both.update(part);
    both.finalize().into()
}
