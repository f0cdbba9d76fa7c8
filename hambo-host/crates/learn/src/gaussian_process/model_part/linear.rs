//! An output with the linear kernel, as the core stores it: a plane and the
//! covariance of its coefficients.
//!
//! With z = (x / l, 1), the prior covariance Λ = diag(signal, …, constant) and
//! B = 1 + Λ^½ Zᵀ Z Λ^½ / noise = R Rᵀ, the covariance is Cᵀ C for the lower
//! triangular C = R⁻¹ Λ^½.
//!
//! The standard deviation is off by (dx + 5) u |C| |z|, and by (dx + 4) u of
//! itself for the sum of squares; the mean by (dx + 6) u |w| |x|, u = 2⁻²⁴.

use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par, Side};
use hambo_core::model::OutputNumbers;
use hambo_core::numeric::dense::TILE;

use super::factors;
use super::rounding::{MARGIN, UNIT, round_up};
use crate::gaussian_process::cholesky::free_registers;
use crate::gaussian_process::posterior::{GaussianProcessFit, OutputFit};
use hambo_task::image::ArenaWriter;

/// Writes one output; `None` if there is no factor C.
pub(super) fn put(
    fit: &GaussianProcessFit,
    output: &OutputFit,
    arena: &mut ArenaWriter,
) -> Option<()> {
    let plane = Plane::new(output, &fit.points)?;
    arena.put(numbers(output, &plane).to_tiles().concat());
    arena.put(factors(fit, output, 1.0));
    arena.put(plane.weights.iter().map(|x| *x as f32));
    // C as a dense layer: its last column, then blocks of four rows.
    let (bias, rows) = (plane.weights.len(), plane.weights.len() + 1);
    let entry = |row: usize, column: usize| {
        if row < rows {
            plane.factor[(row, column)] as f32
        } else {
            0.0
        }
    };
    arena.put((0..rows).map(|row| entry(row, bias)));
    for block in (0..rows).step_by(TILE) {
        for column in 0..bias {
            arena.put((block..block + TILE).map(|row| entry(row, column)));
        }
    }
    Some(())
}

fn numbers(fit: &OutputFit, plane: &Plane) -> OutputNumbers {
    let hyperparameters = &fit.hyperparameters;
    let signal = hyperparameters.signal_variance;
    let constant = hyperparameters.constant_variance;
    let inputs = hyperparameters.lengthscales.len() as f64;
    let squares = MARGIN * (inputs + 4.0) * UNIT;
    let offset = constant * fit.alpha.iter().sum::<f64>();
    let slope = plane.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    let product = (inputs + 5.0) * UNIT * plane.factor.norm_l2();
    let query = 3.0 * UNIT * hyperparameters.lipschitz_per_lengthscale();
    OutputNumbers {
        signal_variance: signal as f32,
        prior_variance: (signal + constant) as f32,
        noise_std: hyperparameters.noise_variance.sqrt() as f32,
        // Only so that no derivative divides by zero.
        variance_error: round_up(UNIT * UNIT * signal),
        std_factor: (1.0 + squares) as f32 + f32::EPSILON,
        std_error: round_up(product + 5.0 * UNIT * offset.abs()),
        std_error_growth: round_up(product + query + (inputs + 6.0) * UNIT * slope),
        mean_offset: offset as f32,
        weight_unit: 1.0,
        coordinate_unit: 1.0,
    }
}

struct Plane {
    /// How the mean grows with each x / l.
    weights: Vec<f64>,
    /// C.
    factor: Mat<f64>,
}

impl Plane {
    /// Of a fit to these points, row-major; `None` if there is no such
    /// factor.
    fn new(fit: &OutputFit, points: &[f64]) -> Option<Self> {
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
        let (_, held) = fit.targets();
        let points = points.chunks_exact(columns).zip(&fit.alpha).enumerate();
        for (_, (point, alpha)) in points.filter(|(place, _)| !held.at(*place)) {
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
        // C = R⁻¹ Λ^½.
        let mut factor = inverse;
        for (column, root) in roots.iter().enumerate() {
            for row in 0..=columns {
                factor[(row, column)] *= root;
            }
        }
        let finite = factor.norm_l2().is_finite();
        finite.then_some(Self { weights, factor })
    }
}
