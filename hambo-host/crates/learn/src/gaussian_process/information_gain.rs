//! The information gain g = ½ log det(1 + K / noise): how much the data tell
//! about f, in nats. It enters [`beta`](super::beta()).

use faer::Mat;
use hambo_core::model::Kernel;

/// g from the Cholesky factor L of K + noise · 1, in the lower half.
pub(super) fn information_gain(factor: &Mat<f64>, noise: f64) -> f64 {
    let rows = factor.nrows();
    let diagonal = (0..rows).map(|i| factor[(i, i)].ln());
    diagonal.sum::<f64>() - 0.5 * rows as f64 * noise.ln()
}

/// How gamma_n, the largest information gain of n points in d dimensions,
/// grows with n: a rate without its constant, so it bounds nothing by itself.
pub(super) fn gamma_growth(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Linear => "d log n",
        Kernel::Rbf => "(log n)^(d+1)",
        Kernel::Matern32 => "n^(d/(3+d))",
        Kernel::Matern52 => "n^(d/(5+d))",
    }
}
