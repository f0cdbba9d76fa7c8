//! The mean of one level with its lower bound, and the worse of two.

/// Which inequality gives the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Margin {
    /// Student's t: exact for normal returns, good for many trajectories,
    /// blind to a rare disaster that no trajectory met.
    StudentT,
    /// Betting, for returns that are known to lie in an interval: exact.
    Betting,
    /// Clopper and Pearson, for the share of trajectories that keep a
    /// constraint: exact.
    ClopperPearson,
}

impl Margin {
    /// What two margins together rest on: Student's t, if one does.
    pub(crate) fn weaker(self, other: Self) -> Self {
        match other {
            Self::StudentT => other,
            _ => self,
        }
    }
}

/// The mean of one level.
#[derive(Clone, Copy, Debug)]
pub struct LevelEstimate {
    /// Independent values: trajectories, or logged starts.
    pub count: u32,
    /// The mean.
    pub mean: f32,
    /// Its standard error.
    pub standard_error: f32,
    /// Its lower bound.
    pub lower: f32,
    /// Its lower bound for any distribution; NaN where the values have no bounds.
    pub distribution_free: f32,
    /// Where the margin comes from.
    pub margin: Margin,
}

impl LevelEstimate {
    /// Of two estimates the one with the lesser mean, with the lesser of both
    /// bounds: what holds for either holds for it. A NaN is the least.
    ///
    /// It rests on Student's t only if one with that margin could lie below: where even the
    /// bound for any distribution does not, that bound could have stood in its place.
    pub(crate) fn worse(self, other: Self) -> Self {
        let less = |a: f32, b: f32| a.is_nan() || a < b;
        let worse = if less(other.mean, self.mean) {
            other
        } else {
            self
        };
        let lower = if less(other.lower, self.lower) {
            other.lower
        } else {
            self.lower
        };
        let free = if less(other.distribution_free, self.distribution_free) {
            other.distribution_free
        } else {
            self.distribution_free
        };
        let margin = match worse.margin {
            Margin::ClopperPearson => Margin::ClopperPearson,
            _ if free >= lower => Margin::Betting,
            _ => self.margin.weaker(other.margin),
        };
        Self {
            lower,
            distribution_free: free,
            margin,
            ..worse
        }
    }

    /// The sum of two means, each with its own part of delta. Both may come from the same
    /// trajectories, so their errors are added as they are.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            count: self.count,
            mean: self.mean + other.mean,
            standard_error: self.standard_error + other.standard_error,
            lower: self.lower + other.lower,
            distribution_free: self.distribution_free + other.distribution_free,
            margin: self.margin.weaker(other.margin),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f32, lower: f32, margin: Margin) -> LevelEstimate {
        LevelEstimate {
            count: 4,
            mean,
            standard_error: 1.0,
            lower,
            distribution_free: match margin {
                Margin::StudentT => lower - 5.0,
                _ => lower,
            },
            margin,
        }
    }

    #[test]
    fn only_a_students_bound_that_could_matter_weakens_the_least() {
        let one = estimate(-1.0, -9.0, Margin::Betting);
        // Even its bound for any distribution lies above.
        let far = estimate(5.0, 4.0, Margin::StudentT);
        let near = estimate(-1.0, -8.0, Margin::StudentT);
        let unbounded = LevelEstimate {
            distribution_free: f32::NAN,
            ..far
        };
        for (other, margin) in [
            (far, Margin::Betting),
            (near, Margin::StudentT),
            (unbounded, Margin::StudentT),
        ] {
            assert_eq!(one.worse(other).margin, margin);
            assert_eq!(other.worse(one).margin, margin);
        }
        // What comes later may make it harmless.
        let lower = estimate(-1.0, -13.0, Margin::Betting);
        let three = near.worse(one).worse(lower);
        assert_eq!((three.margin, three.lower), (Margin::Betting, -13.0));
        let share = estimate(0.9, 0.8, Margin::ClopperPearson);
        assert_eq!(share.worse(share).margin, Margin::ClopperPearson);
    }

    #[test]
    fn the_worse_of_two_has_the_lesser_mean_and_the_lesser_bound() {
        let one = estimate(-1.0, -9.0, Margin::Betting);
        let other = estimate(-2.0, -3.0, Margin::Betting);
        for worse in [one.worse(other), other.worse(one)] {
            assert_eq!((worse.mean, worse.lower), (-2.0, -9.0));
            assert_eq!(worse.distribution_free, -9.0);
            assert_eq!(worse.margin, Margin::Betting);
        }
        // What is no number is not lost.
        let nan = estimate(f32::NAN, f32::NAN, Margin::Betting);
        for worse in [one.worse(nan), nan.worse(one)] {
            assert!(worse.mean.is_nan() && worse.lower.is_nan());
            assert!(worse.distribution_free.is_nan());
        }
    }

    #[test]
    fn a_sum_rests_on_the_weaker_margin() {
        let one = estimate(-1.0, -2.0, Margin::ClopperPearson);
        let other = estimate(-0.5, -0.75, Margin::StudentT);
        let sum = one.plus(other);
        assert_eq!((sum.count, sum.mean, sum.lower), (4, -1.5, -2.75));
        assert_eq!((sum.standard_error, sum.distribution_free), (2.0, -7.75));
        assert_eq!(sum.margin, Margin::StudentT);
        assert_eq!(one.plus(one).margin, Margin::ClopperPearson);
    }
}
