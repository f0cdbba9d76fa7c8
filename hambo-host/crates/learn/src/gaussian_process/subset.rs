//! The rows that a device keeps: chosen greedily by what they still tell, with
//! the uncertainty that leaving out the others costs.

use hambo_core::image::container::{ALIGNMENT, HEADER};
use hambo_core::model::{GAP, GaussianProcess, Kernel};
use hambo_core::numeric::dense::TILE;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::error::GaussianProcessError;
use super::kernel::Hyperparameters;
use super::order::{Residual, most_informative};
use super::posterior::{GaussianProcessFit, Observations};
use super::posterior::{require_shape, require_standardisation, standardised};
use hambo_base::Held;
use hambo_base::network::Standardisation;
use hambo_task::image::LoggedRegion;

/// The most a manifest takes before its kernels: sizes as variable-length
/// integers, beta, calibration and tags.
const MANIFEST: usize = 40;
/// Bytes of a row of the device's workspace: four lanes of f32.
const WORKSPACE_ROW: usize = 16;

/// The order in which rows are worth keeping, up to `most` of them: each is the
/// one about which those before it, noise included, leave most open (greatest
/// Σ_j ln(1 + variance_j / noise_j)). The best N rows are the first N.
///
/// Targets play no part, so keeping rows in this order does not look at their
/// noise.
///
/// # Errors
/// If tables disagree or a number is out of its range.
///
/// ```
/// use hambo_learn::gaussian_process::{
///     GaussianProcessFit, Hyperparameters, Kernel, Observations, greedy_order, uncertainty_growth,
/// };
/// use hambo_base::{Held, network::Standardisation};
///
/// let units = Standardisation {
///     input_mean: vec![0.0], input_scale: vec![1.0],
///     output_mean: vec![0.0], output_scale: vec![1.0],
/// };
/// let data = Observations {
///     inputs: &[0.0, 0.1, 3.0], input_columns: 1,
///     targets: &[0.0, 0.1, 0.5], target_columns: 1, held: Held::NONE,
/// };
/// let kernels = [Hyperparameters {
///     kernel: Kernel::Rbf, signal_variance: 1.0, constant_variance: 0.0,
///     lengthscales: vec![1.0], noise_variance: 0.01,
/// }];
/// let order = greedy_order(&data, &units, &kernels, 2)?;
/// assert_eq!(order, [0, 2]);
/// let all = GaussianProcessFit::new(&data, &units, &kernels)?;
/// let growth = uncertainty_growth(&all, &data, &order, data.inputs, &[1, 2])?;
/// assert!(growth[0].mean[0] > growth[1].mean[0] && growth[1].mean[0] >= 1.0);
/// # Ok::<(), hambo_learn::gaussian_process::GaussianProcessError>(())
/// ```
pub fn greedy_order(
    observations: &Observations<'_>,
    standardisation: &Standardisation,
    hyperparameters: &[Hyperparameters],
    most: usize,
) -> Result<Vec<usize>, GaussianProcessError> {
    let rows = observations.checked_rows()?;
    require_standardisation(standardisation, observations)?;
    let (columns, outputs) = (observations.input_columns, observations.target_columns);
    require_shape("hyperparameters", hyperparameters.len(), 1, outputs)?;
    for (output, hyperparameters) in hyperparameters.iter().enumerate() {
        hyperparameters.check(output, columns)?;
    }
    let (mean, scale) = (&standardisation.input_mean, &standardisation.input_scale);
    let points = standardised(observations.inputs, mean, scale);
    Ok(most_informative(
        &points,
        columns,
        hyperparameters,
        most.min(rows),
    ))
}

/// Chosen rows of a log, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenRows {
    inputs: Vec<f64>,
    input_columns: usize,
    targets: Vec<f64>,
    target_columns: usize,
    held: Vec<bool>,
}

impl ChosenRows {
    /// Copies `rows`.
    ///
    /// # Errors
    /// If there is no such row or the tables disagree.
    pub fn new(
        observations: &Observations<'_>,
        rows: &[usize],
    ) -> Result<Self, GaussianProcessError> {
        let count = observations.checked_rows()?;
        if let Some(row) = rows.iter().find(|row| **row >= count) {
            let (row, rows) = (*row, count);
            return Err(GaussianProcessError::NoSuchRow { row, rows });
        }
        let take = |table: &[f64], columns: usize| -> Vec<f64> {
            let values = rows
                .iter()
                .flat_map(|row| &table[row * columns..][..columns]);
            values.copied().collect()
        };
        Ok(Self {
            inputs: take(observations.inputs, observations.input_columns),
            input_columns: observations.input_columns,
            targets: take(observations.targets, observations.target_columns),
            target_columns: observations.target_columns,
            held: observations.held.take(rows.iter().flat_map(|row| {
                let first = row * observations.target_columns;
                first..first + observations.target_columns
            })),
        })
    }

    /// As data to condition on.
    #[must_use]
    pub fn observations(&self) -> Observations<'_> {
        Observations {
            inputs: &self.inputs,
            input_columns: self.input_columns,
            targets: &self.targets,
            target_columns: self.target_columns,
            held: Held::new(&self.held),
        }
    }
}

