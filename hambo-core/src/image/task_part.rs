//! The task part: numbers and byte code in the manifest, limits and initial
//! states in the arena.
//!
//! Arena: state low, high (ds each) · action low, high (da each) · if states
//! wrap, the lower end and the period of each (ds each; a period of 0 for one
//! that does not) · the initial state's first and second parameters (ds each;
//! for a list its states and nothing).

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::arena::ArenaReader;
use super::container::Container;
use super::error::Problem;
use crate::model::Model;
use crate::task::expression::Program;
use crate::task::{
    Constraint, DistributionFree, Effort, InitialKind, InitialState, Limits, MAX_CONSTRAINTS,
    Method, Physics, Plan, Task, Wraps,
};

/// The manifest of a task part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskManifest<'a> {
    /// ds.
    pub state_dimension: u16,
    /// da.
    pub action_dimension: u16,
    /// T.
    pub horizon: u32,
    /// gamma.
    pub discount: f32,
    /// The probability with which the bound may fail.
    pub delta: f32,
    /// Deploy only at or above this.
    pub threshold: Option<f32>,
    /// Of which objectives a bound decides that holds for any distribution.
    pub distribution_free: DistributionFree,
    /// Bounds of the reward of one step, where they are known.
    pub reward_bounds: Option<[f32; 2]>,
    /// Bounds of the return, where the task states them.
    pub return_bounds: Option<[f32; 2]>,
    /// Bounds of each constraint at one step, where they are known.
    pub constraint_bounds: Vec<Option<[f32; 2]>, MAX_CONSTRAINTS>,
    /// How much work to spend.
    pub effort: Effort,
    /// Which estimates are made.
    pub method: Method,
    /// Whether the host's own check did not deploy.
    pub refused_by_host: bool,
    /// How many adversary parts follow the policy.
    pub adversaries: u8,
    /// What is known of the dynamics.
    pub physics: Physics,
    /// Whether any state wraps.
    pub wraps: bool,
    /// The distribution of the initial state.
    pub initial: InitialKind,
    /// How many initial states are listed (1 for the other kinds).
    pub initial_count: u32,
    /// The tape: ops in postcard, one after the other.
    #[serde(borrow)]
    pub ops: &'a [u8],
    /// The reward's slot.
    pub reward: u16,
    /// The termination's slot.
    pub termination: Option<u16>,
    /// The slot of where the robot may be switched off.
    pub power_off: Option<u16>,
    /// What must hold besides.
    pub constraints: Vec<Constraint, MAX_CONSTRAINTS>,
}

/// Reads a task part, whose dimensions must be the model's, and how many
/// adversary parts follow.
#[inline(never)]
pub(super) fn parse_task<'a>(
    part: &Container<'a>,
    model: &Model<'_>,
) -> Result<(Task<'a>, u8), Problem> {
    let manifest: TaskManifest<'_> = part.read_manifest()?;
    let state = usize::from(manifest.state_dimension);
    let action = usize::from(manifest.action_dimension);
    let physics = &manifest.physics;
    let dynamics = &model.dynamics;
    let same_sizes = physics.features() == dynamics.features()
        && physics.moved_count(state) == dynamics.outputs()
        && action == dynamics.action_dimension();
    Problem::Dimension.unless(same_sizes)?;
    check_numbers(&manifest)?;
    let mut variants = manifest.method.variants.iter();
    let without_members = variants.all(|variant| !variant.needs_members());
    Problem::Variant.unless(without_members || dynamics.members() > 0)?;
    let program = Program::decode(manifest.ops, state, action).map_err(|_| Problem::Program)?;
    Problem::Program.unless(physics.is_sound(&program, state))?;
    let constraints = manifest.constraints.iter();
    let mut slots = constraints
        .map(|constraint| constraint.slot)
        .chain(manifest.termination)
        .chain(manifest.power_off)
        .chain(core::iter::once(manifest.reward));
    Problem::Program.unless(slots.all(|slot| usize::from(slot) < program.len()))?;
    let mut arena = ArenaReader::new(part.arena)?;
    let state_limits = limits(&mut arena, state)?;
    let action_limits = limits(&mut arena, action)?;
    let wraps = if manifest.wraps {
        wraps(&mut arena, state)?
    } else {
        Wraps::NONE
    };
    let initial = initial_state(&mut arena, &manifest, state)?;
    arena.finish()?;
    let adversaries = manifest.adversaries;
    let task = Task {
        horizon: manifest.horizon,
        discount: manifest.discount,
        delta: manifest.delta,
        threshold: manifest.threshold,
        distribution_free: manifest.distribution_free,
        reward_bounds: manifest.reward_bounds,
        return_bounds: manifest.return_bounds,
        constraint_bounds: manifest.constraint_bounds,
        wraps,
        physics: manifest.physics,
        state_limits,
        action_limits,
        initial,
        program,
        reward: manifest.reward,
        termination: manifest.termination,
        power_off: manifest.power_off,
        constraints: manifest.constraints,
        plan: Plan {
            refused_by_host: manifest.refused_by_host,
            ..Plan::new(manifest.effort, manifest.method)
        },
    };
    Ok((task, adversaries))
}

