//! Mean, deviation, noise and information gain.

use hambo_core::model::Kernel;
use hambo_learn::gaussian_process::{GaussianProcessFit, VarianceGroups};
use hambo_task::image::AlignedBytes;
use hambo_tests::fixture::Draw;
use hambo_tests::gaussian_process::{Case, Difficulty, KERNELS};

use super::{Tested, parsed, predict};

#[test]
fn moments_agree_with_the_reference() {
    for (seed, kernel) in (0..32).zip(KERNELS.into_iter().cycle()) {
        let draw = &mut Draw::new(seed);
        let space = 1 + draw.below(3);
        let tested = Tested::new(Case::new(draw, space, &[kernel], Difficulty::EASY));
        let queries = tested.queries(draw, 180);
        // Stated: means to 1e-4 of themselves or of 0.3 prior standard
        // deviations; standard deviations to 1e-3 of themselves where
        // they exceed a fifth of the prior's, else to 1 %. The linear kernel
        // far from its origin has a posterior that is a tiny part of its
        // prior: there, where it exceeds a tenth.
        tested.compare(&queries, |[mean, std], [m, s], prior| {
            let error = (mean - m).abs() / m.abs().max(0.3 * prior);
            assert!(error < 1e-4, "{kernel:?}, seed {seed}: {mean} {m}");
            let error = (std - s).abs() / s;
            let limit = if s > 0.2 * prior { 1e-3 } else { 1e-2 };
            let stated = kernel != Kernel::Linear || s > 0.1 * prior;
            assert!(
                error < limit || !stated,
                "{kernel:?}, seed {seed}: {std} {s} of {prior}"
            );
        });
    }
}

#[test]
fn the_noise_is_the_aleatoric_part() {
    let draw = &mut Draw::new(5);
    let tested = Tested::new(Case::new(draw, 2, &KERNELS, Difficulty::EASY));
    let model = parsed(&tested.bytes);
    let mut scratch = vec![[0.0; 2]; model.dynamics.scratch_rows().unwrap()];
    let [_, _, aleatoric] = predict(&model, &[[0.1, 7.0]; 4], &mut scratch);
    for (j, row) in aleatoric.iter().enumerate() {
        let scale = f64::from(tested.case.standardisation.output_scale[j]);
        let expected = scale * tested.case.hyperparameters[j].noise_variance.sqrt();
        for std in row {
            assert!((f64::from(*std) / expected - 1.0).abs() < 1e-6);
        }
    }
}

/// The host's posterior and information gain against the textbook's.
#[test]
fn the_host_agrees_with_the_reference() {
    for seed in 0..8 {
        let draw = &mut Draw::new(5000 + seed);
        let tested = Tested::new(Case::new(draw, 2, &KERNELS, Difficulty::EASY));
        let fit = tested.case.fit().unwrap();
        for output in &fit.outputs {
            assert_eq!(output.jitter, 0.0);
            assert!(output.information_gain() > 0.0);
        }
        for query in tested.queries(draw, 60) {
            let query: Vec<f64> = query.iter().map(|x| f64::from(*x)).collect();
            let pairs = fit.posterior(&query);
            for ((mean, variance), (m, s)) in pairs.iter().zip(tested.reference.posterior(&query)) {
                assert!((mean - m).abs() < 1e-9 * (1.0 + m.abs()));
                assert!((variance.sqrt() - s).abs() < 1e-7 * (1.0 + s));
            }
        }
    }
}

