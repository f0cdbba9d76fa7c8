//! One Gaussian process for each output, with its own hyperparameters and the
//! inputs of all: mu_n and sigma_n of equation (4).
//!
//! With k_i = k(x, x_i), K + noise · 1 = L Lᵀ and M = L⁻¹, the mean is kᵀ
//! alpha and the variance k(x, x) − |M k|². The factorisation is the host's;
//! M is stored, so that a query costs one triangular product for each output
//! and its derivative a second one.
//!
//! The mean's terms are large and cancel: it is summed in integers. The
//! variance is a difference of almost equal numbers; it is rounded up by a
//! bound on all that f32 loses. See [`posterior`].

mod coordinates;
mod kernel;
mod numbers;
mod posterior;
mod pull_back;

pub use coordinates::{FRACTION_BITS, WEIGHT_LIMIT, coordinate_limit, whole_to_bits};
pub use kernel::Kernel;
pub use numbers::OutputNumbers;

use heapless::Vec;

use super::{Prediction, PredictionCotangent, Standardisation};
use crate::arithmetic::dense::{TILE, padded};
use crate::arithmetic::triangular::LowerTriangular;
use coordinates::{fraction_bits_of, is_within};
use numbers::NUMBER_TILES;

/// The largest number of outputs.
pub const MAX_OUTPUTS: usize = 64;

/// Gaussian processes whose numbers are borrowed.
///
/// ```
/// use hambo_core::model::{
///     GaussianProcess, Kernel, OutputNumbers, Prediction, Standardisation, whole_to_bits,
/// };
/// // One point, at the origin, where s' - s = 1 was seen with the noise variance 1.
/// let unit = 1.0 / 65_536.0;
/// let numbers = OutputNumbers {
///     signal_variance: 1.0,
///     constant_variance: 0.0,
///     noise_std: 1.0,
///     prior_inflation: 1.0 + f32::EPSILON,
///     kernel_error: 0.0,
///     kernel_error_growth: 0.0,
///     std_factor: 1.0,
///     std_error: 0.0,
///     std_error_growth: 0.0,
///     mean_offset: 0.0,
///     weight_unit: 0.5 * unit / 1_048_576.0,
///     coordinate_unit: unit,
/// };
/// // Numbers, coordinates for each unit of (s, a), no linear weights.
/// let factor = Kernel::Rbf.coordinates_per_lengthscale() as f32 / unit;
/// let mut tiles = numbers.to_tiles().to_vec();
/// tiles.extend([[factor, factor, 0.0, 0.0], [0.0; 4]]);
/// // The point, and alpha = 1 / (1 + 1) in 2²⁰ units.
/// let whole = |number| f32::from_bits(whole_to_bits(number));
/// tiles.extend([[whole(0), whole(0), 0.0, 0.0], [whole(1 << 20), 0.0, 0.0, 0.0]]);
/// // Two error terms, M = 1 / sqrt(1 + 1).
/// tiles.extend([[0.0; 4], [0.0; 4]]);
/// tiles.extend([[0.5_f32.sqrt(), 0.0, 0.0, 0.0], [0.0; 4], [0.0; 4], [0.0; 4]]);
/// assert_eq!(GaussianProcess::tiles_per_output(1, 2), Some(tiles.len()));
/// let units = Standardisation {
///     input_mean: &[0.0; 2],
///     input_scale: &[1.0; 2],
///     output_mean: &[0.0],
///     output_scale: &[1.0],
/// };
/// let process = GaussianProcess::new(&[Kernel::Rbf], 1, units, &tiles).ok_or("bad sizes")?;
/// assert_eq!(process.points(), 1);
/// let mut scratch = vec![[0.0; 2]; process.scratch_rows().ok_or("too large")?];
/// let (mut mean, mut epistemic, mut aleatoric) = ([[0.0; 2]], [[0.0; 2]], [[0.0; 2]]);
/// let mut prediction = Prediction {
///     mean: &mut mean,
///     epistemic_std: &mut epistemic,
///     aleatoric_std: &mut aleatoric,
/// };
/// // At the point half of the prior variance is left, far away all of it.
/// process.predict(&[[0.0, 9.0]], &[[0.0, 9.0]], &mut scratch, &mut prediction);
/// assert!((mean[0][0] - 0.5).abs() < 1e-6 && mean[0][1].abs() < 1e-6);
/// assert!((epistemic[0][0] - 0.5_f32.sqrt()).abs() < 1e-5);
/// assert!((epistemic[0][1] - 1.0).abs() < 1e-5);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct GaussianProcess<'a> {
    state_dimension: usize,
    action_dimension: usize,
    points: usize,
    kernels: Vec<Kernel, MAX_OUTPUTS>,
    standardisation: Standardisation<'a>,
    /// The largest coordinate.
    limit: i32,
    /// The outputs, one after the other.
    tiles: &'a [[f32; TILE]],
    tiles_per_output: usize,
}

