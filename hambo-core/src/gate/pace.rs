//! When the next edge of a line may come.

/// The least and the greatest time between two edges, in ticks of the caller's clock.
///
/// A robot that sends its samples too early would make a controller act more often than it was
/// checked for; one that sends them late leaves an action in force for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    least: u64,
    greatest: u64,
}

impl Pace {
    /// Any time: an emulated robot in lockstep with its controller, for which time means
    /// nothing.
    pub const LOCKSTEP: Self = Self {
        least: 0,
        greatest: u64::MAX,
    };

    /// That of a control period of this many ticks: at least seven eighths of it, since two
    /// clocks never agree, and at most nine fifths.
    ///
    /// ```
    /// use hambo_core::Pace;
    /// let pace = Pace::of_period(50_000);
    /// assert_eq!((pace.wait(40_000), pace.wait(43_750)), (3_750, 0));
    /// assert!(!pace.is_late(90_000) && pace.is_late(90_001));
    /// ```
    pub const fn of_period(ticks: u64) -> Self {
        Self {
            least: ticks.saturating_sub(ticks / 8),
            greatest: ticks.saturating_add(ticks / 5 * 4),
        }
    }

    /// How long an edge must wait that would come this long after the last one.
    pub const fn wait(&self, since: u64) -> u64 {
        self.least.saturating_sub(since)
    }

    /// Whether it comes too late.
    pub const fn is_late(&self, since: u64) -> bool {
        since > self.greatest
    }
}
