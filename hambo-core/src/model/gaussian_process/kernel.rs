//! Kernels as functions of one number for each pair of points: the squared
//! scaled distance r² = Σ (x_d − x′_d)² / l_d², or the scaled inner product
//! Σ x_d x′_d / l_d² for the linear kernel.

use serde::{Deserialize, Serialize};

use crate::arithmetic::elementary::{clamp, exponential, square_root};

/// The shape of a kernel, before signal variance and constant.
///
/// ```
/// use hambo_core::model::Kernel;
/// // Stored by its place: the order is the format.
/// let mut buffer = [0; 4];
/// let bytes = postcard::to_slice(&Kernel::Matern52, &mut buffer).unwrap();
/// assert_eq!(bytes, [2]);
/// assert_eq!(postcard::from_bytes(bytes), Ok(Kernel::Matern52));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kernel {
    /// exp(−r² / 2).
    Rbf,
    /// (1 + √3 r) exp(−√3 r).
    Matern32,
    /// (1 + √5 r + 5 r² / 3) exp(−√5 r).
    Matern52,
    /// Σ x_d x′_d / l_d².
    Linear,
}

const ROOT_3: f32 = 1.732_050_8;
const ROOT_5: f32 = 2.236_068;
/// Beyond this the exponential is 0, and the polynomial before it stays finite.
const FAR: f32 = 1000.0;

impl Kernel {
    /// The number that [`Self::value_and_slope`] takes, for one stored point.
    pub(super) fn measure<const B: usize>(
        self,
        input: &[[f32; B]],
        point: &[f32],
        precision: &[f32],
    ) -> [f32; B] {
        let mut measure = [0.0; B];
        for ((x, p), precision) in input.iter().zip(point).zip(precision) {
            if self == Self::Linear {
                let weight = *precision * *p;
                for (sum, x) in measure.iter_mut().zip(x) {
                    *sum += weight * *x;
                }
            } else {
                for (sum, x) in measure.iter_mut().zip(x) {
                    let difference = *x - *p;
                    *sum += *precision * (difference * difference);
                }
            }
        }
        measure
    }

    /// The kernel and its derivative in the measure.
    pub(super) fn value_and_slope(self, measure: f32) -> (f32, f32) {
        match self {
            Self::Rbf => {
                let value = exponential(-0.5 * measure);
                (value, -0.5 * value)
            }
            Self::Matern32 => {
                let t = clamp(ROOT_3 * square_root(measure), 0.0, FAR);
                let decay = exponential(-t);
                ((1.0 + t) * decay, -1.5 * decay)
            }
            Self::Matern52 => {
                let t = clamp(ROOT_5 * square_root(measure), 0.0, FAR);
                let decay = exponential(-t);
                let linear = 1.0 + t;
                let value = (linear + t * t * (1.0 / 3.0)) * decay;
                (value, -(5.0 / 6.0) * (linear * decay))
            }
            Self::Linear => (measure, 1.0),
        }
    }

    /// Adds to `gradient` the derivative of the measure in input d, without
    /// its precision, times a weight for each lane.
    pub(super) fn add_direction<const B: usize>(
        self,
        weight: &[f32; B],
        x: &[f32; B],
        point: f32,
        gradient: &mut [f32; B],
    ) {
        if self == Self::Linear {
            for (sum, w) in gradient.iter_mut().zip(weight) {
                *sum += *w * point;
            }
        } else {
            for ((sum, w), x) in gradient.iter_mut().zip(weight).zip(x) {
                *sum += *w * (2.0 * (*x - point));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        let close = |found: f32, expected: f32| assert!((found - expected).abs() < 3e-7);
        // r = 2, from a calculator.
        close(Kernel::Rbf.value_and_slope(4.0).0, 0.135_335_28);
        close(Kernel::Matern32.value_and_slope(4.0).0, 0.139_731_35);
        close(Kernel::Matern52.value_and_slope(4.0).0, 0.138_660_22);
        assert_eq!(Kernel::Linear.value_and_slope(4.0), (4.0, 1.0));
        for kernel in [Kernel::Rbf, Kernel::Matern32, Kernel::Matern52] {
            assert_eq!(kernel.value_and_slope(0.0).0, 1.0);
            assert_eq!(kernel.value_and_slope(f32::INFINITY).0, 0.0);
            assert!(kernel.value_and_slope(f32::NAN).0.is_nan());
        }
    }
}
