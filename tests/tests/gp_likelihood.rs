//! The search for hyperparameters: derivatives against differences, one result
//! on any number of threads, its limits, and what is refused.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::ops::ControlFlow;

use hambo_base::Held;
use hambo_base::network::Standardisation;
use hambo_core::model::Kernel;
use hambo_learn::gaussian_process::{
    GaussianProcessError, Hyperparameters, Likelihood, Observations, Parameter, SearchBounds,
    SearchOptions, fit_hyperparameters,
};
use hambo_tests::fixture::Draw;
use hambo_tests::gaussian_process::KERNELS;
use hambo_tests::smooth_data::{Generator, function, go_on, physical};

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
        held: Held::NONE,
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
        held: Held::NONE,
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
            held: Held::NONE,
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
