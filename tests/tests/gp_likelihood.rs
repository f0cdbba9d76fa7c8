//! Hyperparameters by marginal likelihood: against scikit-learn on stored
//! problems, derivatives against differences, one result on any number of
//! threads, and what is refused.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::ops::ControlFlow;

use hambo_core::image::container::Container;
use hambo_core::image::{Part, parse_model};
use hambo_core::model::{Calibration, Kernel, Prediction};
use hambo_host::gaussian_process::{
    FittedOutput, GaussianProcessError, GaussianProcessFit, Hyperparameters, Likelihood,
    Observations, Parameter, SearchBounds, SearchOptions, fit_hyperparameters,
};
use hambo_host::image_file::{AlignedBytes, Uncertainty, encode_gaussian_process};
use hambo_host::training::Standardisation;
use hambo_tests::fixture::Draw;
use hambo_tests::gaussian_process::KERNELS;

/// Made by benches/gp_reference.py.
const REFERENCE: &str = include_str!("../data/gp_reference.txt");

/// The numbers that the script draws, bit by bit.
struct Generator(u64);

impl Generator {
    fn uniform(&mut self) -> f64 {
        let product = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = product.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 * 2.0_f64.powi(-53)
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// The script's function.
fn function(x: &[f64]) -> f64 {
    let used = if x.len() >= 4 { x.len() - 1 } else { x.len() };
    let waves = x.iter().take(used).enumerate().map(|(d, x)| {
        let d = d as f64;
        ((2.0 - 0.2 * d) * x + 0.5 * d).sin() / (1.0 + d)
    });
    waves.sum::<f64>() + 0.25 * x[0] * x[used - 1]
}

/// A problem with scikit-learn's answers.
struct Problem {
    name: String,
    columns: usize,
    inputs: Vec<f64>,
    targets: Vec<f64>,
    queries: Vec<f64>,
    hyperparameters: Hyperparameters,
    negative_log_likelihood: f64,
    mean: Vec<f64>,
    std: Vec<f64>,
}

impl Problem {
    fn all() -> Vec<Self> {
        let lines: Vec<Vec<&str>> = REFERENCE
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().collect())
            .collect();
        lines.chunks(7).map(Self::read).collect()
    }

    fn read(lines: &[Vec<&str>]) -> Self {
        let number = |text: &&str| text.parse::<f64>().unwrap();
        let values = |line: usize, name: &str| -> Vec<f64> {
            assert_eq!(lines[line][0], name);
            lines[line][1..].iter().map(number).collect()
        };
        let kernel = match lines[0][1] {
            "rbf" => Kernel::Rbf,
            "matern32" => Kernel::Matern32,
            _ => Kernel::Matern52,
        };
        let mut draw = Generator(lines[0][2].parse().unwrap());
        let columns: usize = lines[0][3].parse().unwrap();
        let rows: usize = lines[0][4].parse().unwrap();
        let noise = number(&lines[0][5]);
        let (mut inputs, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let x: Vec<f64> = (0..columns).map(|_| 4.0 * draw.uniform() - 2.0).collect();
            targets.push(function(&x) + noise * draw.normal());
            inputs.extend(x);
        }
        let (mean, std) = (values(5, "mean"), values(6, "std"));
        let count = mean.len() * columns;
        Self {
            name: lines[0].join(" "),
            columns,
            inputs,
            targets,
            queries: (0..count).map(|_| 5.0 * draw.uniform() - 2.5).collect(),
            hyperparameters: Hyperparameters {
                kernel,
                signal_variance: values(2, "signal_variance")[0],
                constant_variance: 0.0,
                lengthscales: values(4, "lengthscales"),
                noise_variance: values(3, "noise_variance")[0],
            },
            negative_log_likelihood: values(1, "negative_log_likelihood")[0],
            mean,
            std,
        }
    }

    fn observations(&self) -> Observations<'_> {
        Observations {
            inputs: &self.inputs,
            input_columns: self.columns,
            targets: &self.targets,
            target_columns: 1,
        }
    }