/// A row that says nothing of an output is one that its process never saw, on the host and in
/// what the core reads; the others' keep their bits.
#[test]
fn rows_that_say_nothing_of_an_output_are_left_out_of_it_alone() {
    for (seed, kernel) in (0..8).zip(KERNELS.into_iter().cycle()) {
        let draw = &mut Draw::new(7000 + seed);
        let whole = Case::new(draw, 2, &[kernel], Difficulty::EASY);
        let is_held = |row: usize| row % 3 == 1;
        let mut held = whole.clone();
        held.held = vec![false; whole.targets.len()];
        let mut fewer = Case {
            inputs: Vec::new(),
            targets: Vec::new(),
            ..whole.clone()
        };
        let rows = whole.inputs.chunks(4).zip(whole.targets.chunks(2));
        for (row, (inputs, targets)) in rows.enumerate() {
            if is_held(row) {
                held.held[2 * row + 1] = true;
            } else {
                fewer.inputs.extend(inputs);
                fewer.targets.extend(targets);
            }
        }
        let (all, without) = (whole.fit().unwrap(), fewer.fit().unwrap());
        let fit = held.fit().unwrap();
        let gain = |of: &GaussianProcessFit, j: usize| of.outputs[j].information_gain();
        assert_eq!(gain(&fit, 0), gain(&all, 0));
        assert!((gain(&fit, 1) - gain(&without, 1)).abs() < 1e-8);
        let bytes = AlignedBytes::new(&held.model_part().unwrap());
        let model = parsed(&bytes);
        let mut scratch = vec![[0.0; 1]; model.dynamics.scratch_rows().unwrap()];
        for query in Tested::new(whole.clone()).queries(draw, 60) {
            let wide: Vec<f64> = query.iter().map(|x| f64::from(*x)).collect();
            let [own, alone] = [fit.posterior(&wide), without.posterior(&wide)];
            assert_eq!(own[0], all.posterior(&wide)[0]);
            let ((mean, variance), (m, v)) = (own[1], alone[1]);
            assert!(
                (mean - m).abs() < 1e-8 * (1.0 + m.abs()),
                "{kernel:?}: {mean} {m}"
            );
            assert!(
                (variance - v).abs() < 1e-8 * (1.0 + v),
                "{kernel:?}: {variance} {v}"
            );
            let rows: Vec<[f32; 1]> = query.iter().map(|x| [*x]).collect();
            let [means, stds, _] = predict(&model, &rows, &mut scratch);
            let (found, std) = (f64::from(means[1][0]), f64::from(stds[1][0]));
            let prior = v.sqrt().max(0.05);
            assert!(
                (found - m).abs() < 1e-3 * prior.max(m.abs()),
                "{kernel:?}: {found} {m}"
            );
            assert!(std > 0.999 * v.sqrt(), "{kernel:?}: {std} {v}");
            assert!(
                std < 1.05 * v.sqrt() + 0.02 * prior,
                "{kernel:?}: {std} {v}"
            );
        }
        // Its points are never taken together.
        let mut grouped = held.fit().unwrap();
        grouped
            .take_together(VarianceGroups::Count(8), &[])
            .unwrap();
        assert!(grouped.outputs[1].groups().is_empty());
    }
}

#[test]
fn information_gain_and_jitter_by_hand() {
    let draw = &mut Draw::new(7);
    let mut case = Case::new(draw, 1, &[Kernel::Rbf], Difficulty::EASY);
    // One point: g = ½ ln(1 + k / noise).
    case.inputs.truncate(2);
    case.targets.truncate(1);
    let output = &case.hyperparameters[0];
    let expected = 0.5 * (1.0 + output.signal_variance / output.noise_variance).ln();
    let gain = case.fit().unwrap().outputs[0].information_gain();
    assert!((gain - expected).abs() < 1e-12);
    // Ten copies of it and a noise that f64 cannot see.
    case.inputs = case.inputs.repeat(10);
    case.targets = case.targets.repeat(10);
    case.hyperparameters[0].signal_variance = 1e6;
    case.hyperparameters[0].noise_variance = 1e-12;
    let jitter = case.fit().unwrap().outputs[0].jitter;
    assert!(jitter > 0.0 && jitter < 1.0, "{jitter}");
    case.hyperparameters[0].noise_variance = 0.0;
    assert!(case.fit().is_err());
    case.hyperparameters[0].noise_variance = 1.0;
    case.hyperparameters[0].kernel = Kernel::Linear;
    case.inputs[3] = 1e300;
    assert!(case.fit().is_err());
    case.inputs[3] = f64::NAN;
    assert!(case.fit().is_err());
}
