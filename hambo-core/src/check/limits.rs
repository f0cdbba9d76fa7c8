//! The limits of a check.

/// The largest number of estimates of one check.
pub(crate) const MAX_ESTIMATES: usize = 24;

/// The largest share of steps outside the data's support, in per cent, with
/// which a check still has a verdict.
pub const MOST_OUTSIDE: u8 = 5;

/// Logged starts that differ: with fewer the check abstains.
pub const FEWEST_STARTS: usize = 5;