/// What keeping only some points does to the uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// N.
    pub points: usize,
    /// Bytes of the model's part of an image.
    pub bytes: usize,
    /// For each output, the mean standard deviation over the queries as a
    /// multiple of that with all points.
    pub mean: Vec<f64>,
    /// For each output, the largest standard deviation over the queries as a
    /// multiple of that with all points.
    pub largest: Vec<f64>,
}

/// The growth of the standard deviation at `queries` (physical units,
/// row-major) if only the first N rows of `order` are kept, for N in `sizes`.
/// `all` is the posterior of all rows.
///
/// # Errors
/// If a row does not exist or the tables disagree.
pub fn uncertainty_growth(
    all: &GaussianProcessFit,
    observations: &Observations<'_>,
    order: &[usize],
    queries: &[f64],
    sizes: &[usize],
) -> Result<Vec<Growth>, GaussianProcessError> {
    let columns = observations.input_columns;
    let units = &all.standardisation;
    require_standardisation(units, observations)?;
    let count = queries.len() / columns.max(1);
    require_shape("queries", queries.len(), count, columns)?;
    let chosen = ChosenRows::new(observations, order)?;
    let scaled = |table: &[f64]| standardised(table, &units.input_mean, &units.input_scale);
    let mut points = scaled(&chosen.inputs);
    points.extend(scaled(queries));
    let rows: Vec<&[f64]> = points.chunks_exact(columns).collect();
    let outputs: Vec<Vec<(f64, f64)>> = all
        .outputs
        .par_iter()
        .map(|output| {
            let queries = &rows[order.len()..];
            let exact = queries.iter().map(|x| output.posterior(&all.points, x).1);
            let exact = summary(exact);
            let noise = output.hyperparameters.noise_variance;
            let mut residual = Residual::new(&output.hyperparameters, noise, &rows);
            let mut after = vec![summary(residual.variances[order.len()..].iter().copied())];
            for place in 0..order.len() {
                residual.condition(place, &rows);
                after.push(summary(residual.variances[order.len()..].iter().copied()));
            }
            let relative = after.iter().map(|(mean, largest)| {
                // Equal up to rounding if nothing is left out.
                ((mean / exact.0).max(1.0), (largest / exact.1).max(1.0))
            });
            relative.collect()
        })
        .collect();
    let growth = sizes.iter().map(|size| {
        let points = (*size).min(order.len());
        Growth {
            points,
            bytes: model_bytes(points, columns, all.outputs.len()),
            mean: outputs.iter().map(|output| output[points].0).collect(),
            largest: outputs.iter().map(|output| output[points].1).collect(),
        }
    });
    Ok(growth.collect())
}

/// Mean and largest standard deviation.
fn summary(variances: impl ExactSizeIterator<Item = f64>) -> (f64, f64) {
    let count = variances.len() as f64;
    let (sum, largest) = variances.fold((0.0, 0.0_f64), |(sum, largest), variance| {
        let std = variance.max(0.0).sqrt();
        (sum + std, largest.max(std))
    });
    (sum / count, largest)
}

/// Bytes of a model's part of an image whose kernels are stationary and whose region has
/// all rows and gaps that there may be: at most 64 too many, never too few. Linear kernels
/// and smaller regions take less.
#[must_use]
pub fn model_bytes(points: usize, inputs: usize, outputs: usize) -> usize {
    let tiles = |count: usize| count.div_ceil(TILE);
    // Scales and units, and the region that the log covers.
    let units = 4 * tiles(outputs) + 4 * tiles(inputs);
    let triangle = hambo_core::model::triangle(inputs).unwrap_or(0);
    let units = units + tiles(triangle) + tiles(LoggedRegion::MOST_ROWS * inputs);
    let units = units + tiles(LoggedRegion::MOST_GAPS * GAP);
    let output = GaussianProcess::output_tiles(Kernel::Rbf, points, points, inputs).unwrap_or(0);
    let arena = (units + outputs * output) * TILE * size_of::<f32>();
    HEADER + (MANIFEST + outputs).next_multiple_of(ALIGNMENT) + arena
}

/// What a board has for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceRoom {
    /// Flash for the model's part.
    pub flash_bytes: usize,
    /// Memory for the scratch of a prediction.
    pub scratch_bytes: usize,
}

impl DeviceRoom {
    /// The most points that fit, as large a multiple of 4 as the format and
    /// the board allow.
    ///
    /// ```
    /// use hambo_learn::gaussian_process::DeviceRoom;
    ///
    /// let room = DeviceRoom { flash_bytes: 480 * 1024, scratch_bytes: 48 * 1024 };
    /// assert_eq!(room.most_points(3, 2), 340);
    /// ```
    #[must_use]
    pub fn most_points(&self, inputs: usize, outputs: usize) -> usize {
        let fits = |points: &usize| {
            let longest = (*points).max((inputs + 1).next_multiple_of(TILE));
            let rows = outputs * (2 * longest + 1) + longest + 2 * inputs;
            model_bytes(*points, inputs, outputs) <= self.flash_bytes
                && rows * WORKSPACE_ROW <= self.scratch_bytes
        };
        let sizes = (TILE..=usize::from(u16::MAX)).step_by(TILE);
        sizes.take_while(fits).last().unwrap_or(0)
    }
}
