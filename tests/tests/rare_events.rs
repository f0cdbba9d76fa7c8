//! A push in one step of fifty, heavy tails, and a load that stays for an episode: the log shows
//! them, so they are simulated, and a good controller is deployed.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::observer::Unobserved;
use hambo_check::adversary::EffortLevel;
use hambo_check::{CheckOptions, CheckResult, Verdict, run};
use hambo_data::{Log, Transition};
use hambo_learn::calibration::ModelCalibration;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use hambo_tests::fixture::Draw;

const HORIZON: usize = 30;
const DT: f32 = 0.1;
/// Of a good controller.
const GAIN: [f32; 2] = [-2.5, -2.2];
/// What a threshold may be better or worse than the truth: a fifth of what the good controller
/// gains on doing nothing.
const FIFTH: f64 = 2.3;

/// What befalls a cart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Pushes,
    HeavyTails,
    Load,
}

impl Fate {
    /// Episodes of a log, and their steps.
    fn logged(self) -> (u32, usize) {
        match self {
            Self::Load => (120, 15),
            _ => (60, HORIZON),
        }
    }

    fn next(self, [x, v]: [f32; 2], action: f32, load: f32, draw: &mut Draw) -> [f32; 2] {
        let mut size = [0.002, 0.02];
        let mut push = 0.0;
        match self {
            Self::Pushes if draw.between(0.0, 1.0) < 0.02 => push = -1.5,
            Self::HeavyTails => size = [0.015, 0.15],
            _ => {}
        }
        let [at, speed] = size.map(|size| {
            let normal = draw.normal();
            if self != Self::HeavyTails {
                return size * normal;
            }
            // Student's t with three degrees of freedom, of the same variance.
            let squares: f32 = (0..3).map(|_| draw.normal().powi(2)).sum();
            size * normal / squares.sqrt()
        });
        let next = [
            x + DT * v + at,
            (1.0 - 0.3 * DT) * v + DT * (action + load) + speed + push,
        ];
        [next[0].clamp(-3.0, 3.0), next[1].clamp(-4.0, 4.0)]
    }

    fn load(self, draw: &mut Draw) -> f32 {
        if self == Self::Load {
            draw.normal()
        } else {
            0.0
        }
    }
}

fn start(draw: &mut Draw) -> [f32; 2] {
    [draw.between(-1.0, 1.0), draw.between(-0.5, 0.5)]
}

fn act(gain: [f32; 2], [x, v]: [f32; 2]) -> f32 {
    (gain[0] * x + gain[1] * v).clamp(-3.0, 3.0)
}

fn truth(fate: Fate) -> f64 {
    let mut draw = Draw::new(77);
    let episodes = 20_000;
    let mut sum = 0.0;
    for _ in 0..episodes {
        let load = fate.load(&mut draw);
        let mut state = start(&mut draw);
        for _ in 0..HORIZON {
            let action = act(GAIN, state);
            let [x, v] = state;
            sum -= f64::from(x * x + 0.1 * v * v + 0.01 * action * action);
            state = fate.next(state, action, load, &mut draw);
        }
    }
    sum / f64::from(episodes)
}

fn log(fate: Fate, seed: u64) -> Log {
    let mut draw = Draw::new(seed);
    let mut log = Log::new(2, 1);
    let (episodes, steps) = fate.logged();
    for episode in 0..episodes {
        let load = fate.load(&mut draw);
        let mut state = start(&mut draw);
        let gain = if episode % 2 == 0 { GAIN } else { [-2.0, -2.6] };
        for _ in 0..steps {
            let action = (act(gain, state) + 0.6 * draw.normal()).clamp(-3.0, 3.0);
            let after = fate.next(state, action, load, &mut draw);
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

fn task(threshold: f64) -> TaskFile {
    let text = format!(
        "name = 'cart'\nhorizon = {HORIZON}\ndelta = 0.05\nthreshold = {threshold:?}\n\
         [state]\nnames = ['x', 'v']\nlow = [-3, -4]\nhigh = [3, 4]\n\
         [action]\nnames = ['u']\nlow = [-3]\nhigh = [3]\n\
         [reward]\nexpr = '-(x^2 + 0.1 * v^2 + 0.01 * u^2)'\n\
         [initial]\nkind = 'uniform'\nlow = [-1, -0.5]\nhigh = [1, 0.5]\n"
    );
    TaskFile::parse(&text, "cart.toml").unwrap()
}

fn model(log: &Log, seed: u64) -> (ModelFile, ModelCalibration) {
    let networks = EnsembleOptions {
        seed,
        hidden: vec![32; 2],
        steps: 3000,
        batch: 128,
        ..EnsembleOptions::for_board("stm32f405").unwrap()
    };
    let options = FitOptions::new(ModelOptions::Networks(networks));
    fit(&task(-100.0), log, &options, &mut Unobserved).unwrap()
}

fn check(model: &ModelFile, log: &Log, threshold: f64) -> CheckResult {
    let task = task(threshold);
    let policy = format!("kind = 'linear'\ngain = [{GAIN:?}]\nbias = [0.0]");
    let policy = HostPolicy::parse(&policy, "cart", &task).unwrap();
    let options = CheckOptions {
        log: Some(log),
        effort: EffortLevel::Quick,
        trajectories: Some(2000),
        searched: Some(8),
        ..CheckOptions::default()
    };
    run(&task, model, &policy, &options, &mut Unobserved)
        .unwrap()
        .result
}

/// On both logs what befalls the cart is drawn, and the controller is not deployed where it misses
/// its threshold by a fiftieth; on `deployed` of them it is where it clears it by a fifth.
fn is_judged_right(fate: Fate, deployed: usize, shown: impl Fn(&ModelCalibration) -> bool) {
    let truth = truth(fate);
    let mut good = 0;
    for seed in 1..=2 {
        let log = log(fate, seed);
        let (model, calibration) = model(&log, seed);
        assert!(shown(&calibration), "{fate:?} {seed}: {calibration:?}");
        let verdict = |threshold: f64| {
            let result = check(&model, &log, threshold);
            let decision = result.decision;
            let said = format!(
                "{fate:?} {seed}: bound {:.2} of {truth:.2}: {}",
                decision.bound.0,
                decision.reasons.join("; ")
            );
            println!("{said}");
            (decision.verdict, said)
        };
        good += usize::from(verdict(truth - FIFTH).0 == Some(Verdict::Deploy));
        let (bad, said) = verdict(truth + 0.1 * FIFTH);
        assert_eq!(bad, Some(Verdict::Reject), "{said}");
    }
    assert_eq!(good, deployed, "{fate:?}");
}

#[test]
fn a_push_in_one_step_of_fifty_is_met_in_one_of_fifty() {
    is_judged_right(Fate::Pushes, 2, |calibration| {
        (0.015..0.045).contains(&calibration.extreme_share()) && calibration.stays.is_empty()
    });
}

#[test]
fn heavy_tails_are_events_of_the_log() {
    is_judged_right(Fate::HeavyTails, 2, |calibration| {
        (0.03..0.12).contains(&calibration.extreme_share())
    });
}

#[test]
fn a_load_stays_for_a_trajectory() {
    // What a load does to a cart that the log has not seen far out leaves little on the other log.
    is_judged_right(Fate::Load, 1, |calibration| {
        calibration.stays.get(1).is_some_and(|stays| *stays > 2.0)
    });
}
