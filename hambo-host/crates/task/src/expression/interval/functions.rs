//! Elementary functions and comparisons of intervals.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::bounds::{Interval, LEAST, ends};

/// More than `libm` errs in f32, relative to the result: 2⁻²⁰, eight units in the last place.
/// Its functions err by one or two.
const LIBRARY: f64 = 1.0 / 1_048_576.0;

/// So near to a turning point or a pole of an angle's function counts as at it.
const NEAR: f64 = 1e-6;

/// Beyond this, angles are not reduced to one turn here.
const MANY_TURNS: f64 = 1e6;

/// Where `atan2` and `wrap` end: f32's pi lies above pi.
const HALF_TURN: f64 = std::f32::consts::PI as f64;

impl Interval {
    /// `min(a, b)`, exact.
    #[must_use]
    pub fn minimum(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.min(other.high))
    }

    /// `max(a, b)`, exact.
    #[must_use]
    pub fn maximum(self, other: Self) -> Self {
        Self::new(self.low.max(other.low), self.high.max(other.high))
    }

    /// `clamp(a, low, high)`, exact; also where the limits may cross.
    #[must_use]
    pub fn clamped(self, low: Self, high: Self) -> Self {
        if low.high <= high.low {
            self.maximum(low).minimum(high)
        } else {
            // The value is one of the limits or lies between them.
            low.hull(high)
        }
    }

    /// `sqrt(a)`: correctly rounded, and not finite below 0.
    #[must_use]
    pub fn square_root(self) -> Self {
        let root = |end: f64| end.max(0.0).sqrt();
        Self::widened(root(self.low), root(self.high), LIBRARY).within(0.0, f64::INFINITY)
    }

    /// `exp(a)`
    #[must_use]
    pub fn exponential(self) -> Self {
        Self::widened(self.low.exp(), self.high.exp(), LIBRARY).within(0.0, f64::INFINITY)
    }

    /// `log(a)`: not finite at 0 and below, and no f32 above 0 is less than [`LEAST`].
    #[must_use]
    pub fn logarithm(self) -> Self {
        let log = |end: f64| end.max(LEAST).ln();
        Self::widened(log(self.low), log(self.high), LIBRARY)
    }

    /// `a ^ b`
    #[must_use]
    pub fn power(self, exponent: Self) -> Self {
        if self.low >= 0.0 {
            return self.power_of_size(exponent);
        }
        let sizes = self.absolute().power_of_size(exponent);
        let whole = exponent.low == exponent.high && exponent.low.fract() == 0.0;
        if whole && exponent.low % 2.0 == 0.0 {
            return sizes;
        }
        if whole && (self.high < 0.0 || exponent.low > 0.0) {
            // Odd: rising, or falling on one side of 0.
            let at = |end: f64| end.powf(exponent.low);
            let (first, last) = (at(self.low), at(self.high));
            return Self::widened(first.min(last), first.max(last), LIBRARY);
        }
        // |a ^ b| = |a| ^ b.
        Self::new(-sizes.high, sizes.high)
    }

    /// `a ^ b` for `a` of at least 0: in each of the two it rises or falls, so its ends lie in
    /// the corners, also in those at infinity.
    fn power_of_size(self, exponent: Self) -> Self {
        let corners = [
            self.low.powf(exponent.low),
            self.low.powf(exponent.high),
            self.high.powf(exponent.low),
            self.high.powf(exponent.high),
        ];
        let [low, high] = ends(corners);
        Self::widened(low, high, LIBRARY).within(0.0, f64::INFINITY)
    }

    /// `sin(a)`
    #[must_use]
    pub fn sine(self) -> Self {
        self.wave(f64::sin, FRAC_PI_2)
    }

    /// `cos(a)`
    #[must_use]
    pub fn cosine(self) -> Self {
        self.wave(f64::cos, 0.0)
    }

    /// A wave with its top at `top`.
    fn wave(self, function: fn(f64) -> f64, top: f64) -> Self {
        if !self.is_within_a_turn() {
            return Self::new(-1.0, 1.0);
        }
        let (first, last) = (function(self.low), function(self.high));
        let low = if self.meets(top + PI, TAU) {
            -1.0
        } else {
            first.min(last)
        };
        let high = if self.meets(top, TAU) {
            1.0
        } else {
            first.max(last)
        };
        Self::widened(low, high, LIBRARY).within(-1.0, 1.0)
    }

    /// `tan(a)`: rising between two poles.
    #[must_use]
    pub fn tangent(self) -> Self {
        if !self.is_within_a_turn() || self.meets(FRAC_PI_2, PI) {
            return Self::EVERYTHING;
        }
        Self::widened(self.low.tan(), self.high.tan(), LIBRARY)
    }

    fn is_within_a_turn(self) -> bool {
        self.low > -MANY_TURNS && self.high < MANY_TURNS && self.width() < TAU
    }

    /// Whether one of `place` plus whole periods lies in it, or nearly.
    fn meets(self, place: f64, period: f64) -> bool {
        let turns = ((self.low - NEAR - place) / period).ceil();
        place + turns * period <= self.high + NEAR
    }

    /// `atan2(y, x)`, of which this is y. Away from the origin and from the cut along the
    /// negative x its ends lie in the corners.
    #[must_use]
    pub fn arc_tangent_2(self, x: Self) -> Self {
        // A 0 may be −0, which lies on the other side of the cut.
        if !(x.low > 0.0 || self.low > 0.0 || self.high < 0.0) {
            return Self::new(-HALF_TURN, HALF_TURN);
        }
        let corners = [
            self.low.atan2(x.low),
            self.low.atan2(x.high),
            self.high.atan2(x.low),
            self.high.atan2(x.high),
        ];
        let [low, high] = ends(corners);
        Self::widened(low, high, LIBRARY).within(-HALF_TURN, HALF_TURN)
    }

    /// `tanh(a)`
    #[must_use]
    pub fn hyperbolic_tangent(self) -> Self {
        Self::widened(self.low.tanh(), self.high.tanh(), LIBRARY).within(-1.0, 1.0)
    }

    /// `wrap(a)`: the angle itself within half a turn, else any angle.
    #[must_use]
    pub fn wrapped(self) -> Self {
        if self.low > -HALF_TURN && self.high < HALF_TURN {
            self
        } else {
            Self::new(-HALF_TURN, HALF_TURN)
        }
    }

    /// `a < b` as 0, 1 or either.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        truth(self.high < other.low, self.low >= other.high)
    }

    /// `a <= b`
    #[must_use]
    pub fn less_or_equal(self, other: Self) -> Self {
        truth(self.high <= other.low, self.low > other.high)
    }

    /// `a == b`
    #[must_use]
    pub fn equal(self, other: Self) -> Self {
        let apart = self.high < other.low || other.high < self.low;
        let one = self.low == self.high && self == other;
        truth(one, apart)
    }

    /// `a && b`; any number but 0 counts as true.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        truth(
            self.is_true() && other.is_true(),
            self.is_false() || other.is_false(),
        )
    }

    /// `a || b`
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        truth(
            self.is_true() || other.is_true(),
            self.is_false() && other.is_false(),
        )
    }

    /// `!a`
    #[must_use]
    pub fn opposite(self) -> Self {
        truth(self.is_false(), self.is_true())
    }

    fn is_true(self) -> bool {
        !self.contains(0.0)
    }

    fn is_false(self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }
}

/// 1, 0, or one of them.
fn truth(always: bool, never: bool) -> Interval {
    match (always, never) {
        (true, _) => Interval::point(1.0),
        (false, true) => Interval::point(0.0),
        (false, false) => Interval::new(0.0, 1.0),
    }
}
