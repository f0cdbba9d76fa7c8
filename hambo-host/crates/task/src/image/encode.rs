//! From trained weights, task files and policies to the bytes of parts.

use hambo_core::image::container::{ALIGNMENT, header};
use hambo_core::image::{DynamicsManifest, ModelManifest, Part, Problem, TaskManifest};
use hambo_core::model::Calibration;
use hambo_core::numeric::dense::TILE;
use hambo_core::task::Constraint;
use hambo_core::task::{Effort, InitialKind, MAX_ADVERSARIES};
use serde::Serialize;

use super::adversary::{Adversaries, encode_adversary, encode_found};
use crate::task::{Initial, TaskFile, Wrap, step_bounds};
use hambo_base::error::Explained;
use hambo_base::network::{Layer, Standardisation};
use hambo_base::refused::problem_text;

/// Why a part cannot be written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EncodeError {
    /// More than the format has room for.
    #[error("{what} is too large for an image: at most {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The largest that fits.
        limit: usize,
    },
    /// The initial states are those of a log, and none was given.
    #[error("the task's initial states come from the data: give the log they are listed in")]
    NoInitialStates,
    /// The sizes of a policy's numbers do not fit together.
    #[error("the policy's {what} has size {found}, not {expected}: correct the policy")]
    PolicySize {
        /// What is too long or too short.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that fits the rest.
        expected: usize,
    },
    /// The core would refuse the policy.
    #[error("the policy cannot be used: {}; make every size and number finite and in range", problem_text(.0))]
    Policy(Problem),
    /// An image that is no row of parts.
    #[error("the image is no row of parts; export it again")]
    NoParts,
    /// The manifest cannot be serialised.
    #[error("the manifest cannot be written: {0}")]
    Manifest(#[from] postcard::Error),
}

impl Explained for EncodeError {}

/// Runs of numbers, each padded to whole tiles.
#[derive(Default)]
pub struct ArenaWriter {
    pub(super) numbers: Vec<f32>,
}

impl ArenaWriter {
    pub fn put(&mut self, numbers: impl IntoIterator<Item = f32>) {
        self.numbers.extend(numbers);
        self.numbers
            .resize(self.numbers.len().next_multiple_of(TILE), 0.0);
    }

    /// Integers, each with its own bits.
    pub fn put_integers(&mut self, integers: impl IntoIterator<Item = i32>) {
        let integers = integers.into_iter();
        self.put(integers.map(|x| f32::from_bits(x.cast_unsigned())));
    }

    /// Bias tiles, then blocks of four outputs, input-major.
    pub fn put_layer(&mut self, layer: &Layer) {
        self.put(layer.bias.iter().copied());
        for block in layer.weights.chunks(TILE * layer.inputs) {
            for input in 0..layer.inputs {
                self.put(block.iter().skip(input).step_by(layer.inputs).copied());
            }
        }
    }
}

/// A part: header, manifest and arena.
///
/// # Errors
/// If the manifest cannot be serialised or the part is larger than 4 GiB.
pub fn encode_part(
    part: Part,
    manifest: &impl Serialize,
    arena: &[f32],
) -> Result<Vec<u8>, EncodeError> {
    let mut payload = postcard::to_stdvec(manifest)?;
    let manifest_length = payload.len();
    payload.resize(manifest_length.next_multiple_of(ALIGNMENT), 0);
    payload.extend(arena.iter().flat_map(|x| x.to_le_bytes()));
    payload.resize(payload.len().next_multiple_of(ALIGNMENT), 0);
    let header = header(part, manifest_length, &payload).ok_or(EncodeError::TooLarge {
        what: "a part",
        limit: u32::MAX as usize,
    })?;
    let mut bytes = header.to_vec();
    bytes.extend(payload);
    Ok(bytes)
}

/// The confidence set and the support that go with a model.
#[derive(Clone, Debug)]
pub struct Uncertainty {
    /// How many of the model's inputs describe the state; the others are the action.
    pub features: usize,
    /// beta.
    pub beta: f32,
    /// tau_j.
    pub calibration_scale: Vec<f32>,
    /// The scale of the predicted noise, one for each state.
    pub noise_scale: Vec<f32>,
    /// How the calibration went.
    pub calibration: Calibration,
    /// What the log covers.
    pub support: LoggedRegion,
}

