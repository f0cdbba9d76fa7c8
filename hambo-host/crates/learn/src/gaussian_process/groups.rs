//! Points that the variance takes together, so that a query need not cost N².
//!
//! With m groups of near points the core takes the variance given m sums of
//! what was seen: U of its `model::gaussian_process::groups`. It is never
//! smaller than that given all points, whatever the groups are; how much larger
//! it is depends on how alike the members are. The groups of one output lie
//! around the points that tell most of it, each with the points that are
//! nearest in its lengthscales. Targets play no part.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::error::GaussianProcessError;
use super::grouping::Grouping;
use super::order::most_informative;
use super::posterior::GaussianProcessFit;
use super::posterior::{require_shape, standardised};
use hambo_core::model::Kernel;

/// The mean standard deviation may grow by this factor where the number of groups
/// is chosen by it.
const MOST_GROWTH: f64 = 1.2;
/// Up to this number of points each is alone unless groups are asked for.
const ALONE: usize = 384;
/// The least number of groups that is tried.
const FEWEST: usize = 32;
/// More groups than this part of the points save too little.
const WORTH: f64 = 0.75;

/// How many groups of points the variance takes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VarianceGroups {
    /// Each point is alone.
    Alone,
    /// As few as leave the mean standard deviation over withheld rows within a
    /// fifth; none up to 384 points.
    ByGrowth,
    /// This number of groups for each output.
    Count(usize),
}

/// What taking points together does to the standard deviation of one output.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GroupGrowth {
    /// Groups; as many as points if each is alone.
    pub groups: usize,
    /// The mean standard deviation over the queries as a multiple of that with
    /// each point alone; none without queries.
    pub mean: Option<f64>,
    /// The largest multiple at a single query.
    pub largest: Option<f64>,
}

impl GaussianProcessFit {
    /// Takes points together for the variance. `queries` (physical units,
    /// row-major) are what the growth of the standard deviation is measured
    /// at; without any, nothing is chosen by it. Gives the growth of each
    /// output, or nothing if all points stay alone.
    ///
    /// # Errors
    /// If the queries are no table, or a group cannot be told from others.
    pub fn take_together(
        &mut self,
        groups: VarianceGroups,
        queries: &[f64],
    ) -> Result<Vec<GroupGrowth>, GaussianProcessError> {
        let units = &self.standardisation;
        let columns = units.input_mean.len();
        let count = queries.len() / columns.max(1);
        if count > 0 {
            require_shape("queries", queries.len(), count, columns)?;
        }
        let queries = standardised(queries, &units.input_mean, &units.input_scale);
        let queries: Vec<&[f64]> = queries.chunks_exact(columns.max(1)).collect();
        let (rows, points) = (self.rows(), &self.points);
        let counts = match groups {
            VarianceGroups::Alone => Vec::new(),
            VarianceGroups::ByGrowth if rows <= ALONE || queries.is_empty() => Vec::new(),
            VarianceGroups::ByGrowth => counts_below((WORTH * rows as f64) as usize),
            VarianceGroups::Count(count) => vec![count.clamp(1, rows)],
        };
        let most = match groups {
            VarianceGroups::ByGrowth => MOST_GROWTH,
            _ => f64::INFINITY,
        };
        let found: Vec<Result<_, GaussianProcessError>> = self
            .outputs
            .par_iter()
            .enumerate()
            .map(|(output, fit)| {
                let hyperparameters = &fit.hyperparameters;
                let alone = GroupGrowth {
                    groups: rows,
                    mean: Some(1.0),
                    largest: Some(1.0),
                };
                let most_groups = counts.last().copied().unwrap_or(0);
                let is_linear = hyperparameters.kernel == Kernel::Linear;
                // A sum of what was seen says nothing if one of it was not.
                let (_, held) = fit.targets();
                if is_linear || held.any() || most_groups == 0 || counts == [rows] {
                    return Ok((None, alone));
                }
                let kernels = std::slice::from_ref(hyperparameters);
                let centres = most_informative(points, columns, kernels, most_groups);
                let exact = queries.par_iter().map(|x| fit.posterior(points, x).1);
                let exact: Vec<f64> = exact.collect();
                let noise = hyperparameters.noise_variance + fit.jitter;
                for count in &counts {
                    let centres = centres.get(..*count).unwrap_or(&centres);
                    let grouping = Grouping::around(hyperparameters, points, centres);
                    let inverse = grouping.inverse_rows(hyperparameters, noise, points);
                    let inverse = inverse.ok_or(GaussianProcessError::Singular { output })?;
                    let together = queries.par_iter();
                    let together =
                        together.map(|x| grouping.variance(&inverse, hyperparameters, points, x));
                    let growth =
                        growth(grouping.sizes.len(), &together.collect::<Vec<_>>(), &exact);
                    if growth.mean.is_none_or(|mean| mean <= most) {
                        return Ok((Some(grouping), growth));
                    }
                }
                Ok((None, alone))
            })
            .collect();
        let mut growths = Vec::new();
        let mut any = false;
        for (fit, found) in self.outputs.iter_mut().zip(found) {
            let (grouping, growth) = found?;
            any |= grouping.is_some();
            fit.grouping = grouping;
            growths.push(growth);
        }
        Ok(if any { growths } else { Vec::new() })
    }
}

/// 32, 48, 64, 96 and so on, each a multiple of 16, below `limit`.
fn counts_below(limit: usize) -> Vec<usize> {
    let twos = std::iter::successors(Some(FEWEST), |count| Some(2 * count));
    let counts = twos.flat_map(|count| [count, count + count / 2]);
    counts.take_while(|count| *count < limit).collect()
}

/// Of standard deviations, from two lists of variances.
fn growth(groups: usize, together: &[f64], exact: &[f64]) -> GroupGrowth {
    let sum = |variances: &[f64]| {
        variances
            .iter()
            .map(|variance| variance.sqrt())
            .sum::<f64>()
    };
    let ratios = together.iter().zip(exact).map(|(x, y)| (x / y).sqrt());
    let measured = !exact.is_empty();
    GroupGrowth {
        groups,
        mean: measured.then(|| sum(together) / sum(exact)),
        largest: ratios.reduce(f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::super::grouping::share;
    use super::super::kernel::Hyperparameters;
    use super::*;

    #[test]
    fn counts_and_shares() {
        assert_eq!(counts_below(200), [32, 48, 64, 96, 128, 192]);
        assert_eq!(counts_below(32), [0; 0]);
        assert_eq!([1, 2, 3, 4, 5].map(share), [1.0, 0.5, 0.25, 0.25, 0.125]);
    }

    #[test]
    fn copies_make_no_group_of_their_own() {
        let hyperparameters = Hyperparameters {
            kernel: Kernel::Rbf,
            signal_variance: 1.0,
            constant_variance: 0.0,
            lengthscales: vec![2.0],
            noise_variance: 0.01,
        };
        let points = [0.0, 0.0, 5.0, 4.5, 1.0];
        let found = Grouping::around(&hyperparameters, &points, &[0, 2, 1]);
        assert_eq!(
            (found.order, found.sizes),
            (vec![0, 1, 4, 2, 3], vec![3, 2])
        );
    }
}
