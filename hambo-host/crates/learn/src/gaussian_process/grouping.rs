//! Points in groups, and the variance given the sums of what was seen in each.

use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par};
use rayon::prelude::*;

use super::cholesky;
use super::kernel::Hyperparameters;

/// What each point of a group of this size counts in its sum: a power of two.
pub fn share(size: usize) -> f64 {
    1.0 / size.next_power_of_two() as f64
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
    pub(super) fn around(
        hyperparameters: &Hyperparameters,
        points: &[f64],
        centres: &[usize],
    ) -> Self {
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
    pub(super) fn variance(
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
