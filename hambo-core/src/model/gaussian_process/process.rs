//! The outputs of a Gaussian process, one after the other.

use heapless::Vec;

use super::coordinates::coordinate_limit;
use super::kernel::Kernel;
use super::linear::LinearOutput;
use super::numbers::{NUMBER_TILES, OutputNumbers};
use super::output_rows::OutputRows;
use super::stationary::StationaryOutput;
use crate::model::prediction::{Prediction, PredictionCotangent};
use crate::model::standardisation::Standardisation;
use crate::numeric::checksum::Checksum;
use crate::numeric::dense::{TILE, padded};
use crate::numeric::{ParameterError, Slices};

pub(crate) const MAX_OUTPUTS: usize = 64;

/// Gaussian processes whose numbers are borrowed.
#[derive(Clone, Debug)]
pub struct GaussianProcess<'a> {
    features: usize,
    points: usize,
    kernels: Vec<Kernel, MAX_OUTPUTS>,
    /// Of each output; empty if every point is a group of its own.
    groups: Vec<u16, MAX_OUTPUTS>,
    standardisation: Standardisation<'a>,
    /// The outputs, one after the other.
    tiles: &'a [[f32; TILE]],
}

/// What is stored for one output.
#[derive(Clone, Copy, Debug)]
enum Output<'a> {
    Stationary(StationaryOutput<'a>),
    Linear(LinearOutput<'a>),
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

impl GaussianProcess<'_> {
    /// Adds all of it.
    pub(in crate::model) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            features,
            points,
            kernels,
            groups,
            standardisation,
            tiles,
        } = self;
        sum.value(&(features, points, kernels, groups));
        standardisation.add_to(sum);
        sum.place(*tiles);
    }
}

impl<'a> GaussianProcess<'a> {
    /// The tiles that one output takes: its [`OutputNumbers`], a factor for
    /// each input, and
    /// - for a stationary kernel the points, their weights, the sizes of the
    ///   groups if there are fewer than points, two numbers for each row of M,
    ///   and M itself;
    /// - for the linear kernel a weight for each input, and a matrix with a
    ///   row for each input and one for the constant;
    ///
    /// each padded to whole tiles.
    pub fn output_tiles(
        kernel: Kernel,
        points: usize,
        groups: usize,
        inputs: usize,
    ) -> Option<usize> {
        let tiles = match kernel {
            Kernel::Linear => LinearOutput::tiles(inputs),
            Kernel::Rbf | Kernel::Matern32 | Kernel::Matern52 => {
                StationaryOutput::tiles(points, groups, inputs)
            }
        };
        tiles?
            .checked_add(NUMBER_TILES)
            .filter(|_| points > 0 && inputs > 0)
    }

    /// One process for each of `kernels`, of `features` features of the state and the
    /// action, over `points` points. `groups` has a number of groups of points for each
    /// kernel; empty, each point is a group of its own.
    pub(crate) fn new(
        kernels: &[Kernel],
        features: usize,
        (points, groups): (usize, &[u16]),
        standardisation: Standardisation<'a>,
        tiles: &'a [[f32; TILE]],
    ) -> Result<Self, ParameterError> {
        let outputs = standardisation.output_mean.len();
        let columns = standardisation.input_mean.len();
        let size = ParameterError::size;
        size("kernels", outputs > 0 && kernels.len() == outputs)?;
        size("groups", groups.is_empty() || groups.len() == outputs)?;
        size("input_scale", standardisation.input_scale.len() == columns)?;
        size(
            "output_scale",
            standardisation.output_scale.len() == outputs,
        )?;
        size("noise_scale", standardisation.noise_scale.len() == outputs)?;
        size("inputs", coordinate_limit(columns).is_some())?;
        size("input_mean", columns >= features)?;
        size(
            "tiles",
            tiles_of(kernels, (points, groups), columns) == Some(tiles.len()),
        )?;
        Ok(Self {
            features,
            points,
            kernels: Vec::from_slice(kernels).map_err(|_| ParameterError::Size("kernels"))?,
            groups: Vec::from_slice(groups).map_err(|_| ParameterError::Size("groups"))?,
            standardisation,
            tiles,
        })
    }

    /// The inputs that describe the state.
    pub fn features(&self) -> usize {
        self.features
    }

    /// da.
    pub fn action_dimension(&self) -> usize {
        self.columns().saturating_sub(self.features)
    }

    /// N.
    pub fn points(&self) -> usize {
        self.points
    }

    /// The groups of points of each output; none if each point is alone.
    pub fn groups(&self) -> &[u16] {
        &self.groups
    }