    fn fit(&self, options: &SearchOptions) -> FittedOutput {
        let units = physical(self.columns, 1);
        let found = fit_hyperparameters(&self.observations(), &units, options, &mut go_on);
        found.unwrap().remove(0)
    }

    /// Mean and epistemic standard deviation of the core at each query. The
    /// core wants an action: an input that is always 0.
    fn core_moments(&self) -> Vec<(f64, f64)> {
        let columns = self.columns + 1;
        let rows = self.inputs.chunks(self.columns);
        let inputs: Vec<f64> = rows.flat_map(|x| x.iter().chain(&[0.0])).copied().collect();
        let mut hyperparameters = self.hyperparameters.clone();
        hyperparameters.lengthscales.push(1.0);
        let observations = Observations {
            inputs: &inputs,
            input_columns: columns,
            targets: &self.targets,
            target_columns: 1,
        };
        let units = physical(columns, 1);
        let fit = GaussianProcessFit::new(&observations, &units, &[hyperparameters]).unwrap();
        let uncertainty = Uncertainty {
            beta: 1.0,
            calibration_scale: vec![1.0],
            calibration: Calibration::Passed,
            support_low: vec![-10.0; columns],
            support_high: vec![10.0; columns],
        };
        let bytes = AlignedBytes::new(&encode_gaussian_process(&fit, &uncertainty).unwrap());
        let part = Container::take(&mut bytes.as_bytes(), Part::Model).unwrap();
        let model = parse_model(&part).unwrap();
        let mut scratch = vec![[0.0; 1]; model.dynamics.scratch_rows().unwrap()];
        let mut moments = Vec::new();
        for query in self.queries.chunks(self.columns) {
            let input = query.iter().chain(&[0.0]).map(|x| [*x as f32]);
            let input: Vec<[f32; 1]> = input.collect();
            let (state, action) = input.split_at(1);
            let [mut mean, mut epistemic, mut aleatoric] = [[[0.0; 1]; 1]; 3];
            let mut prediction = Prediction {
                mean: &mut mean,
                epistemic_std: &mut epistemic,
                aleatoric_std: &mut aleatoric,
            };
            model
                .dynamics
                .predict(state, action, &mut scratch, &mut prediction);
            moments.push((f64::from(mean[0][0]), f64::from(epistemic[0][0])));
        }
        moments
    }

    fn options(&self) -> SearchOptions {
        let ratio = self.hyperparameters.noise_variance / self.hyperparameters.signal_variance;
        let mut options = SearchOptions {
            kernel: self.hyperparameters.kernel,
            ..SearchOptions::default()
        };
        // One of the problems has less noise than the core would like.
        if ratio < 2e-4 {
            options.bounds.noise_ratio.0 = 1e-8;
        }
        options
    }
}

