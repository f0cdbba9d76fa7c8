//! Which trajectories walk side by side: those that start near each other.
//!
//! They stay alike for a while, so more units of a network are off in all of
//! their lanes at once, and the core passes over those. Each trajectory is its
//! own, so nothing but the time depends on the company it walks in.

use std::ops::Range;

use hambo_core::adversary::Level;
use hambo_core::rollout::Rollout;
use hambo_core::task::ModelInputs;

/// These trajectories of a rollout, ordered so that each `group` of them in a
/// row starts near each other.
pub(crate) fn in_groups<P>(
    rollout: &Rollout<'_, P>,
    level: Level,
    trajectories: Range<u32>,
    group: usize,
) -> Vec<u32> {
    let task = rollout.task;
    // In units of the data's width, so that all states count alike, where the model sees them.
    let scales = match &task.physics.inputs {
        ModelInputs::States(_) => rollout.model.support.scale,
        ModelInputs::Features(_) => &[],
    };
    let scales = scales.iter().chain(std::iter::repeat(&1.0));
    let dimension = task.state_dimension();
    let mut rows = vec![[0.0; 1]; dimension];
    let mut starts: Vec<Start> = trajectories
        .map(|trajectory| {
            level.start(task, trajectory, 0, &mut rows);
            let place = rows.iter().zip(scales.clone());
            let place = place.map(|([x], scale)| x * scale);
            Start {
                trajectory,
                place: place.collect(),
            }
        })
        .collect();
    halve(&mut starts, dimension, group.max(1));
    starts.iter().map(|start| start.trajectory).collect()
}

struct Start {
    trajectory: u32,
    place: Vec<f32>,
}

impl Start {
    fn coordinate(&self, dimension: usize) -> f32 {
        self.place.get(dimension).copied().unwrap_or(0.0)
    }
}

/// Halves the set where it is widest, between two groups, until one is left.
fn halve(starts: &mut [Start], dimension: usize, group: usize) {
    let groups = starts.len().div_ceil(group);
    if groups < 2 {
        return;
    }
    let width = |j: usize| {
        let of = |f: fn(f32, f32) -> f32, from| {
            starts.iter().map(|start| start.coordinate(j)).fold(from, f)
        };
        of(f32::max, f32::NEG_INFINITY) - of(f32::min, f32::INFINITY)
    };
    let widths = (0..dimension).map(|j| (j, width(j)));
    let Some((widest, width)) = widths.max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return;
    };
    // All start alike, or somewhere that cannot be compared.
    if width.is_nan() || width <= 0.0 {
        return;
    }
    let middle = groups / 2 * group;
    starts.select_nth_unstable_by(middle, |a, b| {
        a.coordinate(widest).total_cmp(&b.coordinate(widest))
    });
    let (near, far) = starts.split_at_mut(middle);
    halve(near, dimension, group);
    halve(far, dimension, group);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lattice of 8 × 8 starts, in an order of no use.
    fn lattice() -> Vec<Start> {
        let start = |trajectory: u32| Start {
            trajectory,
            place: vec![(trajectory * 5 % 8) as f32, (trajectory / 8 * 3 % 8) as f32],
        };
        (0..64).map(start).collect()
    }

    fn width(starts: &[Start], j: usize) -> f32 {
        let numbers = || starts.iter().map(|start| start.coordinate(j));
        numbers().fold(f32::MIN, f32::max) - numbers().fold(f32::MAX, f32::min)
    }

    #[test]
    fn groups_are_squares_of_the_lattice() {
        let mut starts = lattice();
        halve(&mut starts, 2, 4);
        for group in starts.chunks(4) {
            assert_eq!((width(group, 0), width(group, 1)), (1.0, 1.0));
        }
        let mut order: Vec<u32> = starts.iter().map(|start| start.trajectory).collect();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..64));
    }

    #[test]
    fn groups_are_near_where_the_last_is_short() {
        let mut starts = lattice();
        starts.truncate(59);
        halve(&mut starts, 2, 8);
        // Seven wide each way, and halved at least once each way.
        for group in starts.chunks(8) {
            assert!(width(group, 0) < 7.0 && width(group, 1) < 7.0);
        }
    }

    #[test]
    fn what_cannot_be_told_apart_keeps_its_order() {
        for place in [1.0, f32::NAN] {
            let start = |trajectory| Start {
                trajectory,
                place: vec![place],
            };
            let mut starts: Vec<Start> = (0..20).map(start).collect();
            halve(&mut starts, 1, 4);
            assert!(starts.iter().map(|start| start.trajectory).eq(0..20));
        }
    }
}