    /// The kernel of each output.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    fn columns(&self) -> usize {
        self.standardisation.input_mean.len()
    }

    /// The rows of the largest vector that an output is multiplied with.
    fn rows(&self) -> Option<usize> {
        Some(padded(self.points.max(self.columns().checked_add(1)?)))
    }

    /// The rows of scratch that a prediction needs.
    pub fn scratch_rows(&self) -> Option<usize> {
        let rows = self.rows()?;
        self.kernels
            .len()
            .checked_mul(rows.checked_mul(2)?.checked_add(1)?)?
            .checked_add(rows)?
            .checked_add(self.columns().checked_mul(2)?)
    }

    fn carve<'r, const B: usize>(&self, rows: &'r mut [[f32; B]]) -> Option<Scratch<'r, B>> {
        let kernel = self.rows()?;
        let outputs = kernel.checked_mul(2)?.checked_mul(self.kernels.len())?;
        let (input, rows) = rows.split_at_mut_checked(self.columns())?;
        let (query, rows) = rows.split_at_mut_checked(self.columns())?;
        let (kernel, rows) = rows.split_at_mut_checked(kernel)?;
        let (std, rows) = rows.split_at_mut_checked(self.kernels.len())?;
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
        shapes(&self.kernels, points, &self.groups).map(move |(kernel, groups)| {
            let tiles = Self::output_tiles(kernel, points, groups, columns)?;
            let (tiles, after) = rest.split_at_checked(tiles)?;
            rest = after;
            let (numbers, tiles) = tiles.split_first_chunk::<NUMBER_TILES>()?;
            let numbers = OutputNumbers::from_tiles(numbers);
            let output = match kernel {
                Kernel::Linear => Output::Linear(LinearOutput::new(numbers, columns, tiles)?),
                Kernel::Rbf | Kernel::Matern32 | Kernel::Matern52 => {
                    let sizes = (points, groups);
                    let output = StationaryOutput::new(kernel, numbers, sizes, columns, tiles);
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
                        Output::Linear(output) => output.is_sound(),
                    }
            })
        })
    }

    /// See [`crate::model::Dynamics::predict`]. `None` if the scratch is too short, or a pause
    /// stopped the work.
    pub(crate) fn predict<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        prediction: &mut Prediction<'_, B>,
        slices: &Slices<'_>,
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
        let scales = units.output_scale.iter().zip(units.noise_scale);
        let units = units.output_mean.iter().zip(scales);
        let rows = self.rows()?;
        let mut rest = outputs;
        for (output, ((((mean, epistemic), aleatoric), (shift, (scale, noise))), std)) in
            self.outputs().zip(parts.zip(units).zip(std.iter_mut()))
        {
            let (numbers, output) = output?;
            slices.next()?;
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
                Output::Stationary(output) => output.posterior(input, rows, slices)?,
                Output::Linear(output) => output.posterior(input, rows)?,
            };
            for (y, m) in mean.iter_mut().zip(&standardised.mean) {
                *y = *shift + *scale * *m;
            }
            for (y, s) in epistemic.iter_mut().zip(&standardised.std) {
                *y = *scale * *s;
            }
            *aleatoric = [*noise * numbers.noise_std; B];
            *std = standardised.core_std;
        }
        Some(())
    }

    /// The derivatives of mean and standard deviation in the input: d mu / dx
    /// = k′ᵀ alpha, and d sigma / dx = (k′(x, x) / 2 − k′ᵀ Mᵀ v) / sigma,
    /// their error bounds held fixed. They steer the adversary and enter no
    /// bound, so they are in f32. See [`crate::model::Dynamics::pull_back`].
    pub(crate) fn pull_back<const B: usize>(
        &self,
        cotangent: &PredictionCotangent<'_, B>,
        scratch: &mut [[f32; B]],
        (state_cotangent, action_cotangent): (&mut [[f32; B]], &mut [[f32; B]]),
        slices: &Slices<'_>,
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
            slices.next()?;
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
                Output::Stationary(output) => {
                    output.pull_back(cotangents, input, rows, inputs, slices)?;
                }
                Output::Linear(output) => output.pull_back(cotangents, rows, inputs)?,
            }
        }
        Some(())
    }
}

pub(crate) fn tiles_of(
    kernels: &[Kernel],
    (points, groups): (usize, &[u16]),
    inputs: usize,
) -> Option<usize> {
    shapes(kernels, points, groups).try_fold(0_usize, |sum, (kernel, groups)| {
        sum.checked_add(GaussianProcess::output_tiles(
            kernel, points, groups, inputs,
        )?)
    })
}

/// The kernel of each output with its number of groups.
fn shapes<'s>(
    kernels: &'s [Kernel],
    points: usize,
    groups: &'s [u16],
) -> impl Iterator<Item = (Kernel, usize)> + use<'s> {
    let groups = groups.iter().map(|groups| usize::from(*groups));
    let groups = groups.chain(core::iter::repeat(points));
    kernels.iter().copied().zip(groups)
}
