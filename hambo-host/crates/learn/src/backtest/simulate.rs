//! What adversary and noise make of a window's actions, by the core's own rollout.

use hambo_core::Policy;
use hambo_core::adversary::{Level, Search, Starts};
use hambo_core::image::Image;
use hambo_core::rollout::{Buffers, PathReturn, Rollout};
use hambo_core::task::FoundChoices;
use hambo_core::task::Objective;
use hambo_core::task::Variant;
use hambo_core::task::expression::Inputs;
use hambo_core::task::{InitialKind, InitialState, Limits, Task};

use super::closed_loop::ClosedLoop;
use super::replay::Replay;
use super::trajectories::Trajectories;
use super::tube::Tube;
use super::window::Window;
use hambo_base::Error;
use hambo_data::corrected_path;
use hambo_task::task::{ModelView, Wrap};

/// Trajectories side by side.
const LANES: usize = 16;
/// Half periods, in steps, of pushes that swing.
const HALF_PERIODS: [usize; 5] = [1, 2, 4, 8, 16];

/// A model and a task.
pub(super) struct Simulation<'a> {
    pub(super) image: &'a Image<'a>,
    pub(super) view: &'a ModelView,
    pub(super) wraps: &'a [Option<Wrap>],
    pub(super) delta: f32,
    /// Whether the image's controller is the one that made the log.
    pub(super) closed: bool,
}

/// The answers of one window: whether it is as a right model would have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) path: bool,
    pub(super) returns: bool,
}

/// How many noisy trajectories a window needs: the logged one is compared with them by its
/// rank, so that the second lowest of them is still at a share of delta.
pub(super) fn trajectories(delta: f32) -> u32 {
    let needed = (2.0 / f64::from(delta)).ceil() - 1.0;
    needed.clamp(19.0, 999.0) as u32
}

