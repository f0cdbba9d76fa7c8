//! What drives, by name.

use super::reread::Rounds;
use crate::image::Bundle;

/// Bundle and controller of a drive with a permit, by their hashes, and what was read from the
/// bundle.
#[derive(Debug)]
pub(super) struct Named<'d> {
    pub bundle: [u8; 32],
    pub policy: [u8; 32],
    pub read: &'d Bundle<'d>,
    /// Its checksum as the permit names it.
    pub checksum: u32,
    /// Its bytes once more.
    pub rounds: Rounds<'d>,
}

impl Named<'_> {
    /// Whether what was read still lies in memory as it was checked.
    pub fn is_as_checked(&self) -> bool {
        self.read.checksum() == Some(self.checksum)
    }
}
