//! A bundle for a device. It is built only if the controller passes, on the host at the
//! effort of `hambo check` and with the image's own effort.

use hambo_core::check::Outcome;
use hambo_core::drive::monitor::Monitor;
use hambo_core::floor::{Floor, Shortfall};
use hambo_core::gate::Verdict;
use hambo_core::image::{Bundle, Image};
use hambo_core::numeric::CapacityError;
use hambo_core::rollout::Buffers;
use hambo_core::task::Effort;

use crate::adversary::check_against_adversaries;
use crate::case::Case;
use crate::case::certify::Flags;
use crate::case::effort::EffortLevel;
use crate::case::near_path::NearPathUse;
use crate::evidence::near_path::look_near_path;
use crate::outcome::reasons::reasons_at;
use crate::search::parallel::{LANES, Watch, check};
use crate::search::worst_start::find_worst_starts;
use hambo_base::Error;
use hambo_base::observer::Observer;
use hambo_task::image::{Adversaries, AlignedBytes, BundleAbout, encode_bundle};
use hambo_task::task::{Initial, TaskFile};

/// Lanes of the firmware.
const DEVICE_LANES: usize = 4;

/// Hidden layers of an adversary for the device.
const DEVICE_ADVERSARY: [usize; 2] = [64, 64];

/// What a bundle is made with, beside its case.
#[derive(Clone, Debug)]
pub struct BundleOptions {
    /// Whom it is for, and how its controller drives.
    pub about: BundleAbout,
    /// How hard the host looks for the worst case.
    pub effort: EffortLevel,
    /// The effort of the device's own check.
    pub device: Effort,
    /// The part of the controller that takes over when the monitor stops the first.
    pub fallback: Option<Vec<u8>>,
    /// Whether a controller that does not pass is written, in an image that never deploys.
    pub force: bool,
}

/// Checks the controller and encodes the bundle.
///
/// # Errors
/// If a part is bad, or the controller or its fallback does not pass.
pub fn build_bundle(
    case: &mut Case,
    options: &BundleOptions,
    observer: &mut dyn Observer,
) -> Result<AlignedBytes, Error> {
    find_worst_starts(case, observer)?;
    look_near_path(case)?;
    let demand = case.demand();
    demand.ensure_certifiable(&options.device, Flags::DEVICE)?;
    for (effort, flags) in [
        (&case.plan.effort, Flags::HOST),
        (&options.device, Flags::DEVICE),
    ] {
        if let Some(sentence) = demand.sentence(effort, flags) {
            observer.note(&sentence);
        }
    }
    let mut learning = options.effort.learning(case.plan.effort.seed);
    if let Some(learning) = &mut learning {
        learning.hidden = DEVICE_ADVERSARY.to_vec();
    }
    let host = case.parsed(|case| check_against_adversaries(&case, learning.as_ref(), observer))?;
    case.plan.effort = options.device;
    let mut image = case.image(&host.adversaries)?;
    let asked = (&case.task, case.near_path.as_ref());
    let passed = ensure_passes(asked, &host.outcome, "on the host").and_then(|()| {
        let device = check::<LANES>(&Image::parse(image.as_bytes())?, Watch::NONE)?;
        ensure_passes(asked, &device.outcome, "with the device's effort")
    });
    match passed {
        Ok(()) => {}
        Err(Error::Usage(_)) if options.force => {
            case.plan.refused_by_host = true;
            image = case.image(&host.adversaries)?;
        }
        Err(error) => return Err(error),
    }
    let bytes = encode_bundle(
        image.as_bytes(),
        &options.about,
        options.fallback.as_deref(),
    )?;
    ensure_fallback_passes(&bytes, &case.task, options.force)?;
    Ok(bytes)
}

fn ensure_fallback_passes(bytes: &AlignedBytes, task: &TaskFile, force: bool) -> Result<(), Error> {
    let bundle = Bundle::parse(bytes.as_bytes())?;
    let Some(fallback) = bundle.fallback().filter(|_| !force) else {
        return Ok(());
    };
    let image = bundle.image().with_policy_of(fallback);
    let outcome = check::<LANES>(&image, Watch::NONE)?.outcome;
    ensure_passes((task, None), &outcome, "as the fallback")
}

/// Bytes of the workspace that a device needs to check an image.
///
/// # Errors
/// If the task is too large to be counted.
pub fn workspace_bytes(image: &Image<'_>) -> Result<usize, CapacityError> {
    let (dynamics, task, policy) = (&image.model().dynamics, image.task(), image.policy());
    let rows = Buffers::<DEVICE_LANES>::rows_needed(dynamics, task, policy)?;
    Ok(rows * size_of::<[f32; DEVICE_LANES]>())
}

/// Whether a floor could take the bundle of a case, before any check: effort, threshold, horizon
/// and all that a check leaves as it is. A look near the controller's path may widen the set and
/// change what calibration says, so that these are left for [`ensure_admitted`].
///
/// # Errors
/// If its bytes are bad, or why it never takes it.
pub fn ensure_admissible(
    case: &Case,
    options: &BundleOptions,
    floor: &AlignedBytes,
) -> Result<(), Error> {
    let mut tried = case.clone();
    tried.plan.effort = options.device;
    if let Initial::Worst { low, .. } = &case.task.initial {
        // The worst are not found yet; a floor compares their kind alone.
        tried.initial.clone_from(low);
    }
    let image = tried.image(&Adversaries::default())?;
    let bytes = encode_bundle(
        image.as_bytes(),
        &options.about,
        options.fallback.as_deref(),
    )?;
    let bundle = Bundle::parse(bytes.as_bytes())?;
    match hold_against(floor, &bundle)? {
        None | Some(Shortfall::Beta | Shortfall::Calibration | Shortfall::Coverage(_)) => Ok(()),
        Some(shortfall) => Err(shortfall.into()),
    }
}

/// Whether a floor takes the bundle.
///
/// # Errors
/// If its bytes are bad, or why it does not.
pub fn ensure_admitted(floor: &AlignedBytes, bundle: &Bundle<'_>) -> Result<(), Error> {
    match hold_against(floor, bundle)? {
        None => Ok(()),
        Some(shortfall) => Err(shortfall.into()),
    }
}

/// In what a bundle falls short of a floor.
fn hold_against(floor: &AlignedBytes, bundle: &Bundle<'_>) -> Result<Option<Shortfall>, Error> {
    let floor = Floor::parse_prefix(floor.as_bytes())?;
    let (model, task) = (bundle.image().model(), bundle.image().task());
    let mut rows = vec![[0.0]; Monitor::rows_needed(model, task)?];
    Ok(floor.admit(bundle, &mut rows).err())
}

/// Whether a check deploys; if not, an error that says why.
fn ensure_passes(
    asked: (&TaskFile, Option<&NearPathUse>),
    outcome: &Outcome,
    place: &str,
) -> Result<(), Error> {
    if outcome.verdict == Verdict::Deploy {
        return Ok(());
    }
    let mut why = reasons_at(asked, outcome, None);
    if why.is_empty() {
        why.push("the task states no threshold".to_owned());
    }
    Err(Error::Usage(format!(
        "the controller does not pass {place} ({}): {}\n\
         help: `hambo check` says more; with --force the image is written all the same, and \
         never deploys",
        outcome.verdict.name(),
        why.join("; ")
    )))
}
