//! The core's ensemble against the f64 reference: values and derivatives.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::image::container::Container;
use hambo_core::image::{Part, parse_model};
use hambo_core::model::{Model, Prediction, PredictionCotangent};
use hambo_core::numeric::Slices;
use hambo_core::numeric::network::Activation;
use hambo_learn::ensemble::TrainedEnsemble;
use hambo_learn::ensemble::encode_ensemble;
use hambo_task::image::{AlignedBytes, Uncertainty};
use hambo_tests::fixture::{self, Draw};
use hambo_tests::reference::{Moments, moments};

const ACTIVATIONS: [Activation; 3] = [Activation::Relu, Activation::Tanh, Activation::Silu];

/// A model part, and its uncertainty.
fn encoded(ensemble: &TrainedEnsemble, draw: &mut Draw) -> (AlignedBytes, Uncertainty) {
    let uncertainty = fixture::uncertainty(draw, ensemble);
    let part = encode_ensemble(ensemble, &uncertainty).unwrap();
    (AlignedBytes::new(&part), uncertainty)
}

fn parsed(bytes: &AlignedBytes) -> Model<'_> {
    let part = Container::take(&mut bytes.as_bytes(), Part::Model).unwrap();
    parse_model(&part).unwrap()
}

fn rows<const B: usize>(columns: &[[f64; B]]) -> Vec<[f32; B]> {
    columns.iter().map(|row| row.map(|x| x as f32)).collect()
}

fn lane<const B: usize>(rows: &[[f32; B]], lane: usize) -> Vec<f64> {
    rows.iter().map(|row| f64::from(row[lane])).collect()
}

/// Largest error relative to the larger of the reference and `floor`.
fn error(found: &[[f32; 4]], reference: impl Fn(usize) -> Vec<f64>, floor: f64) -> f64 {
    let lanes = (0..4).flat_map(|b| {
        let found = lane(found, b);
        let pairs: Vec<_> = found.into_iter().zip(reference(b)).collect();
        pairs
            .into_iter()
            .map(|(x, y)| (x - y).abs() / y.abs().max(floor))
    });
    lanes.fold(0.0, f64::max)
}

#[test]
fn moments_agree_with_the_reference() {
    for seed in 0..60 {
        let draw = &mut Draw::new(seed);
        let space = 1 + draw.below(3);
        let ensemble = fixture::ensemble(draw, space, ACTIVATIONS[seed as usize % 3]);
        let (bytes, uncertainty) = encoded(&ensemble, draw);
        let model = parsed(&bytes);
        let mut inputs = || -> Vec<[f32; 4]> {
            (0..space)
                .map(|_| std::array::from_fn(|_| draw.normal()))
                .collect()
        };
        let (state, action) = (inputs(), inputs());
        let mut scratch = vec![[0.0; 4]; model.dynamics.scratch_rows().unwrap()];
        let (mut mean, mut epistemic, mut aleatoric) =
            (state.clone(), state.clone(), state.clone());
        let mut prediction = Prediction {
            mean: &mut mean,
            epistemic_std: &mut epistemic,
            aleatoric_std: &mut aleatoric,
        };
        model.dynamics.predict(
            &state,
            &action,
            &mut scratch,
            &mut prediction,
            &Slices::default(),
        );
        let reference = |b| {
            let (state, action) = (lane(&state, b), lane(&action, b));
            moments(&ensemble, &uncertainty.noise_scale, &state, &action).widened(
                &uncertainty.width_regions,
                &state,
                &action,
            )
        };
        // Stated: means 1e-4 relative, standard deviations 1e-3 relative
        // where they exceed a floor.
        assert!(
            error(&mean, |b| reference(b).mean, 1e-2) < 1e-4,
            "mean, seed {seed}"
        );
        let found = error(&epistemic, |b| reference(b).epistemic_std, 1e-3);
        assert!(found < 1e-3, "epistemic, seed {seed}: {found}");
        let found = error(&aleatoric, |b| reference(b).aleatoric_std, 1e-3);
        assert!(found < 1e-3, "aleatoric, seed {seed}: {found}");
    }
}

#[test]
fn derivatives_agree_with_differences_of_the_reference() {
    for seed in 0..60 {
        let draw = &mut Draw::new(1000 + seed);
        let space = 1 + draw.below(3);
        let ensemble = fixture::ensemble(draw, space, ACTIVATIONS[seed as usize % 3]);
        let (bytes, uncertainty) = encoded(&ensemble, draw);
        let model = parsed(&bytes);
        let input: Vec<f64> = (0..2 * space).map(|_| f64::from(draw.normal())).collect();
        let (state, action) = input.split_at(space);
        let mut weights = || -> Vec<f64> { (0..space).map(|_| f64::from(draw.normal())).collect() };
        let cotangents = [weights(), weights(), weights()];
        let objective = |input: &[f64]| {
            let (state, action) = input.split_at(space);
            let Moments {
                mean,
                epistemic_std,
                aleatoric_std,
            } = moments(&ensemble, &uncertainty.noise_scale, state, action).widened(
                &uncertainty.width_regions,
                state,
                action,
            );
            let parts = [mean, epistemic_std, aleatoric_std];
            let products = parts.iter().flatten().zip(cotangents.iter().flatten());
            products.map(|(x, c)| x * c).sum::<f64>()
        };
        let single = |values: &[f64]| rows(&values.iter().map(|x| [*x]).collect::<Vec<_>>());
        let (state, action) = (single(state), single(action));
        let mut scratch = vec![[0.0; 1]; model.dynamics.scratch_rows().unwrap()];
        let (mut mean, mut epistemic, mut aleatoric) =
            (state.clone(), state.clone(), state.clone());
        let mut prediction = Prediction {
            mean: &mut mean,
            epistemic_std: &mut epistemic,
            aleatoric_std: &mut aleatoric,
        };
        model.dynamics.predict(
            &state,
            &action,
            &mut scratch,
            &mut prediction,
            &Slices::default(),
        );
        let [c_mean, c_epistemic, c_aleatoric] = cotangents.each_ref().map(|c| single(c));
        let cotangent = PredictionCotangent {
            mean: &c_mean,
            epistemic_std: &c_epistemic,
            aleatoric_std: &c_aleatoric,
        };
        let (mut by_state, mut by_action) = (vec![[0.0; 1]; space], vec![[0.0; 1]; space]);
        model.dynamics.pull_back(
            &cotangent,
            &mut scratch,
            (&mut by_state, &mut by_action),
            &Slices::default(),
        );
        let found: Vec<f64> = by_state
            .iter()
            .chain(&by_action)
            .map(|[x]| f64::from(*x))
            .collect();
        for (index, derivative) in found.iter().enumerate() {
            let step = 1e-6;
            let shifted = |by: f64| {
                let mut input = input.clone();
                input[index] += by;
                objective(&input)
            };
            let difference = (shifted(step) - shifted(-step)) / (2.0 * step);
            let error = (derivative - difference).abs() / difference.abs().max(0.05);
            assert!(
                error < 2e-3,
                "seed {seed}, input {index}: {derivative} {difference}"
            );
        }
    }
}
