//! Gaussian processes: hyperparameters from all rows, the points that are
//! kept, and the set that theory gives.

use hambo_core::numeric::random::normal_quantile_of_tail;

use super::tables::Tables;
use super::trained::Trained;
use crate::calibration::outcome::Beta;
use crate::delta::model_share;
pub use crate::gaussian_process::beta::{NORM_FACTOR, NormBound, SetWidth};
use crate::gaussian_process::error::GaussianProcessError;
use crate::gaussian_process::groups::VarianceGroups;
use crate::gaussian_process::marginal_likelihood::options::SearchOptions;
pub use crate::gaussian_process::marginal_likelihood::search::fit_hyperparameters;
use crate::gaussian_process::model_part::encode_gaussian_process;
use crate::gaussian_process::posterior::GaussianProcessFit;
use crate::gaussian_process::subset::{
    ChosenRows, DeviceRoom, greedy_order, model_bytes, uncertainty_growth,
};
use crate::gaussian_process::theory::Theory;
pub use crate::model_file::metadata::{GaussianProcessSummary, TrainingSummary};
use hambo_base::Error;
use hambo_base::observer::{Observer, Progress};
use hambo_base::random::shuffle;
use hambo_data::{Log, Split};
use hambo_task::task::ModelView;

/// Rows at which the growth of uncertainty is looked at.
const GROWTH_QUERIES: usize = 500;
/// Parts in which the search tells how far it is.
const THOUSANDTHS: usize = 1000;
/// Smallest number of points in the table of growth.
const LEAST_POINTS: usize = 16;

/// The points that a model keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All.
    All,
    /// This number of points.
    Points(usize),
    /// As many as a board has room for.
    Room(DeviceRoom),
}

/// How Gaussian processes are fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianProcessOptions {
    /// The kernel and the search for its hyperparameters.
    pub search: SearchOptions,
    /// Rows beyond this are left out at random: the work grows with their cube.
    pub most_rows: usize,
    /// The points that the model keeps.
    pub keep: Keep,
    /// Which of them the variance takes together.
    pub groups: VarianceGroups,
    /// The RKHS norms.
    pub norm: NormBound,
    /// Whether the set follows them.
    pub width: SetWidth,
    /// The bound may fail with this probability in all; theory's set gets the model's share
    /// of it.
    pub delta: f64,
}

impl Default for GaussianProcessOptions {
    fn default() -> Self {
        Self {
            search: SearchOptions::default(),
            most_rows: 5000,
            keep: Keep::All,
            groups: VarianceGroups::Alone,
            norm: NormBound::Estimated {
                factor: NORM_FACTOR,
            },
            width: SetWidth::default(),
            delta: 0.05,
        }
    }
}

