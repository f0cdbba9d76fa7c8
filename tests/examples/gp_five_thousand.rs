//! How long an exact fit of a Gaussian process to 5,000 rows takes, and how
//! much memory: `cargo run --release -p hambo-tests --example gp_five_thousand`

use std::error::Error;
use std::time::Instant;

use hambo_base::Held;
use hambo_core::model::Calibration;
use hambo_learn::gaussian_process::{
    GaussianProcessFit, Observations, SearchOptions, encode_gaussian_process, fit_hyperparameters,
};
use hambo_task::image::{LoggedRegion, NoisePools, Uncertainty};
use hambo_tests::smooth_data::{Generator, function, go_on, physical};

const ROWS: usize = 5000;
const COLUMNS: usize = 4;
const NOISE: f64 = 0.1;

fn main() -> Result<(), Box<dyn Error>> {
    let mut draw = Generator(5);
    let (mut inputs, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..ROWS {
        let x = [(); COLUMNS].map(|()| 4.0 * draw.uniform() - 2.0);
        targets.push(function(&x) + NOISE * draw.normal());
        inputs.extend(x);
    }
    let observations = Observations {
        inputs: &inputs,
        input_columns: COLUMNS,
        targets: &targets,
        target_columns: 1,
        held: Held::NONE,
    };
    let units = physical(COLUMNS, 1);
    let start = Instant::now();
    let options = SearchOptions::default();
    let found = fit_hyperparameters(&observations, &units, &options, &mut go_on)?;
    println!("search {:.1?}, peak {}", start.elapsed(), peak());
    let hyperparameters: Vec<_> = found.into_iter().map(|f| f.hyperparameters).collect();
    let start = Instant::now();
    let fit = GaussianProcessFit::new(&observations, &units, &hyperparameters)?;
    println!("posterior {:.1?}, peak {}", start.elapsed(), peak());
    for output in &fit.outputs {
        let noise = output.hyperparameters.noise_variance.sqrt();
        println!("noise {noise:.4}, true {NOISE}");
    }
    let uncertainty = Uncertainty {
        features: 1,
        beta: 1.0,
        calibration_scale: vec![1.0],
        calibration: Calibration::Passed,
        tested_steps: u16::MAX,
        noise_scale: vec![1.0; 1],
        noise_factor: Vec::new(),
        noise_pools: NoisePools::default(),
        width_regions: Vec::new(),
        support: LoggedRegion::ball(COLUMNS, 2.0),
    };
    let start = Instant::now();
    let part = encode_gaussian_process(&fit, &uncertainty)?;
    println!(
        "as the core reads it, {} bytes: {:.1?}, peak {}",
        part.len(),
        start.elapsed(),
        peak()
    );
    Ok(())
}

/// The most memory that was in use, as Linux tells it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.map_or_else(String::new, |line| {
        line.split_whitespace().skip(1).collect()
    })
}
