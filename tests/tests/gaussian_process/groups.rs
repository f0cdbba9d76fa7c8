//! Points that the variance takes together: never surer than all points, and
//! as sure as the sums over the groups.

use hambo_core::image::container::Container;
use hambo_core::image::{DynamicsManifest, Part, Problem, parse_model};
use hambo_core::model::{Kernel, PredictionCotangent};
use hambo_core::numeric::Slices;
use hambo_learn::gaussian_process::{GaussianProcessFit, VarianceGroups};
use hambo_task::image::AlignedBytes;
use hambo_tests::fixture::Draw;
use hambo_tests::gaussian_process::{Case, Difficulty, KERNELS, Reference};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::lanes::bits;
use super::{Tested, changed, parsed, predict};

const STATIONARY: [Kernel; 3] = [Kernel::Rbf, Kernel::Matern32, Kernel::Matern52];

/// The variance given the plain sums over the groups, by the textbook.
struct Sums {
    fit: GaussianProcessFit,
    /// L of each output.
    factors: Vec<Vec<Vec<f64>>>,
}

impl Sums {
    fn new(case: &Case, count: usize) -> Self {
        let mut fit = case.fit().unwrap();
        fit.take_together(VarianceGroups::Count(count), &[])
            .unwrap();
        let columns = 2 * case.space;
        let points: Vec<&[f64]> = fit.points.chunks(columns).collect();
        let factors = fit.outputs.iter().map(|output| {
            let groups = groups_of(output.groups(), points.len());
            let entry = |g: usize, h: usize| -> f64 {
                let pairs = groups[g].iter();
                let pairs = pairs.flat_map(|i| groups[h].iter().map(move |j| (*i, *j)));
                pairs
                    .map(|(i, j)| {
                        let noise = f64::from(i == j) * output.hyperparameters.noise_variance;
                        output.hyperparameters.covariance(points[i], points[j]) + noise
                    })
                    .sum()
            };
            let mut factor: Vec<Vec<f64>> = Vec::new();
            for g in 0..groups.len() {
                let mut row = vec![0.0; g + 1];
                for h in 0..=g {
                    let before = if h < g { &factor[h] } else { &row };
                    let known: f64 = (0..h).map(|c| row[c] * before[c]).sum();
                    let rest = entry(g, h) - known;
                    row[h] = if h < g {
                        rest / factor[h][h]
                    } else {
                        rest.sqrt()
                    };
                }
                factor.push(row);
            }
            factor
        });
        let factors = factors.collect();
        Self { fit, factors }
    }

    /// Of each output, in physical units.
    fn std(&self, input: &[f64]) -> Vec<f64> {
        let units = &self.fit.standardisation;
        let scales = units.input_mean.iter().zip(&units.input_scale);
        let x = input.iter().zip(scales);
        let x: Vec<f64> = x
            .map(|(x, (mean, scale))| (x - f64::from(*mean)) / f64::from(*scale))
            .collect();
        let points: Vec<&[f64]> = self.fit.points.chunks(x.len()).collect();
        let outputs = self.fit.outputs.iter().zip(&self.factors).enumerate();
        outputs
            .map(|(j, (output, factor))| {
                let hyperparameters = &output.hyperparameters;
                let mut left = hyperparameters.covariance(&x, &x);
                let mut solution: Vec<f64> = Vec::new();
                let groups = groups_of(output.groups(), points.len());
                for (row, group) in factor.iter().zip(groups) {
                    let covariances = group
                        .iter()
                        .map(|i| hyperparameters.covariance(&x, points[*i]));
                    let known: f64 = row.iter().zip(&solution).map(|(l, v)| l * v).sum();
                    let v = (covariances.sum::<f64>() - known) / row[row.len() - 1];
                    left -= v * v;
                    solution.push(v);
                }
                f64::from(units.output_scale[j]) * left.max(0.0).sqrt()
            })
            .collect()
    }
}

/// Groups of one if there are none.
fn groups_of(groups: Vec<&[usize]>, points: usize) -> Vec<Vec<usize>> {
    if groups.is_empty() {
        (0..points).map(|i| vec![i]).collect()
    } else {
        groups.into_iter().map(<[usize]>::to_vec).collect()
    }
}

fn tested(case: Case, count: usize) -> (Tested, Sums) {
    let part = case.grouped_part(VarianceGroups::Count(count)).unwrap();
    let sums = Sums::new(&case, count);
    let reference = Reference::new(&case);
    let bytes = AlignedBytes::new(&part);
    (
        Tested {
            case,
            bytes,
            reference,
        },
        sums,
    )
}

