//! Derivatives against differences of the reference.

use hambo_core::model::PredictionCotangent;
use hambo_core::numeric::Slices;
use hambo_tests::fixture::Draw;
use hambo_tests::gaussian_process::{Case, Difficulty, KERNELS};

use super::{Tested, parsed, predict};

#[test]
fn derivatives_agree_with_differences_of_the_reference() {
    for (seed, kernel) in (0..40).zip(KERNELS.into_iter().cycle()) {
        let draw = &mut Draw::new(2000 + seed);
        let space = 1 + draw.below(3);
        // Few points, so that what is added for the rounding does not show.
        let difficulty = Difficulty {
            points: 12,
            noise: (-1.0, 0.0),
            ..Difficulty::EASY
        };
        let tested = Tested::new(Case::new(draw, space, &[kernel], difficulty));
        let model = parsed(&tested.bytes);
        let input: Vec<f32> = (0..2 * space).map(|_| draw.normal()).collect();
        let mut weights = || -> Vec<f32> { (0..space).map(|_| draw.normal()).collect() };
        let (c_mean, c_std, c_aleatoric) = (weights(), weights(), weights());
        let objective = |input: &[f64]| {
            let posterior = tested.reference.posterior(input);
            let cotangents = c_mean.iter().zip(&c_std);
            posterior
                .iter()
                .zip(cotangents)
                .map(|((m, s), (c_mean, c_std))| m * f64::from(*c_mean) + s * f64::from(*c_std))
                .sum::<f64>()
        };
        let single = |values: &[f32]| values.iter().map(|x| [*x]).collect::<Vec<_>>();
        let mut scratch = vec![[f32::NAN; 1]; model.dynamics.scratch_rows().unwrap()];
        predict(&model, &single(&input), &mut scratch);
        let (c_mean, c_std, c_aleatoric) = (single(&c_mean), single(&c_std), single(&c_aleatoric));
        let cotangent = PredictionCotangent {
            mean: &c_mean,
            epistemic_std: &c_std,
            aleatoric_std: &c_aleatoric,
        };
        // Added to what is there.
        let (mut by_state, mut by_action) = (vec![[1.0; 1]; space], vec![[1.0; 1]; space]);
        model.dynamics.pull_back(
            &cotangent,
            &mut scratch,
            (&mut by_state, &mut by_action),
            &Slices::default(),
        );
        for (index, [derivative]) in by_state.iter().chain(&by_action).enumerate() {
            let derivative = f64::from(*derivative) - 1.0;
            let step = 1e-5;
            let shifted = |by: f64| {
                let mut input: Vec<f64> = input.iter().map(|x| f64::from(*x)).collect();
                input[index] += by;
                objective(&input)
            };
            let difference = (shifted(step) - shifted(-step)) / (2.0 * step);
            let error = (derivative - difference).abs() / difference.abs().max(0.02);
            assert!(
                error < 2e-3,
                "{kernel:?}, seed {seed}, input {index}: {derivative} {difference}"
            );
        }
    }
}
