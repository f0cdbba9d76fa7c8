//! Where the places lie.

use core::ops::Range;

use embedded_storage::nor_flash::NorFlash;

use super::record::RECORD;

/// Which of the two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Slot {
    /// The first.
    First,
    /// The second.
    Second,
}

impl Slot {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// A place for a bundle: whole sectors for its bytes, and others for its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where the bundle lies.
    pub bundle: Range<u32>,
    /// Where it is noted what the bundle is.
    pub records: Range<u32>,
}

/// Both places, which do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    first: Place,
    second: Place,
}

impl Layout {
    /// The places in a flash memory of kind `F` with `capacity` bytes. None if they overlap, do
    /// not begin and end with its smallest sectors, leave it, or hold fewer than two records.
    pub fn new<F: NorFlash>(first: Place, second: Place, capacity: usize) -> Option<Self> {
        let layout = Self { first, second };
        let ranges = || {
            let places = [&layout.first, &layout.second].into_iter();
            places.flat_map(|place| [&place.bundle, &place.records])
        };
        let sector = u32::try_from(F::ERASE_SIZE).ok()?;
        let whole = |range: &Range<u32>| {
            let ends = [range.start, range.end];
            let ends = ends.map(|end| end.checked_rem(sector) == Some(0));
            range.start < range.end && ends == [true; 2] && range.end as usize <= capacity
        };
        let apart = |one: &Range<u32>, other: &Range<u32>| {
            core::ptr::eq(one, other) || one.end <= other.start || other.end <= one.start
        };
        let disjoint = ranges().all(|one| ranges().all(|other| apart(one, other)));
        let room = |place: &Place| place.records.len() >= 2 * RECORD;
        let roomy = room(&layout.first) && room(&layout.second);
        (ranges().all(whole) && disjoint && roomy).then_some(layout)
    }

    /// One of them.
    pub fn place(&self, slot: Slot) -> &Place {
        match slot {
            Slot::First => &self.first,
            Slot::Second => &self.second,
        }
    }
}
