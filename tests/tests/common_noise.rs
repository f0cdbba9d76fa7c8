//! Noise common to several states: one gust pushes both, and a requirement is about their sum.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::observer::Unobserved;
use hambo_check::adversary::EffortLevel;
use hambo_check::{CheckOptions, CheckResult, Verdict, run};
use hambo_data::{Log, Transition};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use hambo_tests::fixture::Draw;

const HORIZON: usize = 20;
/// Standard deviations of the gust and of what each state has for itself.
const GUST: f32 = 0.1;
const OWN: f32 = 0.02;
/// The probability that the task asks for.
const ASKED: f32 = 0.97;

fn next([x, y]: [f32; 2], u: f32, draw: &mut Draw) -> [f32; 2] {
    let gust = GUST * draw.normal();
    let mut noise = || gust + OWN * draw.normal();
    [0.3 * x + 0.3 * u + noise(), 0.3 * y - 0.1 * u + noise()]
}

fn control([x, _]: [f32; 2]) -> f32 {
    (-0.3 * x).clamp(-1.0, 1.0)
}

/// The share of episodes in which x + y never exceeds the limit.
fn truth(limit: f32) -> f32 {
    let mut draw = Draw::new(77);
    let episodes = 20_000;
    let kept = (0..episodes).filter(|_| {
        let mut state = [0.0; 2];
        (0..HORIZON).all(|_| {
            state = next(state, control(state), &mut draw);
            state[0] + state[1] <= limit
        })
    });
    kept.count() as f32 / episodes as f32
}

fn log(seed: u64) -> Log {
    let mut draw = Draw::new(seed);
    let mut log = Log::new(2, 1);
    for episode in 0..120 {
        let mut state = [0.2 * draw.normal(), 0.2 * draw.normal()];
        for _ in 0..2 * HORIZON {
            let action = (control(state) + 0.3 * draw.normal()).clamp(-1.0, 1.0);
            let after = next(state, action, &mut draw);
            let row = Transition {
                state: &state,
                action: &[action],
                next_state: &after,
                reward: 0.0,
                episode,
            };
            log.push(row).unwrap();
            state = after;
        }
    }
    log
}

/// The check of a log, and the bound on the probability.
fn check(limit: f32, seed: u64) -> (CheckResult, f32) {
    let text = format!(
        "name = 'gust'\nhorizon = {HORIZON}\ndelta = 0.05\nthreshold = -1e5\n\
         [state]\nnames = ['x', 'y']\nlow = [-3, -3]\nhigh = [3, 3]\n\
         [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
         [reward]\nexpr = '-x^2 - y^2'\n[initial]\nkind = 'point'\nvalue = [0, 0]\n\
         [[constraint]]\nname = 'sum'\nexpr = 'next.x + next.y <= {limit}'\nkind = 'always'\n\
         probability = {ASKED}\n"
    );
    let task = TaskFile::parse(&text, "gust.toml").unwrap();
    let log = log(seed);
    let networks = EnsembleOptions {
        seed,
        hidden: vec![32; 2],
        steps: 3000,
        batch: 128,
        ..EnsembleOptions::for_board("stm32f405").unwrap()
    };
    let options = FitOptions::new(ModelOptions::Networks(networks));
    let (model, _) = fit(&task, &log, &options, &mut Unobserved).unwrap();
    let policy = "kind = 'linear'\ngain = [[-0.3, 0.0]]\nbias = [0.0]";
    let policy = HostPolicy::parse(policy, "gust", &task).unwrap();
    let options = CheckOptions {
        log: Some(&log),
        effort: EffortLevel::Quick,
        trajectories: Some(2000),
        seed,
        ..CheckOptions::default()
    };
    let result = run(&task, &model, &policy, &options, &mut Unobserved)
        .unwrap()
        .result;
    let bound = result.evidence.constraints[0].lower.0 as f32;
    (result, bound)
}

/// With noise drawn for every state on its own the bound was 0.98 and the verdict deploy.
#[test]
fn a_gust_that_pushes_two_states_is_not_deployed() {
    let limit = 0.55;
    let truth = truth(limit);
    assert!((0.87..0.95).contains(&truth), "{truth}");
    for seed in 1..=3 {
        let (result, bound) = check(limit, seed);
        let found = (result.decision.verdict, result.decision.reasons.join("; "));
        println!("seed {seed}: bound {bound}, truth {truth}");
        assert_eq!(found.0, Some(Verdict::Reject), "{found:?}, bound {bound}");
        assert!(bound < truth, "{bound} of {truth}");
    }
}

#[test]
fn the_same_gust_is_deployed_where_the_requirement_is_kept() {
    let limit = 1.0;
    let truth = truth(limit);
    assert!(truth > 0.998, "{truth}");
    let (result, bound) = check(limit, 1);
    let found = (result.decision.verdict, result.decision.reasons.join("; "));
    assert_eq!(found.0, Some(Verdict::Deploy), "{found:?}, bound {bound}");
}
