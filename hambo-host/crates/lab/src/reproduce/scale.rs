//! Returns on the scale of the pictures: the truth is 1, a uniformly random controller 0.

use crate::environment::random::MeanReturn;

/// A scale of returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReturnScale {
    /// The true return of the evaluated controller.
    pub truth: f64,
    /// The return of uniformly random actions.
    pub random: f64,
}

impl ReturnScale {
    /// A return on the scale.
    ///
    /// ```
    /// use hambo_lab::reproduce::scale::ReturnScale;
    ///
    /// let scale = ReturnScale { truth: -150.0, random: -1150.0 };
    /// assert_eq!((scale.of(-150.0), scale.of(-1150.0), scale.of(-650.0)), (1.0, 0.0, 0.5));
    /// ```
    #[must_use]
    pub fn of(self, value: f64) -> f64 {
        (value - self.random) / (self.truth - self.random)
    }
}

/// The mean over seeds and its standard error, without what is not a number. One bound of
/// minus infinity is that of all.
#[must_use]
pub fn over_seeds(values: &[f64]) -> MeanReturn {
    if values.contains(&f64::NEG_INFINITY) {
        return MeanReturn {
            mean: f64::NEG_INFINITY,
            std_error: f64::NAN,
        };
    }
    let finite: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    MeanReturn::of(&finite)
}