fn go_on(_: hambo_host::gaussian_process::Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Units in which nothing is scaled.
fn physical(inputs: usize, outputs: usize) -> Standardisation {
    Standardisation {
        input_mean: vec![0.0; inputs],
        input_scale: vec![1.0; inputs],
        output_mean: vec![0.0; outputs],
        output_scale: vec![1.0; outputs],
    }
}

#[test]
fn as_likely_as_scikit_learn_or_more() {
    let problems = Problem::all();
    assert!(problems.len() >= 13);
    for problem in problems {
        let at_reference =
            Likelihood::new(&problem.hyperparameters, &problem.inputs, &problem.targets);
        let (known, stated) = (at_reference.unwrap().value, problem.negative_log_likelihood);
        assert!(
            (known - stated).abs() < 1e-5 * (1.0 + stated.abs()),
            "{known} {stated}"
        );
        let found = problem.fit(&problem.options());
        println!(
            "{:28} {stated:12.4} {:12.4} ({} evaluations, starts {:.2?})",
            problem.name, found.negative_log_likelihood, found.evaluations, found.start_likelihoods,
        );
        assert!(
            found.negative_log_likelihood < stated + 0.1,
            "{}",
            problem.name
        );
        // What is returned has the likelihood that is stated.
        let again = Likelihood::new(&found.hyperparameters, &problem.inputs, &problem.targets);
        assert!((again.unwrap().value - found.negative_log_likelihood).abs() < 1e-6);
    }
}

#[test]
fn predicts_what_scikit_learn_predicts() {
    for problem in Problem::all() {
        let (mut worst_mean, mut worst_std) = ([0.0_f64; 2], [0.0_f64; 2]);
        let fit = GaussianProcessFit::new(
            &problem.observations(),
            &physical(problem.columns, 1),
            std::slice::from_ref(&problem.hyperparameters),
        );
        let fit = fit.unwrap();
        let noise = problem.hyperparameters.noise_variance;
        let count = problem.targets.len() as f64;
        let mean = problem.targets.iter().sum::<f64>() / count;
        let spread = problem.targets.iter().map(|y| (y - mean).powi(2));
        let scale = (spread.sum::<f64>() / count).sqrt();
        let core = problem.core_moments();
        let queries = problem.queries.chunks(problem.columns);
        let expected = problem.mean.iter().zip(&problem.std);
        for ((query, (mean, std)), core) in queries.zip(expected).zip(core) {
            let host = fit.posterior(query)[0];
            for (place, (m, s)) in [(host.0, host.1.sqrt()), core].into_iter().enumerate() {
                let error = (m - mean).abs() / scale;
                worst_mean[place] = worst_mean[place].max(error);
                let excess = ((s * s + noise).sqrt() - std) / scale;
                worst_std[place] = worst_std[place].max(excess.abs());
                // The core rounds up, never down.
                assert!(excess > -1e-6, "{}: {excess}", problem.name);
            }
        }
        let ratio = noise / problem.hyperparameters.signal_variance;
        let ([host, core], [host_std, core_std]) = (worst_mean, worst_std);
        println!(
            "{:28} noise/signal {ratio:.0e}, means to {host:.0e} and {core:.0e}, deviations to {host_std:.0e} and {core_std:.0e}",
            problem.name
        );
        assert!(host < 1e-6 && host_std < 1e-6);
        // f32: the weights grow as the noise shrinks, and the errors with them.
        let limit = match ratio {
            ratio if ratio > 2e-3 => 1e-4,
            ratio if ratio > 1e-4 => 5e-3,
            _ => f64::INFINITY,
        };
        assert!(core < limit, "{}: {core}", problem.name);
    }
}

/// Hyperparameters shifted by a step in the logarithm of one of them.
fn shifted(output: &Hyperparameters, index: usize, step: f64) -> Hyperparameters {
    let mut output = output.clone();
    let value = match index {
        0 => &mut output.signal_variance,
        1 => &mut output.constant_variance,
        2 => &mut output.noise_variance,
        other => &mut output.lengthscales[other - 3],
    };
    *value *= step.exp();
    output
}

#[test]
fn derivatives_agree_with_differences() {
    for (seed, kernel) in (0..24).zip(KERNELS.into_iter().cycle()) {
        let draw = &mut Draw::new(0x617 + seed);
        let columns = 1 + draw.below(4);
        let rows = 5 + draw.below(40);
        let mut many = |count: usize, low: f32, high: f32| -> Vec<f64> {
            let values = (0..count).map(|_| f64::from(draw.between(low, high)));
            values.collect()
        };
        let points = many(rows * columns, -2.0, 2.0);
        let targets = many(rows, -1.5, 1.5);
        let output = Hyperparameters {
            kernel,
            signal_variance: many(1, 0.3, 3.0)[0],
            constant_variance: many(1, 0.1, 1.0)[0],
            lengthscales: many(columns, 0.3, 3.0),
            noise_variance: many(1, 0.01, 0.5)[0],
        };
        let at = |output: &Hyperparameters| Likelihood::new(output, &points, &targets).unwrap();
        let found = at(&output);
        let mut gradient = vec![
            found.by_signal_variance,
            found.by_constant_variance,
            found.by_noise_variance,
        ];
        gradient.extend(&found.by_lengthscales);
        for (index, derivative) in gradient.iter().enumerate() {
            let step = 1e-4;
            let value = |step| at(&shifted(&output, index, step)).value;
            let difference = (value(step) - value(-step)) / (2.0 * step);
            let error = (derivative - difference).abs() / difference.abs().max(1.0);
            assert!(
                error < 1e-6,
                "{kernel:?}, parameter {index}: {derivative} {difference}"
            );
        }
    }
}

/// Two outputs, more rows than the starts see.
fn two_outputs() -> (Vec<f64>, Vec<f64>) {
    let mut draw = Generator(77);
    let (mut inputs, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..150 {
        let x = [4.0 * draw.uniform() - 2.0, 4.0 * draw.uniform() - 2.0, 3.0];
        targets.push(function(&x[..2]) + 0.1 * draw.normal());
        targets.push(x[0] * x[1] + 0.05 * draw.normal());
        inputs.extend(x);
    }
    (inputs, targets)
}

fn observations<'a>((inputs, targets): &'a (Vec<f64>, Vec<f64>)) -> Observations<'a> {
    Observations {
        inputs,
        input_columns: 3,
        targets,
        target_columns: 2,
    }
}

