//! Points that the variance takes together, so that a query need not cost N².
//!
//! With m groups of near points the core takes the variance given m sums of
//! what was seen: U of its `model::gaussian_process::groups`. It is never
//! smaller than that given all points, whatever the groups are; how much larger
//! it is depends on how alike the members are. The groups of one output lie
//! around the points that tell most of it, each with the points that are
//! nearest in its lengthscales. Targets play no part.

use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::order::most_informative;
use super::posterior::{require_shape, standardised};
use super::{GaussianProcessError, GaussianProcessFit, Hyperparameters, Kernel, cholesky};

/// The mean standard deviation may grow by so much where the number of groups
/// is chosen by it.
const MOST_GROWTH: f64 = 1.2;
/// Up to so many points each is alone unless groups are asked for.
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
    /// So many for each output.
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

/// Points in groups.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grouping {
    /// The points' numbers, group by group.
    pub order: Vec<usize>,
    /// The size of each group, none empty.
    pub sizes: Vec<usize>,
}

impl Grouping {
    /// Around these points, each of the others with the nearest. A group whose
    /// centre is another's copy is left out.
    fn around(hyperparameters: &Hyperparameters, points: &[f64], centres: &[usize]) -> Self {
        let columns = hyperparameters.lengthscales.len();
        let rows: Vec<&[f64]> = points.chunks_exact(columns).collect();
        let distance = |x: &[f64], y: &[f64]| -> f64 {
            let pairs = x.iter().zip(y).zip(&hyperparameters.lengthscales);
            pairs.map(|((x, y), l)| ((x - y) / l).powi(2)).sum()
        };
        let nearest: Vec<usize> = rows
            .par_iter()
            .map(|row| {
                let all = centres.iter().map(|centre| distance(row, rows[*centre]));
                // The first of equals.
                let nearest = all.enumerate().fold((0, f64::INFINITY), |best, next| {
                    if next.1 < best.1 { next } else { best }
                });
                nearest.0
            })
            .collect();
        let mut groups = vec![Vec::new(); centres.len()];
        for (point, group) in nearest.into_iter().enumerate() {
            groups[group].push(point);
        }
        groups.retain(|group| !group.is_empty());
        Self {
            sizes: groups.iter().map(Vec::len).collect(),
            order: groups.concat(),
        }
    }

    /// The groups, one after the other.
    pub fn groups(&self) -> impl Iterator<Item = &[usize]> {
        let mut rest = self.order.as_slice();
        self.sizes.iter().map_while(move |size| {
            let (group, after) = rest.split_at_checked(*size)?;
            rest = after;
            Some(group)
        })
    }

    /// The rows of M = L⁻¹ up to their diagonals, Uᵀ (K + noise · 1) U = L Lᵀ;
    /// `None` if there is no such L.
    pub fn inverse_rows(
        &self,
        hyperparameters: &Hyperparameters,
        noise: f64,
        points: &[f64],
    ) -> Option<Vec<Vec<f64>>> {
        let columns = hyperparameters.lengthscales.len();
        let rows: Vec<&[f64]> = points.chunks_exact(columns).collect();
        let groups: Vec<&[usize]> = self.groups().collect();
        let lower: Vec<Vec<f64>> = groups
            .par_iter()
            .enumerate()
            .map(|(place, group)| {
                let row = groups.iter().take(place + 1).map(|other| {
                    let pairs = group.iter().flat_map(|i| other.iter().map(move |j| (i, j)));
                    let sum: f64 = pairs
                        .map(|(i, j)| hyperparameters.covariance(rows[*i], rows[*j]))
                        .sum();
                    sum * share(group.len()) * share(other.len())
                });
                let mut row: Vec<f64> = row.collect();
                row[place] += noise * group.len() as f64 * share(group.len()).powi(2);
                row
            })
            .collect();
        let count = groups.len();
        let entry = |i: usize, j: usize| if j <= i { lower[i][j] } else { 0.0 };
        let mut factor = Mat::<f64>::from_fn(count, count, entry);
        cholesky::factorise(factor.as_mut())?;
        let mut inverse = Mat::<f64>::zeros(count, count);
        invert_lower_triangular(inverse.as_mut(), factor.as_ref(), Par::Seq);
        cholesky::free_registers();
        let rows = (0..count).map(|i| (0..=i).map(|j| inverse[(i, j)]).collect());
        Some(rows.collect())
    }

    /// k(x, x) − |M Uᵀ k|² at `query`, with the rows of M.
    fn variance(
        &self,
        inverse_rows: &[Vec<f64>],
        hyperparameters: &Hyperparameters,
        points: &[f64],
        query: &[f64],
    ) -> f64 {
        let rows: Vec<&[f64]> = points.chunks_exact(query.len()).collect();
        let sums = self.groups().map(|group| {
            let all = group.iter();
            let sum: f64 = all
                .map(|i| hyperparameters.covariance(query, rows[*i]))
                .sum();
            sum * share(group.len())
        });
        let sums: Vec<f64> = sums.collect();
        let explained = inverse_rows.iter().map(|row| {
            let products = row.iter().zip(&sums).map(|(m, k)| m * k);
            products.sum::<f64>().powi(2)
        });
        let variance = hyperparameters.covariance(query, query) - explained.sum::<f64>();
        variance.max(0.0)
    }
}

/// What each point of a group of this size counts in its sum: a power of two.
pub(super) fn share(size: usize) -> f64 {
    1.0 / size.next_power_of_two() as f64
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
                if is_linear || most_groups == 0 || counts == [rows] {
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
