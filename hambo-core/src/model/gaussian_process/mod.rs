//! One Gaussian process for each output, with its own hyperparameters and the
//! inputs of all: mu_n and sigma_n of equation (4).
//!
//! With k_i = k(x, x_i), K + noise · 1 = L Lᵀ and M = L⁻¹, the mean is kᵀ
//! alpha and the variance k(x, x) − |M k|². The factorisation is the host's;
//! M is stored, so that a query costs one triangular product for each output
//! and its derivative a second one.
//!
//! The terms of these sums are large and cancel. The mean is summed in
//! integers, and so is the variance where f32 would lose too much of it
//! ([`factor`]); the standard deviation is rounded up by a bound on all that
//! is lost: see [`posterior`]. [`stationary`] is the arithmetic of most
//! kernels, [`plane`] that of the linear one.

mod coordinates;
mod factor;
mod kernel;
mod numbers;
mod plane;
mod posterior;
mod stationary;

pub use coordinates::{FRACTION_BITS, WEIGHT_LIMIT, coordinate_limit, whole_to_bits};
pub use factor::Arithmetic;
pub use kernel::Kernel;
pub use numbers::OutputNumbers;

use heapless::Vec;

use super::{Prediction, PredictionCotangent, Standardisation};
use crate::arithmetic::dense::{TILE, padded};
use numbers::NUMBER_TILES;
use plane::PlaneOutput;
use stationary::StationaryOutput;

/// The largest number of outputs.
pub const MAX_OUTPUTS: usize = 64;

/// Gaussian processes whose numbers are borrowed.
///
/// ```
/// use hambo_core::model::{
///     Arithmetic, GaussianProcess, Kernel, OutputNumbers, Prediction, Standardisation, whole_to_bits,
/// };
/// // One point, at the origin, where s' - s = 1 was seen with the noise variance 1.
/// let unit = 1.0 / 65_536.0;
/// let numbers = OutputNumbers {
///     signal_variance: 1.0,
///     prior_variance: 1.0,
///     noise_std: 1.0,
///     variance_error: 1e-9,
///     std_factor: 1.0,
///     std_error: 0.0,
///     std_error_growth: 0.0,
///     mean_offset: 0.0,
///     weight_unit: 0.5 * unit / 1_048_576.0,
///     coordinate_unit: unit,
///     constant_variance: 0.0,
///     kernel_error: 0.0,
/// };
/// // Numbers, and coordinates for each unit of (s, a).
/// let factor = Kernel::Rbf.coordinates_per_lengthscale() as f32 / unit;
/// let mut tiles = numbers.to_tiles().to_vec();
/// tiles.push([factor, factor, 0.0, 0.0]);
/// // The point, and alpha = 1 / (1 + 1) in 2²⁰ units.
/// let stored = |number| f32::from_bits(whole_to_bits(number));
/// tiles.extend([[stored(0), stored(0), 0.0, 0.0], [stored(1 << 20), 0.0, 0.0, 0.0]]);
/// // M = 1 / sqrt(1 + 1) in units of 2⁻³¹, and no offset; rows beyond it are shifted, too.
/// let whole = |number: i32| f32::from_bits(number as u32);
/// tiles.extend([[31, 1, 1, 1].map(whole), [0.0; 4]]);
/// tiles.extend([[whole(1_518_500_250), 0.0, 0.0, 0.0], [0.0; 4], [0.0; 4], [0.0; 4]]);
/// assert_eq!(GaussianProcess::output_tiles(Kernel::Rbf, 1, 2), Some(tiles.len()));
/// let units = Standardisation {
///     input_mean: &[0.0; 2],
///     input_scale: &[1.0; 2],
///     output_mean: &[0.0],
///     output_scale: &[1.0],
/// };
/// let kernels = [(Kernel::Rbf, Arithmetic::Whole)];
/// let process = GaussianProcess::new(&kernels, 1, units, &tiles).ok_or("bad sizes")?;
/// assert_eq!((process.points(), process.kernels()), (1, &kernels[..]));
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
/// assert!((epistemic[0][0] - 0.5_f32.sqrt()).abs() < 1e-6);
/// assert!((epistemic[0][1] - 1.0).abs() < 1e-6);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct GaussianProcess<'a> {
    state_dimension: usize,
    action_dimension: usize,
    points: usize,
    kernels: Vec<(Kernel, Arithmetic), MAX_OUTPUTS>,
    standardisation: Standardisation<'a>,
    /// The outputs, one after the other.
    tiles: &'a [[f32; TILE]],
}

