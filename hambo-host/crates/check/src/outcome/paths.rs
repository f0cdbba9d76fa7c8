//! The trajectories that a report draws: where mean propagation and the worst trajectories
//! go, and where the log lies.

use hambo_core::check::OutsideShares;
use hambo_core::task::Variant;
use serde::{Deserialize, Serialize};

use super::result::deciding_search;
use crate::adversary::AdversarialCheck;
use crate::case::parsed_case::ParsedCase;
use crate::case::system::System;
use crate::evidence::log_next::{LogNext, places};
use crate::evidence::loss::{Loss, losses};
use crate::evidence::support::{Distances, SupportUse, excursion};
use crate::evidence::trace::{Trace, neutral_traces, traces};
use crate::names::variant_name;
use crate::number::{Number, numbers};
use crate::search::findings::Findings;
use hambo_base::Error;
use hambo_base::order::interpolated;
use hambo_data::Log;
use hambo_task::task::TaskFile;

/// Trajectories, neutral and worst, and the region that the log covers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paths {
    /// Names of the states.
    pub states: Vec<String>,
    /// How many of them the log has; the others come after them.
    pub logged_states: usize,
    /// Names of the actions.
    pub actions: Vec<String>,
    /// Mean propagation: one band for each state.
    pub neutral: Vec<Band>,
    /// The worst trajectories: one band for each state.
    pub worst: Vec<Band>,
    /// The trajectory that loses most against mean propagation.
    pub shown: ShownPath,
    /// How far out mean propagation is.
    pub neutral_distances: Distances,
    /// How far out the worst trajectories are.
    pub worst_distances: Distances,
    /// Two standard deviations below the log's mean, over states and actions.
    pub low: Vec<Number>,
    /// Two above.
    pub high: Vec<Number>,
    /// Lowest logged values, if the log was at hand.
    pub logged_low: Vec<Number>,
    /// Highest logged values, if the log was at hand.
    pub logged_high: Vec<Number>,
}

/// The spread of one state over the trajectories that still run, for s_0 … s_T.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Band {
    pub mean: Vec<Number>,
    /// The 5 % quantile.
    pub low: Vec<Number>,
    /// The 95 % quantile.
    pub high: Vec<Number>,
}

/// One trajectory in full, as `[state][step]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownPath {
    /// Its number, from 0.
    pub trajectory: usize,
    /// Mean propagation from its initial state.
    pub neutral: Vec<Vec<Number>>,
    /// Under the variant.
    pub worst: Vec<Vec<Number>>,
    /// The lower end of the model's set, s + mu − beta · tau · sigma_e, around
    /// each step of mean propagation, for s_1 … s_T.
    pub set_low: Vec<Vec<Number>>,
    /// Its upper end.
    pub set_high: Vec<Vec<Number>>,
    /// What each of its steps loses.
    pub loss: Vec<Number>,
}

/// The trajectories behind a bound, step by step. A saved run has the bands of [`Paths`] alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Walks {
    /// Mean propagation.
    pub neutral: Vec<Trace>,
    /// The worst that was found, from the same starts.
    pub worst: Vec<Trace>,
}

/// What was seen on the trajectories behind a bound.
pub(super) struct Walked {
    pub loss: Loss,
    pub support: SupportUse,
    pub log_next: Vec<LogNext>,
    pub paths: Paths,
    pub walks: Walks,
}

/// Walks the trajectories behind the bound once more, with the choices that the check
/// kept: what they lose, how far they leave the log, and what to draw. None if nothing was
/// estimated.
///
/// # Errors
/// If the task is too large to be counted.
pub(super) fn walk(
    case: &ParsedCase<'_>,
    checked: &AdversarialCheck,
    log: Option<&Log>,
    plan: usize,
) -> Result<Option<Walked>, Error> {
    let task = &case.case.task;
    let Some(variant) = deciding_search(&case.case.plan.method, &checked.outcome) else {
        return Ok(None);
    };
    let mut armed = case.with_adversaries(&checked.parts)?;
    armed.effort = checked.effort;
    let seen = Seen {
        findings: &checked.findings,
        outside: checked.outcome.outside(),
        variant,
    };
    walk_system(&armed.system(), &seen, task, log, plan)
}

/// What a check saw of its trajectories.
pub(super) struct Seen<'a> {
    pub findings: &'a [Findings],
    /// How often those that no adversary touches were outside.
    pub outside: OutsideShares,
    /// Whose search found what decides.
    pub variant: Variant,
}

