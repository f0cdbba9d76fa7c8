//! Lines of `[known]` that swallow what the log says, and plants whose walls hide a part of the
//! noise: refused with a message, or no verdict above the truth.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::Error;
use hambo_base::random::Random;
use hambo_check::{CheckResult, Verdict};
use hambo_data::{Log, Told, Transition};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{GaussianProcessOptions, ModelOptions};
use hambo_learn::model_file::ModelFile;
use hambo_task::task::TaskFile;
use hambo_tests::fit_and_check::{checked, fitted};
use hambo_tests::study::simulate::Mean;

const STEPS: usize = 20;

/// A tank that leaks and that nobody empties below 0; its controllers act by a constant.
fn task(known: &str, threshold: f64) -> TaskFile {
    let text = format!(
        "name = 'tank'\nhorizon = {STEPS}\ndelta = 0.1\nthreshold = {threshold}\n\
         [state]\nnames = ['level', 'drift']\nlow = [-1, -3]\nhigh = [6, 3]\n\
         [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[known]\n{known}\n\
         [reward]\nexpr = 'next.level'\n[initial]\nkind = 'uniform'\n\
         low = [0.1, -0.1]\nhigh = [0.4, 0.1]\n"
    );
    TaskFile::parse(&text, "tank.toml").unwrap()
}

const WALL: &str = "level = 'max(learned.level, 0)'";

/// One step: the wall cuts off what chance takes below it.
fn step([level, drift]: [f32; 2], u: f32, noise: f32, random: &mut Random) -> [f32; 2] {
    let level = (0.8 * level + 0.4 * u + 0.1 * drift + noise * random.normal()).max(0.0);
    [level, 0.5 * drift + 0.1 * random.normal()]
}

fn start(random: &mut Random) -> [f32; 2] {
    [0.1 + 0.3 * random.uniform(), 0.2 * random.uniform() - 0.1]
}

fn log(episodes: u32, noise: f32, seed: u64) -> Log {
    let mut random = Random::new(seed, 1);
    let mut log = Log::new(2, 1);
    for episode in 0..episodes {
        let mut state = start(&mut random);
        for _ in 0..2 * STEPS {
            let u = (-0.2 + 0.3 * random.normal()).clamp(-1.0, 1.0);
            let next = step(state, u, noise, &mut random);
            log.push(Transition {
                state: &state,
                action: &[u],
                next_state: &next,
                reward: next[0],
                episode,
            })
            .unwrap();
            state = next;
        }
    }
    log
}

/// The mean return of a constant action.
fn truth(bias: f32, noise: f32) -> Mean {
    let mut random = Random::new(99, 2);
    let runs = 4000;
    let returns: Vec<f64> = (0..runs)
        .map(|_| {
            let mut state = start(&mut random);
            let mut sum = 0.0;
            for _ in 0..STEPS {
                state = step(state, bias, noise, &mut random);
                sum += f64::from(state[0]);
            }
            sum
        })
        .collect();
    Mean::of(&returns)
}

fn processes() -> ModelOptions {
    ModelOptions::GaussianProcess(GaussianProcessOptions {
        most_rows: 200,
        ..GaussianProcessOptions::default()
    })
}

fn networks() -> ModelOptions {
    ModelOptions::Networks(EnsembleOptions {
        hidden: vec![24; 2],
        steps: 1500,
        batch: 128,
        ..EnsembleOptions::for_board("stm32f405").unwrap()
    })
}

/// A check of a constant action.
fn checked_constant(task: &TaskFile, model: &ModelFile, bias: f32) -> Result<CheckResult, Error> {
    checked(task, model, (&[0.0; 2], bias), 2)
}

