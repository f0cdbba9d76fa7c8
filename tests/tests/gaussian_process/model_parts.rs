//! Damaged parts are refused.

use hambo_core::image::container::Container;
use hambo_core::image::{DynamicsManifest, ModelManifest, Part, Problem, parse_model};
use hambo_core::model::{Kernel, WEIGHT_LIMIT, coordinate_limit};
use hambo_task::image::AlignedBytes;
use hambo_tests::fixture::Draw;
use hambo_tests::gaussian_process::{Case, Difficulty};

use super::{changed, parsed, predict};

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
            process.kernels = (0..count).map(|_| Kernel::Rbf).collect();
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
    // Calibration scale, the support's four runs and five units take 10 tiles; then the
    // output's numbers, factors, its 30 points of 2 columns, their weights,
    // the shifts and offsets of M, and M.
    let numbers = 4 * 10;
    let (factor, point) = (numbers + 12, numbers + 16);
    let weight = point + 60;
    let (shift, offset) = (weight + 32, weight + 64);
    let integer = |integer: i32| f32::from_bits(integer.cast_unsigned());
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
        (point, integer(limit + 1)),
        (point + 1, integer(-limit - 1)),
        (point + 2, integer(i32::MIN)),
        (weight, integer(WEIGHT_LIMIT + 1)),
        (weight + 1, integer(-WEIGHT_LIMIT - 1)),
        (shift, integer(0)),
        (shift + 29, integer(32)),
        (shift + 1, integer(-1)),
    ];
    for (at, number) in bad_numbers {
        let result = spoilt(&part, |_, arena| arena[at] = number);
        assert_eq!(result, Err(Problem::Number), "{number} at {at}");
    }
    let padding = [
        numbers + 10,
        numbers + 11,
        factor + 2,
        factor + 3,
        weight + 30,
        weight + 31,
    ];
    for at in numbers..offset + 80 {
        let result = spoilt(&part, |_, arena| arena[at] = f32::NAN);
        // Offsets and M may be any integers.
        let expected = if padding.contains(&at) || at >= offset {
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
    // The largest integers there are: no sum overflows.
    let bytes = changed(&part, |_, arena| {
        for at in 0..60 {
            arena[point + at] = integer(if at % 2 == 0 { limit } else { -limit });
        }
        arena[weight..weight + 30].fill(integer(WEIGHT_LIMIT));
        arena[offset..].fill(integer(i32::MIN));
    });
    assert_finite_everywhere(&bytes);
}
