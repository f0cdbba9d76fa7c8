//! A group of lanes between two steps.

use hambo_core::numeric::CapacityError;
use hambo_core::numeric::random::Stream;
use hambo_core::policy::Policy;
use hambo_core::rollout::{Buffers, Rollout};

/// Lanes of a group: the kernels' largest.
pub(super) const WIDTH: usize = 32;

/// Lanes that may stand at different times of their episodes. Their states
/// are the first rows of `rows`, as if every step were the first: what chance
/// decides comes from a stream for each episode and time.
pub(super) struct LaneGroup {
    rows: Vec<[f32; WIDTH]>,
    episodes: [u32; WIDTH],
    times: [u32; WIDTH],
}

impl LaneGroup {
    pub(super) fn new<P: Policy>(rollout: &Rollout<'_, P>) -> Result<Self, CapacityError> {
        let needed =
            Buffers::<WIDTH>::rows_needed(&rollout.model.dynamics, rollout.task, rollout.policy)?;
        let mut group = Self {
            rows: vec![[0.0; WIDTH]; needed],
            episodes: [0; WIDTH],
            times: [0; WIDTH],
        };
        // Lanes at rest stand somewhere sensible too.
        for lane in 0..WIDTH {
            group.start(rollout, lane, 0, 0);
        }
        Ok(group)
    }

    /// Puts a lane at the start of an episode.
    pub(super) fn start<P>(
        &mut self,
        rollout: &Rollout<'_, P>,
        lane: usize,
        episode: u32,
        seed: u64,
    ) {
        let dimension = rollout.task.state_dimension();
        let rows = self.rows.get_mut(..dimension).unwrap_or_default();
        let mut stream = Stream::new(seed, episode);
        rollout.task.initial.draw(&mut stream, lane, rows);
        rollout.task.keep_in_range(rows);
        if let (Some(own), Some(time)) = (self.episodes.get_mut(lane), self.times.get_mut(lane)) {
            *own = episode;
            *time = 0;
        }
    }

    /// The chance of the next step in every lane.
    pub(super) fn streams(&self, seed: u64) -> [Stream; WIDTH] {
        // Any odd number spreads the times over the seeds.
        const APART: u64 = 0x9e37_79b9_7f4a_7c15;
        std::array::from_fn(|lane| {
            let time = u64::from(self.times.get(lane).copied().unwrap_or(0)) + 1;
            let episode = self.episodes.get(lane).copied().unwrap_or(0);
            Stream::new(seed.wrapping_add(time.wrapping_mul(APART)), episode)
        })
    }

    /// The rows, carved. Their contents stay from call to call.
    pub(super) fn buffers<P: Policy>(
        &mut self,
        rollout: &Rollout<'_, P>,
    ) -> Result<Buffers<'_, WIDTH>, CapacityError> {
        let (dynamics, task) = (&rollout.model.dynamics, rollout.task);
        Buffers::carve(&mut self.rows, dynamics, task, rollout.policy)
    }

    /// After a step: the next states are where the following one begins.
    pub(super) fn advance(&mut self, dimension: usize) {
        let reached = dimension..2 * dimension;
        if reached.end <= self.rows.len() {
            self.rows.copy_within(reached, 0);
        }
        for time in &mut self.times {
            *time = time.wrapping_add(1);
        }
    }

    /// Steps of each lane's episode so far.
    pub(super) fn times(&self) -> &[u32; WIDTH] {
        &self.times
    }

    /// The states of all lanes, one row for each dimension.
    pub(super) fn states(&self, dimension: usize) -> &[[f32; WIDTH]] {
        self.rows.get(..dimension).unwrap_or_default()
    }
}

/// Writes rows of lanes as one row for each lane, from column `first` on.
pub(super) fn transpose(from: &[[f32; WIDTH]], to: &mut [f32], columns: usize, first: usize) {
    for (lane, row) in to.chunks_exact_mut(columns).enumerate() {
        for (x, numbers) in row.iter_mut().skip(first).zip(from) {
            if let Some(number) = numbers.get(lane) {
                *x = *number;
            }
        }
    }
}

/// The other way.
pub(super) fn gather(from: &[f32], columns: usize, to: &mut [[f32; WIDTH]]) {
    for (lane, row) in from.chunks_exact(columns).enumerate() {
        for (x, numbers) in row.iter().zip(&mut *to) {
            if let Some(number) = numbers.get_mut(lane) {
                *number = *x;
            }
        }
    }
}
