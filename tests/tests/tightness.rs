//! Where the model is good the bound is tight: a linear-Gaussian system, 5,000 transitions
//! of the controller with exploration, and the same controller checked.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::observer::Unobserved;
use hambo_check::CheckOptions;
use hambo_check::adversary::EffortLevel;
use hambo_data::{Log, Transition};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use hambo_tests::fixture::Draw;

const STEPS: usize = 50;
const EPISODES: u32 = 100;
const GAIN: [f32; 2] = [-1.5, -1.6];
const TASK: &str = "name = 'linear'\nhorizon = 50\n[state]\nnames = ['x', 'v']\n\
    [action]\nnames = ['u']\nlow = [-3]\nhigh = [3]\n\
    [reward]\nexpr = '-(x^2 + 0.1 * v^2 + 0.01 * u^2)'\n\
    [initial]\nkind = 'uniform'\nlow = [-1, -1]\nhigh = [1, 1]\n";

fn step([x, v]: [f32; 2], u: f32, draw: &mut Draw) -> [f32; 2] {
    [
        x + 0.1 * v + 0.005 * draw.normal(),
        0.95 * v + 0.1 * u + 0.01 * draw.normal(),
    ]
}

fn act(gain: [f32; 2], [x, v]: [f32; 2]) -> f32 {
    (gain[0] * x + gain[1] * v).clamp(-3.0, 3.0)
}

fn start(draw: &mut Draw) -> [f32; 2] {
    [draw.between(-1.0, 1.0), draw.between(-1.0, 1.0)]
}

/// The mean return of 20,000 episodes on the system itself.
fn true_return(gain: [f32; 2]) -> f64 {
    let draw = &mut Draw::new(99);
    let mut sum = 0.0;
    for _ in 0..20_000 {
        let mut state = start(draw);
        for _ in 0..STEPS {
            let u = act(gain, state);
            let [x, v] = state;
            sum -= f64::from(x * x + 0.1 * v * v + 0.01 * u * u);
            state = step(state, u, draw);
        }
    }
    sum / 20_000.0
}

fn log(seed: u64) -> Log {
    let draw = &mut Draw::new(seed);
    let mut log = Log::new(2, 1);
    for episode in 0..EPISODES {
        let mut state = start(draw);
        for _ in 0..STEPS {
            let u = (act(GAIN, state) + 0.3 * draw.normal()).clamp(-3.0, 3.0);
            let next = step(state, u, draw);
            log.push(Transition {
                state: &state,
                action: &[u],
                next_state: &next,
                reward: 0.0,
                episode,
            })
            .unwrap();
            state = next;
        }
    }
    log
}

#[test]
fn the_bound_is_close_where_the_model_is_good() {
    let task = TaskFile::parse(TASK, "linear.toml").unwrap();
    let policy = "kind = 'linear'\ngain = [[-1.5, -1.6]]\nbias = [0]\n";
    let policy = HostPolicy::parse(policy, "linear", &task).unwrap();
    let (truth, idle) = (true_return(GAIN), true_return([0.0; 2]));
    for seed in 0..2 {
        let log = log(seed);
        let networks = EnsembleOptions {
            seed,
            ..EnsembleOptions::for_board("stm32f405").unwrap()
        };
        let options = FitOptions::new(ModelOptions::Networks(networks));
        let (model, _) = fit(&task, &log, &options, &mut Unobserved).unwrap();
        let options = CheckOptions {
            log: Some(&log),
            effort: EffortLevel::Quick,
            seed,
            ..CheckOptions::default()
        };
        let outcome = hambo_check::run(&task, &model, &policy, &options, &mut Unobserved).unwrap();
        let bound = outcome.result.decision.bound.0;
        let gap = (truth - bound) / (truth - idle);
        println!(
            "seed {seed}: true {truth:.3}, nothing done {idle:.3}, bound {bound:.3}: {:.1} % of the spread below",
            100.0 * gap
        );
        assert!(bound <= truth && gap < 0.1, "{bound} {truth} {gap}");
    }
}
