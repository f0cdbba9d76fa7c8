//! Loops over many numbers with the widest vectors of the processor.
//!
//! A plain x86-64 build has four numbers to a vector; the processor may have
//! eight or sixteen. Nothing is fused and no sum changes its order, so the bits
//! are the same.

use pulp::Arch;

/// Does `work` compiled for the widest vectors of this processor.
#[inline(always)]
pub(super) fn with_vectors<T>(work: impl FnOnce() -> T) -> T {
    Arch::new().dispatch(work)
}

/// Partial sums that are taken side by side.
const LANES: usize = 16;
/// Numbers that are summed in f32; their sums are added in f64.
const BLOCK: usize = 1024;

/// The sum of all squares.
pub(super) fn squared_norm(numbers: &[f32]) -> f64 {
    with_vectors(|| numbers.chunks(BLOCK).map(sum_of_squares).sum())
}

#[inline(always)]
fn sum_of_squares(numbers: &[f32]) -> f64 {
    let mut sums = [0.0_f32; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum += x * x;
        }
    }
    let rest = rest.iter().map(|x| x * x);
    f64::from(sums.into_iter().chain(rest).sum::<f32>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_counts() {
        let numbers: Vec<f32> = (0..2 * BLOCK + 37).map(|i| 0.5 * (i % 7) as f32).collect();
        let expected: f64 = numbers.iter().map(|x| f64::from(*x).powi(2)).sum();
        assert!((squared_norm(&numbers) / expected - 1.0).abs() < 1e-6);
        assert_eq!(squared_norm(&[3.0]), 9.0);
        assert_eq!(squared_norm(&[]), 0.0);
    }
}
