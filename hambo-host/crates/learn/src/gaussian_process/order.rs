//! The order in which points are stored, and the order in which they are worth
//! keeping.
//!
//! The posterior does not depend on the first, but the rounding of M does. A
//! pivoted Cholesky factorisation of K takes the point next whose variance,
//! given the points before it, is largest. That puts the rows of M that
//! explain most first, while their numbers, and so their rounding errors, are
//! still small. The second order counts the noise: it factorises K + noise · 1.

use rayon::prelude::*;

use super::kernel::Hyperparameters;

/// Points chosen one by one; those after them keep their order. Beyond this
/// many, M grows no more.
const MOST: usize = 512;

/// The order of the points (row-major, `columns` wide) by pivoting.
pub(super) fn pivoted_order(
    points: &[f64],
    columns: usize,
    outputs: &[Hyperparameters],
) -> Vec<usize> {
    let rows: Vec<&[f64]> = points.chunks_exact(columns.max(1)).collect();
    let mut residuals: Vec<Residual<'_>> = outputs
        .iter()
        .map(|output| Residual::new(output, 0.0, &rows))
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for place in 0..rows.len().min(MOST) {
        let score = |point: usize| {
            let scores = residuals
                .iter()
                .map(|r| r.variances[point] / r.output.noise_variance);
            scores.fold(0.0, f64::max)
        };
        let rest = order.iter().enumerate().skip(place);
        let best = rest.map(|(at, point)| (score(*point), at));
        let best = best.fold((f64::NEG_INFINITY, place), |best, next| {
            if next.0 > best.0 { next } else { best }
        });
        // What is left is less than the noise.
        if best.0 < 1.0 {
            break;
        }
        // Keeps the order of the others.
        order[place..=best.1].rotate_right(1);
        for residual in &mut residuals {
            residual.condition(order[place], &rows);
        }
    }
    order
}

/// The first `most` points, each the one with the largest information gain, in
/// nats and over all outputs, given the ones before it.
pub(super) fn most_informative(
    points: &[f64],
    columns: usize,
    outputs: &[Hyperparameters],
    most: usize,
) -> Vec<usize> {
    let rows: Vec<&[f64]> = points.chunks_exact(columns.max(1)).collect();
    let mut residuals: Vec<Residual<'_>> = outputs
        .iter()
        .map(|output| Residual::new(output, output.noise_variance, &rows))
        .collect();
    let mut rest: Vec<usize> = (0..rows.len()).collect();
    let mut order = Vec::new();
    while order.len() < most {
        let score = |point: &usize| -> f64 {
            let gains = residuals
                .iter()
                .map(|r| (r.variances[*point] / r.noise).ln_1p());
            gains.sum()
        };
        let best = rest.iter().map(score).enumerate();
        // The first of equals.
        let best = best.fold((f64::NEG_INFINITY, 0), |best, (at, score)| {
            if score > best.0 { (score, at) } else { best }
        });
        if best.1 >= rest.len() {
            break;
        }
        let chosen = rest.remove(best.1);
        order.push(chosen);
        residuals
            .par_iter_mut()
            .for_each(|residual| residual.condition(chosen, &rows));
    }
    order
}

/// What the chosen points leave open of one output.
pub(super) struct Residual<'a> {
    output: &'a Hyperparameters,
    /// Of the chosen points' values; 0 to condition on f itself.
    noise: f64,
    /// The variance at each point, given the chosen ones.
    pub(super) variances: Vec<f64>,
    /// The columns of the factor so far.
    factor: Vec<Vec<f64>>,
}

impl<'a> Residual<'a> {
    pub(super) fn new(output: &'a Hyperparameters, noise: f64, rows: &[&[f64]]) -> Self {
        Self {
            output,
            noise,
            variances: rows.iter().map(|x| output.covariance(x, x)).collect(),
            factor: Vec::new(),
        }
    }

    pub(super) fn condition(&mut self, chosen: usize, rows: &[&[f64]]) {
        let pivot = self.variances[chosen] + self.noise;
        if pivot < 1e-3 * self.output.noise_variance {
            return;
        }
        let mut column: Vec<f64> = rows
            .iter()
            .map(|x| self.output.covariance(x, rows[chosen]))
            .collect();
        for before in &self.factor {
            let weight = before[chosen];
            let pairs = column.iter_mut().zip(before);
            pairs.for_each(|(c, b)| *c -= weight * b);
        }
        let scale = 1.0 / pivot.sqrt();
        for (c, variance) in column.iter_mut().zip(&mut self.variances) {
            *c *= scale;
            *variance = (*variance - *c * *c).max(0.0);
        }
        self.factor.push(column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hambo_core::model::Kernel;

    #[test]
    fn near_copies_come_last() {
        let output = Hyperparameters {
            kernel: Kernel::Rbf,
            signal_variance: 1.0,
            constant_variance: 0.0,
            lengthscales: vec![1.0],
            noise_variance: 1e-4,
        };
        let points = [0.0, 0.1, -0.1, 4.0, 4.1, 2.0];
        let order = pivoted_order(&points, 1, &[output]);
        assert_eq!(order.len(), 6);
        let place = |point| order.iter().position(|p| *p == point);
        assert_eq!(place(0), Some(0));
        assert!(place(3).max(place(4)) > place(5).max(place(0)));
        assert!(place(3).min(place(4)) == Some(1));
    }
}
