//! Hyperparameters by marginal likelihood: several descents for each output,
//! side by side, with the same result on any number of threads.
//!
//! A likelihood costs O(n³), so with many rows the starts see a part of them
//! only. From the best of them one descent follows on three times as many rows,
//! and so on up to all: each begins so close to its end that few steps are left
//! where a step is dear.

use std::ops::ControlFlow;
use std::sync::Mutex;

use hambo_core::numeric::random::Stream;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::descent::{Data, Failure, Minimum, Space, descend};
use super::options::{Parameter, Progress, SearchOptions};
use crate::gaussian_process::error::GaussianProcessError;
use crate::gaussian_process::kernel::Hyperparameters;
use crate::gaussian_process::posterior::Observations;
use crate::gaussian_process::posterior::{require_standardisation, standardised};
use hambo_base::network::Standardisation;
use hambo_base::random::shuffle;

/// Fewer rows are too few to estimate lengthscales and noise from.
const LEAST_ROWS: usize = 10;
/// What this number of rows took for irrelevant is not tried again on more.
const TRUSTED_ROWS: usize = 1000;
/// Spread, as a part of the largest value, below which a column is constant.
const CONSTANT: f64 = 1e-6;

/// The hyperparameters of one output and how they were found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedOutput {
    /// The likeliest that were found.
    pub hyperparameters: Hyperparameters,
    /// −log p(y) of all rows, in nats and standardised units.
    pub negative_log_likelihood: f64,
    /// What each start reached on the rows it saw, in nats: their spread shows
    /// how much one start could have missed. Infinite for a start that failed.
    pub start_likelihoods: Vec<f64>,
    /// Rows that the starts saw.
    pub search_rows: usize,
    /// Steps of all descents.
    pub iterations: usize,
    /// Likelihoods computed in all descents.
    pub evaluations: usize,
    /// Which parameters lie on a limit of the search.
    pub at_bounds: Vec<Parameter>,
}

/// Finds the hyperparameters of every output. `progress` is told after every
/// likelihood and may stop the search.
///
/// A constant input keeps lengthscale 1. The result is the same for a seed on
/// any number of threads.
///
/// # Errors
/// If the data are unfit (shape, NaN, a constant target, fewer than 10 rows),
/// the bounds are, `progress` breaks off, or no kernel matrix can be factorised.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use hambo_learn::gaussian_process::{Observations, SearchOptions, fit_hyperparameters};
/// use hambo_base::network::Standardisation;
///
/// let inputs: Vec<f64> = (0..40).map(|i| 0.1 * f64::from(i) - 2.0).collect();
/// let targets: Vec<f64> = inputs.iter().map(|x| (2.0 * x).sin()).collect();
/// let observations = Observations { inputs: &inputs, input_columns: 1, targets: &targets, target_columns: 1 };
/// let units = Standardisation {
///     input_mean: vec![0.0], input_scale: vec![1.0],
///     output_mean: vec![0.0], output_scale: vec![1.0],
/// };
/// let options = SearchOptions { starts: 2, ..Default::default() };
/// let found = fit_hyperparameters(&observations, &units, &options, &mut |progress| {
///     assert!(progress.finished <= progress.planned);
///     ControlFlow::Continue(())
/// })?;
/// let lengthscale = found[0].hyperparameters.lengthscales[0];
/// assert!(lengthscale > 0.3 && lengthscale < 3.0);
/// # Ok::<(), hambo_learn::gaussian_process::GaussianProcessError>(())
/// ```
pub fn fit_hyperparameters(
    observations: &Observations<'_>,
    standardisation: &Standardisation,
    options: &SearchOptions,
    progress: &mut (dyn FnMut(Progress) -> ControlFlow<()> + Send),
) -> Result<Vec<FittedOutput>, GaussianProcessError> {
    let rows = observations.checked_rows()?;
    require_standardisation(standardisation, observations)?;
    options.bounds.check()?;
    if rows < LEAST_ROWS {
        let needed = LEAST_ROWS;
        return Err(GaussianProcessError::TooFewRows { rows, needed });
    }
    let constant_targets = constant_columns(observations.targets, observations.target_columns);
    if let Some(column) = constant_targets.iter().position(|constant| *constant) {
        return Err(GaussianProcessError::ConstantTarget { column });
    }
    for column in 0..observations.target_columns {
        let targets = observations.targets.iter().skip(column);
        let told = targets.step_by(observations.target_columns);
        let rows = told.filter(|y| !y.is_nan()).count();
        if rows < LEAST_ROWS {
            let needed = LEAST_ROWS;
            return Err(GaussianProcessError::TooFewRows { rows, needed });
        }
    }
    let constant_inputs = constant_columns(observations.inputs, observations.input_columns);
    let search = Search {
        options,
        space: Space::new(options, &constant_inputs),
        all: Table::new(observations, standardisation),
        outputs: observations.target_columns,
        reporter: Mutex::new(Reporter {
            progress,
            finished: 0,
            work: 0.0,
        }),
    };
    search.run(rows)
}

