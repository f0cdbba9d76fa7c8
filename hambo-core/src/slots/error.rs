//! Why something cannot be done with the places for bundles.

/// What went wrong; in every case the active bundle is the one that it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SlotError<E> {
    /// The flash memory failed.
    Flash(E),
    /// Places overlap, do not end with a sector, or have no room for records.
    Layout,
    /// The bundle is longer than its place, or empty.
    Length,
    /// No bundle was begun.
    NotBegun,
    /// The bytes lie outside of what was begun, or do not begin where a piece does.
    Offset,
    /// What was written cannot be read back: the flash memory is worn.
    Worn,
    /// The bytes do not have the hash that was announced.
    Hash,
    /// The counter is not larger than that of the active bundle.
    Counter {
        /// The least that is taken.
        least: u64,
    },
    /// All records of the place are used up by writes that power cut off. Begin again.
    Records,
}

impl<E> From<E> for SlotError<E> {
    fn from(error: E) -> Self {
        Self::Flash(error)
    }
}
