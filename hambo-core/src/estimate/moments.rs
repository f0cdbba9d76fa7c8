//! Mean and variance of a sample, gathered in order, and the margin of its
//! mean.

use super::student_quantile;
use crate::arithmetic::elementary::{ln, maximum, minimum, sqrt};

/// Sum, squared deviations (Welford's running form) and extremes.
///
/// The mean is the plain sum over the count: rounding is monotone, so if every
/// value of one sample is at most that of another, so is its mean. (The running
/// mean, which the deviations need, does not promise that.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SampleMoments {
    count: u32,
    sum: f32,
    running_mean: f32,
    squares: f32,
    least: f32,
    greatest: f32,
}

impl Default for SampleMoments {
    fn default() -> Self {
        Self {
            count: 0,
            sum: 0.0,
            running_mean: 0.0,
            squares: 0.0,
            least: f32::INFINITY,
            greatest: f32::NEG_INFINITY,
        }
    }
}

/// Which inequality gives the margin.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Margin {
    /// Student's t: exact for normal returns, good for many trajectories.
    StudentT,
    /// Empirical Bernstein (Maurer and Pontil), for returns that are known to
    /// lie in an interval of the given width.
    Bernstein {
        /// The width of the interval.
        range: f32,
    },
}

impl SampleMoments {
    /// Adds one more value.
    pub fn push(&mut self, value: f32) {
        self.count = self.count.saturating_add(1);
        self.sum += value;
        let before = value - self.running_mean;
        self.running_mean += before / self.count as f32;
        self.squares += before * (value - self.running_mean);
        self.least = minimum(self.least, value);
        self.greatest = maximum(self.greatest, value);
    }

    /// The smallest value.
    #[must_use]
    pub fn least(&self) -> f32 {
        self.least
    }

    /// The largest value.
    #[must_use]
    pub fn greatest(&self) -> f32 {
        self.greatest
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> f32 {
        self.sum / self.count as f32
    }

    /// The standard error of the mean; infinite for fewer than two values.
    #[must_use]
    pub fn standard_error(&self) -> f32 {
        sqrt(self.variance() / self.count as f32)
    }

    fn variance(&self) -> f32 {
        match self.count.checked_sub(1) {
            None | Some(0) => f32::INFINITY,
            Some(freedom) => self.squares / freedom as f32,
        }
    }

    /// How far below the sample's mean the true mean may lie, except with
    /// probability `delta`.
    #[must_use]
    pub fn margin(&self, margin: Margin, delta: f32) -> f32 {
        let freedom = self.count.saturating_sub(1);
        match margin {
            Margin::StudentT => student_quantile(freedom, delta) * self.standard_error(),
            Margin::Bernstein { range } => {
                let log = ln(2.0 / delta);
                let spread = sqrt(2.0 * self.variance() * log / self.count as f32);
                spread + 7.0 * range * log / (3.0 * freedom as f32)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f32]) -> SampleMoments {
        let mut moments = SampleMoments::default();
        for value in values {
            moments.push(*value);
        }
        moments
    }

    #[test]
    fn moments_by_hand() {
        let moments = of(&[1.0, 2.0, 4.0, 5.0]);
        assert_eq!((moments.count, moments.mean()), (4, 3.0));
        // Variance 10 / 3, standard error sqrt(10 / 12).
        assert!((moments.standard_error() - 0.912_870_9).abs() < 1e-6);
        assert_eq!((moments.least(), moments.greatest()), (1.0, 5.0));
        // A large offset must not eat the variance.
        let shifted = of(&[10_001.0, 10_002.0, 10_004.0, 10_005.0]);
        assert!((shifted.standard_error() - 0.912_870_9).abs() < 1e-3);
    }

    #[test]
    fn one_value_has_no_margin_to_speak_of() {
        assert_eq!(of(&[3.0]).margin(Margin::StudentT, 0.05), f32::INFINITY);
        assert!(
            !of(&[3.0])
                .margin(Margin::Bernstein { range: 1.0 }, 0.05)
                .is_finite()
        );
    }

    #[test]
    #[cfg_attr(miri, ignore = "a coverage rate needs thousands of samples")]
    fn margins_cover_as_often_as_they_claim() {
        // Means of 16 normal and of 200 bounded, skewed values, 2,000 times.
        use crate::arithmetic::random::Stream;
        let (mut normal, mut skewed) = (0, 0);
        for trial in 0..2000 {
            let mut stream = Stream::new(11, trial);
            let values: Vec<f32> = (0..16).map(|_| 5.0 + stream.standard_normal()).collect();
            let moments = of(&values);
            normal += u32::from(moments.mean() - moments.margin(Margin::StudentT, 0.1) <= 5.0);
            let values: Vec<f32> = (0..200)
                .map(|_| if stream.uniform() < 0.05 { -1.0 } else { 0.0 })
                .collect();
            let moments = of(&values);
            let margin = moments.margin(Margin::Bernstein { range: 1.0 }, 0.1);
            skewed += u32::from(moments.mean() - margin <= -0.05);
        }
        // 90 % of 2,000 less three standard deviations; and not far above it.
        assert!((1760..1860).contains(&normal), "{normal}");
        assert!(skewed >= 1760, "{skewed}");
    }

    #[test]
    fn smaller_values_have_no_larger_mean() {
        use crate::arithmetic::random::Stream;
        for trial in 0..if cfg!(miri) { 5 } else { 500 } {
            let mut stream = Stream::new(5, trial);
            let large: Vec<f32> = (0..50).map(|_| 100.0 * stream.standard_normal()).collect();
            let small: Vec<f32> = large
                .iter()
                .map(|x| if stream.uniform() < 0.1 { x - 1e-5 } else { *x })
                .collect();
            assert!(of(&small).mean() <= of(&large).mean());
        }
    }
}
