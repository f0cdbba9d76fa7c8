//! The derivative of the worst return in the initial state: the adjoint sweep goes back to the
//! first step, with the pushes held that did most harm from there.

use hambo_core::adversary::Level;
use hambo_core::rollout::{Buffers, Feedback};
use hambo_core::task::Objective;
use hambo_core::task::Variant;

use super::groups::rows_needed;
use super::parallel::{LANES, search_all};
use crate::case::system::System;
use hambo_base::Error;
use hambo_base::meter::Meter;

/// Walks of a start whose derivative is taken; the one back counts as two.
pub(super) const WALK: u64 = 3;

/// Of the comparisons in the derivative, in units of each one's own width.
const SOFTNESS: f32 = 0.1;

/// The derivative of the least objective in each of these initial states, under the worst of
/// the continuous adversary's starts without a search.
///
/// # Errors
/// If the task needs too much memory, or the work was broken off.
pub(super) fn slopes(
    system: &System<'_>,
    objective: Objective,
    states: &[&[f32]],
    meter: &Meter<'_>,
) -> Result<Vec<Vec<f32>>, Error> {
    let listed = states.concat();
    let mut system = system.clone();
    let task = &mut system.task;
    task.initial.first = &listed;
    task.plan.effort.searched = states.len() as u32;
    task.plan.effort.iterations = 0;
    let (task, dynamics) = (&system.task, &system.model.dynamics);
    let rollout = system.rollout(Variant::ContinuousAdversary, objective);
    let (_, findings) = search_all(&rollout, u32::MAX, meter)?;
    let pushes: Vec<&[f32]> = findings
        .worst()
        .map(|choice| choice.eta.as_slice())
        .collect();
    let rows = rows_needed::<LANES>(dynamics, task, system.policy)?;
    let mut rows = vec![[0.0; LANES]; rows];
    let level = Level::Searched;
    let mut slopes = Vec::new();
    for (group, pushes) in (0..).zip(pushes.chunks(LANES)) {
        let mut buffers = Buffers::carve(&mut rows, dynamics, task, system.policy)?;
        // Lanes without a state do what the last does.
        let numbers: [u32; LANES] = std::array::from_fn(|lane| {
            (group * LANES + lane.min(pushes.len().saturating_sub(1))) as u32
        });
        let mut first = vec![[0.0; LANES]; task.state_dimension()];
        for (lane, number) in numbers.iter().enumerate() {
            level.start(task, *number, lane, &mut first);
        }
        for (row, first) in buffers.states.iter_mut().zip(&first) {
            *row = *first;
        }
        for (place, row) in buffers.eta.iter_mut().enumerate() {
            *row = std::array::from_fn(|lane| {
                let own = pushes.get(lane).or(pushes.last());
                own.and_then(|own| own.get(place)).copied().unwrap_or(0.0)
            });
        }
        buffers.feedback = [Feedback::Given; LANES];
        let streams = numbers.map(|number| level.stream(task, number));
        let returns = rollout.forward(&streams, &mut buffers);
        let rows = rollout.start_gradient(&streams, &returns, SOFTNESS, &mut buffers);
        let rows = rows.unwrap_or_default();
        slopes.extend((0..pushes.len()).map(|lane| {
            let column = rows.iter().map(|row| row[lane]);
            column.collect::<Vec<f32>>()
        }));
        let done = WALK * pushes.len() as u64 * u64::from(task.horizon);
        if meter.add(done).is_break() {
            break;
        }
    }
    meter.ensure_not_stopped()?;
    Ok(slopes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use hambo_base::observer::Unobserved;
    use hambo_core::task::{InitialKind, InitialState};

    /// From s the walk of the example visits s, s/2 + p, s/4 + 3/2 p and s/8 + 7/4 p for a
    /// constant push p of 0.1 away from the origin.
    #[test]
    fn the_derivative_in_the_start_is_that_of_the_walk_with_the_worst_push() {
        const STARTS: [f32; 3] = [1.0, -0.6, 0.25];
        let image = hambo_core::example::image_with(|task| {
            task.initial = InitialState {
                kind: InitialKind::Logged,
                first: &STARTS,
                second: &[],
            };
        });
        let image = image.unwrap();
        let mut observer = Unobserved;
        let meter = Meter::begin(&mut observer, "slopes", 1);
        let states: Vec<&[f32]> = STARTS.chunks(1).collect();
        let found = slopes(&System::from(&image), Objective::Return, &states, &meter).unwrap();
        for (slope, start) in found.iter().zip(STARTS) {
            let push = 0.1_f32.copysign(start);
            let walk = [(1.0, 0.0), (0.5, 1.0), (0.25, 1.5), (0.125, 1.75)];
            let terms = walk.map(|(share, pushed)| -2.0 * share * (share * start + pushed * push));
            let wanted: f32 = terms.iter().sum();
            assert_eq!(slope.len(), 1);
            assert!(
                (slope[0] - wanted).abs() < 1e-4,
                "{start}: {slope:?} {wanted}"
            );
        }
        assert_eq!(found.len(), 3);
    }
}
