//! Small problems whose answers are known, for the tests.

use super::problem::decision::{Actions, Problem};
use hambo_base::Error;

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

impl Push {
    /// The mean of the best possible returns of the evaluation's episodes.
    pub(super) fn best_mean(&mut self, episodes: u32) -> f64 {
        let mut sum = 0.0;
        for episode in 0..episodes {
            self.start(0, super::episodes::EVALUATION + episode)
                .unwrap();
            for _ in 0..self.horizon {
                let gap = (0.5 - self.places[0]) / 0.2;
                let push = match self.actions {
                    Actions::Continuous(_) => gap.clamp(-1.0, 1.0),
                    Actions::Discrete(_) => gap.round().clamp(-1.0, 1.0),
                };
                self.places[0] += 0.2 * push;
                sum -= f64::from((self.places[0] - 0.5).abs());
            }
        }
        sum / f64::from(episodes)
    }
}

/// Pays 1 for every step, whatever is done; may terminate at once.
pub(super) struct Pay {
    lanes: usize,
    horizon: usize,
    terminates: bool,
}

impl Pay {
    pub(super) fn new(lanes: usize, horizon: usize, terminates: bool) -> Self {
        Self {
            lanes,
            horizon,
            terminates,
        }
    }
}

impl Problem for Pay {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn observation_size(&self) -> usize {
        1
    }

    fn actions(&self) -> Actions {
        Actions::Continuous(1)
    }

    fn horizon(&self) -> usize {
        self.horizon
    }

    fn start(&mut self, _: usize, _: u32) -> Result<(), Error> {
        Ok(())
    }

    fn observe(&self, observations: &mut [f32]) {
        observations.fill(0.5);
    }

    fn step(
        &mut self,
        _: &[f32],
        rewards: &mut [f32],
        terminated: &mut [bool],
    ) -> Result<(), Error> {
        rewards.fill(1.0);
        terminated.fill(self.terminates);
        Ok(())
    }
}

/// A field of some size: choice 1 lets it grow by one, choice 0 harvests as
/// much as its size. The field starts at 0 to 3; growing first is best, and how
/// long depends on what is left of the horizon.
pub(super) struct Harvest {
    sizes: Vec<f32>,
    horizon: usize,
}

impl Harvest {
    pub(super) fn new(lanes: usize, horizon: usize) -> Self {
        Self {
            sizes: vec![0.0; lanes],
            horizon,
        }
    }

    fn first(episode: u32) -> f32 {
        (episode % 4) as f32
    }

    /// The mean of the best possible returns of the evaluation's episodes.
    pub(super) fn best_mean(&self, episodes: u32) -> f64 {
        let best = |episode: u32| {
            let first = Self::first(super::episodes::EVALUATION + episode);
            let turns = (0..=self.horizon).map(|grown| {
                let left = (self.horizon - grown) as f64;
                0.1 * left * (f64::from(first) + grown as f64)
            });
            turns.fold(0.0, f64::max)
        };
        (0..episodes).map(best).sum::<f64>() / f64::from(episodes)
    }
}

impl Problem for Harvest {
    fn lanes(&self) -> usize {
        self.sizes.len()
    }

    fn observation_size(&self) -> usize {
        1
    }

    fn actions(&self) -> Actions {
        Actions::Discrete(2)
    }

    fn horizon(&self) -> usize {
        self.horizon
    }

    fn start(&mut self, lane: usize, episode: u32) -> Result<(), Error> {
        self.sizes[lane] = Self::first(episode);
        Ok(())
    }

    fn observe(&self, observations: &mut [f32]) {
        for (to, size) in observations.iter_mut().zip(&self.sizes) {
            *to = 0.1 * size;
        }
    }

    fn step(
        &mut self,
        actions: &[f32],
        rewards: &mut [f32],
        terminated: &mut [bool],
    ) -> Result<(), Error> {
        for ((size, action), reward) in self.sizes.iter_mut().zip(actions).zip(rewards) {
            let grows = *action > 0.5;
            *reward = if grows { 0.0 } else { 0.1 * *size };
            *size += f32::from(u8::from(grows));
        }
        terminated.fill(false);
        Ok(())
    }
}
