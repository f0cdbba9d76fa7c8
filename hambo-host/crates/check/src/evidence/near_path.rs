//! Withheld rows near the controller's own path, and the set widened by what they say.
//!
//! The rows are in the model file, so no log is needed: `hambo check --model` and `hambo export` look
//! alike, and the device gets the wider set in its image.

use hambo_core::image::container::Container;
use hambo_core::image::{ImageError, ModelManifest, Part, Problem};
use hambo_core::model::Calibration;
use hambo_core::task::Variant;
use hambo_learn::calibration::MOST_WIDENING;
use hambo_learn::near_path::{Found, NearPath, look};
use hambo_task::image::{AlignedBytes, encode_part};
use hambo_task::task::TaskFile;

use super::trace::neutral_paths;
use crate::case::Case;
use crate::case::near_path::NearPathUse;
use crate::case::parsed_case::ParsedCase;
use hambo_base::Error;

/// Trajectories that no adversary touches, whose steps are the path.
const TRAJECTORIES: u32 = 32;

/// Looks at the withheld rows near a case's path, and widens its set by what they say.
///
/// # Errors
/// If a part is bad or the task is too large to be counted.
pub fn look_near_path(case: &mut Case) -> Result<(), Error> {
    if case.judging_rows.episodes.is_empty() {
        return Ok(());
    }
    let (found, scales) = case.parsed(|parsed| seen(&parsed))?;
    let widest = found.widening.iter().zip(&scales);
    // A state whose set stays as it is may be as wide as calibration made it.
    let too_wide = widest
        .filter(|(factor, _)| **factor > 1.0)
        .map(|(factor, scale)| f64::from(factor * scale))
        .any(|width| width.is_nan() || width > MOST_WIDENING);
    let widened = found.widest() > 1.0;
    let moves_by_members = !(case.plan.method.variants).contains(&Variant::ContinuousAdversary);
    let refused = too_wide || (widened && moves_by_members);
    if refused {
        case.model_part = changed(&case.model_part, &[], Some(Calibration::Failed))?;
    } else if widened {
        case.model_part = changed(&case.model_part, &found.widening, None)?;
    }
    case.near_path = Some(in_words(&case.task, &found, refused));
    Ok(())
}

/// What the rows say, and the scales of the set.
fn seen(parsed: &ParsedCase<'_>) -> Result<(NearPath, Vec<f32>), Error> {
    let system = parsed.system();
    let traces = neutral_paths(&system, TRAJECTORIES)?;
    let inputs = traces.iter().flat_map(|trace| &trace.inputs);
    let finite = inputs.filter(|inputs| inputs.iter().all(|x| x.is_finite()));
    let path: Vec<f32> = finite.flatten().copied().collect();
    let (support, set) = (&system.model.support, &system.model.confidence);
    let radii: Vec<f32> = set.radii().collect();
    let found = look(&parsed.case.judging_rows, support, &radii, &path);
    Ok((found, set.calibration_scale.to_vec()))
}

fn in_words(task: &TaskFile, found: &NearPath, refused: bool) -> NearPathUse {
    let words = found.found.map(|what| match what {
        Found::Share(share) => format!("only {:.0} % are inside set and noise", 100.0 * share),
        Found::Mean { state, times } => {
            let view = task.model_view();
            let place = view.moved.get(state).copied().unwrap_or_default();
            let name = task
                .state_names
                .get(place)
                .map_or("a state", String::as_str);
            format!("their mean error of {name} is {times:.1} times the half width of the set")
        }
    });
    let widened = if found.tells() {
        found.widest()
    } else {
        f32::NAN
    };
    NearPathUse {
        rows: found.rows,
        episodes: found.episodes,
        judging_episodes: found.judging_episodes,
        widened: widened.into(),
        found: words,
        refused,
    }
}

/// A model part with a wider set, or another calibration.
fn changed(
    bytes: &[u8],
    factors: &[f32],
    calibration: Option<Calibration>,
) -> Result<Vec<u8>, Error> {
    let bytes = AlignedBytes::new(bytes);
    let part = Container::take(&mut bytes.as_bytes(), Part::Model)?;
    let in_model = |problem: Problem| ImageError {
        part: Part::Model,
        problem,
    };
    let mut manifest: ModelManifest = part.read_manifest().map_err(in_model)?;
    manifest.calibration = calibration.unwrap_or(manifest.calibration);
    let (numbers, _) = part.arena.as_chunks();
    let mut numbers: Vec<f32> = numbers.iter().map(|x| f32::from_le_bytes(*x)).collect();
    // The scales of the set come first.
    for (scale, factor) in numbers.iter_mut().zip(factors) {
        *scale *= factor;
    }
    Ok(encode_part(Part::Model, &manifest, &numbers)?)
}
