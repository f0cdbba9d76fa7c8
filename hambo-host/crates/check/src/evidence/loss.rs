//! Where the adversary takes the return away: at which step, and in which state.

use serde::{Deserialize, Serialize};

use super::trace::Trace;
use crate::number::{Number, numbers};

/// The most costly steps that are kept.
const MOST_PLACES: usize = 8;

/// What the worst trajectories lose against mean propagation. Steps and trajectories count
/// from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// The variant whose trajectories these are, as `--variant` takes it.
    pub variant: String,
    /// How many trajectories were looked at: the first ones of the check.
    pub trajectories: usize,
    /// What the variant takes from the return of mean propagation, on average.
    pub total: Number,
    /// The step by which half of that is lost; none without a loss.
    pub half_by_step: Option<usize>,
    /// The step that loses most on average; none without a loss.
    pub worst_step: Option<usize>,
    /// The mean over trajectories of what each step loses, discounted.
    pub by_step: Vec<Number>,
    /// The trajectories that lost most, each at its costliest step.
    pub places: Vec<CostlyStep>,
}

/// The costliest step of a trajectory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostlyStep {
    pub trajectory: usize,
    pub step: usize,
    /// What that step lost against mean propagation.
    pub loss: Number,
    /// What the whole trajectory lost.
    pub total: Number,
    /// The state there.
    pub state: Vec<Number>,
    /// The action there.
    pub action: Vec<Number>,
    /// The state of mean propagation at the same step; empty if it had ended.
    pub neutral: Vec<Number>,
}

impl Loss {
    pub(crate) fn of(variant: &str, neutral: &[Trace], worst: &[Trace]) -> Self {
        let pairs = neutral.iter().zip(worst);
        let losses: Vec<Vec<f32>> = pairs
            .map(|(neutral, worst)| losses(neutral, worst))
            .collect();
        let by_step = mean_loss(&losses);
        let total: f64 = by_step.iter().sum();
        let mut sum = 0.0;
        let half_is_lost = |loss: &f64| {
            sum += loss;
            sum >= 0.5 * total
        };
        let half = by_step.iter().position(half_is_lost);
        let steps = by_step.iter().enumerate();
        let worst_step = steps.max_by(|a, b| a.1.total_cmp(b.1));
        Self {
            variant: variant.to_owned(),
            trajectories: worst.len(),
            total: total.into(),
            half_by_step: half.filter(|_| total > 0.0),
            worst_step: worst_step
                .filter(|(_, loss)| **loss > 0.0)
                .map(|(step, _)| step),
            places: costly_steps(neutral, worst, &losses),
            by_step: numbers(by_step),
        }
    }
}

/// What each step loses; a trajectory that has ended earns nothing.
pub(crate) fn losses(neutral: &Trace, worst: &Trace) -> Vec<f32> {
    let steps = neutral.rewards.len().max(worst.rewards.len());
    let at = |trace: &Trace, step: usize| trace.rewards.get(step).copied().unwrap_or(0.0);
    (0..steps)
        .map(|step| at(neutral, step) - at(worst, step))
        .collect()
}

fn mean_loss(losses: &[Vec<f32>]) -> Vec<f64> {
    let longest = losses.iter().map(Vec::len).max().unwrap_or(0);
    let mean = |step: usize| {
        let each = losses.iter().filter_map(|loss| loss.get(step));
        each.map(|loss| f64::from(*loss)).sum::<f64>() / losses.len().max(1) as f64
    };
    (0..longest).map(mean).collect()
}

fn costly_steps(neutral: &[Trace], worst: &[Trace], losses: &[Vec<f32>]) -> Vec<CostlyStep> {
    let each = neutral.iter().zip(worst).zip(losses).enumerate();
    let mut places: Vec<CostlyStep> = each
        .filter_map(|(trajectory, ((neutral, worst), losses))| {
            let steps = losses.iter().enumerate();
            // After its end a trajectory is nowhere.
            let steps = steps.take(worst.actions.len());
            let (step, loss) = steps.max_by(|a, b| a.1.total_cmp(b.1))?;
            let row = |rows: &[Vec<f32>]| numbers(rows.get(step).cloned().unwrap_or_default());
            Some(CostlyStep {
                trajectory,
                step,
                loss: Number::from(*loss),
                total: Number::from(losses.iter().sum::<f32>()),
                state: row(&worst.states),
                action: row(&worst.actions),
                neutral: row(&neutral.states),
            })
        })
        .filter(|place| place.loss.0 > 0.0)
        .collect();
    places.sort_by(|a, b| b.total.0.total_cmp(&a.total.0));
    places.truncate(MOST_PLACES);
    places
}