fn check_numbers(manifest: &TaskManifest<'_>) -> Result<(), Problem> {
    let ordered = [manifest.reward_bounds, manifest.return_bounds]
        .iter()
        .chain(&manifest.constraint_bounds)
        .flatten()
        .all(|[low, high]| low.is_finite() && high.is_finite() && low <= high);
    let mut probabilities = manifest
        .constraints
        .iter()
        .filter_map(|one| one.probability);
    let probabilities = probabilities.all(|probability| probability > 0.0 && probability < 1.0);
    let good = manifest.horizon > 0
        && manifest.discount > 0.0
        && manifest.discount <= 1.0
        && manifest.delta > 0.0
        && manifest.delta < 1.0
        && manifest.threshold.is_none_or(f32::is_finite)
        && ordered
        && probabilities
        && manifest.effort.trajectories > 0
        && manifest.method.penalty.is_finite()
        && manifest.method.penalty >= 0.0;
    Problem::Number.unless(good)
}

fn limits<'a>(arena: &mut ArenaReader<'a>, count: usize) -> Result<Limits<'a>, Problem> {
    let (low, high) = (arena.take(count)?, arena.take(count)?);
    let ordered = low.iter().zip(high).all(|(low, high)| low <= high);
    Problem::Number.unless(ordered)?;
    Ok(Limits { low, high })
}

fn wraps<'a>(arena: &mut ArenaReader<'a>, count: usize) -> Result<Wraps<'a>, Problem> {
    let (low, period) = (arena.take_finite(count)?, arena.take_finite(count)?);
    // No period that vanishes beside the lower end.
    let good = |(low, period): (&f32, &f32)| {
        *period == 0.0 || (*low + *period > *low && (*low + *period).is_finite())
    };
    Problem::Number.unless(low.iter().zip(period).all(good))?;
    Ok(Wraps { low, period })
}

fn initial_state<'a>(
    arena: &mut ArenaReader<'a>,
    manifest: &TaskManifest<'_>,
    dimension: usize,
) -> Result<InitialState<'a>, Problem> {
    let kind = manifest.initial;
    let (states, has_second) = match kind {
        InitialKind::Point => (1, false),
        InitialKind::Uniform | InitialKind::Gaussian => (1, true),
        InitialKind::Listed | InitialKind::Logged | InitialKind::Worst => {
            (manifest.initial_count, false)
        }
    };
    let states = usize::try_from(states).map_err(|_| Problem::Dimension)?;
    let first = states.checked_mul(dimension).filter(|count| *count > 0);
    let first = arena.take_finite(first.ok_or(Problem::Dimension)?)?;
    let second = arena.take_finite(if has_second { dimension } else { 0 })?;
    Ok(InitialState {
        kind,
        first,
        second,
    })
}