/// Rows in standardised units: the inputs row-major, the targets column by column.
struct Table {
    columns: usize,
    points: Vec<f64>,
    targets: Vec<Vec<f64>>,
}

impl Table {
    fn new(observations: &Observations<'_>, units: &Standardisation) -> Self {
        let (inputs, targets) = (observations.inputs, observations.targets);
        let targets = standardised(targets, &units.output_mean, &units.output_scale);
        let outputs = observations.target_columns;
        let column = |output| targets.iter().skip(output).step_by(outputs).copied();
        Self {
            columns: observations.input_columns,
            points: standardised(inputs, &units.input_mean, &units.input_scale),
            targets: (0..outputs)
                .map(|output| column(output).collect())
                .collect(),
        }
    }

    fn take(&self, rows: &[usize]) -> Self {
        let points = rows
            .iter()
            .flat_map(|row| &self.points[row * self.columns..][..self.columns]);
        let pick = |target: &Vec<f64>| rows.iter().map(|row| target[*row]).collect();
        Self {
            columns: self.columns,
            points: points.copied().collect(),
            targets: self.targets.iter().map(pick).collect(),
        }
    }

    fn data(&self, output: usize) -> Data<'_> {
        Data {
            points: &self.points,
            targets: &self.targets[output],
        }
    }

    /// The rows that say something of an output; none if all do.
    fn told(&self, output: usize) -> Option<Self> {
        let targets = self.targets.get(output)?.iter().enumerate();
        let told: Vec<usize> = targets
            .filter(|(_, y)| !y.is_nan())
            .map(|(row, _)| row)
            .collect();
        (told.len() < self.targets.get(output)?.len()).then(|| self.take(&told))
    }
}

struct Search<'a> {
    options: &'a SearchOptions,
    space: Space,
    all: Table,
    outputs: usize,
    reporter: Mutex<Reporter<'a>>,
}

struct Reporter<'a> {
    progress: &'a mut (dyn FnMut(Progress) -> ControlFlow<()> + Send),
    finished: usize,
    /// Cubes of their rows.
    work: f64,
}

/// All descents.
#[derive(Clone, Copy)]
struct Plan {
    descents: usize,
    work: f64,
}