/// The region that a log covers: the numbers of the core's
/// [`Support`](hambo_core::model::Support).
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedRegion {
    /// The mean of each input of the model.
    pub centre: Vec<f32>,
    /// One over its standard deviation.
    pub scale: Vec<f32>,
    /// The lower triangle of the whitening matrix, row by row.
    pub whitening: Vec<f32>,
    /// Whitened rows, one after the other.
    pub rows: Vec<f32>,
    /// The largest distance from the nearest row that counts as inside.
    pub limit: f32,
    /// Stretches of single inputs without a row.
    pub gaps: Vec<Gap>,
}

/// A stretch of one input in which the log has no row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The index of the input.
    pub input: usize,
    /// Its lower end.
    pub low: f32,
    /// Its upper end.
    pub high: f32,
}

impl LoggedRegion {
    /// Rows that a model keeps at most.
    pub const MOST_ROWS: usize = 256;
    /// Gaps that it keeps at most.
    pub const MOST_GAPS: usize = 16;

    /// A region that holds every finite state and action.
    #[must_use]
    pub fn everywhere(columns: usize) -> Self {
        Self::ball(columns, f32::MAX.sqrt() * 0.5)
    }

    /// A ball around the origin.
    #[must_use]
    pub fn ball(columns: usize, radius: f32) -> Self {
        let unit = |row: usize| (0..=row).map(move |column| if column == row { 1.0 } else { 0.0 });
        Self {
            centre: vec![0.0; columns],
            scale: vec![1.0; columns],
            whitening: (0..columns).flat_map(unit).collect(),
            rows: vec![0.0; columns],
            limit: radius,
            gaps: Vec::new(),
        }
    }
}

/// A model part: what every kind of model has, then the runs of numbers of its own.
///
/// # Errors
/// If a size does not fit the format.
pub fn encode_model(
    units: &Standardisation,
    uncertainty: &Uncertainty,
    dynamics: DynamicsManifest,
    put_own: impl FnOnce(&mut ArenaWriter),
) -> Result<Vec<u8>, EncodeError> {
    let features = uncertainty.features;
    let support = &uncertainty.support;
    let manifest = ModelManifest {
        features: small("the model's view of the state", features)?,
        action_dimension: small(
            "the action",
            units.input_mean.len().saturating_sub(features),
        )?,
        outputs: small("the state", units.output_mean.len())?,
        beta: uncertainty.beta,
        calibration: uncertainty.calibration,
        support_rows: small(
            "the support",
            support.rows.len() / support.centre.len().max(1),
        )?,
        support_limit: support.limit,
        support_gaps: small("the list of gaps", support.gaps.len())?,
        dynamics,
    };
    let mut arena = ArenaWriter::default();
    arena.put(uncertainty.calibration_scale.iter().copied());
    arena.put(support.centre.iter().copied());
    arena.put(support.scale.iter().copied());
    arena.put(support.whitening.iter().copied());
    arena.put(support.rows.iter().copied());
    let gaps = support.gaps.iter();
    arena.put(gaps.flat_map(|gap| [gap.input as f32, gap.low, gap.high]));
    arena.put(units.input_mean.iter().copied());
    arena.put(units.input_scale.iter().map(|std| 1.0 / std));
    arena.put(units.output_mean.iter().copied());
    arena.put(units.output_scale.iter().copied());
    let noise = units.output_scale.iter().zip(&uncertainty.noise_scale);
    arena.put(noise.map(|(std, scale)| std * scale));
    put_own(&mut arena);
    encode_part(Part::Model, &manifest, &arena.numbers)
}

/// An image: model, task and policy, of which the first and the last are parts
/// already ([`super::encode_policy`]). `listed` holds the initial states of a
/// task that takes them from its data, one after the other.
///
/// # Errors
/// If a size does not fit the format.
pub fn encode_image(
    model_part: &[u8],
    task: &TaskFile,
    effort: Effort,
    listed: &[f32],
    policy_part: &[u8],
) -> Result<Vec<u8>, EncodeError> {
    let none = Adversaries::default();
    encode_image_with(model_part, task, effort, listed, policy_part, &none)
}

