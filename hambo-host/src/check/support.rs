//! How far trajectories go in the box around the log, and beyond it.

use hambo_core::model::Support;
use serde::{Deserialize, Serialize};

use super::number::{Number, numbers, quantile};
use super::trace::Trace;

/// How far the trajectories leave the box around the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SupportUse {
    /// Mean propagation.
    pub neutral: Excursion,
    /// The worst trajectories.
    pub worst: Excursion,
}

/// How far trajectories go. Steps and trajectories count from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Excursion {
    /// The share of steps that began outside the box, as the core counts them.
    pub steps_outside: Number,
    /// The share of trajectories with such a step.
    pub trajectories_outside: Number,
    /// The first step at which one was outside.
    pub first_step_outside: Option<usize>,
    /// The state or action that lies farthest out.
    pub farthest: Option<Farthest>,
}

/// The state or action that lies farthest out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Farthest {
    /// Its name.
    pub name: String,
    /// The trajectory.
    pub trajectory: usize,
    /// The step.
    pub step: usize,
    /// Its value there.
    pub value: Number,
    /// Its distance from the middle of the box, in halves of the width: 1 is the edge.
    pub distance: Number,
}

/// The distance of the farthest state or action from the middle of the box, in halves of
/// its width, for each step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distances {
    /// The median over trajectories.
    pub median: Vec<Number>,
    /// The largest.
    pub largest: Vec<Number>,
}

/// How far these trajectories go, by the names of states and actions.
pub(super) fn excursion(
    traces: &[Trace],
    support: &Support<'_>,
    names: &[&String],
) -> (Excursion, Distances) {
    let mut farthest: Option<Farthest> = None;
    let mut by_step: Vec<Vec<f64>> = Vec::new();
    for (trajectory, trace) in traces.iter().enumerate() {
        let steps = trace.states.iter().zip(&trace.actions).enumerate();
        for (step, (state, action)) in steps {
            let mut largest: f64 = 0.0;
            for (input, value) in state.iter().chain(action).enumerate() {
                let distance = distance(support, input, *value);
                largest = largest.max(distance);
                let before = farthest.as_ref();
                if before.is_none_or(|before| distance > before.distance.0) {
                    farthest = Some(Farthest {
                        name: names
                            .get(input)
                            .map_or_else(String::new, ToString::to_string),
                        trajectory,
                        step,
                        value: Number::from(*value),
                        distance: Number(distance),
                    });
                }
            }
            if by_step.len() <= step {
                by_step.resize(step + 1, Vec::new());
            }
            if let Some(all) = by_step.get_mut(step) {
                all.push(largest);
            }
        }
    }
    for all in &mut by_step {
        all.sort_unstable_by(f64::total_cmp);
    }
    let at = |share: f64| numbers(by_step.iter().map(|all| quantile(all, share) as f32));
    let distances = Distances {
        median: at(0.5),
        largest: at(1.0),
    };
    let marks = || traces.iter().flat_map(|trace| &trace.outside);
    let left = traces.iter().filter(|trace| trace.outside.contains(&true));
    let first = |trace: &Trace| trace.outside.iter().position(|outside| *outside);
    let share = |part: usize, whole: usize| Number(part as f64 / whole.max(1) as f64);
    let excursion = Excursion {
        steps_outside: share(marks().filter(|outside| **outside).count(), marks().count()),
        trajectories_outside: share(left.count(), traces.len()),
        first_step_outside: traces.iter().filter_map(first).min(),
        farthest,
    };
    (excursion, distances)
}

/// How far out an input lies in its side of the box. A side without width
/// holds one value alone.
fn distance(support: &Support<'_>, input: usize, value: f32) -> f64 {
    let (Some(low), Some(high)) = (support.low.get(input), support.high.get(input)) else {
        return 0.0;
    };
    let (low, high) = (f64::from(*low), f64::from(*high));
    let from_middle = (f64::from(value) - 0.5 * (low + high)).abs();
    match 0.5 * (high - low) {
        half if half > 0.0 => from_middle / half,
        _ if from_middle > 0.0 => f64::INFINITY,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        let support = Support {
            low: &[-1.0, 2.0, 5.0],
            high: &[3.0, 4.0, 5.0],
        };
        let trace = Trace {
            states: vec![vec![1.0, 3.0], vec![4.0, 3.5], vec![0.0, 3.0]],
            actions: vec![vec![5.0], vec![5.0]],
            rewards: vec![0.0; 2],
            outside: vec![false, true],
            value: 0.0,
        };
        let names = ["x", "v", "u"].map(str::to_owned);
        let names: Vec<&String> = names.iter().collect();
        let (excursion, distances) = excursion(&[trace], &support, &names);
        assert_eq!(
            (excursion.steps_outside.0, excursion.first_step_outside),
            (0.5, Some(1))
        );
        assert_eq!(distances.largest, numbers([0.0_f32, 1.5]));
        let farthest = excursion.farthest.map(|f| (f.name, f.step, f.distance.0));
        assert_eq!(farthest, Some(("x".to_owned(), 1, 1.5)));
        assert_eq!(distance(&support, 2, 5.5), f64::INFINITY);
    }
}