/// What is stored for one output.
#[derive(Clone, Copy, Debug)]
struct Output<'a> {
    pub kernel: Kernel,
    pub numbers: OutputNumbers,
    /// q of the coordinates' unit.
    pub fraction_bits: u32,
    /// The largest coordinate.
    pub limit: f32,
    /// Coordinates for each unit of an input.
    pub factors: &'a [f32],
    /// What the mean grows by for each coordinate; only the linear kernel's.
    pub linear_weights: &'a [f32],
    /// The points' coordinates, stored whole, point by point.
    pub coordinates: &'a [f32],
    /// alpha times the signal variance, stored whole.
    pub weights: &'a [f32],
    /// Σ_j |M_ij| for each row i.
    pub row_sums: &'a [[f32; TILE]],
    /// What rounding adds to row i of M k, for each unit of max |k|.
    pub product_errors: &'a [[f32; TILE]],
    /// M.
    pub factor: LowerTriangular<'a>,
}

/// The rows of a Gaussian process's scratch.
struct Scratch<'r, const B: usize> {
    /// Inputs less their means.
    input: &'r mut [[f32; B]],
    /// The coordinates of one output.
    query: &'r mut [[f32; B]],
    /// k, and on the way back Mᵀ v.
    kernel: &'r mut [[f32; B]],
    /// The standard deviation of each output before it is rounded up for the
    /// moves, standardised.
    std: &'r mut [[f32; B]],
    /// For each output the derivatives of k in its measure, then v = M k
    /// after rounding towards zero.
    outputs: &'r mut [[f32; B]],
}

impl<'a> GaussianProcess<'a> {
    /// The tiles that one output takes: its [`OutputNumbers`], a factor and a
    /// linear weight for each input, the points, their weights, two error
    /// terms for each row of M, and M itself, each padded to whole tiles.
    #[must_use]
    pub fn tiles_per_output(points: usize, inputs: usize) -> Option<usize> {
        points
            .div_ceil(TILE)
            .checked_mul(3)?
            .checked_add(inputs.div_ceil(TILE).checked_mul(2)?)?
            .checked_add(points.checked_mul(inputs)?.div_ceil(TILE))?
            .checked_add(NUMBER_TILES)?
            .checked_add(LowerTriangular::tiles(points)?)
            .filter(|_| points > 0 && inputs > 0)
    }

    /// One process for each of `kernels` over so many points; `None` if sizes
    /// do not fit together.
    #[must_use]
    pub fn new(
        kernels: &[Kernel],
        points: usize,
        standardisation: Standardisation<'a>,
        tiles: &'a [[f32; TILE]],
    ) -> Option<Self> {
        let state_dimension = standardisation.output_mean.len();
        let columns = standardisation.input_mean.len();
        let tiles_per_output = Self::tiles_per_output(points, columns)?;
        let all_there = state_dimension > 0
            && kernels.len() == state_dimension
            && tiles.len() == tiles_per_output.checked_mul(state_dimension)?
            && standardisation.input_scale.len() == columns
            && standardisation.output_scale.len() == state_dimension;
        let action_dimension = columns.checked_sub(state_dimension)?;
        let kernels = Vec::from_slice(kernels).ok()?;
        all_there.then_some(Self {
            state_dimension,
            action_dimension,
            points,
            kernels,
            standardisation,
            limit: coordinate_limit(columns)?,
            tiles,
            tiles_per_output,
        })
    }

    /// ds.
    #[must_use]
    pub fn state_dimension(&self) -> usize {
        self.state_dimension
    }

    /// da.
    #[must_use]
    pub fn action_dimension(&self) -> usize {
        self.action_dimension
    }

    /// N.
    #[must_use]
    pub fn points(&self) -> usize {
        self.points
    }

    /// Width of (s, a).
    fn columns(&self) -> usize {
        self.standardisation.input_mean.len()
    }

    /// The rows of scratch that [`Self::predict`] needs.
    #[must_use]
    pub fn scratch_rows(&self) -> Option<usize> {
        let rows = padded(self.points);
        self.state_dimension
            .checked_mul(rows.checked_mul(2)?.checked_add(1)?)?
            .checked_add(rows)?
            .checked_add(self.columns().checked_mul(2)?)
    }