impl Simulation<'_> {
    /// Both answers. The logged window is one more draw: under a right model its rank among
    /// the others, each pushed as far as the adversary can, is at most `k` with a probability
    /// of at most `k / (n + 1)`.
    pub(super) fn answers(&self, window: &Window<'_>, seed: u64) -> Result<Answers, Error> {
        let noisy = self.walk(window, seed, true)?;
        let calm = self.walk(window, seed, false)?;
        // What is corrected may have a tube without width, at a wall: the logged path is rounded
        // to it.
        let rows = window.rows.iter();
        let rows = rows.map(|row| (row.state, row.action, row.next_state));
        let logged_path = corrected_path(rows, self.view)?;
        let task = self.image.task();
        let tube = Tube::new(self.wraps, &logged_path, &calm, &noisy);
        let tube = tube.of_moved(&task.physics, task.state_dimension());
        let logged_exceeds = tube.exceeds(&logged_path);
        let farther = noisy.paths.chunks(noisy.starts).filter(|starts| {
            let mut exceeds = starts.iter().map(|path| tube.exceeds(path));
            exceeds.any(|exceeds| exceeds >= logged_exceeds)
        });
        let logged_return = self.logged_return(window);
        let lower = noisy.returns.chunks(noisy.starts).filter(|starts| {
            let mut returns = starts.iter();
            returns.any(|found| *found <= logged_return || found.is_nan())
        });
        let of = noisy.paths.len() / noisy.starts;
        Ok(Answers {
            path: self.usual(farther.count(), of),
            returns: self.usual(lower.count(), of),
        })
    }

    /// Whether a rank is above delta.
    fn usual(&self, beyond: usize, of: usize) -> bool {
        (beyond + 1) as f64 > f64::from(self.delta) * (of + 1) as f64
    }

    fn walk(&self, window: &Window<'_>, seed: u64, noise: bool) -> Result<Trajectories, Error> {
        let (task, model) = (self.image.task(), self.image.model());
        if self.closed {
            let limits = &task.action_limits;
            let policy = ClosedLoop::of(self.image.policy(), limits, &window.rows);
            return self.walk_with(window, &policy, limits, (seed, noise));
        }
        let actions: Vec<f32> = window
            .rows
            .iter()
            .flat_map(|row| row.action)
            .copied()
            .collect();
        let dimension = model.dynamics.action_dimension();
        let policy = Replay {
            states: task.state_dimension(),
            actions: &actions,
            dimension,
        };
        // They were executed as they are logged.
        let (low, high) = (vec![f32::MIN; dimension], vec![f32::MAX; dimension]);
        let limits = Limits {
            low: &low,
            high: &high,
        };
        self.walk_with(window, &policy, &limits, (seed, noise))
    }

    fn walk_with<P: Policy>(
        &self,
        window: &Window<'_>,
        policy: &P,
        limits: &Limits<'_>,
        (seed, noise): (u64, bool),
    ) -> Result<Trajectories, Error> {
        let (model, steps) = (self.image.model(), window.steps());
        let (states, moved) = (
            self.image.task().state_dimension(),
            model.dynamics.outputs(),
        );
        let first = window.rows.first().map_or(&[][..], |row| row.state);
        let swings = swings(steps, moved);
        let mut task: Task<'_> = self.image.task().clone();
        task.horizon = steps as u32;
        task.initial = InitialState {
            kind: InitialKind::Point,
            first,
            second: &[],
        };
        task.action_limits = *limits;
        task.plan.effort.seed = seed;
        task.plan.method.variants = [Variant::ContinuousAdversary].into_iter().collect();
        task.plan.method.aleatoric_noise &= noise;
        if !noise {
            task.plan.effort.trajectories = 1;
        }
        task.plan.networks.clear();
        let found = FoundChoices::new(Variant::ContinuousAdversary, 0, steps * moved, &swings);
        task.plan.found = [found].into_iter().collect();
        let rollout = Rollout {
            model,
            policy,
            task: &task,
            variant: Variant::ContinuousAdversary,
            objective: Objective::Return,
        };
        let starts = Starts::of(&rollout).count();
        let candidates = task.plan.effort.trajectories * starts as u32;
        let rows = Buffers::<LANES>::rows_needed(&model.dynamics, &task, policy)?;
        let mut rows = vec![[0.0; LANES]; rows];
        let mut walked = Trajectories {
            starts,
            paths: Vec::with_capacity(candidates as usize),
            returns: Vec::with_capacity(candidates as usize),
        };
        for group in (0..candidates).step_by(LANES) {
            let mut buffers = Buffers::carve(&mut rows, &model.dynamics, &task, policy)?;
            let lanes = std::array::from_fn(|lane| (group + lane as u32).min(candidates - 1));
            let mut search = Search::<LANES>::new(&rollout, Level::Sampled, lanes);
            // The first level is one sweep.
            search.sweep(&rollout, &mut buffers);
            let own = (candidates - group).min(LANES as u32) as usize;
            let path = buffers.states.get(states..).unwrap_or_default();
            for (lane, result) in search.results().enumerate().take(own) {
                walked
                    .paths
                    .push(path.iter().map(|row| row[lane]).collect());
                walked.returns.push(result.start_value);
            }
        }
        Ok(walked)
    }

    /// The return of the logged rows, as the core sums it.
    fn logged_return(&self, window: &Window<'_>) -> f32 {
        let task = self.image.task();
        let lane = |values: &[f32]| -> Vec<[f32; 1]> { values.iter().map(|x| [*x]).collect() };
        let mut values = vec![[0.0; 1]; task.program.len()];
        let mut path = PathReturn::default();
        for (step, row) in (0_u32..).zip(&window.rows) {
            let next = self.inside(row.next_state);
            let (state, action, next) = (lane(row.state), lane(row.action), lane(&next));
            let inputs = Inputs {
                state: &state,
                action: &action,
                next: &next,
                step: step as f32,
            };
            if !path.step(task, inputs, &mut values) {
                break;
            }
        }
        path.value
    }

    /// What wraps, in its interval.
    fn inside(&self, state: &[f32]) -> Vec<f32> {
        let wraps = self.wraps.iter().copied().chain(std::iter::repeat(None));
        let states = state.iter().zip(wraps);
        states
            .map(|(x, wrap)| wrap.map_or(*x, |wrap| wrap.inside(*x)))
            .collect()
    }
}

/// All states pushed to and fro, up first and down first.
fn swings(steps: usize, states: usize) -> Vec<f32> {
    let periods = HALF_PERIODS.into_iter().take_while(|half| *half <= steps);
    let signs = periods.flat_map(|half| [(half, 1.0_f32), (half, -1.0)]);
    let pushes = signs.flat_map(|(half, sign)| {
        (0..steps).map(move |step| if step / half % 2 == 0 { sign } else { -sign })
    });
    pushes
        .flat_map(|push| std::iter::repeat_n(push, states))
        .collect()
}
