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
use hambo_base::Held;
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
/// use hambo_base::{Held, network::Standardisation};
///
/// let inputs: Vec<f64> = (0..40).map(|i| 0.1 * f64::from(i) - 2.0).collect();
/// let targets: Vec<f64> = inputs.iter().map(|x| (2.0 * x).sin()).collect();
/// let observations = Observations { inputs: &inputs, input_columns: 1, targets: &targets, target_columns: 1, held: Held::NONE };
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
    let (held, outputs) = (observations.held, observations.target_columns);
    let told = held.least_told(rows, outputs);
    if told < LEAST_ROWS {
        let (rows, needed) = (told, LEAST_ROWS);
        return Err(GaussianProcessError::TooFewRows { rows, needed });
    }
    let constant_targets = constant_columns((observations.targets, held), outputs);
    if let Some(column) = constant_targets.iter().position(|constant| *constant) {
        return Err(GaussianProcessError::ConstantTarget { column });
    }
    let inputs = (observations.inputs, Held::NONE);
    let constant_inputs = constant_columns(inputs, observations.input_columns);
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
    /// Marks of the targets that say nothing, column by column.
    held: Vec<Vec<bool>>,
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
            held: (0..outputs)
                .map(|output| observations.held.column(output, outputs))
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
            held: self
                .held
                .iter()
                .map(|marks| Held::new(marks).take(rows.iter().copied()))
                .collect(),
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
        let held = Held::new(self.held.get(output)?);
        if !held.any() {
            return None;
        }
        let rows = 0..self.targets.get(output)?.len();
        let told: Vec<usize> = rows.filter(|row| !held.at(*row)).collect();
        Some(self.take(&told))
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
        // A part in which hardly any row says something would be fitted exactly.
        let enough = |told: &Table| told.points.len() >= LEAST_ROWS * told.columns;
        let told = match table.told(output) {
            Some(told) if !enough(&told) => self.all.told(output),
            told => told,
        };
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

fn constant_columns((table, held): (&[f64], Held<'_>), columns: usize) -> Vec<bool> {
    (0..columns)
        .map(|column| {
            let own = || table.iter().enumerate().skip(column).step_by(columns);
            let told = || own().filter(|(place, _)| !held.at(*place));
            let values = || told().map(|(_, x)| *x);
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
        let constant = |held| constant_columns((&table, held), 3);
        assert_eq!(constant(Held::NONE), [true, false, true]);
        // Of the second column one row says something.
        let marks = [false, false, false, false, true, false];
        assert_eq!(constant(Held::new(&marks)), [true; 3]);
    }
    /// 60 rows of which every third says nothing of the second output.
    fn found(wrong: f64, marks: &[bool]) -> Result<Vec<FittedOutput>, GaussianProcessError> {
        let inputs: Vec<f64> = (0..60).map(|row| 0.1 * f64::from(row) - 3.0).collect();
        let targets = inputs.iter().enumerate().flat_map(|(row, x)| {
            let noise = 0.1 * (31.0 * x).sin();
            [
                x.sin() + noise,
                x.cos() + noise + if row % 3 == 1 { wrong } else { 0.0 },
            ]
        });
        let targets: Vec<f64> = targets.collect();
        let observations = Observations {
            inputs: &inputs,
            input_columns: 1,
            targets: &targets,
            target_columns: 2,
            held: Held::new(marks),
        };
        let units = Standardisation {
            input_mean: vec![0.0],
            input_scale: vec![1.0],
            output_mean: vec![0.0; 2],
            output_scale: vec![1.0; 2],
        };
        let options = SearchOptions {
            starts: 2,
            search_rows: 20,
            ..Default::default()
        };
        let go_on = &mut |_: Progress| ControlFlow::Continue(());
        fit_hyperparameters(&observations, &units, &options, go_on)
    }

    #[test]
    fn what_stands_where_a_row_says_nothing_plays_no_part() {
        let marks: Vec<bool> = (0..120).map(|place| place % 6 == 3).collect();
        let right = found(0.0, &marks).unwrap();
        assert_eq!(right, found(50.0, &marks).unwrap());
        // The other output is what it is without marks.
        let all = found(0.0, &[]).unwrap();
        assert_eq!(right[0], all[0]);
        assert!(right[1] != all[1] && found(50.0, &[]).unwrap()[1] != all[1]);
        // A mark excuses no broken number, and marks are whole.
        let broken = GaussianProcessError::NotFinite {
            table: "targets",
            row: 1,
            column: 1,
        };
        assert_eq!(found(f64::NAN, &marks), Err(broken));
        assert!(matches!(
            found(0.0, &marks[1..]),
            Err(GaussianProcessError::Mismatch { length: 119, .. })
        ));
    }

    #[test]
    fn a_few_rows_of_many_are_found_in_whatever_part_the_starts_see() {
        // All but twelve of sixty; then all but nine.
        let held = |every: usize, most: usize| -> Vec<bool> {
            let told = move |row: usize| row.is_multiple_of(every) && row / every < most;
            let marks = (0..60).flat_map(|row| [false, !told(row)]);
            marks.collect()
        };
        let fitted = found(0.0, &held(5, 12)).unwrap();
        let found_noise = fitted[1].hyperparameters.noise_variance;
        assert!(found_noise.is_finite() && fitted[1].negative_log_likelihood.is_finite());
        let (rows, needed) = (9, LEAST_ROWS);
        let few = GaussianProcessError::TooFewRows { rows, needed };
        assert_eq!(found(0.0, &held(5, 9)), Err(few));
    }
}
