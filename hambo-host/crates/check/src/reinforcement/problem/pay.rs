//! What an adversary earns at a step.
//!
//! An adversary that were paid −r alone would lose by ending an episode that
//! costs the controller something, and gain nothing it could see by ending
//! one that is paid for every step. Against a baseline an end is worth what
//! the rest of the episode usually is.

use hambo_core::task::Task;

/// −r, or what is taken off a baseline.
#[derive(Clone, Debug)]
pub(super) struct Pay {
    /// The controller's usual reward.
    usual: f32,
    /// For each step the discount of its reward, and the sum of those after.
    steps: Vec<(f32, f32)>,
}

impl Pay {
    /// −r at every step.
    pub(super) fn each_step() -> Self {
        Self {
            usual: 0.0,
            steps: Vec::new(),
        }
    }

    /// Over an episode `baseline` minus the discounted return. The baseline
    /// is spread evenly over the steps, and an episode that ends early is paid
    /// the rest of it at once.
    pub(super) fn below(baseline: f32, task: &Task<'_>) -> Self {
        let discount = f64::from(task.discount);
        let (mut steps, mut after) = (Vec::new(), 0.0);
        for step in (0..task.horizon).rev() {
            let weight = discount.powf(f64::from(step));
            steps.push((weight as f32, after as f32));
            after += weight;
        }
        steps.reverse();
        Self {
            usual: (f64::from(baseline) / after) as f32,
            steps,
        }
    }

    /// What the step at `time` is worth, given its reward and
    /// whether it ended the episode.
    pub(super) fn of(&self, time: u32, reward: f32, ended: bool) -> f32 {
        let (weight, after) = *self.steps.get(time as usize).unwrap_or(&(1.0, 0.0));
        let rest = if ended { self.usual * after } else { 0.0 };
        weight * (self.usual - reward) + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_earns_the_baseline_less_its_return_wherever_it_ends() {
        for discount in [1.0, 0.9] {
            let image = hambo_core::example::image_with(|task| task.discount = discount).unwrap();
            let pay = Pay::below(3.0, image.task());
            let rewards = [2.0, -1.0, 0.5, 4.0];
            for end in 0..4_u32 {
                let steps = (0..=end).zip(rewards);
                let earned: f32 = steps
                    .clone()
                    .map(|(time, reward)| pay.of(time, reward, time == end))
                    .sum();
                let found: f32 = steps
                    .map(|(time, reward)| discount.powi(time as i32) * reward)
                    .sum();
                assert!((earned - (3.0 - found)).abs() < 1e-5, "{end}: {earned}");
            }
        }
        assert_eq!(Pay::each_step().of(7, 2.0, true), -2.0);
    }
}
