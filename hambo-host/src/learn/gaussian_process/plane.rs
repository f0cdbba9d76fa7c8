//! The linear kernel's posterior: a plane and the covariance of its
//! coefficients.
//!
//! With z = (x / l, 1), the prior covariance Λ = diag(signal, …, constant) and
//! B = 1 + Λ^½ Zᵀ Z Λ^½ / noise = R Rᵀ, the covariance is Cᵀ C for the lower
//! triangular C = R⁻¹ Λ^½.

use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par, Side};

use super::OutputFit;
use super::blocks::lower_blocks;
use super::fit::free_registers;

/// A plane.
pub(super) struct Plane {
    /// How the mean grows with each x / l.
    pub weights: Vec<f64>,
    /// C in blocks of four rows, column-major inside a block.
    pub blocks: Vec<f64>,
    /// Frobenius' norm of C.
    pub norm: f64,
}

impl Plane {
    /// Of a fit to these points, row-major; `None` if there is no such
    /// factor.
    pub fn new(fit: &OutputFit, points: &[f64]) -> Option<Self> {
        let hyperparameters = &fit.hyperparameters;
        let columns = hyperparameters.lengthscales.len();
        let (signal, constant) = (
            hyperparameters.signal_variance,
            hyperparameters.constant_variance,
        );
        let noise = hyperparameters.noise_variance + fit.jitter;
        let roots: Vec<f64> = std::iter::repeat_n(signal.sqrt(), columns)
            .chain([constant.sqrt()])
            .collect();
        let mut weights = vec![0.0; columns];
        let mut precision = Mat::<f64>::identity(columns + 1, columns + 1);
        for (point, alpha) in points.chunks_exact(columns).zip(&fit.alpha) {
            let z = point.iter().zip(&hyperparameters.lengthscales);
            let z: Vec<f64> = z.map(|(x, l)| x / l).chain([1.0]).collect();
            for (weight, z) in weights.iter_mut().zip(&z) {
                *weight += signal * alpha * z;
            }
            let scaled: Vec<f64> = z.iter().zip(&roots).map(|(z, root)| z * root).collect();
            for (i, own) in scaled.iter().enumerate() {
                for (j, other) in scaled.iter().enumerate().take(i + 1) {
                    precision[(i, j)] += own * other / noise;
                }
            }
        }
        let factor = precision.llt(Side::Lower).ok()?;
        let mut inverse = Mat::<f64>::zeros(columns + 1, columns + 1);
        invert_lower_triangular(inverse.as_mut(), factor.L(), Par::Seq);
        free_registers();
        let blocks = lower_blocks(columns + 1, |row, column| {
            let root = roots
                .get(column)
                .filter(|_| row <= columns && column <= row)?;
            Some(inverse[(row, column)] * root)
        });
        let norm = blocks.iter().map(|c| c * c).sum::<f64>().sqrt();
        norm.is_finite().then_some(Self {
            weights,
            blocks,
            norm,
        })
    }
}