/// Likewise with adversaries that were trained or found for it.
///
/// # Errors
/// If a size does not fit the format.
pub fn encode_image_with(
    model_part: &[u8],
    task: &TaskFile,
    effort: Effort,
    listed: &[f32],
    policy_part: &[u8],
    adversaries: &Adversaries,
) -> Result<Vec<u8>, EncodeError> {
    let Adversaries { networks, found } = adversaries;
    limited::<_, MAX_ADVERSARIES>("the number of trained adversaries", networks)?;
    limited::<_, MAX_ADVERSARIES>("the number of lists of sequences", found)?;
    let count = networks.len() + found.len();
    let mut bytes = model_part.to_vec();
    bytes.extend(encode_task(task, effort, listed, count as u8)?);
    bytes.extend(policy_part);
    for network in networks {
        bytes.extend(encode_adversary(network)?);
    }
    for found in found {
        bytes.extend(encode_found(found)?);
    }
    Ok(bytes)
}

fn encode_task(
    task: &TaskFile,
    effort: Effort,
    listed: &[f32],
    adversaries: u8,
) -> Result<Vec<u8>, EncodeError> {
    let states = task.state_names.len();
    let (initial, first, second): (_, &[f32], &[f32]) = match &task.initial {
        Initial::Point(value) => (InitialKind::Point, value, &[]),
        Initial::Uniform { low, high } => (InitialKind::Uniform, low, high),
        Initial::Gaussian { mean, std } => (InitialKind::Gaussian, mean, std),
        Initial::Data { .. } | Initial::Worst { .. } if listed.is_empty() => {
            return Err(EncodeError::NoInitialStates);
        }
        Initial::Data { always: true } => (InitialKind::Listed, listed, &[]),
        Initial::Data { always: false } => (InitialKind::Logged, listed, &[]),
        Initial::Worst { .. } => (InitialKind::Worst, listed, &[]),
    };
    let constraints: Vec<Constraint> = task.constraints.iter().map(|one| one.constraint).collect();
    let finite = |bounds: &[f32; 2]| bounds.iter().all(|bound| bound.is_finite());
    let bounds = |slot: u16| step_bounds(task, slot, listed).filter(|bounds| finite(bounds));
    let constraint_bounds: Vec<_> = constraints.iter().map(|one| bounds(one.slot)).collect();
    let ops: Vec<Vec<u8>> = task
        .ops
        .iter()
        .map(postcard::to_stdvec)
        .collect::<Result<_, _>>()?;
    let ops = ops.concat();
    let manifest = TaskManifest {
        state_dimension: small("the state", states)?,
        action_dimension: small("the action", task.action_names.len())?,
        horizon: task.horizon,
        discount: task.discount,
        delta: task.delta,
        threshold: task.threshold,
        reward_bounds: task.reward_bounds.or_else(|| bounds(task.reward.slot())),
        return_bounds: task.return_bounds.filter(|bounds| finite(bounds)),
        constraint_bounds: limited("the number of constraints", &constraint_bounds)?,
        effort,
        method: task.method.clone(),
        refused_by_host: task.refused_by_host,
        adversaries,
        physics: task.physics.clone(),
        wraps: task.wraps.iter().any(Option::is_some),
        initial,
        initial_count: (first.len() / states.max(1)) as u32,
        ops: &ops,
        reward: task.reward.slot(),
        termination: task.termination,
        power_off: task.power_off,
        constraints: limited("the number of constraints", &constraints)?,
    };
    let mut arena = ArenaWriter::default();
    for (limit, none) in [
        (&task.state_low, f32::NEG_INFINITY),
        (&task.state_high, f32::INFINITY),
    ] {
        match limit {
            Some(limit) => arena.put(limit.iter().copied()),
            None => arena.put(std::iter::repeat_n(none, states)),
        }
    }
    arena.put(task.action_low.iter().copied());
    arena.put(task.action_high.iter().copied());
    if manifest.wraps {
        let of = |part: fn(&Wrap) -> f32| {
            let wraps = task.wraps.iter().map(Option::as_ref);
            wraps.map(move |wrap| wrap.map_or(0.0, part))
        };
        arena.put(of(|wrap| wrap.low));
        arena.put(of(|wrap| wrap.period));
    }
    arena.put(first.iter().copied());
    arena.put(second.iter().copied());
    encode_part(Part::Task, &manifest, &arena.numbers)
}

pub fn small(what: &'static str, size: usize) -> Result<u16, EncodeError> {
    u16::try_from(size).map_err(|_| EncodeError::TooLarge {
        what,
        limit: usize::from(u16::MAX),
    })
}

pub fn limited<T: Clone, const N: usize>(
    what: &'static str,
    items: &[T],
) -> Result<heapless::Vec<T, N>, EncodeError> {
    heapless::Vec::from_slice(items).map_err(|_| EncodeError::TooLarge { what, limit: N })
}
