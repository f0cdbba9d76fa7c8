//! The factorisation that a Gaussian process is fitted with.

use std::hint::black_box;
use std::time::Instant;

use faer::Mat;

use super::contest::Contest;
use super::peer::BenchError;
use hambo_base::Error;
use hambo_learn::gaussian_process::cholesky::factorise;

const SIZE: usize = 2000;

pub(super) fn contest() -> Result<Contest, Error> {
    let kernel = Mat::from_fn(SIZE, SIZE, |i, j| {
        let noise = if i == j { 0.01 } else { 0.0 };
        (-(i.abs_diff(j) as f64) / 50.0).exp() + noise
    });
    Ok(Contest {
        peer: "SciPy",
        script: include_str!("../../../../../benches/cholesky.py"),
        sizes: vec![SIZE],
        limit: Some(1.0),
        ours: Box::new(move |pool| {
            let start = Instant::now();
            let mut factor = kernel.clone();
            let found = pool.install(|| factorise(factor.as_mut()));
            let time = start.elapsed();
            black_box(factor);
            found.map(|()| time).ok_or(BenchError::NotFinite.into())
        }),
    })
}