impl Search<'_> {
    fn run(&self, rows: usize) -> Result<Vec<FittedOutput>, GaussianProcessError> {
        let seen = self.options.search_rows.max(LEAST_ROWS).min(rows);
        let mut order: Vec<usize> = (0..rows).collect();
        shuffle(self.options.seed, &mut order);
        let part = (seen < rows).then(|| self.all.take(&order[..seen]));
        let row_counts = row_counts(seen, rows);
        let after: f64 = row_counts.iter().map(|rows| (*rows as f64).powi(3)).sum();
        let of_output = self.starts() as f64 * (seen as f64).powi(3) + after;
        let planned = Plan {
            descents: self.outputs * (self.starts() + row_counts.len()),
            work: self.outputs as f64 * of_output,
        };
        let table = part.as_ref().unwrap_or(&self.all);
        let tasks = (0..self.outputs * self.starts()).into_par_iter();
        let found: Vec<Result<Minimum, Failure>> = tasks
            .map(|task| {
                let (output, start) = (task / self.starts(), task % self.starts());
                let from = self.start(output, start);
                self.descend(table, output, Some(start), from, planned)
            })
            .collect();
        let mut fitted = Vec::new();
        for (output, of_output) in found.chunks(self.starts()).enumerate() {
            fitted.push(self.best_start(output, of_output, seen)?);
        }
        let mut before = seen;
        for size in row_counts {
            let part = (size < rows).then(|| self.all.take(&order[..size]));
            let table = part.as_ref().unwrap_or(&self.all);
            self.descend_again(&mut fitted, table, before, planned)?;
            before = size;
        }
        let outputs = fitted.into_iter().enumerate();
        let outputs = outputs.map(|(output, (found, mut fitted))| {
            let hyperparameters = self.space.hyperparameters(&found);
            fitted.hyperparameters =
                hyperparameters.ok_or(GaussianProcessError::Singular { output })?;
            fitted.negative_log_likelihood = found.value;
            fitted.at_bounds = self.space.at_bounds(&found);
            Ok(fitted)
        });
        outputs.collect()
    }

    fn starts(&self) -> usize {
        self.options.starts.max(1)
    }

    /// The first start takes moderate values, the others random ones around
    /// them. Distances grow with the number of inputs, and the lengthscales
    /// with them.
    fn start(&self, output: usize, start: usize) -> Vec<f64> {
        let place = (output * self.starts() + start) as u32;
        let mut stream = Stream::new(self.options.seed, place);
        let mut spread = |centre: f64, factor: f64| {
            let side = 2.0 * f64::from(stream.uniform()) - 1.0;
            let side = if start == 0 { 0.0 } else { side };
            centre.ln() + side * factor.ln()
        };
        let mut values = vec![spread(0.03, 30.0)];
        values.extend(self.options.constant.then(|| spread(1.0, 10.0)));
        let lengthscale = (self.all.columns as f64).sqrt();
        while values.len() < self.space.low.len() {
            values.push(spread(lengthscale, 5.0));
        }
        let limits = self.space.low.iter().zip(&self.space.high);
        let values = values.into_iter().zip(limits);
        values
            .map(|(value, (low, high))| value.max(*low).min(*high))
            .collect()
    }

    fn descend(
        &self,
        table: &Table,
        output: usize,
        start: Option<usize>,
        from: Vec<f64>,
        planned: Plan,
    ) -> Result<Minimum, Failure> {
        let told = table.told(output);
        let data = told.as_ref().unwrap_or(table).data(output);
        let data_rows = data.targets.len();
        let observe = |evaluations: usize, negative_log_likelihood: f64| {
            let Ok(mut reporter) = self.reporter.lock() else {
                return ControlFlow::Break(());
            };
            let (finished, share) = (reporter.finished, reporter.work / planned.work);
            (reporter.progress)(Progress {
                output,
                start,
                rows: data.targets.len(),
                evaluations,
                negative_log_likelihood,
                finished,
                planned: planned.descents,
                share,
            })
        };
        let found = descend(&self.space, data, from, self.options.iterations, &observe);
        if let Ok(mut reporter) = self.reporter.lock() {
            reporter.finished += 1;
            reporter.work += (data_rows as f64).powi(3);
        }
        found
    }

    /// The likeliest start of an output; the rest of its record is filled later.
    fn best_start(
        &self,
        output: usize,
        found: &[Result<Minimum, Failure>],
        seen: usize,
    ) -> Result<(Minimum, FittedOutput), GaussianProcessError> {
        if found.iter().any(|f| matches!(f, Err(Failure::Stopped))) {
            return Err(GaussianProcessError::Stopped);
        }
        let value = |found: &Result<Minimum, Failure>| match found {
            Ok(found) => found.value,
            Err(_) => f64::INFINITY,
        };
        let whole = found.iter().flatten();
        let best = whole.clone().min_by(|a, b| a.value.total_cmp(&b.value));
        let best = best.ok_or(GaussianProcessError::Singular { output })?;
        let fitted = FittedOutput {
            hyperparameters: self
                .space
                .hyperparameters(best)
                .ok_or(GaussianProcessError::Singular { output })?,
            negative_log_likelihood: best.value,
            start_likelihoods: found.iter().map(value).collect(),
            search_rows: seen,
            iterations: whole.clone().map(|found| found.iterations).sum(),
            evaluations: whole.map(|found| found.evaluations).sum(),
            at_bounds: Vec::new(),
        };
        Ok((best.clone(), fitted))
    }

    /// One more descent for each output, as many at once as the memory holds.
    fn descend_again(
        &self,
        fitted: &mut [(Minimum, FittedOutput)],
        table: &Table,
        rows_before: usize,
        planned: Plan,
    ) -> Result<(), GaussianProcessError> {
        let rows = table.points.len() / table.columns;
        let matrices = 2 * size_of::<f64>() * rows * rows;
        let at_once = (self.options.memory_bytes / matrices).max(1);
        for (group, outputs) in fitted.chunks_mut(at_once).enumerate() {
            let outputs = outputs.par_iter_mut().enumerate();
            outputs.try_for_each(|(place, (found, fitted))| {
                let output = group * at_once + place;
                let mut from = found.logarithms.clone();
                if rows_before < TRUSTED_ROWS {
                    from = self.space.revived(from);
                }
                *found = self
                    .descend(table, output, None, from, planned)
                    .map_err(|failure| failure.error(output))?;
                fitted.iterations += found.iterations;
                fitted.evaluations += found.evaluations;
                Ok::<(), GaussianProcessError>(())
            })?;
        }
        Ok(())
    }
}

/// The rows of the descents after the starts, which see `first`: three times
/// as many each, then all.
fn row_counts(first: usize, rows: usize) -> Vec<usize> {
    let sizes = std::iter::successors(Some(3 * first), |size| size.checked_mul(3));
    let mut sizes: Vec<usize> = sizes.take_while(|size| 2 * size <= rows).collect();
    sizes.extend((first < rows).then_some(rows));
    sizes
}

fn constant_columns(table: &[f64], columns: usize) -> Vec<bool> {
    (0..columns)
        .map(|column| {
            let values = || table.iter().skip(column).step_by(columns).copied();
            let (low, high) = values()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                    (low.min(x), high.max(x))
                });
            high - low <= CONSTANT * high.abs().max(low.abs())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_counts_end_with_all_rows() {
        assert!(row_counts(50, 50).is_empty());
        assert_eq!(row_counts(500, 501), [501]);
        assert_eq!(row_counts(500, 3000), [1500, 3000]);
        assert_eq!(row_counts(500, 5000), [1500, 5000]);
        assert_eq!(row_counts(100, 5000), [300, 900, 5000]);
    }

    #[test]
    fn constant_up_to_rounding() {
        let table = [1.0, 2.0, 0.0, 1.0 + 1e-9, 2.1, 0.0];
        assert_eq!(constant_columns(&table, 3), [true, false, true]);
    }
}