proptest! {
    // The seed is the case, and the cases are the same every time.
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(1000)
    })]

    #[test]
    fn groups_are_never_surer_than_all_points(
        seed in any::<u64>(),
        points in 2_usize..60,
        share in 0.0_f64..1.0,
        lengthscale in -1.0_f32..2.3,
        noise in -8.0_f32..0.0,
        pairs in prop_oneof![Just(0.0), -6.0_f32..-1.0],
    ) {
        let draw = &mut Draw::new(seed);
        let shortest = 10_f32.powf(lengthscale);
        let difficulty = Difficulty {
            points,
            lengthscales: (shortest, 4.0 * shortest),
            noise: (noise, noise),
            pairs: if pairs == 0.0 { 0.0 } else { 10_f32.powf(pairs) },
        };
        let space = 1 + draw.below(2);
        let kernel = STATIONARY[draw.below(3)];
        let count = 1 + (share * (points - 1) as f64) as usize;
        let (tested, sums) = tested(Case::new(draw, space, &[kernel], difficulty), count);
        let queries = tested.queries(draw, 30);
        let expected: Vec<f64> = queries
            .iter()
            .flat_map(|query| sums.std(&query.iter().map(|x| f64::from(*x)).collect::<Vec<_>>()))
            .collect();
        let mut expected = expected.into_iter();
        let mut wrong = None;
        tested.compare(&queries, |[_, std], [_, all], prior| {
            let sums = expected.next().unwrap();
            // As with each point alone, for very little noise the factor for
            // the moves and the rounding show.
            let close = std <= 1.03 * sums + 0.02 * prior;
            if !(std >= all && std >= sums * (1.0 - 1e-6) && close) {
                wrong = Some((std, all, sums, prior));
            }
        });
        prop_assert!(wrong.is_none(), "{kernel:?}, {count}, {difficulty:?}: {wrong:?}");
    }
}

#[test]
fn the_mean_is_that_of_all_points() {
    for seed in 0..20 {
        let draw = &mut Draw::new(0x6B00 + seed);
        let space = 1 + draw.below(3);
        let case = Case::new(draw, space, &KERNELS, Difficulty::EASY);
        let alone = Tested::new(case.clone());
        let (together, _) = tested(case, 7);
        let queries = alone.queries(draw, 60);
        let mut means = Vec::new();
        alone.compare(&queries, |[mean, _], _, _| means.push(mean));
        let mut means = means.into_iter();
        // Integers do not depend on the order: not even the last bit differs.
        together.compare(&queries, |[mean, _], _, _| {
            assert_eq!(Some(mean), means.next());
        });
    }
}

#[test]
fn derivatives_with_groups_agree_with_differences() {
    for seed in 0..40 {
        let draw = &mut Draw::new(0x6C00 + seed);
        let space = 1 + draw.below(3);
        let difficulty = Difficulty {
            points: 14,
            noise: (-1.0, 0.0),
            ..Difficulty::EASY
        };
        let kernel = STATIONARY[seed as usize % 3];
        let count = 1 + draw.below(13);
        let (tested, sums) = tested(Case::new(draw, space, &[kernel], difficulty), count);
        let model = parsed(&tested.bytes);
        let input: Vec<f32> = (0..2 * space).map(|_| draw.normal()).collect();
        let mut weights = || -> Vec<[f32; 1]> { (0..space).map(|_| [draw.normal()]).collect() };
        let (c_mean, c_std) = (weights(), weights());
        let objective = |input: &[f64]| -> f64 {
            let moments = tested.reference.posterior(input).into_iter();
            let moments = moments.zip(sums.std(input));
            let cotangents = c_mean.iter().zip(&c_std);
            moments
                .zip(cotangents)
                .map(|(((m, _), s), ([c_mean], [c_std]))| {
                    m * f64::from(*c_mean) + s * f64::from(*c_std)
                })
                .sum()
        };
        let single: Vec<[f32; 1]> = input.iter().map(|x| [*x]).collect();
        let mut scratch = vec![[f32::NAN; 1]; model.dynamics.scratch_rows().unwrap()];
        predict(&model, &single, &mut scratch);
        let cotangent = PredictionCotangent {
            mean: &c_mean,
            epistemic_std: &c_std,
            aleatoric_std: &vec![[0.0]; space],
        };
        let (mut by_state, mut by_action) = (vec![[0.0; 1]; space], vec![[0.0; 1]; space]);
        model.dynamics.pull_back(
            &cotangent,
            &mut scratch,
            (&mut by_state, &mut by_action),
            &Slices::default(),
        );
        for (index, [derivative]) in by_state.iter().chain(&by_action).enumerate() {
            let shifted = |by: f64| {
                let mut input: Vec<f64> = input.iter().map(|x| f64::from(*x)).collect();
                input[index] += by;
                objective(&input)
            };
            let difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            let error = (f64::from(*derivative) - difference).abs() / difference.abs().max(0.02);
            assert!(
                error < 2e-3,
                "{kernel:?}, seed {seed}, {count}, input {index}: {derivative} {difference}"
            );
        }
    }
}

