//! Where to log next: the states and actions of the worst trajectories at which the model's
//! uncertainty buys the adversary most.
//!
//! At step t the adversary's push in state j is eta · radius · sigma_e, and the return falls by
//! −eta · dJ/deta for it, to first order. More data near (s, a) makes sigma_e smaller there, so
//! the places with the largest sums of that, near by included, are worth a log.

use serde::{Deserialize, Serialize};

use hambo_core::model::Support;

use super::trace::Trace;
use crate::number::{Number, numbers};

/// The most steps that are looked at: those that bought most.
const MOST_STEPS: usize = 512;

/// A place that covers less is not worth a log.
const LEAST_SHARE: f32 = 0.01;

/// How far a logged row tells something, in standard deviations of the log.
const REACH: f32 = 0.5;

/// A place to log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogNext {
    /// The share of all that uncertainty buys the adversary that is bought near here, and
    /// not near an earlier place of the list.
    pub share: Number,
    pub state: Vec<Number>,
    /// The action, as the controller takes it there.
    pub action: Vec<Number>,
    /// The step at which a trajectory is there.
    pub step: usize,
    /// The state whose next value the model should know better.
    pub uncertain: String,
}

/// One step of a trajectory.
struct Step<'a> {
    state: &'a [f32],
    action: &'a [f32],
    number: usize,
    /// What the model sees, in units of the log's standard deviations.
    place: Vec<f32>,
    /// What is bought here.
    bought: f32,
    /// In which state most of it.
    most: usize,
}

/// `count` places, those that cover most first. `names` are those of the states that the model
/// moves.
pub(crate) fn places(
    traces: &[Trace],
    support: &Support<'_>,
    names: &[String],
    count: usize,
) -> Vec<LogNext> {
    let mut steps: Vec<Step<'_>> = traces
        .iter()
        .flat_map(|trace| steps(trace, support))
        .collect();
    let total: f32 = steps.iter().map(|step| step.bought).sum();
    if !(total > 0.0 && total.is_finite()) {
        return Vec::new();
    }
    steps.sort_by(|a, b| b.bought.total_cmp(&a.bought));
    steps.truncate(MOST_STEPS);
    let mut left: Vec<f32> = steps.iter().map(|step| step.bought).collect();
    let mut found = Vec::new();
    while found.len() < count {
        let covered = |step: &Step<'_>| -> f32 {
            let others = steps.iter().zip(&left);
            others
                .map(|(other, left)| left * nearness(&step.place, &other.place))
                .sum()
        };
        let best = steps
            .iter()
            .map(|step| (covered(step), step))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((bought, step)) = best.filter(|(bought, _)| *bought > LEAST_SHARE * total) else {
            break;
        };
        found.push(LogNext {
            share: Number::from(bought / total),
            state: numbers(step.state.iter().copied()),
            action: numbers(step.action.iter().copied()),
            step: step.number,
            uncertain: names.get(step.most).cloned().unwrap_or_default(),
        });
        for (other, left) in steps.iter().zip(&mut left) {
            *left *= 1.0 - nearness(&step.place, &other.place);
        }
    }
    found
}

fn steps<'a>(trace: &'a Trace, support: &'a Support<'_>) -> impl Iterator<Item = Step<'a>> {
    let rows = trace.states.iter().zip(&trace.actions);
    let rows = rows.zip(trace.bought.iter().zip(&trace.inputs));
    rows.enumerate()
        .map(|(number, ((state, action), (bought, inputs)))| {
            let inputs = inputs.iter().zip(support.scale);
            let by_state = bought.iter().map(|bought| bought.max(0.0));
            let most = by_state
                .clone()
                .enumerate()
                .max_by(|a, b| a.1.total_cmp(&b.1));
            Step {
                state,
                action,
                number,
                place: inputs.map(|(x, scale)| x * scale).collect(),
                bought: by_state.sum(),
                most: most.map_or(0, |(state, _)| state),
            }
        })
}

/// 1 at the same place, and hardly anything two reaches away.
fn nearness(a: &[f32], b: &[f32]) -> f32 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    (-0.5 * squares.sum::<f32>() / (REACH * REACH)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUPPORT: Support<'static> = Support {
        centre: &[0.0, 0.0, 0.0],
        scale: &[1.0, 1.0, 1.0],
        whitening: &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        rows: &[0.0, 0.0, 0.0],
        limit: 1.0,
        gaps: &[],
        exit_rate: 0.0,
    };

    fn trace(rows: &[([f32; 2], [f32; 2])]) -> Trace {
        Trace {
            states: rows.iter().map(|(state, _)| state.to_vec()).collect(),
            actions: vec![vec![0.5]; rows.len()],
            inputs: rows.iter().map(|([x, v], _)| vec![*x, *v, 0.5]).collect(),
            bought: rows.iter().map(|(_, bought)| bought.to_vec()).collect(),
            ..Trace::default()
        }
    }

    #[test]
    fn many_small_purchases_near_each_other_beat_a_large_one_alone() {
        let near = |by: f32| ([3.0, by], [0.0, 1.0]);
        let rows = [([0.0, 0.0], [2.0, 0.0]), near(0.0), near(0.05), near(0.1)];
        let names = ["x", "v"].map(str::to_owned);
        let found = places(&[trace(&rows)], &SUPPORT, &names, 8);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].step, found[0].uncertain.as_str()), (2, "v"));
        assert!((found[0].share.0 - 0.6).abs() < 0.01, "{found:?}");
        assert_eq!((found[1].step, found[1].uncertain.as_str()), (0, "x"));
        assert!((found[1].share.0 - 0.4).abs() < 0.01, "{found:?}");
        assert_eq!(found[1].state, numbers([0.0_f32, 0.0]));
        assert_eq!(found[1].action, numbers([0.5_f32]));
        // No more than are asked for.
        assert_eq!(places(&[trace(&rows)], &SUPPORT, &names, 1).len(), 1);
    }

    #[test]
    fn nothing_bought_is_nowhere_to_log() {
        let names = ["x", "v"].map(str::to_owned);
        let none = trace(&[([0.0, 0.0], [0.0, -1.0])]);
        assert!(places(&[none], &SUPPORT, &names, 3).is_empty());
        assert!(places(&[], &SUPPORT, &names, 3).is_empty());
        let broken = trace(&[([0.0, 0.0], [f32::INFINITY, 0.0])]);
        assert!(places(&[broken], &SUPPORT, &names, 3).is_empty());
    }
}
