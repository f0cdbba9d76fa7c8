//! How much of a margin over logged first states more trajectories would cure: the noise's
//! share, beside the verdict and no part of it.

use hambo_core::adversary::{Level, SearchResult, levels};
use hambo_core::check::{Outcome, Stage};
use hambo_core::estimate::{GivenStarts, Margin};
use hambo_core::task::{InitialKind, Objective, Variant};

use crate::case::system::System;

/// What the noise takes off a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseShare {
    /// Of this objective.
    pub objective: Objective,
    /// Under this variant.
    pub variant: Variant,
    /// By the inequality of the whole margin, at the same delta.
    pub margin: f32,
}

/// The sampled trajectories of the estimates so far, start by start. Where whole members are
/// compared nothing is gathered, nor where trajectories start from anything but a log's states.
#[derive(Default)]
pub(super) struct LoggedStarts {
    all: Vec<(Objective, Variant, GivenStarts)>,
    /// The next trajectory of the last of them.
    trajectory: u32,
}

impl LoggedStarts {
    /// Begins a stage.
    pub fn begin<P>(&mut self, stage: &Stage<'_, P>) {
        if !gathers(stage) {
            return;
        }
        let rollout = &stage.rollout;
        let task = rollout.task;
        let states = task.initial.listed(task.state_dimension()) as u32;
        let each = stage.trajectories.checked_div(states).unwrap_or(0);
        let bounds = match rollout.objective {
            share if task.is_share(share) => Some([0.0, 1.0]),
            other => task.bounds(other),
        };
        let given = GivenStarts::new(bounds, each);
        self.all.push((rollout.objective, rollout.variant, given));
        self.trajectory = 0;
    }

    /// Adds whole trajectories of a stage, in their order: each is what the least of all
    /// starts of the adversary came to.
    pub fn add<'r, P>(
        &mut self,
        stage: &Stage<'_, P>,
        results: impl Iterator<Item = &'r SearchResult>,
    ) {
        let Some((_, _, given)) = self.all.last_mut().filter(|_| gathers(stage)) else {
            return;
        };
        let task = stage.rollout.task;
        let constraint = task.constraint(stage.rollout.objective);
        let values: Vec<f32> = results
            .map(|one| match constraint {
                Some(constraint) => constraint.outcome(one.start_value),
                None => one.start_value,
            })
            .collect();
        let start = |trajectory| {
            let all = stage.level.trajectories(task);
            let listed = stage
                .level
                .listed_start(task, task.state_dimension(), trajectory);
            listed.filter(|_| trajectory < all)
        };
        for of_one in values.chunks_exact(stage.starts) {
            given.add(of_one.iter().copied().fold(f32::INFINITY, f32::min));
            let next = self.trajectory + 1;
            if start(self.trajectory) != start(next) {
                given.end_start();
            }
            self.trajectory = next;
        }
    }

    /// The noise's shares of what the check came to.
    pub fn shares(&self, outcome: &Outcome, system: &System<'_>) -> Vec<NoiseShare> {
        let budget = system.task.error_budget();
        let shares = self.all.iter().filter_map(|(objective, variant, given)| {
            let mut estimates = outcome.estimates.iter();
            let one =
                estimates.find(|one| one.objective == *objective && one.variant == *variant)?;
            let delta = budget.level(levels(&system.rollout(*variant, *objective)));
            let margin: Margin = one.sampled.margin;
            Some(NoiseShare {
                objective: *objective,
                variant: *variant,
                margin: given.margin(margin, delta)?,
            })
        });
        shares.collect()
    }
}

/// Whether the trajectories of a stage are gathered.
fn gathers<P>(stage: &Stage<'_, P>) -> bool {
    let rollout = &stage.rollout;
    stage.level == Level::Sampled
        && rollout.task.initial.kind == InitialKind::Logged
        && rollout.variant.has_adversary()
        && !stage.compares_members()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::search::parallel::{Watch, check};
    use hambo_core::task::{InitialState, Task};

    const APART: [f32; 6] = [0.2, 0.5, 0.8, 1.1, 1.4, 1.7];
    /// Hardly different: a single one would leave Student's t no freedom.
    const ALIKE: [f32; 6] = [1.0, 1.000_001, 1.000_002, 1.000_003, 1.000_004, 1.000_005];

    /// The whole margin and the noise's share of it, of the return under CA.
    fn shares(first: &'static [f32], noise: bool, trajectories: u32) -> [f32; 2] {
        let image = hambo_core::example::image_with(|task: &mut Task<'static>| {
            task.initial = InitialState {
                kind: InitialKind::Logged,
                first,
                second: &[],
            };
            task.plan.method.aleatoric_noise = noise;
            task.plan.effort.trajectories = trajectories;
            task.plan.effort.iterations = 1;
        })
        .unwrap();
        let checked = check::<8>(&image, Watch::NONE).unwrap();
        let ca = Variant::ContinuousAdversary;
        let own = |objective: Objective, variant: Variant| {
            (objective, variant) == (Objective::Return, ca)
        };
        let estimates = &checked.outcome.estimates;
        let one = estimates.iter().find(|one| own(one.objective, one.variant));
        let sampled = one.unwrap().sampled;
        assert_eq!(sampled.count, 6);
        let shares = &checked.noise_shares;
        let share = shares.iter().find(|one| own(one.objective, one.variant));
        [sampled.mean - sampled.lower, share.unwrap().margin]
    }

    #[test]
    fn without_noise_more_trajectories_cure_nothing() {
        let [margin, noise] = shares(&APART, false, 60);
        assert!(margin > 0.5 && noise < 1e-3 * margin, "{margin} {noise}");
        let [again, _] = shares(&APART, false, 600);
        assert!((again - margin).abs() < 1e-3 * margin, "{again} {margin}");
    }

    #[test]
    fn the_noise_s_share_falls_with_trajectories_and_the_starts_stay() {
        let [few, many] = [60, 6000].map(|count| shares(&APART, true, count));
        assert!(many[1] < 0.2 * few[1] && few[1] > 0.0, "{few:?} {many:?}");
        assert!(many[0] - many[1] > 0.5, "{many:?}");
        // Starts that are nearly the same leave much to the noise.
        let alike = shares(&ALIKE, true, 6000);
        assert!(alike[1] > 0.2 * alike[0], "{alike:?}");
    }
}
