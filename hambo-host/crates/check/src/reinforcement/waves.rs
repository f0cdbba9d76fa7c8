//! Actions to explore with: square waves of every period. Actions that change
//! at random in each step cancel out; a wave as long as the episode drives a
//! system to where episodes end, and one of a system's own period swings it.

use super::problem::decision::Actions;
use hambo_base::random::Random;

/// A wave for each lane.
pub(super) struct Waves {
    actions: Actions,
    horizon: usize,
    lanes: Vec<Wave>,
}

/// Two actions in turn, each for half a period.
struct Wave {
    pair: [Vec<f32>; 2],
    half_period: usize,
    time: usize,
}

impl Waves {
    pub(super) fn new(actions: Actions, horizon: usize, lanes: usize, random: &mut Random) -> Self {
        let draw = |_| Wave::draw(actions, horizon, random);
        Self {
            actions,
            horizon,
            lanes: (0..lanes).map(draw).collect(),
        }
    }

    /// Writes the actions of every `every`-th lane. A lane's wave lasts for a
    /// horizon.
    pub(super) fn act(&mut self, every: usize, actions: &mut [f32], random: &mut Random) {
        let rows = actions.chunks_exact_mut(self.actions.numbers());
        for (row, wave) in rows.zip(&mut self.lanes).step_by(every) {
            if wave.time == self.horizon {
                *wave = Wave::draw(self.actions, self.horizon, random);
            }
            let [one, two] = &wave.pair;
            let first = (wave.time / wave.half_period).is_multiple_of(2);
            row.copy_from_slice(if first { one } else { two });
            wave.time += 1;
        }
    }
}

impl Wave {
    /// Half a period is anything from a step to a horizon, evenly on a
    /// logarithmic scale.
    fn draw(actions: Actions, horizon: usize, random: &mut Random) -> Self {
        let pair = match actions {
            Actions::Continuous(count) => {
                // As far as it goes, or less.
                let reach = (2.0 * random.uniform()).min(1.0);
                let mut sign = || {
                    if random.uniform() < 0.5 {
                        -reach
                    } else {
                        reach
                    }
                };
                let one: Vec<f32> = (0..count).map(|_| sign()).collect();
                let two = one.iter().map(|number| -number).collect();
                [one, two]
            }
            Actions::Discrete(choices) => [(); 2].map(|()| vec![random.index(choices) as f32]),
        };
        Self {
            pair,
            half_period: ((horizon as f32).powf(random.uniform()) as usize).max(1),
            time: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long the actions of a lane stay the same, over many horizons.
    #[test]
    fn waves_have_every_period_and_both_signs() {
        let mut random = Random::new(1, 1);
        let mut waves = Waves::new(Actions::Continuous(2), 64, 4, &mut random);
        let mut lengths = vec![0];
        let mut last = [0.0; 2];
        for _ in 0..200 * 64 {
            let mut actions = [9.0; 8];
            waves.act(2, &mut actions, &mut random);
            assert_eq!(actions[2..4], [9.0; 2], "not a lane of a wave");
            let now = [actions[4], actions[5]];
            assert!(now[0].abs() == now[1].abs() && now[0].abs() <= 1.0);
            if now == last {
                *lengths.last_mut().unwrap() += 1;
            } else {
                lengths.push(1);
                last = now;
            }
        }
        assert!(lengths.contains(&1) && lengths.iter().any(|length| *length >= 32));
        assert!(lengths.iter().any(|length| (4..16).contains(length)));
    }

    #[test]
    fn choices_are_choices() {
        let mut random = Random::new(1, 1);
        let mut waves = Waves::new(Actions::Discrete(3), 8, 1, &mut random);
        let mut seen = [0; 3];
        for _ in 0..400 {
            let mut action = [0.0];
            waves.act(1, &mut action, &mut random);
            seen[action[0] as usize] += 1;
        }
        assert!(seen.iter().all(|count| *count > 40), "{seen:?}");
    }
}
