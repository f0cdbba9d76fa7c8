//! Transitions over several steps: the rewards of a few steps at once, and
//! the state after them. What an episode's end is worth reaches the critics'
//! values of earlier states in that many times fewer gradient steps.

use std::collections::VecDeque;

use super::episodes::Step;
use super::options::Value;
use super::replay::Transition;

/// The last steps of every lane, that still wait for later ones.
pub(super) struct Window {
    /// Steps of a transition.
    steps: usize,
    value: Value,
    reward_scale: f32,
    horizon: f32,
    lanes: Vec<VecDeque<Waiting>>,
}

/// The beginning of a transition.
struct Waiting {
    observation: Vec<f32>,
    action: Vec<f32>,
    /// Scaled and discounted, so far.
    reward: f32,
    discount: f32,
    time: f32,
}

impl Window {
    pub(super) fn new(steps: usize, value: Value, reward_scale: f32, horizon: usize) -> Self {
        Self {
            steps,
            value,
            reward_scale,
            horizon: horizon as f32,
            lanes: Vec::new(),
        }
    }

    /// Adds a step of a lane; `emit` gets the transitions that it completes.
    /// The end of an episode completes all.
    pub(super) fn add(&mut self, step: &Step<'_>, emit: &mut dyn FnMut(&Transition<'_>)) {
        if self.lanes.len() <= step.lane {
            self.lanes.resize_with(step.lane + 1, VecDeque::new);
        }
        let Some(waiting) = self.lanes.get_mut(step.lane) else {
            return;
        };
        waiting.push_back(Waiting {
            observation: step.observation.to_vec(),
            action: step.action.to_vec(),
            reward: 0.0,
            discount: 1.0,
            time: step.time as f32 / self.horizon,
        });
        for one in waiting.iter_mut() {
            one.reward += one.discount * self.reward_scale * step.reward;
            one.discount *= self.value.discount();
        }
        let over = step.terminated || step.last;
        while over || waiting.len() >= self.steps {
            let Some(one) = waiting.pop_front() else {
                return;
            };
            emit(&Transition {
                observation: &one.observation,
                action: &one.action,
                next: step.next,
                reward: one.reward,
                time: one.time,
                bootstrap: self.value.bootstrap(step.terminated, step.last),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (first observation, sum of rewards, next, bootstrap) of an episode of
    /// four steps with rewards 1, 2, 4, 8.
    fn transitions(steps: usize, terminated: bool) -> Vec<(f32, f32, f32, f32)> {
        let value = Value::Finite { discount: 0.5 };
        let mut window = Window::new(steps, value, 10.0, 4);
        let mut found = Vec::new();
        for time in 0..4_usize {
            let here = time as f32;
            let step = Step {
                lane: 2,
                observation: &[here],
                action: &[0.5],
                next: &[here + 1.0],
                reward: (1_u32 << time) as f32,
                time,
                terminated: terminated && time == 3,
                last: time == 3,
            };
            window.add(&step, &mut |one| {
                assert_eq!(one.time, one.observation[0] / 4.0);
                found.push((one.observation[0], one.reward, one.next[0], one.bootstrap));
            });
        }
        found
    }

    #[test]
    fn one_step_is_the_step_itself() {
        let each = [
            (0.0, 10.0, 1.0, 1.0),
            (1.0, 20.0, 2.0, 1.0),
            (2.0, 40.0, 3.0, 1.0),
            (3.0, 80.0, 4.0, 0.0),
        ];
        assert_eq!(transitions(1, false), each);
        assert_eq!(transitions(1, true), each);
    }

    #[test]
    fn several_steps_sum_their_rewards_and_the_end_cuts_them() {
        let expected = [
            (0.0, 10.0 + 10.0 + 10.0, 3.0, 1.0),
            (1.0, 20.0 + 20.0 + 20.0, 4.0, 0.0),
            (2.0, 40.0 + 40.0, 4.0, 0.0),
            (3.0, 80.0, 4.0, 0.0),
        ];
        assert_eq!(transitions(3, true), expected);
    }
}
