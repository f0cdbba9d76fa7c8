//! How far trajectories go from the log's rows.

use hambo_core::check::OutsideShares;
use hambo_core::model::{GAP, Support};
use serde::{Deserialize, Serialize};

use super::trace::Trace;
use crate::number::{Number, numbers};
use hambo_base::order::interpolated;

/// How far the trajectories leave what the log covers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SupportUse {
    /// Where no adversary touches them. The shares are those that decide, as the core counted them
    /// on all trajectories, of mean propagation or with noise, whichever is more; where and how
    /// far are of mean propagation on those that were kept.
    pub neutral: Excursion,
    /// The share of trajectories that may go far outside there.
    pub far_trajectories_allowed: Number,
    /// The worst trajectories that were kept. They decide nothing.
    pub worst: Excursion,
}

/// How far trajectories go. Steps and trajectories count from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Excursion {
    /// The share of steps that began outside.
    pub steps_outside: Number,
    /// The share of trajectories with a step far outside.
    pub far_trajectories: Number,
    /// The first step at which one was outside.
    pub first_step_outside: Option<usize>,
    /// The step that is farthest from the log.
    pub farthest: Option<Farthest>,
}

/// The step that is farthest from the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Farthest {
    /// The input of the model that differs most from the log's mean there, in standard
    /// deviations.
    pub name: String,
    pub trajectory: usize,
    pub step: usize,
    /// Its value there.
    pub value: Number,
    /// The distance of the step from the nearest row of the log: 1 is the edge of what
    /// the log covers.
    pub distance: Number,
}

/// The distance from the nearest row of the log for each step; 1 is the edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distances {
    /// The median over trajectories.
    pub median: Vec<Number>,
    pub largest: Vec<Number>,
}

impl SupportUse {
    /// Of trajectories that were kept, with the shares that the core counted.
    pub(crate) fn of(counted: OutsideShares, neutral: Excursion, worst: Excursion) -> Self {
        Self {
            neutral: Excursion {
                steps_outside: counted.steps.into(),
                far_trajectories: counted.far_trajectories.into(),
                ..neutral
            },
            far_trajectories_allowed: Number(f64::from(counted.allowed_trajectories) / 100.0),
            worst,
        }
    }
}

/// How far these trajectories go, by the names of what the model sees.
pub(crate) fn excursion(
    traces: &[Trace],
    support: &Support<'_>,
    names: &[&String],
) -> (Excursion, Distances) {
    let mut farthest: Option<Farthest> = None;
    let mut by_step: Vec<Vec<f64>> = Vec::new();
    let mut scratch = vec![[0.0; 1]; support.scratch_rows()];
    let mut far = 0;
    for (trajectory, trace) in traces.iter().enumerate() {
        far += usize::from(trace.far_outside.contains(&true));
        for (step, inputs) in trace.inputs.iter().enumerate() {
            let [distance] = support.distance(&lane(inputs), &[], &mut scratch);
            let distance = f64::from(distance);
            let before = farthest.as_ref();
            if before.is_none_or(|before| distance > before.distance.0) {
                let (name, value) = most_unusual(inputs, distance as f32, support, names);
                farthest = Some(Farthest {
                    name,
                    trajectory,
                    step,
                    value: Number::from(value),
                    distance: Number(distance),
                });
            }
            if by_step.len() <= step {
                by_step.resize(step + 1, Vec::new());
            }
            if let Some(all) = by_step.get_mut(step) {
                all.push(distance);
            }
        }
    }
    for all in &mut by_step {
        all.sort_unstable_by(f64::total_cmp);
    }
    let at = |share: f64| numbers(by_step.iter().map(|all| interpolated(all, share) as f32));
    let distances = Distances {
        median: at(0.5),
        largest: at(1.0),
    };
    let marks = || traces.iter().flat_map(|trace| &trace.outside);
    let first = |trace: &Trace| trace.outside.iter().position(|outside| *outside);
    let share = |part: usize, whole: usize| Number(part as f64 / whole.max(1) as f64);
    let excursion = Excursion {
        steps_outside: share(marks().filter(|outside| **outside).count(), marks().count()),
        far_trajectories: share(far, traces.len()),
        first_step_outside: traces.iter().filter_map(first).min(),
        farthest,
    };
    (excursion, distances)
}

fn lane(values: &[f32]) -> Vec<[f32; 1]> {
    values.iter().map(|x| [*x]).collect()
}

/// The input whose gap is why a step is this far from the log, or else the one that differs most
/// from the log's mean, in standard deviations.
fn most_unusual(
    inputs: &[f32],
    distance: f32,
    support: &Support<'_>,
    names: &[&String],
) -> (String, f32) {
    let units = support.centre.iter().zip(support.scale);
    let inputs = inputs.iter().zip(units).enumerate();
    let decides = |input: usize, x: f32, scale: f32| {
        let gaps = support.gaps.chunks_exact(GAP);
        let mut gaps = gaps.filter(|gap| gap[0] as usize == input);
        gaps.any(|gap| {
            let depth = (x - gap[1]).min(gap[2] - x);
            depth > 0.0 && 1.0 + depth * scale >= distance
        })
    };
    let deviation = |(input, (x, (centre, scale))): &(usize, (&f32, (&f32, &f32)))| {
        let deviation = ((**x - **centre) * **scale).abs();
        if decides(*input, **x, **scale) {
            f32::MAX
        } else {
            deviation
        }
    };
    let most = inputs.max_by(|a, b| deviation(a).total_cmp(&deviation(b)));
    most.map_or((String::new(), f32::NAN), |(input, (x, _))| {
        let name = names.get(input).map(ToString::to_string);
        (name.unwrap_or_default(), *x)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        let support = Support {
            centre: &[1.0, 3.0, 5.0],
            scale: &[0.5, 1.0, 1.0],
            whitening: &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
            rows: &[0.0, 0.0, 0.0],
            limit: 1.0,
            gaps: &[],
            exit_rate: 0.0,
        };
        let trace = Trace {
            inputs: vec![vec![1.0, 3.0, 5.0], vec![4.0, 3.5, 5.0]],
            rewards: vec![0.0; 2],
            outside: vec![false, true],
            far_outside: vec![false, true],
            ..Trace::default()
        };
        let names = ["x", "v", "u"].map(str::to_owned);
        let names: Vec<&String> = names.iter().collect();
        let (excursion, distances) = excursion(&[trace], &support, &names);
        assert_eq!(
            (excursion.steps_outside.0, excursion.first_step_outside),
            (0.5, Some(1))
        );
        assert_eq!(excursion.far_trajectories.0, 1.0);
        let second = (1.5_f32 * 1.5 + 0.5 * 0.5).sqrt();
        assert_eq!(distances.largest, numbers([0.0_f32, second]));
        let farthest = excursion.farthest.map(|f| (f.name, f.step, f.value.0));
        assert_eq!(farthest, Some(("x".to_owned(), 1, 4.0)));
        // An input in a gap is what is unusual, however near the mean …
        let gap = Support {
            gaps: &[1.0, 3.4, 3.6],
            ..support
        };
        let unusual = most_unusual(&[4.0, 3.5, 5.0], 1.05, &gap, &names);
        assert_eq!(unusual, ("v".to_owned(), 3.5));
        // … if the step is no farther from the rows.
        let unusual = most_unusual(&[4.0, 3.5, 5.0], 1.6, &gap, &names);
        assert_eq!(unusual, ("x".to_owned(), 4.0));
    }
}
