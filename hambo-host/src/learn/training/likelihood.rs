//! The Gaussian negative log likelihood of a prediction and its derivative.
//!
//! A network's output row is (mean, raw), ds values each. The standard
//! deviation is `min(cap, floor + softplus(raw))`, the formula of the core.

/// ln(2π) / 2.
const HALF_LOG_TAU: f32 = 0.918_938_5;

/// Limits of the predicted standard deviation, in standardised units.
#[derive(Debug, Clone, Copy)]
pub(super) struct GaussianHead {
    pub(super) floor: f32,
    pub(super) cap: f32,
}

impl GaussianHead {
    /// Standard deviation and its derivative in `raw`, which is 0 at the cap.
    fn std_and_slope(self, raw: f32) -> (f32, f32) {
        let decay = (-raw.abs()).exp();
        let std = self.floor + raw.max(0.0) + decay.ln_1p();
        if std >= self.cap {
            return (self.cap, 0.0);
        }
        let sigmoid = if raw >= 0.0 { 1.0 } else { decay } / (1.0 + decay);
        (std, sigmoid)
    }

    /// Sum over rows and dimensions of −ln N(target; mean, std²), times `weight`.
    /// Writes its derivative in the outputs to `slope`.
    pub(super) fn loss(
        self,
        outputs: &[f32],
        targets: &[f32],
        columns: usize,
        weight: f32,
        slope: &mut [f32],
    ) -> f32 {
        let mut sum = 0.0;
        let rows = outputs
            .chunks_exact(2 * columns)
            .zip(slope.chunks_exact_mut(2 * columns))
            .zip(targets.chunks_exact(columns));
        for ((output, slope), target) in rows {
            let (mean, raw) = output.split_at(columns);
            let (mean_slope, raw_slope) = slope.split_at_mut(columns);
            for j in 0..columns {
                let (std, std_slope) = self.std_and_slope(raw[j]);
                let score = (mean[j] - target[j]) / std;
                sum += std.ln() + 0.5 * score * score + HALF_LOG_TAU;
                mean_slope[j] = weight * score / std;
                raw_slope[j] = weight * (1.0 - score * score) / std * std_slope;
            }
        }
        weight * sum
    }

    /// Sum over dimensions of −ln N(target; mean, std²) of one row.
    pub(super) fn row(self, output: &[f32], target: &[f32]) -> f32 {
        let (mean, raw) = output.split_at(target.len());
        let dimensions = mean.iter().zip(raw).zip(target);
        dimensions
            .map(|((mean, raw), target)| {
                let (std, _) = self.std_and_slope(*raw);
                let score = (mean - target) / std;
                std.ln() + 0.5 * score * score + HALF_LOG_TAU
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_and_cap() {
        let head = GaussianHead {
            floor: 0.01,
            cap: 10.0,
        };
        let (low, low_slope) = head.std_and_slope(-200.0);
        assert_eq!((low, low_slope), (0.01, 0.0));
        assert_eq!(head.std_and_slope(200.0), (10.0, 0.0));
        let (middle, slope) = head.std_and_slope(0.0);
        assert!((middle - (0.01 + 2f32.ln())).abs() < 1e-6);
        assert_eq!(slope, 0.5);
    }

    #[test]
    fn one_row_by_hand() {
        // softplus(raw) = 1 at raw = ln(e − 1), so std = 1 and the score is 2.
        let head = GaussianHead {
            floor: 1e-9,
            cap: 10.0,
        };
        let raw = (1f32.exp() - 1.0).ln();
        let mut slope = [0.0; 2];
        let loss = head.loss(&[3.0, raw], &[1.0], 1, 1.0, &mut slope);
        assert!((loss - (2.0 + HALF_LOG_TAU)).abs() < 1e-5);
        assert_eq!(head.row(&[3.0, raw], &[1.0]), loss);
        assert!((slope[0] - 2.0).abs() < 1e-5);
        let sigmoid = 1.0 - (-1f32).exp();
        assert!((slope[1] + 3.0 * sigmoid).abs() < 1e-5);
    }
}
