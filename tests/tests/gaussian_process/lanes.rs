//! Bits for every number of lanes, queries far away, whole checks.

use hambo_check::parallel::{LANES, Watch, check};
use hambo_core::image::Image;
use hambo_core::model::{Kernel, Model, PredictionCotangent};
use hambo_core::numeric::Slices;
use hambo_tests::fixture::Draw;
use hambo_tests::gaussian_process::{Case, Difficulty, KERNELS, image};

use super::{Tested, parsed, predict};

/// Bits of the moments and of a gradient.
pub(super) fn bits<const B: usize>(model: &Model<'_>, queries: &[Vec<f32>]) -> Vec<Vec<u32>> {
    let space = model.dynamics.outputs();
    let mut scratch = vec![[f32::NAN; B]; model.dynamics.scratch_rows().unwrap()];
    let mut all = Vec::new();
    for group in queries.chunks(B) {
        let input: Vec<[f32; B]> = (0..2 * space)
            .map(|d| std::array::from_fn(|lane| group[lane % group.len()][d]))
            .collect();
        let mut numbers = predict(model, &input, &mut scratch).concat();
        let cotangent = PredictionCotangent {
            mean: &vec![[0.7; B]; space],
            epistemic_std: &vec![[-1.3; B]; space],
            aleatoric_std: &vec![[0.2; B]; space],
        };
        let (mut by_state, mut by_action) = (vec![[0.0; B]; space], vec![[0.0; B]; space]);
        model.dynamics.pull_back(
            &cotangent,
            &mut scratch,
            (&mut by_state, &mut by_action),
            &Slices::default(),
        );
        numbers.extend(by_state.into_iter().chain(by_action));
        for lane in 0..group.len() {
            all.push(numbers.iter().map(|row| row[lane].to_bits()).collect());
        }
    }
    all
}

#[test]
fn bits_are_equal_for_every_number_of_lanes() {
    for seed in 0..10 {
        let draw = &mut Draw::new(3000 + seed);
        let space = 1 + draw.below(3);
        let tested = Tested::new(Case::new(draw, space, &KERNELS, Difficulty::HARD));
        let model = parsed(&tested.bytes);
        let queries = tested.queries(draw, 70);
        let one = bits::<1>(&model, &queries);
        assert_eq!(one, bits::<4>(&model, &queries));
        assert_eq!(one, bits::<8>(&model, &queries));
        assert_eq!(one, bits::<32>(&model, &queries));
    }
}

#[test]
fn no_query_gives_a_nan() {
    let draw = &mut Draw::new(6);
    for kernel in KERNELS {
        let tested = Tested::new(Case::new(draw, 1, &[kernel], Difficulty::HARD));
        let model = parsed(&tested.bytes);
        let mut scratch = vec![[0.0; 4]; model.dynamics.scratch_rows().unwrap()];
        let [mean, std, _] = predict(&model, &[[0.0, 1e10, -1e19, f32::MAX]; 2], &mut scratch);
        for lane in 0..4 {
            assert!(!std[0][lane].is_nan() && std[0][lane] > 0.0);
            assert!(kernel == Kernel::Linear || mean[0][lane].is_finite());
        }
        // A NaN is not hidden.
        let [mean, ..] = predict(&model, &[[1.0; 4], [f32::NAN; 4]], &mut scratch);
        assert!(mean[0][0].is_nan());
        // Nor is a scratch that is too short.
        let short = scratch.len() - 1;
        let [mean, ..] = predict(&model, &[[1.0; 4]; 2], &mut scratch[..short]);
        assert!(mean[0][0].is_nan());
    }
}

#[test]
fn whole_checks_run() {
    let mut verdicts = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let bytes = image(seed).unwrap();
        let image = Image::parse(bytes.as_bytes()).unwrap();
        assert!(image.task().plan.effort.seed == seed);
        let outcome = check::<LANES>(&image, Watch::NONE).unwrap().outcome;
        assert!(outcome.bound.is_finite(), "seed {seed}");
        assert!(
            outcome.bound <= outcome.estimates[2].sampled.mean,
            "seed {seed}"
        );
        let other = check::<3>(&image, Watch::NONE).unwrap().outcome;
        assert_eq!(outcome.bound.to_bits(), other.bound.to_bits());
        verdicts.insert(outcome.verdict.name());
    }
    assert!(
        verdicts.contains("deploy") && verdicts.contains("reject"),
        "{verdicts:?}"
    );
}
