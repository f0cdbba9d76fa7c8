//! Loops over many numbers with the widest vectors of the processor.
//!
//! A plain x86-64 build has four numbers to a vector; the processor may have
//! eight or sixteen. Nothing is fused and no sum changes its order, so the bits
//! are the same.

use pulp::Arch;

/// Does `work` compiled for the widest vectors of this processor.
#[inline(always)]
pub fn with_vectors<T>(work: impl FnOnce() -> T) -> T {
    Arch::new().dispatch(work)
}

/// Partial sums that are taken side by side.
const LANES: usize = 16;
/// Numbers that are summed in f32; their sums are added in f64.
const BLOCK: usize = 1024;

/// Σ x².
pub fn squared_norm(numbers: &[f32]) -> f64 {
    with_vectors(|| {
        let blocks = numbers.chunks(BLOCK);
        blocks
            .map(|block| f64::from(sum(block, block, |x, _| x * x)))
            .sum()
    })
}

/// Σ (a − b)², for not too many numbers: all in f32.
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    with_vectors(|| sum(a, b, |a, b| (a - b) * (a - b)))
}

/// Σ f(a, b), in [`LANES`] partial sums.
#[inline(always)]
fn sum(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += f(*a, *b);
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| f(*a, *b)).sum();
    sums.iter().sum::<f32>() + rest
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
        let numbers: Vec<f32> = (0..37).map(|i| i as f32).collect();
        // Σ i² for i < 37.
        assert_eq!(squared_distance(&numbers, &[0.0; 37]), 16_206.0);
    }
}