/// What is stored for one output.
#[derive(Clone, Copy, Debug)]
enum Output<'a> {
    Stationary(StationaryOutput<'a>),
    Plane(PlaneOutput<'a>),
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
    /// For each output the derivatives of k in its measure, then v = M k.
    outputs: &'r mut [[f32; B]],
}

/// The rows that one output works with.
struct OutputRows<'r, const B: usize> {
    query: &'r mut [[f32; B]],
    kernel: &'r mut [[f32; B]],
    slopes: &'r mut [[f32; B]],
    projection: &'r mut [[f32; B]],
}

impl<'a> GaussianProcess<'a> {
    /// The tiles that one output takes: its [`OutputNumbers`], a factor for
    /// each input, and
    /// - for a stationary kernel the points, their weights, two numbers for
    ///   each row of M, and M itself;
    /// - for the linear kernel a weight for each input, and a triangular
    ///   matrix with a row for each input and one for the constant;
    ///
    /// each padded to whole tiles.
    #[must_use]
    pub fn output_tiles(kernel: Kernel, points: usize, inputs: usize) -> Option<usize> {
        let tiles = match kernel {
            Kernel::Linear => PlaneOutput::tiles(inputs),
            Kernel::Rbf | Kernel::Matern32 | Kernel::Matern52 => {
                StationaryOutput::tiles(points, inputs)
            }
        };
        tiles?
            .checked_add(NUMBER_TILES)
            .filter(|_| points > 0 && inputs > 0)
    }

    /// The tiles of so many outputs.
    pub(crate) fn tiles(
        kernels: &[(Kernel, Arithmetic)],
        points: usize,
        inputs: usize,
    ) -> Option<usize> {
        kernels.iter().try_fold(0_usize, |sum, (kernel, _)| {
            sum.checked_add(Self::output_tiles(*kernel, points, inputs)?)
        })
    }

