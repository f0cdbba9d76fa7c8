//! The Gaussian negative log likelihood of a prediction and its derivative.
//!
//! A network's output row is (mean, raw), ds values each. The standard
//! deviation is `min(cap, floor + softplus(raw))`, the formula of the core.

use hambo_base::Held;

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

    /// Sum over rows and dimensions of −ln N(target; mean, std²), times `weight`, but
    /// for targets that say nothing.
    /// Writes its derivative in the outputs to `slope`.
    pub(super) fn loss(
        self,
        outputs: &[f32],
        (targets, held): (&[f32], Held<'_>),
        columns: usize,
        weight: f32,
        slope: &mut [f32],
    ) -> f32 {
        let mut sum = 0.0;
        let rows = outputs
            .chunks_exact(2 * columns)
            .zip(slope.chunks_exact_mut(2 * columns))
            .zip(targets.chunks_exact(columns));
        for (row, ((output, slope), target)) in rows.enumerate() {
            let (mean, raw) = output.split_at(columns);
            let (mean_slope, raw_slope) = slope.split_at_mut(columns);
            for j in 0..columns {
                if held.at(row * columns + j) {
                    (mean_slope[j], raw_slope[j]) = (0.0, 0.0);
                    continue;
                }
                let (std, std_slope) = self.std_and_slope(raw[j]);
                let score = (mean[j] - target[j]) / std;
                sum += std.ln() + 0.5 * score * score + HALF_LOG_TAU;
                mean_slope[j] = weight * score / std;
                raw_slope[j] = weight * (1.0 - score * score) / std * std_slope;
            }
        }
        weight * sum
    }

    /// Sum over dimensions of −ln N(target; mean, std²) of one row, but for what says nothing.
    pub(super) fn row(self, output: &[f32], target: &[f32], held: Held<'_>) -> f32 {
        let (mean, raw) = output.split_at(target.len());
        let dimensions = mean.iter().zip(raw).zip(target).enumerate();
        dimensions
            .filter(|(j, _)| !held.at(*j))
            .map(|(_, ((mean, raw), target))| {
                let (std, _) = self.std_and_slope(*raw);
                let score = (mean - target) / std;
                std.ln() + 0.5 * score * score + HALF_LOG_TAU
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference;
    use super::*;
    use hambo_base::network::initial::initial_parameters;
    use hambo_base::network::perceptron::{Gradient, Network, layer_shapes};
    use hambo_base::network::{Activation, Initial};
    use hambo_base::random::Random;

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
    fn a_held_target_says_nothing_and_no_number_is_broken() {
        let head = GaussianHead {
            floor: 1e-3,
            cap: 10.0,
        };
        let (mut with, mut without) = ([7.0; 8], [7.0; 4]);
        let outputs = [3.0, 9.0, 0.5, -2.0, 1.0, 2.0, -0.5, 0.0];
        let marks = [false, true, true, false];
        let (targets, held) = ([1.0, 4.0, 8.0, 2.5], Held::new(&marks));
        let loss = head.loss(&outputs, (&targets, held), 2, 0.5, &mut with);
        let left = [3.0, 0.5, 2.0, 0.0];
        let alone = head.loss(&left, (&[1.0, 2.5], Held::NONE), 1, 0.5, &mut without);
        assert_eq!(loss, alone);
        let [a, b, c, d] = without;
        assert_eq!(with, [a, 0.0, b, 0.0, 0.0, c, 0.0, d]);
        let row = head.row(&outputs[..4], &targets[..2], held.part(0, 2));
        assert_eq!(row, head.row(&left[..2], &[1.0], Held::NONE));
        // What is no number is no mark.
        let broken = head.loss(&left, (&[f32::NAN, 2.5], Held::NONE), 1, 0.5, &mut without);
        assert!(broken.is_nan() && without[0].is_nan());
        assert!(head.row(&left[..2], &[f32::NAN], Held::NONE).is_nan());
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
        let loss = head.loss(&[3.0, raw], (&[1.0], Held::NONE), 1, 1.0, &mut slope);
        assert!((loss - (2.0 + HALF_LOG_TAU)).abs() < 1e-5);
        assert_eq!(head.row(&[3.0, raw], &[1.0], Held::NONE), loss);
        assert!((slope[0] - 2.0).abs() < 1e-5);
        let sigmoid = 1.0 - (-1f32).exp();
        assert!((slope[1] + 3.0 * sigmoid).abs() < 1e-5);
    }
    /// Every derivative of the objective against central differences in f64 of
    /// an independent reference. Stated error: 1e-4 of the derivative, or of a
    /// hundredth of the largest one where it is smaller than that.
    #[test]
    fn gradient_matches_finite_differences() {
        let widths = [3, 5, 4, 4];
        let (rows, columns) = (9, 2);
        // A low cap, so that some of the outputs are capped.
        let head = GaussianHead {
            floor: 0.05,
            cap: 0.8,
        };
        for activation in [Activation::Relu, Activation::Tanh, Activation::Silu] {
            let mut random = Random::new(11, 4);
            let layers = layer_shapes(&widths);
            let mut parameters =
                initial_parameters(Initial::Wide, &layers, activation, &mut random);
            // Output biases as well, so that no parameter sits at a special value.
            parameters
                .iter_mut()
                .for_each(|p| *p += 0.3 * random.normal());
            let mut draw =
                |count: usize| -> Vec<f32> { (0..count).map(|_| random.normal()).collect() };
            let (inputs, targets) = (draw(rows * 3), draw(rows * columns));

            let mut network = Network::new(&layers, activation, rows + 2);
            let mut gradient = vec![f32::NAN; parameters.len()];
            network.forward(&parameters, &inputs);
            let (outputs, slope) = network.outputs_and_slope();
            let loss = head.loss(
                outputs,
                (&targets, Held::NONE),
                columns,
                1.0 / rows as f32,
                slope,
            );
            let capped = slope
                .chunks(4)
                .flat_map(|row| &row[2..])
                .filter(|&&d| d == 0.0)
                .count();
            assert!(capped > 0 && capped < rows * columns, "{capped} capped");
            network.backward(&parameters, &mut gradient, Gradient::Replace);

            let limits = (f64::from(head.floor), f64::from(head.cap));
            let mut point: Vec<f64> = parameters.iter().map(|&p| f64::from(p)).collect();
            let objective = |point: &[f64]| {
                reference::objective(&widths, activation, point, &inputs, &targets, limits)
            };
            let expected = objective(&point);
            assert!(
                (f64::from(loss) - expected).abs() < 1e-5 * expected.abs(),
                "{loss} {expected}"
            );
            let step = 1e-6;
            let differences: Vec<f64> = (0..point.len())
                .map(|i| {
                    let middle = point[i];
                    point[i] = middle + step;
                    let above = objective(&point);
                    point[i] = middle - step;
                    let below = objective(&point);
                    point[i] = middle;
                    (above - below) / (2.0 * step)
                })
                .collect();
            let largest = differences.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
            for (i, (&explicit, expected)) in gradient.iter().zip(&differences).enumerate() {
                let error =
                    (f64::from(explicit) - expected).abs() / expected.abs().max(0.01 * largest);
                assert!(
                    error < 1e-4,
                    "{activation:?}, parameter {i}: {explicit} against {expected}"
                );
            }
        }
    }
}