    fn carve<'r, const B: usize>(&self, rows: &'r mut [[f32; B]]) -> Option<Scratch<'r, B>> {
        let kernel = padded(self.points);
        let outputs = kernel.checked_mul(2)?.checked_mul(self.state_dimension)?;
        let (input, rows) = rows.split_at_mut_checked(self.columns())?;
        let (query, rows) = rows.split_at_mut_checked(self.columns())?;
        let (kernel, rows) = rows.split_at_mut_checked(kernel)?;
        let (std, rows) = rows.split_at_mut_checked(self.state_dimension)?;
        let (outputs, _) = rows.split_at_mut_checked(outputs)?;
        Some(Scratch {
            input,
            query,
            kernel,
            std,
            outputs,
        })
    }

    /// What is stored for output `dimension`.
    fn output(&self, dimension: usize) -> Option<Output<'a>> {
        let per_point = self.points.div_ceil(TILE);
        let columns = self.columns();
        let first = dimension.checked_mul(self.tiles_per_output)?;
        let tiles = self.tiles.get(first..)?.get(..self.tiles_per_output)?;
        let (numbers, tiles) = tiles.split_first_chunk::<NUMBER_TILES>()?;
        let (factors, tiles) = tiles.split_at_checked(columns.div_ceil(TILE))?;
        let (linear_weights, tiles) = tiles.split_at_checked(columns.div_ceil(TILE))?;
        let coordinates = self.points.checked_mul(columns)?;
        let (stored, tiles) = tiles.split_at_checked(coordinates.div_ceil(TILE))?;
        let (weights, tiles) = tiles.split_at_checked(per_point)?;
        let (row_sums, tiles) = tiles.split_at_checked(per_point)?;
        let (product_errors, tiles) = tiles.split_at_checked(per_point)?;
        let numbers = OutputNumbers::from_tiles(numbers);
        Some(Output {
            kernel: *self.kernels.get(dimension)?,
            numbers,
            fraction_bits: fraction_bits_of(numbers.coordinate_unit)?,
            limit: self.limit as f32,
            factors: factors.as_flattened().get(..columns)?,
            linear_weights: linear_weights.as_flattened().get(..columns)?,
            coordinates: stored.as_flattened().get(..coordinates)?,
            weights: weights.as_flattened().get(..self.points)?,
            row_sums,
            product_errors,
            factor: LowerTriangular::new(tiles, self.points)?,
        })
    }

    /// Whether the finite numbers of an output are in their ranges, such that
    /// no integer sum can overflow.
    pub(crate) fn has_sound_numbers(&self, dimension: usize) -> bool {
        let Some(output) = self.output(dimension) else {
            return false;
        };
        let mut errors = output.row_sums.iter().chain(output.product_errors);
        output.numbers.in_range()
            && output.factors.iter().all(|x| *x > 0.0)
            && errors.all(|tile| tile.iter().all(|x| *x >= 0.0))
            && output.coordinates.iter().all(|x| is_within(*x, self.limit))
            && output.weights.iter().all(|x| is_within(*x, WEIGHT_LIMIT))
    }

    /// See [`super::Dynamics::predict`].
    pub fn predict<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        prediction: &mut Prediction<'_, B>,
    ) {
        // A scratch that is too short leaves NaN, which never deploys.
        if self
            .try_predict(state, action, scratch, prediction)
            .is_none()
        {
            for row in prediction.mean.iter_mut() {
                *row = [f32::NAN; B];
            }
        }
    }

    fn try_predict<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        prediction: &mut Prediction<'_, B>,
    ) -> Option<()> {
        let Scratch {
            input,
            query,
            kernel,
            std,
            outputs,
        } = self.carve(scratch)?;
        let units = &self.standardisation;
        let inputs = input.iter_mut().zip(state.iter().chain(action));
        for ((row, x), mean) in inputs.zip(units.input_mean) {
            for (y, x) in row.iter_mut().zip(x) {
                *y = *x - *mean;
            }
        }
        let parts = prediction
            .mean
            .iter_mut()
            .zip(prediction.epistemic_std.iter_mut())
            .zip(prediction.aleatoric_std.iter_mut());
        let units = units.output_mean.iter().zip(units.output_scale);
        let rows = padded(self.points);
        let mut rest = outputs;
        for (dimension, ((((mean, epistemic), aleatoric), (shift, scale)), std)) in
            parts.zip(units).zip(std.iter_mut()).enumerate()
        {
            let output = self.output(dimension)?;
            let (slopes, after) = rest.split_at_mut_checked(rows)?;
            let (projection, after) = after.split_at_mut_checked(rows)?;
            rest = after;
            let standardised = output.posterior(input, query, kernel, slopes, projection)?;
            for (y, m) in mean.iter_mut().zip(&standardised.mean) {
                *y = *shift + *scale * *m;
            }
            for (y, s) in epistemic.iter_mut().zip(&standardised.std) {
                *y = *scale * *s;
            }
            *aleatoric = [*scale * output.numbers.noise_std; B];
            *std = standardised.core_std;
        }
        Some(())
    }

    /// See [`super::Dynamics::pull_back`].
    pub fn pull_back<const B: usize>(
        &self,
        cotangent: &PredictionCotangent<'_, B>,
        scratch: &mut [[f32; B]],
        state_cotangent: &mut [[f32; B]],
        action_cotangent: &mut [[f32; B]],
    ) {
        // A scratch that is too short gives a zero gradient: the adversary
        // stays where it is and the forward sweep reports the NaN.
        let _ = self.try_pull_back(cotangent, scratch, state_cotangent, action_cotangent);
    }
}

impl<'a> Output<'a> {
    /// The stored points, one after the other.
    fn stored_points(&self) -> impl Iterator<Item = &'a [f32]> + use<'a> {
        self.coordinates.chunks_exact(self.factors.len().max(1))
    }
}
