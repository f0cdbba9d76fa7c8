//! Rollouts of a learner: episodes spread over the lanes of a problem.

use std::ops::Range;

use super::error::ReinforcementError;
use super::options::InputUnits;
use super::problem::decision::Problem;
use hambo_base::Error;

/// Evaluation episodes have numbers of their own, the same in every round.
pub(super) const EVALUATION: u32 = 1 << 31;

/// One step of one lane.
pub(super) struct Step<'a> {
    pub(super) lane: usize,
    /// In the networks' units, like `next`.
    pub(super) observation: &'a [f32],
    pub(super) action: &'a [f32],
    pub(super) next: &'a [f32],
    pub(super) reward: f32,
    /// Steps of the episode before this one.
    pub(super) time: usize,
    pub(super) terminated: bool,
    /// Whether the horizon ends here.
    pub(super) last: bool,
}

/// An episode under way in a lane.
#[derive(Clone, Copy)]
struct Running {
    episode: u32,
    time: usize,
}

/// Runs the episodes to their ends and returns their undiscounted returns, in
/// order. A lane that is done takes the next episode; `act` decides for all
/// lanes at once, those at rest included.
pub(super) fn run_episodes(
    problem: &mut dyn Problem,
    units: &InputUnits,
    episodes: Range<u32>,
    act: &mut dyn FnMut(&[f32], &mut [f32]),
    keep: &mut dyn FnMut(&Step<'_>),
) -> Result<Vec<f64>, Error> {
    let (lanes, seen) = (problem.lanes(), problem.observation_size());
    let (acted, horizon) = (problem.actions().numbers(), problem.horizon());
    let first = episodes.start;
    let mut waiting = episodes.clone();
    let mut returns = vec![0.0; episodes.len()];
    let mut running: Vec<Option<Running>> = vec![None; lanes];
    let mut observations = vec![0.0; lanes * seen];
    let mut nexts = vec![0.0; lanes * seen];
    let mut actions = vec![0.0; lanes * acted];
    let (mut rewards, mut terminated) = (vec![0.0; lanes], vec![false; lanes]);
    loop {
        let mut started = false;
        for (lane, running) in running.iter_mut().enumerate() {
            if running.is_none()
                && let Some(episode) = waiting.next()
            {
                problem.start(lane, episode)?;
                *running = Some(Running { episode, time: 0 });
                started = true;
            }
        }
        if running.iter().all(Option::is_none) {
            return Ok(returns);
        }
        if started {
            problem.observe(&mut observations);
            units.apply(&mut observations);
            check(&observations, seen, &running, "observation")?;
        }
        act(&observations, &mut actions);
        problem.step(&actions, &mut rewards, &mut terminated)?;
        problem.observe(&mut nexts);
        units.apply(&mut nexts);
        check(&rewards, 1, &running, "reward")?;
        check(&nexts, seen, &running, "observation")?;
        for (lane, running) in running.iter_mut().enumerate() {
            let Some(Running { episode, time }) = *running else {
                continue;
            };
            let last = time + 1 == horizon;
            keep(&Step {
                lane,
                observation: &observations[lane * seen..][..seen],
                action: &actions[lane * acted..][..acted],
                next: &nexts[lane * seen..][..seen],
                reward: rewards[lane],
                time,
                terminated: terminated[lane],
                last,
            });
            returns[(episode - first) as usize] += f64::from(rewards[lane]);
            let over = last || terminated[lane];
            *running = (!over).then_some(Running {
                episode,
                time: time + 1,
            });
        }
        std::mem::swap(&mut observations, &mut nexts);
    }
}

/// Only lanes with an episode count.
fn check(
    numbers: &[f32],
    width: usize,
    running: &[Option<Running>],
    what: &'static str,
) -> Result<(), ReinforcementError> {
    for (row, running) in numbers.chunks_exact(width).zip(running) {
        if let Some(Running { episode, time }) = *running
            && !row.iter().all(|number| number.is_finite())
        {
            return Err(ReinforcementError::NotFinite {
                what,
                episode,
                step: time,
            });
        }
    }
    Ok(())
}