    /// One process for each of `kernels` over so many points; `None` if sizes
    /// do not fit together.
    #[must_use]
    pub fn new(
        kernels: &[(Kernel, Arithmetic)],
        points: usize,
        standardisation: Standardisation<'a>,
        tiles: &'a [[f32; TILE]],
    ) -> Option<Self> {
        let state_dimension = standardisation.output_mean.len();
        let columns = standardisation.input_mean.len();
        let all_there = state_dimension > 0
            && kernels.len() == state_dimension
            && tiles.len() == Self::tiles(kernels, points, columns)?
            && standardisation.input_scale.len() == columns
            && standardisation.output_scale.len() == state_dimension;
        let action_dimension = columns.checked_sub(state_dimension)?;
        coordinate_limit(columns)?;
        let kernels = Vec::from_slice(kernels).ok()?;
        all_there.then_some(Self {
            state_dimension,
            action_dimension,
            points,
            kernels,
            standardisation,
            tiles,
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

    /// The kernel of each output, and how its M k is summed.
    #[must_use]
    pub fn kernels(&self) -> &[(Kernel, Arithmetic)] {
        &self.kernels
    }

    /// Width of (s, a).
    fn columns(&self) -> usize {
        self.standardisation.input_mean.len()
    }

    /// The rows of the largest vector that an output is multiplied with.
    fn rows(&self) -> Option<usize> {
        Some(padded(self.points.max(self.columns().checked_add(1)?)))
    }

    /// The rows of scratch that [`Self::predict`] needs.
    #[must_use]
    pub fn scratch_rows(&self) -> Option<usize> {
        let rows = self.rows()?;
        self.state_dimension
            .checked_mul(rows.checked_mul(2)?.checked_add(1)?)?
            .checked_add(rows)?
            .checked_add(self.columns().checked_mul(2)?)
    }

    fn carve<'r, const B: usize>(&self, rows: &'r mut [[f32; B]]) -> Option<Scratch<'r, B>> {
        let kernel = self.rows()?;
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

    /// The outputs with their numbers, one after the other.
    fn outputs(&self) -> impl Iterator<Item = Option<(OutputNumbers, Output<'a>)>> {
        let mut rest = self.tiles;
        let (points, columns) = (self.points, self.columns());
        self.kernels.iter().map(move |(kernel, arithmetic)| {
            let tiles = Self::output_tiles(*kernel, points, columns)?;
            let (tiles, after) = rest.split_at_checked(tiles)?;
            rest = after;
            let (numbers, tiles) = tiles.split_first_chunk::<NUMBER_TILES>()?;
            let numbers = OutputNumbers::from_tiles(numbers);
            let output = match kernel {
                Kernel::Linear => Output::Plane(PlaneOutput::new(numbers, columns, tiles)?),
                Kernel::Rbf | Kernel::Matern32 | Kernel::Matern52 => {
                    let output = StationaryOutput::new(
                        (*kernel, *arithmetic),
                        numbers,
                        points,
                        columns,
                        tiles,
                    );
                    Output::Stationary(output?)
                }
            };
            Some((numbers, output))
        })
    }

    /// Whether all numbers are in their ranges, such that no integer sum can
    /// overflow.
    pub(crate) fn has_sound_numbers(&self) -> bool {
        let mut outputs = self.outputs();
        outputs.all(|output| {
            output.is_some_and(|(numbers, output)| {
                numbers.in_range()
                    && match output {
                        Output::Stationary(output) => output.is_sound(),
                        Output::Plane(output) => output.is_sound(),
                    }
            })
        })
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
        let rows = self.rows()?;
        let mut rest = outputs;
        for (output, ((((mean, epistemic), aleatoric), (shift, scale)), std)) in
            self.outputs().zip(parts.zip(units).zip(std.iter_mut()))
        {
            let (numbers, output) = output?;
            let (slopes, after) = rest.split_at_mut_checked(rows)?;
            let (projection, after) = after.split_at_mut_checked(rows)?;
            rest = after;
            let rows = OutputRows {
                query,
                kernel,
                slopes,
                projection,
            };
            let standardised = match output {
                Output::Stationary(output) => output.posterior(input, rows)?,
                Output::Plane(output) => output.posterior(input, rows)?,
            };
            for (y, m) in mean.iter_mut().zip(&standardised.mean) {
                *y = *shift + *scale * *m;
            }
            for (y, s) in epistemic.iter_mut().zip(&standardised.std) {
                *y = *scale * *s;
            }
            *aleatoric = [*scale * numbers.noise_std; B];
            *std = standardised.core_std;
        }
        Some(())
    }

    /// The derivatives of mean and standard deviation in the input: d mu / dx
    /// = k′ᵀ alpha, and d sigma / dx = (k′(x, x) / 2 − k′ᵀ Mᵀ v) / sigma,
    /// their error bounds held fixed. They steer the adversary and enter no
    /// bound, so they are in f32. See [`super::Dynamics::pull_back`].
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

    fn try_pull_back<const B: usize>(
        &self,
        cotangent: &PredictionCotangent<'_, B>,
        scratch: &mut [[f32; B]],
        state_cotangent: &mut [[f32; B]],
        action_cotangent: &mut [[f32; B]],
    ) -> Option<()> {
        let Scratch {
            input,
            query,
            kernel,
            std,
            outputs,
        } = self.carve(scratch)?;
        let rows = self.rows()?;
        let mut rest = outputs;
        let cotangents = cotangent.mean.iter().zip(cotangent.epistemic_std);
        let scales = self.standardisation.output_scale;
        for (output, (((c_mean, c_std), scale), std)) in
            self.outputs().zip(cotangents.zip(scales).zip(std.iter()))
        {
            let (_, output) = output?;
            let (slopes, after) = rest.split_at_mut_checked(rows)?;
            let (projection, after) = after.split_at_mut_checked(rows)?;
            rest = after;
            let rows = OutputRows {
                query,
                kernel,
                slopes,
                projection,
            };
            let c_mean = c_mean.map(|c| *scale * c);
            // d objective / d sigma, divided by sigma.
            let mut c_std = c_std.map(|c| *scale * c);
            for (c, s) in c_std.iter_mut().zip(std) {
                *c = if *s > 0.0 { *c / *s } else { 0.0 };
            }
            let inputs = state_cotangent
                .iter_mut()
                .chain(action_cotangent.iter_mut());
            let cotangents = (&c_mean, &c_std);
            match output {
                Output::Stationary(output) => output.pull_back(cotangents, input, rows, inputs)?,
                Output::Plane(output) => output.pull_back(cotangents, rows, inputs)?,
            }
        }
        Some(())
    }
}
