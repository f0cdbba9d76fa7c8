//! Intact parts with numbers that no host may have written: the checksum is
//! right, and the part is refused all the same.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::container::Container;
use super::task_part::parse_task;
use super::{ModelManifest, Part, Problem, TaskManifest, parse_model};
use crate::model::Calibration;

/// The image of the core's example, as the host writes it.
#[repr(align(16))]
struct Aligned<T: ?Sized>(T);
static POINT: &Aligned<[u8]> = &Aligned(*include_bytes!("../../examples/point.hmb"));

/// Its model and its task.
fn parts() -> [Container<'static>; 2] {
    let mut rest = &POINT.0;
    [Part::Model, Part::Task].map(|part| Container::take(&mut rest, part).unwrap())
}

/// What comes of the model part with another manifest.
fn model_with(change: impl FnOnce(&mut ModelManifest)) -> Result<Calibration, Problem> {
    let [part, _] = parts();
    let mut manifest: ModelManifest = part.read_manifest().unwrap();
    change(&mut manifest);
    let mut bytes = [0; 512];
    let manifest = postcard::to_slice(&manifest, &mut bytes).unwrap();
    let model = parse_model(&Container { manifest, ..part })?;
    Ok(model.confidence.calibration)
}

/// What comes of the task part with another manifest.
fn task_with(change: impl FnOnce(&mut TaskManifest<'_>)) -> Result<Option<f32>, Problem> {
    let [model, part] = parts();
    let mut manifest: TaskManifest<'_> = part.read_manifest().unwrap();
    change(&mut manifest);
    let mut bytes = [0; 512];
    let manifest = postcard::to_slice(&manifest, &mut bytes).unwrap();
    let model = parse_model(&model).unwrap();
    let (task, _) = parse_task(&Container { manifest, ..part }, &model)?;
    Ok(task.threshold)
}

#[test]
fn a_set_of_no_width_or_no_number_is_refused() {
    assert!(model_with(|_| {}).is_ok());
    for beta in [0.0, -1.0, f32::INFINITY, f32::NAN] {
        let read = model_with(|model| model.beta = beta);
        assert_eq!(read, Err(Problem::Number), "{beta}");
    }
}

#[test]
fn a_rate_of_leaving_that_is_none_is_refused() {
    assert!(model_with(|model| model.support_exit_rate = 0.5).is_ok());
    for rate in [-0.1, f32::INFINITY, f32::NAN] {
        let read = model_with(|model| model.support_exit_rate = rate);
        assert_eq!(read, Err(Problem::Number), "{rate}");
    }
}

#[test]
fn how_the_calibration_went_is_read() {
    for calibration in [
        Calibration::Passed,
        Calibration::Failed,
        Calibration::TooFewRows,
        Calibration::Blind(20),
    ] {
        let read = model_with(|model| model.calibration = calibration);
        assert_eq!(read, Ok(calibration));
    }
}

#[test]
fn a_threshold_that_is_not_a_number_is_refused() {
    assert_eq!(task_with(|_| {}), Ok(Some(-2.0)));
    assert_eq!(task_with(|task| task.threshold = None), Ok(None));
    for threshold in [f32::NEG_INFINITY, f32::INFINITY, f32::NAN] {
        let read = task_with(|task| task.threshold = Some(threshold));
        assert_eq!(read, Err(Problem::Number), "{threshold}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "one image again and again; the others read it too")]
fn numbers_of_a_task_out_of_range_are_refused() {
    type Change = fn(&mut TaskManifest<'_>);
    let changes: [Change; 16] = [
        |task| task.horizon = 0,
        |task| task.discount = 0.0,
        |task| task.discount = 1.1,
        |task| task.discount = f32::NAN,
        |task| task.delta = 0.0,
        |task| task.delta = 1.0,
        |task| task.delta = f32::NAN,
        |task| task.reward_bounds = Some([1.0, 0.0]),
        |task| task.reward_bounds = Some([f32::NEG_INFINITY, 0.0]),
        |task| task.reward_bounds = Some([0.0, f32::INFINITY]),
        |task| task.return_bounds = Some([1.0, 0.0]),
        |task| task.constraint_bounds = [Some([1.0, 0.0])].into_iter().collect(),
        |task| task.effort.trajectories = 0,
        |task| task.method.penalty = -1.0,
        |task| task.method.penalty = f32::INFINITY,
        |task| task.method.penalty = f32::NAN,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert_eq!(task_with(change), Err(Problem::Number), "change {number}");
    }
    assert!(task_with(|task| task.discount = 1.0).is_ok());
    assert!(task_with(|task| task.method.penalty = 0.0).is_ok());
}

#[test]
fn intervals_of_states_that_wrap_are_sound() {
    let [model, part] = parts();
    let model = parse_model(&model).unwrap();
    // The two runs follow the limits, which fill four tiles.
    let read = |low: f32, period: f32| {
        let mut manifest: TaskManifest<'_> = part.read_manifest().unwrap();
        manifest.wraps = true;
        let mut bytes = [0; 512];
        let manifest = postcard::to_slice(&manifest, &mut bytes).unwrap();
        let tiles: &[[f32; 4]] = bytemuck::cast_slice(part.arena);
        let runs = [[low, 0.0, 0.0, 0.0], [period, 0.0, 0.0, 0.0]];
        let tiles = [&tiles[..4], &runs, &tiles[4..]].concat();
        let part = Container {
            manifest,
            arena: bytemuck::cast_slice(&tiles),
            payload_hash: part.payload_hash,
            hash: part.hash,
        };
        parse_task(&part, &model).map(|(task, _)| task.wraps.period.to_vec())
    };
    assert_eq!(read(-3.0, 6.0), Ok(vec![6.0]));
    // A state that does not wrap.
    assert_eq!(read(0.0, 0.0), Ok(vec![0.0]));
    for (low, period) in [
        (0.0, -1.0),
        (0.0, f32::INFINITY),
        (f32::NAN, 1.0),
        (f32::MAX, f32::MAX),
        (1e30, 1.0),
    ] {
        assert_eq!(read(low, period), Err(Problem::Number), "{low} {period}");
    }
}

#[test]
fn noise_that_is_not_there_is_refused() {
    // The example's arena has no rows for any: what follows is taken for them, and then
    // something is missing.
    for change in [
        |model: &mut ModelManifest| model.noise.extremes = 1,
        |model: &mut ModelManifest| model.noise.extremes = u16::MAX,
        |model: &mut ModelManifest| model.noise.offsets = 1,
        |model: &mut ModelManifest| model.noise.offsets = u16::MAX,
    ] {
        assert!(model_with(change).is_err());
    }
}
