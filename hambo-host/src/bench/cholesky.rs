//! The factorisation that a Gaussian process is fitted with.

use std::hint::black_box;
use std::time::Instant;

use faer::{Mat, Par, Side, get_global_parallelism, set_global_parallelism};

use super::{BenchError, Contest};
use crate::Error;

const SIZE: usize = 2000;

pub(super) fn contest() -> Result<Contest, Error> {
    let kernel = Mat::from_fn(SIZE, SIZE, |i, j| {
        let noise = if i == j { 0.01 } else { 0.0 };
        (-(i.abs_diff(j) as f64) / 50.0).exp() + noise
    });
    Ok(Contest {
        name: "Cholesky factor of 2000 × 2000 numbers in f64",
        peer: "SciPy",
        script: include_str!("../../../benches/cholesky.py"),
        sizes: vec![SIZE],
        limit: Some(1.0),
        ours: Box::new(move |pool| {
            let before = get_global_parallelism();
            set_global_parallelism(match pool.current_num_threads() {
                1 => Par::Seq,
                threads => Par::rayon(threads),
            });
            let start = Instant::now();
            let factor = kernel.llt(Side::Lower);
            let time = start.elapsed();
            set_global_parallelism(before);
            match black_box(factor) {
                Ok(_) => Ok(time),
                Err(_) => Err(BenchError::NotFinite.into()),
            }
        }),
    })
}