pub(super) fn walk_system(
    system: &System<'_>,
    seen: &Seen<'_>,
    task: &TaskFile,
    log: Option<&Log>,
    plan: usize,
) -> Result<Option<Walked>, Error> {
    let variant = seen.variant;
    let Some(worst) = seen.findings.iter().find(|one| one.variant == variant) else {
        return Ok(None);
    };
    let (neutral, worst) = (neutral_traces(system, worst)?, traces(system, worst)?);
    if neutral.len() != worst.len() {
        return Ok(None);
    }
    let gap = |pair: &(&Trace, &Trace)| pair.0.value - pair.1.value;
    let pairs = neutral.iter().zip(&worst).enumerate();
    let largest = pairs.max_by(|a, b| gap(&a.1).total_cmp(&gap(&b.1)));
    let Some((trajectory, (beside, lowest))) = largest else {
        return Ok(None);
    };
    let (states, actions) = (&task.state_names, &task.action_names);
    let names: Vec<&String> = task.features.iter().chain(actions).collect();
    let support = &system.model.support;
    let (neutral_use, neutral_distances) = excursion(&neutral, support, &names);
    let (worst_use, worst_distances) = excursion(&worst, support, &names);
    let dimension = states.len();
    let (logged_low, logged_high) = log.map(logged_range).unwrap_or_default();
    // A state that the model does not see as it is has none.
    let unit = |name: &String| {
        let input = names.iter().position(|input| *input == name)?;
        Some((support.centre.get(input)?, support.scale.get(input)?))
    };
    let ends = |deviations: f32| {
        let units = states.iter().chain(actions).map(unit);
        numbers(units.map(|unit| unit.map_or(f32::NAN, |(c, s)| c + deviations / s)))
    };
    let moved = system.task.physics.moved(dimension);
    let moved: Vec<String> = moved.filter_map(|j| states.get(j).cloned()).collect();
    let paths = Paths {
        states: states.clone(),
        logged_states: task.logged_states().len(),
        actions: actions.clone(),
        neutral: (0..dimension).map(|j| Band::of(&neutral, j)).collect(),
        worst: (0..dimension).map(|j| Band::of(&worst, j)).collect(),
        shown: ShownPath::new(system, trajectory, beside, lowest, dimension),
        neutral_distances,
        worst_distances,
        low: ends(-2.0),
        high: ends(2.0),
        logged_low: numbers(logged_low),
        logged_high: numbers(logged_high),
    };
    let support = SupportUse::of(seen.outside, neutral_use, worst_use);
    Ok(Some(Walked {
        loss: Loss::of(variant_name(variant), &neutral, &worst),
        support,
        log_next: places(&worst, &system.model.support, &moved, plan),
        paths,
        walks: Walks { neutral, worst },
    }))
}

impl Paths {
    /// The name of a state, or of an action after all of them.
    #[must_use]
    pub fn name(&self, column: usize) -> &str {
        let mut names = self.states.iter().chain(&self.actions);
        names.nth(column).map_or("", String::as_str)
    }

    /// Whether a state or an action is a column of the log, whose range means something.
    #[must_use]
    pub fn is_logged(&self, column: usize) -> bool {
        column < self.logged_states || column >= self.states.len()
    }
}

impl Band {
    fn of(traces: &[Trace], dimension: usize) -> Self {
        let longest = traces.iter().map(|trace| trace.states.len()).max();
        let mut band = Self {
            mean: Vec::new(),
            low: Vec::new(),
            high: Vec::new(),
        };
        for step in 0..longest.unwrap_or(0) {
            let states = traces.iter().filter_map(|trace| trace.states.get(step));
            let values = states.filter_map(|state| state.get(dimension));
            let mut values: Vec<f64> = values.map(|x| f64::from(*x)).collect();
            values.sort_unstable_by(f64::total_cmp);
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            // As f32: six digits more would only fill the file.
            band.mean.push(Number::from(mean as f32));
            band.low
                .push(Number::from(interpolated(&values, 0.05) as f32));
            band.high
                .push(Number::from(interpolated(&values, 0.95) as f32));
        }
        band
    }
}

impl ShownPath {
    fn new(
        system: &System<'_>,
        trajectory: usize,
        neutral: &Trace,
        worst: &Trace,
        dimension: usize,
    ) -> Self {
        let sets = neutral.sets(system);
        let column = |rows: &[Vec<f32>], j: usize| {
            numbers(rows.iter().filter_map(|row| row.get(j).copied()))
        };
        let columns = |rows: &[Vec<f32>]| (0..dimension).map(|j| column(rows, j)).collect();
        let ends = |sign: f32| -> Vec<Vec<f32>> {
            let ends = sets.iter().map(|set| {
                let pairs = set.center.iter().zip(&set.half_width);
                pairs.map(|(center, half)| center + sign * half).collect()
            });
            ends.collect()
        };
        Self {
            trajectory,
            neutral: columns(&neutral.states),
            worst: columns(&worst.states),
            set_low: columns(&ends(-1.0)),
            set_high: columns(&ends(1.0)),
            loss: numbers(losses(neutral, worst)),
        }
    }
}

/// The lowest and highest logged state and action.
fn logged_range(log: &Log) -> (Vec<f32>, Vec<f32>) {
    let columns = log.state_dimension() + log.action_dimension();
    let mut low = vec![f32::INFINITY; columns];
    let mut high = vec![f32::NEG_INFINITY; columns];
    for row in log.rows() {
        let inputs = row.state.iter().chain(row.action);
        for ((low, high), x) in low.iter_mut().zip(&mut high).zip(inputs) {
            (*low, *high) = (low.min(*x), high.max(*x));
        }
    }
    (low, high)
}