pub(super) fn train(
    log: &Log,
    withheld: &Log,
    view: &ModelView,
    validation_share: f64,
    options: &GaussianProcessOptions,
    observer: &mut dyn Observer,
) -> Result<Trained, Error> {
    // Another seed than the withheld part's, lest the same episodes come first.
    let seed = options.search.seed ^ 0x5641_4C49;
    let split = Split::new(log, validation_share, seed);
    let log = &split.kept.log;
    let all = Tables::new(log, view);
    let units = all.training_set().units()?;
    let all = all.wide();
    let rows = some_rows(log.len(), options.most_rows, options.search.seed);
    let used = ChosenRows::new(&all.observations(), &rows)?;
    let observations = used.observations();

    observer.report(Progress {
        done: 0,
        planned: THOUSANDTHS,
        message: "hyperparameters".to_owned(),
    })?;
    let mut interrupted = false;
    let found = fit_hyperparameters(&observations, &units, &options.search, &mut |search| {
        let flow = observer.progress(Progress {
            done: (search.share * THOUSANDTHS as f64) as usize,
            planned: THOUSANDTHS,
            message: format!(
                "output {}, {} rows, {} of {} descents: negative log likelihood {:.3}",
                search.output,
                search.rows,
                search.finished,
                search.planned,
                search.negative_log_likelihood
            ),
        });
        interrupted |= flow.is_break();
        flow
    });
    if interrupted {
        return Err(Error::Interrupted);
    }
    let found = found?;
    let hyperparameters: Vec<_> = found.iter().map(|f| f.hyperparameters.clone()).collect();

    let (inputs, outputs) = (observations.input_columns, observations.target_columns);
    let points = match options.keep {
        Keep::All => rows.len(),
        Keep::Points(points) => points.min(rows.len()),
        Keep::Room(room) => room.most_points(inputs, outputs).min(rows.len()),
    };
    if points == 0 {
        return Err(GaussianProcessError::OutOfRange {
            name: "the number of points",
            value: 0.0,
            wanted: "keep at least one point, or choose a board with more room",
        }
        .into());
    }
    observer.report(Progress {
        done: 0,
        planned: 1,
        message: format!("posterior of {} points", rows.len()),
    })?;
    let whole = GaussianProcessFit::new(&observations, &units, &hyperparameters)?;
    let queries = Tables::new(withheld, view).wide().inputs;
    let queries = &queries[..queries.len().min(GROWTH_QUERIES * inputs)];
    let (mut fit, growth) = if points == rows.len() {
        (whole, Vec::new())
    } else {
        let order = greedy_order(&observations, &units, &hyperparameters, points)?;
        let sizes = sizes_up_to(points);
        let growth = if queries.is_empty() {
            Vec::new()
        } else {
            let mut growth = uncertainty_growth(&whole, &observations, &order, queries, &sizes)?;
            for row in &mut growth {
                row.bytes = model_bytes(row.points, inputs, outputs);
            }
            growth
        };
        let chosen = ChosenRows::new(&observations, &order)?;
        let fit = GaussianProcessFit::new(&chosen.observations(), &units, &hyperparameters)?;
        (fit, growth)
    };
    let groups = fit.take_together(options.groups, queries)?;
    let theory = Theory::new(&fit, &options.norm, model_share(options.delta))?;
    let beta = match options.width {
        SetWidth::Theory => {
            let betas = theory.outputs.iter().map(|output| output.beta as f32);
            Beta::Each(betas.collect())
        }
        SetWidth::Calibrated => Beta::Fixed(least_beta(options.delta, outputs)),
    };
    Ok(Trained {
        beta,
        validation: Some(split.withheld).filter(|part| !part.log.is_empty()),
        summary: TrainingSummary::GaussianProcess(GaussianProcessSummary {
            rows: rows.len(),
            points,
            outputs: found,
            growth,
            groups,
            theory,
            width: options.width,
        }),
        encode: Box::new(move |uncertainty| Ok(encode_gaussian_process(&fit, uncertainty)?)),
    })
}

/// The beta of the posterior's own interval for all outputs at once: calibration starts from
/// it, since noise alone may hold the rows of a log.
fn least_beta(delta: f64, outputs: usize) -> f32 {
    let tail = 0.5 * model_share(delta) / outputs.max(1) as f64;
    normal_quantile_of_tail(tail as f32)
}

/// `most` of `count` rows at random, in their order.
fn some_rows(count: usize, most: usize, seed: u64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..count).collect();
    if count > most {
        shuffle(seed, &mut rows);
        rows.truncate(most);
        rows.sort_unstable();
    }
    rows
}

/// Powers of two below `points`, then `points`.
fn sizes_up_to(points: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(LEAST_POINTS), |size| Some(2 * size));
    let mut sizes: Vec<usize> = powers.take_while(|size| *size < points).collect();
    sizes.push(points);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_sizes() {
        assert_eq!(some_rows(4, 9, 0), [0, 1, 2, 3]);
        let some = some_rows(100, 30, 5);
        assert_eq!(some.len(), 30);
        assert!(some.windows(2).all(|pair| pair[0] < pair[1]) && some[29] > 50);
        assert_eq!(sizes_up_to(70), [16, 32, 64, 70]);
        assert_eq!(sizes_up_to(8), [8]);
        // The 0.99375 quantile.
        assert!((least_beta(0.05, 2) - 2.497_7).abs() < 1e-3);
    }
}
