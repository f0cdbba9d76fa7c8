//! The noise of a rollout, as the log shows it.
//!
//! The noise of a step is sigma_a,j · e_j. Ordinary steps have e = L z + m with independent
//! standard normal z: a Gaussian bulk whose states may have something in common. Where the log
//! has events that no Gaussian explains, a step in a few hundred has one of them instead: e is
//! then a row of the log, all states together. And where something stays for an episode, a
//! payload, each trajectory draws what stays of one logged episode and adds it to every step.
//! A model of a log that shows neither has neither, and takes no draw for them.

mod extremes;
mod factor;
mod offsets;

pub use extremes::{Extremes, MOST_EXTREME};
pub use factor::NoiseFactor;
pub use offsets::Offsets;

/// All that is drawn as noise, in units of the predicted standard deviation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Noise<'a> {
    /// What the Gaussian noise of several states has in common.
    pub factor: NoiseFactor<'a>,
    /// Rare events of the log.
    pub extremes: Extremes<'a>,
    /// What stays for an episode.
    pub offsets: Offsets<'a>,
}

impl Noise<'_> {
    /// Gaussian, independent from state to state and from step to step.
    pub const WHITE: Self = Self {
        factor: NoiseFactor::INDEPENDENT,
        extremes: Extremes::NONE,
        offsets: Offsets::NONE,
    };

    /// Makes independent standard normal numbers, a row for each state, those of this noise.
    /// `events` has the row of the extreme that each lane met, if it met one, and `stays` what
    /// stays for its trajectory.
    pub(crate) fn shape<const B: usize>(
        &self,
        noise: &mut [[f32; B]],
        events: &[Option<&[f32]>; B],
        stays: &[Option<&[f32]>; B],
    ) {
        self.factor.correlate(noise);
        if !self.extremes.is_empty() {
            for (state, row) in noise.iter_mut().enumerate() {
                let centre = self.extremes.centre(state);
                for (x, event) in row.iter_mut().zip(events) {
                    *x = match event.and_then(|event| event.get(state)) {
                        Some(extreme) => *extreme,
                        None => *x + centre,
                    };
                }
            }
        }
        if !self.offsets.is_empty() {
            for (state, row) in noise.iter_mut().enumerate() {
                for (x, stays) in row.iter_mut().zip(stays) {
                    *x += stays.and_then(|stays| stays.get(state)).unwrap_or(&0.0);
                }
            }
        }
    }

    /// Gaussian noise from independent standard normal numbers, one for each state.
    pub fn shape_bulk(&self, noise: &mut [[f32; 1]]) {
        self.shape(noise, &[None], &[None]);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn white_noise_stays_as_it_is() {
        let mut noise = [[1.0, -2.0], [0.5, 3.0]];
        Noise::WHITE.shape(&mut noise, &[None; 2], &[None; 2]);
        assert_eq!(noise, [[1.0, -2.0], [0.5, 3.0]]);
    }

    #[test]
    fn each_lane_has_its_own_event_and_what_stays() {
        let noise = Noise {
            factor: NoiseFactor::new(&[1.0, 0.6, 0.8], 2).unwrap(),
            extremes: Extremes::new(&[0.5, -0.5], &[0.01], &[8.0, -4.0], 2).unwrap(),
            offsets: Offsets::new(&[2.0, 0.0, -1.0, 0.25], 2).unwrap(),
        };
        let mut rows = [[1.0; 3], [0.5; 3]];
        let event: &[f32] = &[8.0, -4.0];
        let [one, other]: [&[f32]; 2] = [&[2.0, 0.0], &[-1.0, 0.25]];
        let events = [None, Some(event), Some(event)];
        noise.shape(&mut rows, &events, &[Some(one), Some(one), Some(other)]);
        // The bulk is 1 + 0.5 and 0.6 + 0.4 - 0.5; an event takes its place.
        assert_eq!(rows, [[3.5, 10.0, 7.0], [0.5, -4.0, -3.75]]);
    }
}
