//! The Cholesky factor on all threads.
//!
//! The matrix is halved again and again: factor of the upper left half, the
//! lower left one solved with it, the lower right one updated, factor of that.
//! Solving and updating are cut into two parts of equal work, always the same
//! ones, so that the number of threads changes no bit.

use std::hint::black_box;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, ColRef, MatMut, MatRef, Par, Spec};

/// Smaller ones are left to one thread.
const SMALLEST: usize = 256;
/// Halves end on whole vectors.
const STEP: usize = 16;

/// Makes the lower half of a matrix its factor; `None` if it is not positive
/// definite. What lies above the diagonal is not read.
pub fn factorise(matrix: MatMut<'_, f64>) -> Option<()> {
    let factorised = recurse(matrix);
    free_registers();
    factorised
}

fn recurse(mut matrix: MatMut<'_, f64>) -> Option<()> {
    let size = matrix.nrows();
    if size <= SMALLEST {
        let scratch = cholesky_in_place_scratch::<f64>(size, Par::Seq, Spec::default());
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        let regularization = LltRegularization::default();
        let found = cholesky_in_place(matrix, regularization, Par::Seq, stack, Spec::default());
        return found.ok().map(|_| ());
    }
    let half = (size / 2).next_multiple_of(STEP);
    let (mut first, _, mut left, mut last) = matrix.rb_mut().split_at_mut(half, half);
    recurse(first.rb_mut())?;
    let first = first.rb();
    // left ← left · first⁻ᵀ, row by row.
    let rows = left.nrows();
    let (upper, lower) = left
        .rb_mut()
        .split_at_row_mut((rows / 2).next_multiple_of(STEP).min(rows));
    let solve = |rows: MatMut<'_, f64>| {
        solve_lower_triangular_in_place(first, rows.transpose_mut(), Par::Seq);
    };
    rayon::join(|| solve(upper), || solve(lower));
    update(last.rb_mut(), left.rb());
    recurse(last)
}

/// The lower half of target − left · leftᵀ.
fn update(target: MatMut<'_, f64>, left: MatRef<'_, f64>) {
    // A triangle of half the area, and what lies below it.
    let rows = target.nrows();
    let cut = (rows as f64 * 0.5_f64.sqrt()) as usize;
    let cut = cut.next_multiple_of(STEP).min(rows);
    let (triangle, _, rectangle, corner) = target.split_at_mut(cut, cut);
    let (upper, lower) = left.split_at_row(cut);
    rayon::join(
        || subtract_lower(triangle, upper),
        || {
            matmul(
                rectangle,
                Accum::Add,
                lower,
                upper.transpose(),
                -1.0,
                Par::Seq,
            );
            subtract_lower(corner, lower);
        },
    );
}

fn subtract_lower(target: MatMut<'_, f64>, left: MatRef<'_, f64>) {
    triangular_matmul(
        target,
        BlockStructure::TriangularLower,
        Accum::Add,
        left,
        BlockStructure::Rectangular,
        left.transpose(),
        BlockStructure::Rectangular,
        -1.0,
        Par::Seq,
    );
}

/// On x86 faer's kernels leave the upper halves of the vector registers in
/// use, which slows the scalar code after them down; its reductions do not.
pub(super) fn free_registers() {
    let registers = [0.0_f32; 16];
    black_box(ColRef::from_slice(black_box(&registers)).norm_max());
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rayon::ThreadPoolBuilder;

    use super::*;

    fn kernel(size: usize) -> Mat<f64> {
        Mat::from_fn(size, size, |i, j| {
            let noise = if i == j { 0.01 } else { 0.0 };
            // The upper half is not read.
            if i >= j {
                (-(i.abs_diff(j) as f64) / 50.0).exp() + noise
            } else {
                f64::NAN
            }
        })
    }

    fn factor(size: usize, threads: usize) -> Mat<f64> {
        let mut matrix = kernel(size);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| factorise(matrix.as_mut()))
            .unwrap();
        matrix
    }

    #[test]
    fn the_square_is_the_matrix_on_any_number_of_threads() {
        for size in [1, 2, 100, 256, 257, 300, 520] {
            let (found, with_threads) = (factor(size, 1), factor(size, 3));
            let matrix = kernel(size);
            for i in 0..size {
                for j in 0..=i {
                    let square: f64 = (0..=j).map(|k| found[(i, k)] * found[(j, k)]).sum();
                    let error = (square - matrix[(i, j)]).abs();
                    assert!(error < 1e-12, "{size}: {i} {j} {error}");
                    let same = found[(i, j)].to_bits() == with_threads[(i, j)].to_bits();
                    assert!(same, "{size}: {i} {j}");
                }
            }
        }
    }

    #[test]
    fn what_has_no_factor_is_refused() {
        for bad in [0, 299, 599] {
            let mut matrix = kernel(600);
            matrix[(bad, bad)] = -1.0;
            assert_eq!(factorise(matrix.as_mut()), None);
        }
    }
}
