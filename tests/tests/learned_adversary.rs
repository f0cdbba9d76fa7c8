//! Networks that learn the worst case: they compete, and never harm the order
//! of the estimates; threads and stops change nothing.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::ops::ControlFlow;

use hambo_base::checkpoint::StateBytes;
use hambo_base::observer::{Observer, Progress, Unobserved};
use hambo_check::adversary::{AdversarialCheck, EffortLevel, Learning, check_against_adversaries};
use hambo_check::case::Case;
use hambo_check::improve::{ImproveOptions, improve};
use hambo_check::reinforcement::Rounds;
use hambo_core::task::Objective;
use hambo_core::task::Variant;
use hambo_lab::environment::Pendulum;
use hambo_tests::systems;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

const VARIANTS: [Variant; 3] = [
    Variant::ContinuousAdversary,
    Variant::DiscreteAdversary1,
    Variant::DiscreteAdversaryInf,
];

/// A short course for small networks.
fn learning(rounds: usize, seed: u64) -> Learning {
    Learning {
        lanes: 32,
        hidden: vec![32; 2],
        batch: 64,
        rounds: Rounds {
            rounds,
            episodes: 32,
            gradient_steps: 50,
            random_episodes: 32,
            evaluation_episodes: 32,
            patience: rounds,
            ..Rounds::default()
        },
        seed: seed + (1 << 32),
    }
}

fn judge(case: &Case, learning: &Learning) -> AdversarialCheck {
    case.parsed(|case| check_against_adversaries(&case, Some(learning), &mut Unobserved))
        .unwrap()
}

fn mean(check: &AdversarialCheck, variant: Variant) -> f32 {
    let estimates = check.outcome.estimates.iter();
    let mut own = estimates.filter(|one| one.variant == variant);
    own.find(|one| one.objective == Objective::Return)
        .unwrap()
        .mean
}

/// In 20 reports: CA ≤ DA1 ≤ DAinf, in the means and in the bounds, and no
/// adversary found less than what is reported.
#[test]
fn the_order_of_the_estimates_holds_in_every_report() {
    (0..20_u64).into_par_iter().for_each(|seed| {
        let y = if seed % 2 == 0 { 1.1 } else { 1.6 };
        let mut case = systems::point_safety(seed, y, &VARIANTS).unwrap();
        case.plan.effort.iterations = 6;
        case.plan.effort.trajectories = 8;
        let found = judge(&case, &learning(2, seed));
        assert_eq!(found.adversaries.networks.len(), 2);
        let [ca, da1, dainf] = VARIANTS.map(|variant| mean(&found, variant));
        assert!(ca <= da1 && da1 <= dainf, "seed {seed}: {ca} {da1} {dainf}");
        let lower = |variant: Variant| {
            let mut all = found.outcome.estimates.iter();
            all.find(|one| one.variant == variant).unwrap().lower
        };
        let [ca, da1, dainf] = VARIANTS.map(lower);
        assert!(ca <= da1 && da1 <= dainf, "seed {seed}: {ca} {da1} {dainf}");
        for one in &found.costs {
            let mut all = found.outcome.estimates.iter();
            let own = all.find(|estimate| {
                estimate.variant == one.variant && estimate.objective == one.objective
            });
            let [.., least] = own.unwrap().found.course;
            assert!(least <= one.mean, "seed {seed}: {one:?}");
        }
    });
}

/// Where the worst push follows the state, a network finds what no constant
/// does: a rotation by the confidence set of a damped pendulum.
#[test]
fn a_network_learns_to_hurt() {
    let system = Pendulum::new().unwrap();
    let log = systems::pendulum_log(&system, 4, 0).unwrap();
    let mut case = systems::pendulum(&system, &log, 400, 0).unwrap();
    case.task.horizon = 30;
    case.plan.effort.iterations = 0;
    let mut more = learning(12, 0);
    more.hidden = vec![64; 2];
    more.rounds.gradient_steps = 100;
    let found = judge(&case, &more);
    let named = |name: &str| {
        let mut all = found.costs.iter();
        all.find(|one| one.name == name).unwrap()
    };
    let (constants, network) = (named("constants"), named("soft actor-critic"));
    println!("{constants:?}\n{network:?}");
    let harm = |mean: f32| found.outcome.neutral - mean;
    assert!(harm(network.mean) > 0.5 * harm(constants.mean));
    assert!(network.model_steps > 0 && network.gradient_steps == 1200);
    // What it finds counts.
    let [.., least] = found.outcome.estimates[1].found.course;
    assert!(least <= network.mean);
}

