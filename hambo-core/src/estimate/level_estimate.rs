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
    /// Where the margin comes from.
    pub margin: Margin,
}

impl LevelEstimate {
    /// Of two estimates the one with the lesser mean, with the lesser of both
    /// bounds: what holds for either holds for it. A NaN is the least.
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
        let student = [self.margin, other.margin].contains(&Margin::StudentT);
        Self {
            lower,
            margin: if student {
                Margin::StudentT
            } else {
                worse.margin
            },
            ..worse
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
            margin,
        }
    }

    #[test]
    fn the_worse_of_two_has_the_lesser_mean_and_the_lesser_bound() {
        let one = estimate(-1.0, -9.0, Margin::Betting);
        let other = estimate(-2.0, -3.0, Margin::Betting);
        for worse in [one.worse(other), other.worse(one)] {
            assert_eq!((worse.mean, worse.lower), (-2.0, -9.0));
            assert_eq!(worse.margin, Margin::Betting);
        }
        let student = estimate(5.0, 4.0, Margin::StudentT);
        assert_eq!(one.worse(student).margin, Margin::StudentT);
        // What is no number is not lost.
        let nan = estimate(f32::NAN, f32::NAN, Margin::Betting);
        for worse in [one.worse(nan), nan.worse(one)] {
            assert!(worse.mean.is_nan() && worse.lower.is_nan());
        }
    }
}
