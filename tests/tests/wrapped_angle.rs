//! A pendulum that goes round, its angle logged from −pi to pi: the task says so, and the
//! check walks round with it.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::f32::consts::{PI, TAU};

use hambo_base::observer::Unobserved;
use hambo_check::adversary::EffortLevel;
use hambo_check::{CheckOptions, run};
use hambo_core::numeric::random::Stream;
use hambo_data::{Log, Transition, wrap_line};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

const TASK: &str = "name = 'pendulum'\nhorizon = 25\ndelta = 0.1\n\
    [state]\nnames = ['theta', 'omega']\nwrap = ['theta']\n\
    [action]\nnames = ['u']\nlow = [-3]\nhigh = [3]\n\
    [reward]\nexpr = 'cos(theta) - 0.01 * u^2'\n\
    [initial]\nkind = 'uniform'\nlow = [-1, 2]\nhigh = [1, 3]\n";
/// Keeps it going round.
const LAW: &str = "kind = 'linear'\ngain = [[0, -1]]\nbias = [3]\n";

/// One step of 0.1 s, with the angle counted on.
fn step([theta, omega]: [f32; 2], u: f32) -> [f32; 2] {
    let next = omega + 0.1 * (u - theta.sin());
    [theta + 0.1 * next, next]
}

fn law(omega: f32) -> f32 {
    (3.0 - omega).clamp(-3.0, 3.0)
}

fn wrapped(x: f32) -> f32 {
    (x + PI).rem_euclid(TAU) - PI
}

/// Episodes with an action that explores, the angle wrapped as a sensor does it.
fn log() -> Log {
    let mut log = Log::new(2, 1);
    for episode in 0..40 {
        let mut stream = Stream::new(3, episode);
        let mut uniform = |low: f32, high: f32| low + (high - low) * stream.uniform();
        let mut state = [uniform(-PI, PI), uniform(1.0, 4.0)];
        for _ in 0..25 {
            let u = (law(state[1]) + uniform(-1.5, 1.5)).clamp(-3.0, 3.0);
            let next = step(state, u);
            let noisy = [next[0], next[1] + 0.02 * uniform(-1.0, 1.0)];
            log.push(Transition {
                state: &[wrapped(state[0]), state[1]],
                action: &[u],
                next_state: &[wrapped(noisy[0]), noisy[1]],
                reward: 0.0,
                episode,
            })
            .unwrap();
            state = noisy;
        }
    }
    log
}

/// The mean return of the law on the system itself.
fn truth() -> f32 {
    let returns = (0..1000).map(|episode| {
        let mut stream = Stream::new(9, episode);
        let mut state = [2.0 * stream.uniform() - 1.0, 2.0 + stream.uniform()];
        let mut sum = 0.0;
        for _ in 0..25 {
            let u = law(state[1]);
            sum += state[0].cos() - 0.01 * u * u;
            state = step(state, u);
        }
        sum
    });
    returns.sum::<f32>() / 1000.0
}

#[test]
fn rollouts_go_round_with_the_angle_and_the_bound_holds() {
    let task = TaskFile::parse(TASK, "pendulum.toml").unwrap();
    let log = log();
    let options = FitOptions::new(ModelOptions::Networks(EnsembleOptions {
        steps: 1500,
        ..EnsembleOptions::demo()
    }));
    let (model, _) = fit(&task, &log, &options, &mut Unobserved).unwrap();
    let policy = HostPolicy::parse(LAW, "law.toml", &task).unwrap();
    let options = CheckOptions {
        effort: EffortLevel::Quick,
        trajectories: Some(100),
        ..CheckOptions::default()
    };
    let outcome = run(&task, &model, &policy, &options, &mut Unobserved).unwrap();
    let paths = outcome.paths.unwrap();
    for path in [&paths.shown.neutral[0], &paths.shown.worst[0]] {
        let angles: Vec<f32> = path.iter().map(|x| x.0 as f32).collect();
        assert!(angles.iter().all(|x| (-PI..PI).contains(x)), "{angles:?}");
        // It did go round: 2.5 s at more than 2 rad/s.
        assert!(
            angles.windows(2).any(|pair| pair[1] < pair[0] - PI),
            "{angles:?}"
        );
    }
    let (bound, truth) = (outcome.result.decision.bound.0 as f32, truth());
    let neutral = outcome.result.decision.neutral.0 as f32;
    assert!((neutral - truth).abs() < 3.0, "{neutral} {truth}");
    assert!(bound < truth && bound > truth - 20.0, "{bound} {truth}");
}

#[test]
fn a_task_that_does_not_say_so_is_told() {
    let text = TASK.replace("wrap = ['theta']\n", "");
    let task = TaskFile::parse(&text, "pendulum.toml").unwrap();
    let hints = log().wrap_hints(&task.state_names, &task.wraps);
    let line = wrap_line(&task.state_names, &task.wraps, &hints);
    assert_eq!(line, "wrap = [\"theta\"]");
    let said = hints[0].seen();
    assert!(
        said.starts_with("`theta` jumps by about 2 pi in "),
        "{said}"
    );
    // What says so is not told again.
    let task = TaskFile::parse(TASK, "pendulum.toml").unwrap();
    assert_eq!(log().wrap_hints(&task.state_names, &task.wraps), []);
}