#[test]
fn threads_change_no_bit() {
    let case = systems::point_safety(3, 1.1, &VARIANTS).unwrap();
    let run = |threads: usize| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let found = pool.install(|| judge(&case, &learning(3, 3)));
        (found.outcome.digest(), found.adversaries)
    };
    assert_eq!(run(1), run(2));
}

/// Stops after some rounds, keeping the state.
struct Stopper {
    after: usize,
    kept: Option<Vec<u8>>,
    resume: Option<Vec<u8>>,
}

impl Observer for Stopper {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        if progress.done == self.after {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn keep(&mut self, state: &StateBytes<'_>, last: bool) -> Result<(), hambo_base::Error> {
        if last {
            self.kept = Some(state()?);
        }
        Ok(())
    }

    fn resume(&mut self) -> Result<Option<Vec<u8>>, hambo_base::Error> {
        Ok(self.resume.take())
    }
}

/// Both forms of offline RL: a stop in the middle, and the number of threads,
/// change nothing.
#[test]
fn improvement_can_be_stopped_and_resumed() {
    let system = Pendulum::new().unwrap();
    let log = systems::pendulum_log(&system, 2, 0).unwrap();
    let mut case = systems::pendulum(&system, &log, 200, 0).unwrap();
    case.task.horizon = 10;
    case.plan.effort.iterations = 2;
    for variant in [Variant::ContinuousAdversary, Variant::DiscreteAdversary1] {
        case.plan.method.variants.clear();
        case.plan.method.variants.extend([variant]);
        let options = ImproveOptions {
            variant,
            horizon: 5,
            rounds: 6,
            rollouts: 32,
            controller_steps: 10,
            adversary_steps: 10,
            hidden: vec![16; 2],
            batch: 32,
            judge_every: 2,
            ..ImproveOptions::default()
        };
        let whole = improve(&case, &log, &options, &mut Unobserved).unwrap();
        let mut first = Stopper {
            after: 3,
            kept: None,
            resume: None,
        };
        let stopped = improve(&case, &log, &options, &mut first);
        assert!(matches!(stopped, Err(hambo_base::Error::Interrupted)));
        let mut second = Stopper {
            after: usize::MAX,
            kept: None,
            resume: first.kept,
        };
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let resumed = pool.install(|| improve(&case, &log, &options, &mut second).unwrap());
        assert_eq!(whole, resumed, "{variant:?}");
        let other = ImproveOptions { seed: 1, ..options };
        let mut third = Stopper {
            after: usize::MAX,
            kept: None,
            resume: second.kept.or_else(|| {
                let mut again = Stopper {
                    after: 1,
                    kept: None,
                    resume: None,
                };
                let _ = improve(&case, &log, &other, &mut again);
                again.kept
            }),
        };
        let changed = ImproveOptions { seed: 2, ..other };
        assert!(improve(&case, &log, &changed, &mut third).is_err());
    }
}

/// The levels differ where they say so.
#[test]
fn levels_grow() {
    let learning = |level: EffortLevel| level.learning(0).map(|one| one.rounds.rounds);
    assert_eq!(learning(EffortLevel::Quick), None);
    assert_eq!(learning(EffortLevel::Normal), None);
    assert_eq!(learning(EffortLevel::Thorough), Some(60));
    assert!(EffortLevel::Quick.sweeps() < EffortLevel::Normal.sweeps());
    assert!(EffortLevel::Normal.sweeps() < EffortLevel::Thorough.sweeps());
}
