//! How often the model's intervals hold what was observed.

use super::outcome::Intervals;
use super::withheld::WithheldDimension;
use super::withheld::WithheldRow;

/// The nominal levels of the regression calibration error.
pub(super) const LEVELS: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99];

/// Phi⁻¹(p): standard normal quantiles of the levels.
const NORMAL_QUANTILES: [f64; 10] = [
    -1.281_551_565_544_600_4,
    -0.841_621_233_572_914_3,
    -0.524_400_512_708_041,
    -0.253_347_103_135_799_7,
    0.0,
    0.253_347_103_135_799_7,
    0.524_400_512_708_041,
    0.841_621_233_572_914_3,
    1.281_551_565_544_600_4,
    2.326_347_874_040_841,
];

/// Phi⁻¹((1 + p) / 2).
const CENTRAL_NORMAL_QUANTILES: [f64; 10] = [
    0.125_661_346_855_074,
    0.253_347_103_135_799_7,
    0.385_320_466_407_567_6,
    0.524_400_512_708_041,
    0.674_489_750_196_081_7,
    0.841_621_233_572_914_3,
    1.036_433_389_493_789_6,
    1.281_551_565_544_600_4,
    1.644_853_626_951_472_7,
    2.575_829_303_548_901,
];

/// Residuals in predicted standard deviations, sorted, with the quantiles to hold them against.
pub(super) struct Scores {
    sorted: Vec<f64>,
    quantiles: [f64; 10],
}

/// The scores of one dimension, its noise scaled.
pub(super) fn scores(
    dimension: &WithheldDimension<'_>,
    noise_scale: f64,
    intervals: Intervals,
) -> Scores {
    let (quantiles, central) = match intervals {
        Intervals::OneSided => (NORMAL_QUANTILES, false),
        Intervals::Central => (CENTRAL_NORMAL_QUANTILES, true),
    };
    let score = |row: WithheldRow| {
        let total = row.epistemic.hypot(noise_scale * row.aleatoric);
        let residual = if central {
            row.residual.abs()
        } else {
            row.residual
        };
        if total > 0.0 {
            residual / total
        } else if residual > 0.0 {
            // A certain prediction is right or wrong at every scale.
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        }
    };
    let mut sorted: Vec<f64> = dimension.told().map(score).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    Scores { sorted, quantiles }
}

impl Scores {
    /// Fraction of the rows at or below each level's quantile of N(mu, scale² std²).
    pub(super) fn empirical_frequency(&self, scale: f64) -> [f64; 10] {
        let count = self.sorted.len().max(1) as f64;
        self.quantiles.map(|quantile| {
            self.sorted
                .partition_point(|score| *score <= scale * quantile) as f64
                / count
        })
    }

    /// The regression calibration error: squared distance of the curve from the diagonal.
    pub(super) fn calibration_error(&self, scale: f64) -> f64 {
        let pairs = LEVELS.into_iter().zip(self.empirical_frequency(scale));
        pairs
            .map(|(nominal, observed)| (nominal - observed).powi(2))
            .sum()
    }
}

/// Fraction of true values; 0 of none.
pub(super) fn fraction(inside: &[bool]) -> f32 {
    let count = inside.iter().filter(|inside| **inside).count();
    count as f32 / inside.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use hambo_base::Held;

    /// Cumulative distribution of the standard normal by Simpson's rule.
    fn normal_cdf(z: f64) -> f64 {
        let pieces = 2000;
        let width = z / f64::from(pieces);
        let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        let inner: f64 = (1..pieces)
            .map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * density(f64::from(i) * width))
            .sum();
        0.5 + width / 3.0 * (density(0.0) + inner + density(z))
    }

    #[test]
    fn tables_invert_the_normal_distribution() {
        for (i, level) in LEVELS.into_iter().enumerate() {
            assert!((normal_cdf(NORMAL_QUANTILES[i]) - level).abs() < 1e-10);
            assert!((normal_cdf(CENTRAL_NORMAL_QUANTILES[i]) - (1.0 + level) / 2.0).abs() < 1e-10);
        }
    }

    #[test]
    fn observed_by_hand() {
        // Scores −2, 0, 0.5, 3 (total std 2).
        let dimension = WithheldDimension {
            mean: &[1.0; 4],
            epistemic_std: &[0.0; 4],
            aleatoric_std: &[2.0; 4],
            observed: &[-3.0, 1.0, 2.0, 7.0],
            held: Held::NONE,
        };
        let one_sided = scores(&dimension, 1.0, Intervals::OneSided).empirical_frequency(1.0);
        assert_eq!(
            one_sided,
            [0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75]
        );
        let central = scores(&dimension, 1.0, Intervals::Central).empirical_frequency(1.0);
        assert_eq!(
            central,
            [0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.75]
        );
    }

    #[test]
    fn certain_predictions_are_right_or_wrong() {
        let dimension = WithheldDimension {
            mean: &[1.0, 1.0],
            epistemic_std: &[0.0; 2],
            aleatoric_std: &[0.0; 2],
            observed: &[1.0, 1.5],
            held: Held::NONE,
        };
        for intervals in [Intervals::OneSided, Intervals::Central] {
            assert_eq!(
                scores(&dimension, 1.0, intervals).empirical_frequency(3.0),
                [0.5; 10]
            );
        }
    }

    #[test]
    fn what_lies_above_a_certain_prediction_is_above_at_every_scale() {
        let dimension = WithheldDimension {
            mean: &[0.0; 3],
            epistemic_std: &[0.0; 3],
            aleatoric_std: &[0.0; 3],
            observed: &[1.0, 2.0, -1.0],
            held: Held::NONE,
        };
        let infinite = f64::INFINITY;
        let scores = scores(&dimension, 1.0, Intervals::OneSided);
        assert_eq!(scores.sorted, [-infinite, infinite, infinite]);
    }
}
