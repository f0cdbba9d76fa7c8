//! An interval that holds every rounded value, and its arithmetic.

/// More than one rounding to f32 moves a number, relative to it: 2⁻²³, two times the most.
pub(super) const ROUNDING: f64 = 1.0 / 8_388_608.0;

/// The least f32 above 0: what a rounding may move a number that is too small for f32's
/// full precision.
pub(super) const LEAST: f64 = 1.401_298_464_324_817e-45;

/// The largest finite f32.
pub(super) const MOST: f64 = f32::MAX as f64;

/// All numbers from `low` to `high`; infinite where there is no bound.
///
/// ```
/// use hambo_task::expression::Interval;
///
/// let x = Interval::new(-1.0, 2.0);
/// let [low, high] = x.square().outward();
/// assert!(low == 0.0 && high >= 4.0 && high < 4.000_002);
/// // Outward by more than a rounding, never inward.
/// let [low, high] = x.plus(x).outward();
/// assert!(low < -2.0 && low > -2.000_001 && high > 4.0 && high < 4.000_002);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Interval {
    /// All numbers.
    pub const EVERYTHING: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// From `low` to `high`; everything if these are not in order. Values are finite in f32,
    /// so no lower end lies above the largest f32, and no upper end below the lowest.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        if low <= high {
            // 0 is added to turn −0 into 0: as an end of a divisor or of a base it would give
            // an infinity of the wrong sign.
            Self {
                low: low.min(MOST) + 0.0,
                high: high.max(-MOST) + 0.0,
            }
        } else {
            Self::EVERYTHING
        }
    }

    /// One number.
    #[must_use]
    pub fn point(value: f32) -> Self {
        Self::new(value.into(), value.into())
    }

    /// The lower end.
    #[must_use]
    pub fn low(self) -> f64 {
        self.low
    }

    /// The upper end.
    #[must_use]
    pub fn high(self) -> f64 {
        self.high
    }

    /// Upper less lower end.
    #[must_use]
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// Whether a number lies in it.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The least interval that holds both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// Both ends in f32, moved outward where f32 has no such number.
    #[must_use]
    pub fn outward(self) -> [f32; 2] {
        let low = self.low as f32;
        let high = self.high as f32;
        [
            if f64::from(low) > self.low {
                low.next_down()
            } else {
                low
            },
            if f64::from(high) < self.high {
                high.next_up()
            } else {
                high
            },
        ]
    }

    /// These ends, moved outward by a share of their size. A 0 stays: f32 rounds it to 0.
    pub fn widened(low: f64, high: f64, share: f64) -> Self {
        let room = |end: f64| {
            if end == 0.0 || end.is_infinite() {
                0.0
            } else {
                end.abs() * share + LEAST
            }
        };
        Self::new(low - room(low), high + room(high))
    }

    /// Cut to what the function can give at all.
    pub fn within(self, low: f64, high: f64) -> Self {
        Self::new(self.low.clamp(low, high), self.high.clamp(low, high))
    }

    /// `-a`
    #[must_use]
    pub fn negated(self) -> Self {
        Self::new(-self.high, -self.low)
    }

    /// `a + b`
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self::widened(self.low + other.low, self.high + other.high, ROUNDING)
    }

    /// `a - b`
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(other.negated())
    }

    /// `a * b`, of two values that have nothing to do with each other.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let corners = [
            product(self.low, other.low),
            product(self.low, other.high),
            product(self.high, other.low),
            product(self.high, other.high),
        ];
        let [low, high] = ends(corners);
        Self::widened(low, high, ROUNDING)
    }

    /// `a * a`: never negative.
    #[must_use]
    pub fn square(self) -> Self {
        let size = self.absolute();
        let squared = Self::widened(size.low * size.low, size.high * size.high, ROUNDING);
        squared.within(0.0, f64::INFINITY)
    }

    /// `a / b`. Where `b` may be 0 the quotient is not finite, and everything near it is
    /// possible.
    #[must_use]
    pub fn over(self, divisor: Self) -> Self {
        let reciprocal = if divisor.low > 0.0 || divisor.high < 0.0 {
            Self::new(1.0 / divisor.high, 1.0 / divisor.low)
        } else if divisor.low == 0.0 && divisor.high > 0.0 {
            Self::new(1.0 / divisor.high, f64::INFINITY)
        } else if divisor.high == 0.0 && divisor.low < 0.0 {
            Self::new(f64::NEG_INFINITY, 1.0 / divisor.low)
        } else {
            return Self::EVERYTHING;
        };
        self.times(reciprocal)
    }

    /// `abs(a)`, exact.
    #[must_use]
    pub fn absolute(self) -> Self {
        if self.low >= 0.0 {
            self
        } else if self.high <= 0.0 {
            self.negated()
        } else {
            Self::new(0.0, self.high.max(-self.low))
        }
    }
}

/// An infinite end stands for finite numbers without a bound, and 0 times these is 0.
pub(super) fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// The least and the largest of some numbers.
pub(super) fn ends(numbers: [f64; 4]) -> [f64; 2] {
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [low, high]
}
