//! Kernel matrices column by column, and the slope that the lengthscales'
//! derivatives need.
//!
//! With z = x / l, every kernel here but the linear one is φ(q) with q =
//! |z − z′|². Since dq / d log l_d = −2 (z_d − z′_d)², the derivative of φ by
//! log l_d is *slope* · (z_d − z′_d)² with slope = −2 φ′(q).

use hambo_core::model::Kernel;

/// Sums run in this many lanes, so that the compiler can use vectors without
/// changing the order of the additions.
const LANES: usize = 8;

/// Points divided by the lengthscales, dimension by dimension.
pub(super) struct ScaledPoints {
    kernel: Kernel,
    rows: usize,
    dimensions: Vec<Vec<f64>>,
}

impl ScaledPoints {
    pub(super) fn new(kernel: Kernel, points: &[f64], lengthscales: &[f64]) -> Self {
        let columns = lengthscales.len().max(1);
        let dimensions = lengthscales.iter().enumerate().map(|(d, l)| {
            let values = points.iter().skip(d).step_by(columns);
            values.map(|x| x / l).collect()
        });
        Self {
            kernel,
            rows: points.len() / columns,
            dimensions: dimensions.collect(),
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn columns(&self) -> usize {
        self.dimensions.len()
    }

    /// Writes q, or the inner product for the linear kernel, of point `first`
    /// and each of the points from `first` on.
    fn distances(&self, first: usize, out: &mut [f64]) {
        out.fill(0.0);
        let linear = self.kernel == Kernel::Linear;
        for dimension in &self.dimensions {
            let Some((centre, _)) = dimension[first..].split_first() else {
                return;
            };
            let pairs = out.iter_mut().zip(&dimension[first..]);
            if linear {
                pairs.for_each(|(q, z)| *q += z * centre);
            } else {
                pairs.for_each(|(q, z)| *q += (z - centre) * (z - centre));
            }
        }
    }

    /// Writes the kernel's shape for point `first` and each from it on.
    pub(super) fn values(&self, first: usize, out: &mut [f64]) {
        self.distances(first, out);
        match self.kernel {
            Kernel::Rbf => out.iter_mut().for_each(|q| *q = (-0.5 * *q).exp()),
            Kernel::Matern32 => out.iter_mut().for_each(|q| {
                let t = (3.0 * *q).sqrt();
                *q = (1.0 + t) * (-t).exp();
            }),
            Kernel::Matern52 => out.iter_mut().for_each(|q| {
                let t = (5.0 * *q).sqrt();
                *q = (1.0 + t + t * t / 3.0) * (-t).exp();
            }),
            Kernel::Linear => {}
        }
    }

    /// Writes −2 φ′(q) for point `first` and each from it on; 1 for the linear
    /// kernel.
    pub(super) fn slopes(&self, first: usize, out: &mut [f64]) {
        if self.kernel == Kernel::Linear {
            out.fill(1.0);
            return;
        }
        self.distances(first, out);
        out.iter_mut().for_each(|q| {
            *q = match self.kernel {
                Kernel::Rbf | Kernel::Linear => (-0.5 * *q).exp(),
                Kernel::Matern32 => 3.0 * (-(3.0 * *q).sqrt()).exp(),
                Kernel::Matern52 => {
                    let t = (5.0 * *q).sqrt();
                    5.0 / 3.0 * (1.0 + t) * (-t).exp()
                }
            };
        });
    }

    /// Adds Σ weight · ∂ log shape for each lengthscale: (z_d − z′_d)², or
    /// −2 z_d z′_d for the linear kernel, of point `first` and those from it on.
    pub(super) fn add_moments(&self, first: usize, weights: &[f64], sums: &mut [f64]) {
        let linear = self.kernel == Kernel::Linear;
        for (dimension, sum) in self.dimensions.iter().zip(sums) {
            let values = &dimension[first..];
            let centre = values.first().copied().unwrap_or(0.0);
            *sum += if linear {
                -2.0 * centre * lane_sum(weights, values, |w, z| w * z)
            } else {
                lane_sum(weights, values, |w, z| w * (z - centre) * (z - centre))
            };
        }
    }
}

/// Σ f(x, y) in a fixed order.
pub(super) fn lane_sum(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let (whole_x, rest_x) = x.as_chunks::<LANES>();
    let (whole_y, rest_y) = y.as_chunks::<LANES>();
    for (x, y) in whole_x.iter().zip(whole_y) {
        for (sum, (x, y)) in lanes.iter_mut().zip(x.iter().zip(y)) {
            *sum += f(*x, *y);
        }
    }
    let rest = rest_x.iter().zip(rest_y).map(|(x, y)| f(*x, *y));
    lanes.iter().sum::<f64>() + rest.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian_process::kernel::Hyperparameters;

    #[test]
    fn columns_agree_with_the_covariance() {
        let points = [0.3, -1.0, 0.7, 2.0, -0.4, 0.1, 1.5, 0.0];
        for kernel in [
            Kernel::Rbf,
            Kernel::Matern32,
            Kernel::Matern52,
            Kernel::Linear,
        ] {
            let output = Hyperparameters {
                kernel,
                signal_variance: 1.0,
                constant_variance: 0.0,
                lengthscales: vec![0.5, 3.0],
                noise_variance: 1.0,
            };
            let scaled = ScaledPoints::new(kernel, &points, &output.lengthscales);
            assert_eq!(scaled.rows(), 4);
            for first in 0..4 {
                let mut column = vec![f64::NAN; 4 - first];
                scaled.values(first, &mut column);
                for (value, point) in column.iter().zip(points.chunks(2).skip(first)) {
                    let expected = output.covariance(&points[2 * first..][..2], point);
                    assert!((value - expected).abs() < 1e-14, "{kernel:?}");
                }
            }
        }
    }

    #[test]
    fn lanes_miss_nothing() {
        let x: Vec<f64> = (0..21).map(f64::from).collect();
        assert_eq!(lane_sum(&x, &x, |x, y| x + y), 420.0);
    }
}