/// Most rows at the wall, and noise that decides which: the rows that are left lie higher than the
/// plant goes, and a model of them alone never reaches the wall.
#[test]
fn a_wall_that_hides_a_part_of_the_noise_lifts_no_bound_above_the_truth() {
    let (noise, bias) = (0.2, -0.3);
    let truth = truth(bias, noise);
    // What deploys is wrong.
    let task = task(WALL, truth.mean + 4.0 * truth.error);
    let log = log(60, noise, 1);
    let told = Told::of(&log, &task.model_view());
    let left = told.count(log.len(), 0) as f64 / log.len() as f64;
    assert!((0.3..0.7).contains(&left), "{left}");
    for (name, model) in [("processes", processes()), ("networks", networks())] {
        let (model, calibration) = fitted(&task, &log, model).unwrap();
        let result = checked_constant(&task, &model, bias).unwrap();
        let (bound, reasons) = (result.decision.bound.0, &result.decision.reasons);
        println!(
            "{name}: {left:.2} of rows left, {truth:?}, {:?}, bound {bound:.2}, {reasons:?}",
            calibration.status
        );
        assert!(result.decision.verdict != Some(Verdict::Deploy), "{name}");
        assert!(
            bound <= truth.mean + 3.0 * truth.error,
            "{name}: {bound} above {truth:?}"
        );
    }
}

#[test]
fn a_line_that_swallows_what_the_log_says_is_refused() {
    let log = log(30, 0.05, 1);
    let error = |known: &str| fitted(&task(known, 0.0), &log, processes()).unwrap_err();
    // A wall above that of the plant, whether it holds the state or another one.
    let above = error("level = 'max(learned.level, 0.05)'").to_string();
    assert!(above.contains("`level` becomes 0.05"), "{above}");
    let stops = error("drift = 'if(next.level <= 0.3, 0, learned.drift)'").to_string();
    assert!(stops.contains("`drift` becomes 0"), "{stops}");
    // All of a state, because it stops everywhere.
    let everywhere = error("drift = 'if(next.level <= 9, 0, learned.drift)'").to_string();
    assert!(everywhere.contains("`drift` becomes 0"), "{everywhere}");
    // Nearly all: what is left is too little.
    let mut saturated = Log::new(2, 1);
    for (number, row) in log.rows().enumerate() {
        let next_state = [row.next_state[0], if number < 9 { 0.1 } else { 0.2 }];
        let row = Transition {
            next_state: &next_state,
            ..row
        };
        saturated.push(row).unwrap();
    }
    let task_of = |known: &str| task(known, 0.0);
    let line = task_of("drift = 'min(learned.drift, 0.2)'");
    let few = fitted(&line, &saturated, networks()).unwrap_err();
    let few = few.to_string();
    assert!(few.contains("in 9 of 1200 rows"), "{few}");
    // Each state by itself is often free, and never both.
    let mut one = Log::new(2, 1);
    for (number, row) in log.rows().enumerate() {
        let [level, drift] = [row.next_state[0] + 0.1, row.next_state[1].min(0.1)];
        let free = number % 2 == 0;
        let next_state = if free { [level, 0.2] } else { [0.0, drift] };
        let row = Transition {
            next_state: &next_state,
            ..row
        };
        one.push(row).unwrap();
    }
    let lines = task_of("level = 'max(learned.level, 0)'\ndrift = 'min(learned.drift, 0.2)'");
    let never = fitted(&lines, &one, processes()).unwrap_err();
    assert!(never.to_string().contains("in 0 of "), "{never}");
}

/// What was learned under one line says nothing under another.
#[test]
fn a_model_is_not_checked_under_another_wall() {
    let log = log(40, 0.05, 2);
    let own = task(WALL, -1.0);
    let (model, _) = fitted(&own, &log, processes()).unwrap();
    assert!(checked_constant(&own, &model, 0.2).is_ok());
    for known in [
        "level = 'max(learned.level, 0.1)'",
        "level = 'learned.level'",
        "level = 'max(learned.level, 0)'\ndrift = 'clamp(learned.drift, -1, 1)'",
    ] {
        let error = checked_constant(&task(known, -1.0), &model, 0.2).unwrap_err();
        assert!(error.to_string().contains("known"), "{error}");
    }
}