#[test]
fn bits_with_groups_are_equal_for_every_number_of_lanes() {
    for seed in 0..10 {
        let draw = &mut Draw::new(0x6D00 + seed);
        let space = 1 + draw.below(3);
        let case = Case::new(draw, space, &KERNELS, Difficulty::HARD);
        let (tested, _) = tested(case, 1 + draw.below(39));
        let model = parsed(&tested.bytes);
        let queries = tested.queries(draw, 70);
        let one = bits::<1>(&model, &queries);
        assert_eq!(one, bits::<4>(&model, &queries));
        assert_eq!(one, bits::<32>(&model, &queries));
    }
}

/// The bytes of a model in which no points are taken together are those of
/// before there were groups.
#[test]
fn as_many_groups_as_points_are_none() {
    let case = Case::new(&mut Draw::new(9), 2, &KERNELS, Difficulty::EASY);
    let alone = case.model_part().unwrap();
    for groups in [
        VarianceGroups::Count(30),
        VarianceGroups::Count(31),
        VarianceGroups::ByGrowth,
    ] {
        assert!(case.grouped_part(groups).unwrap() == alone);
    }
    let together = case.grouped_part(VarianceGroups::Count(20)).unwrap();
    assert!(together.len() < alone.len());
}

#[test]
fn bad_groups_are_refused() {
    let draw = &mut Draw::new(8);
    let case = Case::new(draw, 1, &[Kernel::Rbf], Difficulty::EASY);
    let part = case.grouped_part(VarianceGroups::Count(9)).unwrap();
    let read = |groups: &[u16], at: usize, size: i32| {
        let bytes = changed(&part, |manifest, arena| {
            if let DynamicsManifest::GroupedGaussianProcess(process) = &mut manifest.dynamics {
                process.groups = groups.iter().copied().collect();
            }
            // The sizes follow ten tiles of units, the numbers and factors, 30
            // points and their weights.
            arena[4 * (10 + 3 + 1 + 15 + 8) + at] = f32::from_bits(size.cast_unsigned());
        });
        let container = Container::take(&mut bytes.as_bytes(), Part::Model).unwrap();
        parse_model(&container).map(|_| ())
    };
    let bytes = AlignedBytes::new(&part);
    let container = Container::take(&mut bytes.as_bytes(), Part::Model).unwrap();
    let first = container.arena[16 * (10 + 3 + 1 + 15 + 8)..][..4].try_into();
    let first = i32::from_le_bytes(first.unwrap());
    assert_eq!(read(&[9], 0, first), Ok(()));
    for groups in [&[][..], &[0], &[31], &[9, 9]] {
        assert_eq!(
            read(groups, 0, first),
            Err(Problem::Dimension),
            "{groups:?}"
        );
    }
    // Other sizes, or a part that is too short.
    for groups in [&[5], &[8], &[10], &[29], &[30]] {
        assert!(read(groups, 0, first).is_err(), "{groups:?}");
    }
    for size in [first - 1, first + 1, 0, -1, i32::MAX, i32::MIN] {
        assert_eq!(read(&[9], 0, size), Err(Problem::Number), "{size}");
    }
}

#[test]
fn growth_is_what_the_core_shows() {
    let difficulty = Difficulty {
        points: 120,
        ..Difficulty::EASY
    };
    let case = Case::new(&mut Draw::new(77), 1, &[Kernel::Rbf], difficulty);
    let mut fit = case.fit().unwrap();
    let mut before = f64::INFINITY;
    for count in [4, 16, 48, 119] {
        let found = fit.take_together(VarianceGroups::Count(count), &case.inputs);
        let found = found.unwrap()[0];
        let mean = found.mean.unwrap();
        assert_eq!(found.groups, count);
        assert!(mean >= 1.0 - 1e-9 && found.largest.unwrap() >= mean && mean <= before);
        let (mut sums, mut all) = (0.0, 0.0);
        let given = Sums::new(&case, count);
        for row in case.inputs.chunks(2) {
            sums += given.std(row)[0];
            all += fit.posterior(row)[0].1.sqrt();
        }
        assert!(
            (mean - sums / all).abs() < 1e-6 * mean,
            "{mean} {}",
            sums / all
        );
        before = mean;
    }
    assert!(before < 1.01, "{before}");
}
