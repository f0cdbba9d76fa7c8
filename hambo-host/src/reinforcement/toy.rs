//! Small problems whose answers are known, for the tests.

use super::{Actions, Problem};
use crate::Error;

/// Sees (episode, time); earns its action; episode e terminates after
/// 1 + e mod 8 steps.
pub(super) struct Count {
    lanes: Vec<(u32, u32)>,
    horizon: usize,
}

impl Count {
    pub(super) fn new(lanes: usize, horizon: usize) -> Self {
        Self {
            lanes: vec![(0, 0); lanes],
            horizon,
        }
    }
}

impl Problem for Count {
    fn lanes(&self) -> usize {
        self.lanes.len()
    }

    fn observation_size(&self) -> usize {
        2
    }

    fn actions(&self) -> Actions {
        Actions::Continuous(1)
    }

    fn horizon(&self) -> usize {
        self.horizon
    }

    fn start(&mut self, lane: usize, episode: u32) -> Result<(), Error> {
        self.lanes[lane] = (episode, 0);
        Ok(())
    }

    fn observe(&self, observations: &mut [f32]) {
        for (row, lane) in observations.chunks_mut(2).zip(&self.lanes) {
            row.copy_from_slice(&[lane.0 as f32, lane.1 as f32]);
        }
    }

    fn step(
        &mut self,
        actions: &[f32],
        rewards: &mut [f32],
        terminated: &mut [bool],
    ) -> Result<(), Error> {
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            lane.1 += 1;
            rewards[index] = actions[index];
            terminated[index] = lane.1 == 1 + lane.0 % 8;
        }
        Ok(())
    }
}

/// A point on a line that is pushed by at most `push` a step, from −1 … 1, and
/// pays for its distance to 0.5. Choices push down, not at all, or up.
pub(super) struct Push {
    pub(super) places: Vec<f32>,
    pub(super) actions: Actions,
    pub(super) horizon: usize,
}

impl Push {
    pub(super) fn new(lanes: usize, actions: Actions, horizon: usize) -> Self {
        Self {
            places: vec![0.0; lanes],
            actions,
            horizon,
        }
    }
}

impl Problem for Push {
    fn lanes(&self) -> usize {
        self.places.len()
    }

    fn observation_size(&self) -> usize {
        1
    }

    fn actions(&self) -> Actions {
        self.actions
    }

    fn horizon(&self) -> usize {
        self.horizon
    }

    fn start(&mut self, lane: usize, episode: u32) -> Result<(), Error> {
        let fraction = f64::from(episode) * 0.618_033_988_749;
        self.places[lane] = 2.0 * fraction.fract() as f32 - 1.0;
        Ok(())
    }

    fn observe(&self, observations: &mut [f32]) {
        observations.copy_from_slice(&self.places);
    }

    fn step(
        &mut self,
        actions: &[f32],
        rewards: &mut [f32],
        terminated: &mut [bool],
    ) -> Result<(), Error> {
        for ((place, action), reward) in self.places.iter_mut().zip(actions).zip(rewards) {
            let push = match self.actions {
                Actions::Continuous(_) => *action,
                Actions::Discrete(_) => *action - 1.0,
            };
            *place = (*place + 0.2 * push).clamp(-2.0, 2.0);
            *reward = -(*place - 0.5).abs();
        }
        terminated.fill(false);
        Ok(())
    }
}
