//! From trained weights, task files and policies to the bytes of parts.

use hambo_core::image::{DynamicsManifest, ModelManifest, NoiseManifest, Part, TaskManifest};
use hambo_core::model::Calibration;
use hambo_core::task::{Constraint, InitialKind, MAX_ADVERSARIES};

use super::adversary::{Adversaries, encode_adversary, encode_found};
use super::part::{ArenaWriter, EncodeError, encode_part, limited, small};
use crate::plan::CheckPlan;
use crate::task::bounds::step_bounds;
use crate::task::task_file::{Initial, TaskFile};
use crate::task::wraps::Wrap;
use hambo_base::network::Standardisation;
use serde::{Deserialize, Serialize};

/// The confidence set and the support that go with a model.
#[derive(Clone, Debug)]
pub struct Uncertainty {
    /// How many of the model's inputs describe the state; the others are the action.
    pub features: usize,
    pub beta: f32,
    /// tau_j.
    pub calibration_scale: Vec<f32>,
    /// The scale of the predicted noise, one for each state.
    pub noise_scale: Vec<f32>,
    /// The factor of the noise's correlation, row by row; empty where the states' noise is
    /// independent.
    pub noise_factor: Vec<f32>,
    /// Rare events and what stays for an episode; empty where white noise is enough.
    pub noise_pools: NoisePools,
    /// Where the model errs more than it says; empty where it does so nowhere.
    pub width_regions: Vec<WidthRegion>,
    /// How the calibration went.
    pub calibration: Calibration,
    /// Steps of the longest windows of withheld rows that were tested.
    pub tested_steps: u16,
    /// What the log covers.
    pub support: LoggedRegion,
}

/// What no white noise shows of a log, in predicted standard deviations: the numbers of the
/// core's [`Extremes`](hambo_core::model::Extremes) and [`Offsets`](hambo_core::model::Offsets).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoisePools {
    /// The mean of ordinary noise, one number for each state, if there are events.
    pub centre: Vec<f32>,
    /// Where each event's part of the share of extreme steps ends.
    pub ends: Vec<f32>,
    /// The events, one row after the other.
    pub extremes: Vec<f32>,
    /// What stayed in episodes of the log, one row after the other.
    pub offsets: Vec<f32>,
}

/// A stretch of one input in which the model errs more than it says: the numbers of the core's
/// [`LocalWidth`](hambo_core::model::LocalWidth).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WidthRegion {
    /// The index of the input.
    pub input: usize,
    /// Its lower end; that of f32 if there is none.
    pub low: f32,
    /// Its upper end.
    pub high: f32,
    /// How far beyond an end the height has fallen to 0.
    pub edge: f32,
    /// What is added to each state's epistemic standard deviation.
    pub heights: Vec<f32>,
}

impl WidthRegion {
    /// Regions that a model keeps at most.
    pub const MOST: usize = 8;

    fn numbers(&self) -> impl Iterator<Item = f32> + '_ {
        let head = [self.input as f32, self.low, self.high, self.edge];
        head.into_iter().chain(self.heights.iter().copied())
    }
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
    /// How often per step the log's own withheld rows go far outside.
    pub exit_rate: f32,
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
            exit_rate: 0.0,
        }
    }

    /// The gaps as the core has them: input, lower and upper end, one after the other.
    #[must_use]
    pub fn gap_numbers(&self) -> Vec<f32> {
        let gaps = self.gaps.iter();
        gaps.flat_map(|gap| [gap.input as f32, gap.low, gap.high])
            .collect()
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
    let (support, pools) = (&uncertainty.support, &uncertainty.noise_pools);
    let manifest = ModelManifest {
        features: small("the model's view of the state", features)?,
        action_dimension: small(
            "the action",
            units.input_mean.len().saturating_sub(features),
        )?,
        outputs: small("the state", units.output_mean.len())?,
        beta: uncertainty.beta,
        calibration: uncertainty.calibration,
        tested_steps: uncertainty.tested_steps,
        support_rows: small(
            "the support",
            support.rows.len() / support.centre.len().max(1),
        )?,
        support_limit: support.limit,
        support_gaps: small("the list of gaps", support.gaps.len())?,
        support_exit_rate: support.exit_rate,
        noise: NoiseManifest {
            factor: !uncertainty.noise_factor.is_empty(),
            extremes: small("the list of rare events", pools.ends.len())?,
            offsets: small(
                "the list of what stays for an episode",
                pools.offsets.len() / units.output_mean.len().max(1),
            )?,
        },
        width_regions: small("the list of regions", uncertainty.width_regions.len())?,
        dynamics,
    };
    let mut arena = ArenaWriter::default();
    arena.put(uncertainty.calibration_scale.iter().copied());
    arena.put(support.centre.iter().copied());
    arena.put(support.scale.iter().copied());
    arena.put(support.whitening.iter().copied());
    arena.put(support.rows.iter().copied());
    arena.put(support.gap_numbers());
    if !uncertainty.noise_factor.is_empty() {
        arena.put(uncertainty.noise_factor.iter().copied());
    }
    if !pools.ends.is_empty() {
        arena.put(pools.centre.iter().copied());
        arena.put(pools.ends.iter().copied());
        arena.put(pools.extremes.iter().copied());
    }
    if !pools.offsets.is_empty() {
        arena.put(pools.offsets.iter().copied());
    }
    if !uncertainty.width_regions.is_empty() {
        let regions = uncertainty.width_regions.iter();
        arena.put(regions.flat_map(WidthRegion::numbers));
    }
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
    plan: impl Into<CheckPlan>,
    listed: &[f32],
    policy_part: &[u8],
) -> Result<Vec<u8>, EncodeError> {
    let none = Adversaries::default();
    encode_image_with(model_part, task, plan, listed, policy_part, &none)
}

/// An image, as [`encode_image`] makes it, with adversaries that were trained or found for it.
///
/// # Errors
/// If a size does not fit the format.
pub fn encode_image_with(
    model_part: &[u8],
    task: &TaskFile,
    plan: impl Into<CheckPlan>,
    listed: &[f32],
    policy_part: &[u8],
    adversaries: &Adversaries,
) -> Result<Vec<u8>, EncodeError> {
    let Adversaries { networks, found } = adversaries;
    limited::<_, MAX_ADVERSARIES>("the number of trained adversaries", networks)?;
    limited::<_, MAX_ADVERSARIES>("the number of lists of sequences", found)?;
    let count = networks.len() + found.len();
    let mut bytes = model_part.to_vec();
    bytes.extend(encode_task(task, plan.into(), listed, count as u8)?);
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
    plan: CheckPlan,
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
        distribution_free: task.strictness(listed),
        reward_bounds: task.reward_bounds.or_else(|| bounds(task.reward.slot())),
        return_bounds: task.stated_return_bounds(listed),
        constraint_bounds: limited("the number of constraints", &constraint_bounds)?,
        effort: plan.effort,
        method: plan.method,
        refused_by_host: plan.refused_by_host,
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
