//! How far trajectories go in the box around the log, and beyond it.

use hambo_core::model::Support;
use serde::{Deserialize, Serialize};

use super::Number;
use super::number::numbers;
use super::story::quantile;
use super::trace::Trace;

/// How far trajectories go. Distances count from the middle of the box, in
/// halves of its width: 1 is the edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// The share of steps that began outside the box, as the core counts them.
    pub outside: Number,
    /// The share of trajectories with such a step.
    pub trajectories_outside: Number,
    /// The first step, from 0, at which one was outside.
    pub first_step: Option<usize>,
    /// The farthest place.
    pub farthest: Option<Farthest>,
    /// The median over trajectories, for each step.
    pub median: Vec<Number>,
    /// The largest, for each step.
    pub largest: Vec<Number>,
}

/// The place that lies farthest out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Farthest {
    /// The state or, after the states, the action.
    pub input: usize,
    /// The trajectory, from 0.
    pub trajectory: usize,
    /// The step, from 0.
    pub step: usize,
    /// Its value there.
    pub value: Number,
    /// How far that is: 1 is the edge.
    pub distance: Number,
}

impl Reach {
    pub(super) fn of(traces: &[Trace], support: &Support<'_>) -> Self {
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
                            input,
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
        let marks = || traces.iter().flat_map(|trace| &trace.outside);
        let left = traces.iter().filter(|trace| trace.outside.contains(&true));
        let first = |trace: &Trace| trace.outside.iter().position(|outside| *outside);
        let share = |part: usize, whole: usize| Number(part as f64 / whole.max(1) as f64);
        Self {
            outside: share(marks().filter(|outside| **outside).count(), marks().count()),
            trajectories_outside: share(left.count(), traces.len()),
            first_step: traces.iter().filter_map(first).min(),
            farthest,
            median: numbers(by_step.iter().map(|all| quantile(all, 0.5) as f32)),
            largest: numbers(by_step.iter().map(|all| quantile(all, 1.0) as f32)),
        }
    }
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
        let reach = Reach::of(&[trace], &support);
        assert_eq!((reach.outside.0, reach.first_step), (0.5, Some(1)));
        assert_eq!(reach.largest, numbers([0.0_f32, 1.5]));
        let farthest = reach.farthest.map(|f| (f.input, f.step, f.distance.0));
        assert_eq!(farthest, Some((0, 1, 1.5)));
        assert_eq!(distance(&support, 2, 5.5), f64::INFINITY);
    }
}
