//! Damaged parts are refused.

use hambo_core::image::container::Container;
use hambo_core::image::{DynamicsManifest, ModelManifest, Part, Problem, parse_model};
use hambo_core::model::{Arithmetic, Kernel, WEIGHT_LIMIT, coordinate_limit, whole_to_bits};
use hambo_host::formats::image::AlignedBytes;
use hambo_tests::fixture::Draw;
use hambo_tests::gaussian_process::{Case, Difficulty};

use crate::{changed, parsed, predict};

fn assert_finite_everywhere(bytes: &AlignedBytes) {
    let model = parsed(bytes);
    let mut scratch = vec![[0.0; 4]; model.dynamics.scratch_rows().unwrap()];
    let far = [f32::MIN, f32::MAX, 0.0, 1.0];
    let [mean, std, _] = predict(&model, &[far, far], &mut scratch);
    assert!(mean[0].iter().chain(&std[0]).all(|x| x.is_finite()));
}

fn spoilt(
    part: &[u8],
    spoil: impl FnOnce(&mut ModelManifest, &mut Vec<f32>),
) -> Result<(), Problem> {
    let bytes = changed(part, spoil);
    let container = Container::take(&mut bytes.as_bytes(), Part::Model).unwrap();
    parse_model(&container).map(|_| ())
}

#[test]
fn bad_parts_are_refused() {
    let draw = &mut Draw::new(8);
    let part = Case::new(draw, 1, &[Kernel::Matern52], Difficulty::EASY);
    let part = part.model_part().unwrap();
    let points = |manifest: &mut ModelManifest, count: u16| {
        if let DynamicsManifest::GaussianProcess(process) = &mut manifest.dynamics {
            process.points = count;
        }
    };
    let kernels = |manifest: &mut ModelManifest, count: usize| {
        if let DynamicsManifest::GaussianProcess(process) = &mut manifest.dynamics {
            let kernel = (Kernel::Rbf, Arithmetic::Single);
            process.kernels = (0..count).map(|_| kernel).collect();
        }
    };
    assert_eq!(spoilt(&part, |_, _| {}), Ok(()));
    let refused = [
        (Problem::Dimension, spoilt(&part, |m, _| points(m, 0))),
        (Problem::Arena, spoilt(&part, |m, _| points(m, 65_535))),
        (Problem::Dimension, spoilt(&part, |m, _| kernels(m, 0))),
        (Problem::Dimension, spoilt(&part, |m, _| kernels(m, 2))),
        (Problem::Arena, spoilt(&part, |_, a| a.extend([0.0; 4]))),
        (
            Problem::Arena,
            spoilt(&part, |_, a| a.truncate(a.len() - 4)),
        ),
    ];
    for (problem, result) in refused {
        assert_eq!(result, Err(problem));
    }
    assert!(spoilt(&part, |m, _| points(m, 25)).is_err());
    // Calibration scale, two supports and four units take 7 tiles; then the
    // output's numbers, factors, its 30 points of 2 columns, their weights,
    // the row sums, the product errors and M.
    let numbers = 4 * 7;
    let (factor, point) = (numbers + 12, numbers + 16);
    let (weight, row_sum) = (point + 60, point + 60 + 32);
    let whole = |number: i32| f32::from_bits(whole_to_bits(number));
    let limit = coordinate_limit(2).unwrap();
    let bad_numbers = [
        (4 * 6, f32::INFINITY),
        (numbers, 0.0),
        (numbers + 1, 0.0),
        (numbers + 2, 0.0),
        (numbers + 3, 0.0),
        (numbers + 4, 0.9),
        (numbers + 5, -1e-9),
        (numbers + 6, -1e-9),
        (numbers + 7, f32::INFINITY),
        (numbers + 8, 0.0),
        (numbers + 9, 1.0),
        (numbers + 9, 1.5 / 65_536.0),
        (factor, 0.0),
        (factor + 1, f32::INFINITY),
        (point, 0.0),
        (point + 1, -1.0),
        (point + 2, whole(limit + 1)),
        (point + 3, whole(-limit - 1)),
        (weight, whole(WEIGHT_LIMIT + 1)),
        (weight + 1, whole(-WEIGHT_LIMIT - 1)),
        (numbers + 10, -1.0),
        (numbers + 11, -1.0),
        (row_sum, -1.0),
        (row_sum + 32, -1.0),
        (row_sum + 64, f32::NEG_INFINITY),
    ];
    for (at, number) in bad_numbers {
        let result = spoilt(&part, |_, arena| arena[at] = number);
        assert_eq!(result, Err(Problem::Number), "{number} at {at}");
    }
    let padding = [factor + 2, factor + 3, weight + 30, weight + 31];
    for at in numbers..row_sum + 80 {
        let result = spoilt(&part, |_, arena| arena[at] = f32::NAN);
        let expected = if padding.contains(&at) {
            Ok(())
        } else {
            Err(Problem::Number)
        };
        assert_eq!(result, expected, "NaN at {at}");
    }
    for at in 0..7 {
        let result = spoilt(&part, |_, arena| arena[4 * at] = f32::NAN);
        assert_eq!(result, Err(Problem::Number), "NaN at {at}");
    }
    // The largest whole numbers there are: no sum overflows.
    let bytes = changed(&part, |_, arena| {
        for at in 0..60 {
            arena[point + at] = whole(if at % 2 == 0 { limit } else { -limit });
        }
        arena[weight..weight + 30].fill(whole(WEIGHT_LIMIT));
    });
    assert_finite_everywhere(&bytes);
}

/// M in integers: its shifts are in their range, and its numbers may be any.
#[test]
fn bad_shifts_are_refused() {
    let draw = &mut Draw::new(9);
    let case = Case::new(draw, 1, &[Kernel::Matern52], Difficulty::HARD);
    let part = case.model_part().unwrap();
    // After units, numbers, factors, 40 points of 2 columns and their weights.
    let shift = 4 * (7 + 3 + 1 + 20 + 10);
    for (at, bits) in [(shift, 0), (shift + 39, 32), (shift + 1, u32::MAX)] {
        let result = spoilt(&part, |manifest, arena| {
            let DynamicsManifest::GaussianProcess(process) = &manifest.dynamics else {
                panic!("not a Gaussian process");
            };
            assert_eq!(process.kernels[0].1, Arithmetic::Whole);
            arena[at] = f32::from_bits(bits);
        });
        assert_eq!(result, Err(Problem::Number), "{bits} at {at}");
    }
    let bytes = changed(&part, |_, arena| {
        arena[shift + 40..].fill(f32::from_bits(i32::MIN.cast_unsigned()));
    });
    assert_finite_everywhere(&bytes);
}