/// Units in which the third input is always 0.
fn centred() -> Standardisation {
    Standardisation {
        input_mean: vec![0.0, 0.0, 3.0],
        ..physical(3, 2)
    }
}

#[test]
fn one_result_on_any_number_of_threads() {
    let data = two_outputs();
    for kernel in [Kernel::Rbf, Kernel::Linear] {
        let options = SearchOptions {
            kernel,
            constant: true,
            search_rows: 60,
            starts: 3,
            ..SearchOptions::default()
        };
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            let units = centred();
            pool.install(|| fit_hyperparameters(&observations(&data), &units, &options, &mut go_on))
        };
        let found = fit(1).unwrap();
        assert_eq!(found, fit(2).unwrap());
        assert_eq!(found, fit(5).unwrap());
        assert_eq!(
            (found[0].search_rows, found[0].start_likelihoods.len()),
            (60, 3)
        );
        // The third input is constant and says so by its lengthscale.
        assert_eq!(found[0].hyperparameters.lengthscales[2], 1.0);
        let other = SearchOptions { seed: 1, ..options };
        let other = fit_hyperparameters(&observations(&data), &centred(), &other, &mut go_on);
        let other = other.unwrap();
        assert_ne!(found[0].start_likelihoods, other[0].start_likelihoods);
        let gap = found[0].negative_log_likelihood - other[0].negative_log_likelihood;
        assert!(gap.abs() < 0.1, "{gap}");
    }
}

#[test]
fn the_noise_floor_holds_and_is_reported() {
    let inputs: Vec<f64> = (0..60).map(|i| 0.1 * f64::from(i)).collect();
    let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
    let observations = Observations {
        inputs: &inputs,
        input_columns: 1,
        targets: &targets,
        target_columns: 1,
    };
    let fit = |bounds: SearchBounds| {
        let options = SearchOptions {
            bounds,
            ..SearchOptions::default()
        };
        fit_hyperparameters(&observations, &physical(1, 1), &options, &mut go_on)
    };
    let found = &fit(SearchBounds::default()).unwrap()[0];
    let ratio = found.hyperparameters.noise_variance / found.hyperparameters.signal_variance;
    assert!((ratio / 1e-4 - 1.0).abs() < 1e-9, "{ratio}");
    assert!(found.at_bounds.contains(&Parameter::NoiseRatio));
    let lower = SearchBounds {
        noise_ratio: (1e-8, 1e4),
        ..SearchBounds::default()
    };
    let freer = &fit(lower).unwrap()[0];
    assert!(freer.negative_log_likelihood < found.negative_log_likelihood - 10.0);
    let upside_down = SearchBounds {
        lengthscale: (1.0, 0.1),
        ..SearchBounds::default()
    };
    let error = fit(upside_down).unwrap_err();
    assert!(error.to_string().contains("lengthscale"), "{error}");
}

