//! True systems with a log, a model and a controller: cases to judge, whose
//! true returns are known.

use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_check::CheckOptions;
use hambo_check::adversary::{EffortLevel, Learning};
use hambo_check::case::Case;
use hambo_check::reinforcement::Rounds;
use hambo_core::task::Variant;
use hambo_data::{Log, Transition};
use hambo_lab::demo::Experiment;
use hambo_lab::environment::{Environment, Pendulum, rollout};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

/// Mediocre controllers of the pendulum: damping, one that turns to the other
/// side, and one that pushes hard and now and then gets up.
pub const MEDIOCRE: [[f32; 3]; 3] = [[0.0, -2.0, -0.5], [0.0, 1.0, 0.5], [0.0, -8.0, -2.0]];

/// pi_y on the model of PointSafety that the demo trains.
///
/// # Errors
/// If the training fails.
pub fn point_safety(seed: u64, y: f32, variants: &[Variant]) -> Result<Case, Error> {
    let mut case = Experiment::new(seed)?.case(y)?;
    case.plan.method.variants.clear();
    case.plan.method.variants.extend(variants.iter().copied());
    Ok(case)
}

/// A linear controller of the pendulum.
///
/// # Errors
/// If a number is not finite.
pub fn linear(task: &TaskFile, gain: [f32; 3]) -> Result<HostPolicy, Error> {
    let text = format!("kind = \"linear\"\ngain = [{gain:?}]\nbias = [0.0]");
    Ok(HostPolicy::parse(&text, "linear", task)?)
}

/// Episodes of the mediocre controllers with noise on their actions, `episodes`
/// of each, as one log.
///
/// # Errors
/// If a number is not finite.
pub fn pendulum_log(system: &Pendulum, episodes: u32, seed: u64) -> Result<Log, Error> {
    let mut all = Log::new(3, 1);
    for (gain, first) in MEDIOCRE.into_iter().zip((0..).step_by(episodes as usize)) {
        let policy = linear(system.task(), gain)?;
        let run = rollout(system, &policy, episodes, 0.5, seed)?;
        for row in run.log.rows() {
            all.push(Transition {
                episode: first + row.episode,
                ..row
            })?;
        }
    }
    Ok(all)
}

/// The pendulum's task with a model of a log: five networks of 2 × 64. The
/// controller is the first mediocre one.
///
/// # Errors
/// If the training fails.
pub fn pendulum(system: &Pendulum, log: &Log, steps: usize, seed: u64) -> Result<Case, Error> {
    let mut networks = EnsembleOptions::for_board("stm32f405")?;
    networks.seed = seed;
    networks.steps = steps;
    let options = FitOptions::new(ModelOptions::Networks(networks));
    let (model, _) = fit(system.task(), log, &options, &mut Unobserved)?;
    let policy = linear(system.task(), MEDIOCRE[0])?;
    let options = CheckOptions {
        log: Some(log),
        effort: EffortLevel::Quick,
        seed,
        ..CheckOptions::default()
    };
    Case::new(system.task(), &model, &policy, &options)
}

/// A network that learns to hurt in about half a minute, where a thorough check takes minutes.
#[must_use]
pub fn twelve_rounds(seed: u64) -> Learning {
    Learning {
        lanes: 64,
        hidden: vec![256; 2],
        batch: 256,
        rounds: Rounds {
            rounds: 12,
            episodes: 64,
            gradient_steps: 250,
            random_episodes: 64,
            evaluation_episodes: 64,
            patience: 6,
            most_steps: None,
        },
        seed: seed.wrapping_add(1 << 32),
    }
}