#[test]
fn unfit_data_are_refused_by_name() {
    let data = two_outputs();
    let fit = |inputs: &[f64], targets: &[f64]| {
        let observations = Observations {
            inputs,
            input_columns: 3,
            targets,
            target_columns: 2,
        };
        let options = SearchOptions::default();
        fit_hyperparameters(&observations, &physical(3, 2), &options, &mut go_on).unwrap_err()
    };
    let (inputs, targets) = &data;
    assert_eq!(fit(&[], &[]), GaussianProcessError::Empty);
    assert!(matches!(
        fit(inputs, &targets[1..]),
        GaussianProcessError::Mismatch {
            table: "targets",
            ..
        }
    ));
    assert_eq!(
        fit(&inputs[..27], &targets[..18]),
        GaussianProcessError::TooFewRows {
            rows: 9,
            needed: 10
        }
    );
    let mut bad = inputs.clone();
    bad[3 * 7 + 2] = f64::NAN;
    let error = fit(&bad, targets).to_string();
    assert!(error.contains("row 7, column 2"), "{error}");
    let mut bad = targets.clone();
    bad.iter_mut().skip(1).step_by(2).for_each(|y| *y = 0.25);
    assert_eq!(
        fit(inputs, &bad),
        GaussianProcessError::ConstantTarget { column: 1 }
    );
    let units = physical(2, 2);
    let error = fit_hyperparameters(
        &observations(&data),
        &units,
        &SearchOptions::default(),
        &mut go_on,
    );
    assert!(matches!(error, Err(GaussianProcessError::Mismatch { .. })));
}

#[test]
fn the_search_tells_and_can_be_stopped() {
    let data = two_outputs();
    let options = SearchOptions {
        search_rows: 50,
        starts: 2,
        ..SearchOptions::default()
    };
    let (mut told, mut all, mut last) = (0, 0, 0);
    let units = physical(3, 2);
    let found = fit_hyperparameters(&observations(&data), &units, &options, &mut |progress| {
        told += 1;
        all += usize::from(progress.start.is_none() && progress.rows == 150);
        assert_eq!(progress.planned, 6);
        last = progress.finished;
        ControlFlow::Continue(())
    });
    let found = found.unwrap();
    assert_eq!(told, found.iter().map(|f| f.evaluations).sum::<usize>());
    assert!(all > 0 && last == 5, "{all} {last}");
    let stopped = fit_hyperparameters(&observations(&data), &units, &options, &mut |progress| {
        if progress.evaluations < 4 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    assert_eq!(stopped, Err(GaussianProcessError::Stopped));
}

/// Not part of the suite: how long 5,000 rows take, and how much memory.
/// `cargo test --release -p hambo-tests --test gp_likelihood -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn five_thousand_rows() {
    let mut draw = Generator(5);
    let (mut inputs, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..5000 {
        let x: Vec<f64> = (0..4).map(|_| 4.0 * draw.uniform() - 2.0).collect();
        targets.push(function(&x) + 0.1 * draw.normal());
        inputs.extend(x);
    }
    let observations = Observations {
        inputs: &inputs,
        input_columns: 4,
        targets: &targets,
        target_columns: 1,
    };
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM"));
        line.map(|line| line.split_whitespace().skip(1).collect::<String>())
    };
    let start = std::time::Instant::now();
    let options = SearchOptions::default();
    let found = fit_hyperparameters(&observations, &physical(4, 1), &options, &mut |progress| {
        if progress.rows == 5000 {
            let value = progress.negative_log_likelihood;
            println!(
                "{:6.1?} {:3} {value:.3}",
                start.elapsed(),
                progress.evaluations
            );
        }
        ControlFlow::Continue(())
    });
    let found = found.unwrap();
    println!(
        "search {:.1?}, peak {:?}, {:#?}",
        start.elapsed(),
        peak(),
        found[0]
    );
    let start = std::time::Instant::now();
    let kernels = std::slice::from_ref(&found[0].hyperparameters);
    let fit = GaussianProcessFit::new(&observations, &physical(4, 1), kernels).unwrap();
    println!("posterior {:.1?}, peak {:?}", start.elapsed(), peak());
    let noise = found[0].hyperparameters.noise_variance.sqrt();
    assert!((noise - 0.1).abs() < 0.01 && fit.rows() == 5000);
}
