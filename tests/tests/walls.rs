//! A car in a valley that stops at a wall, as Gymnasium's MountainCar does: what a model of it is
//! worth without and with the lines of `[known]` that say so.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::random::Random;
use hambo_check::Verdict;
use hambo_data::{Log, Told, Transition};
use hambo_learn::calibration::{CalibrationStatus, ModelCalibration};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{GaussianProcessOptions, ModelOptions};
use hambo_learn::model_file::ModelFile;
use hambo_learn::monitor;
use hambo_task::task::TaskFile;
use hambo_tests::fit_and_check::{checked, fitted};
use hambo_tests::study::simulate::Mean;

const STEPS: usize = 40;
const LEFT: f32 = -1.2;
const RIGHT: f32 = 0.6;
/// Starts near the left wall, on the way to it.
const STARTS: [[f32; 2]; 2] = [[-1.1, -0.9], [-0.06, -0.02]];

/// The lines that `hambo task new` writes of such a log.
const LINES: &str = "[known]\n\
    x = 'clamp(learned.x, -1.2, 0.6)'\n\
    v = 'if(next.x <= -1.2 || next.x >= 0.6, 0, clamp(learned.v, -0.07, 0.07))'\n";

fn task(known: &str, threshold: f64) -> TaskFile {
    let [[x_low, x_high], [v_low, v_high]] = STARTS;
    let text = format!(
        "name = 'valley'\nhorizon = {STEPS}\ndelta = 0.1\nthreshold = {threshold}\n\
         [state]\nnames = ['x', 'v']\nlow = [-1.2, -0.07]\nhigh = [0.6, 0.07]\n\
         [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n{known}\
         [reward]\nexpr = 'next.x'\n[initial]\nkind = 'uniform'\n\
         low = [{x_low}, {v_low}]\nhigh = [{x_high}, {v_high}]\n"
    );
    TaskFile::parse(&text, "valley.toml").unwrap()
}

/// One step of the car, whose motor has this much force.
fn step([x, v]: [f32; 2], u: f32, force: f32, random: &mut Random) -> [f32; 2] {
    let pull = force * u.clamp(-1.0, 1.0) - 0.0025 * (3.0 * x).cos();
    let v = (v + pull + 2e-4 * random.normal()).clamp(-0.07, 0.07);
    let x = (x + v).clamp(LEFT, RIGHT);
    let stops = x <= LEFT || x >= RIGHT;
    [x, if stops { 0.0 } else { v }]
}

const FORCE: f32 = 0.004;

/// Between two ends.
fn between([low, high]: [f32; 2], random: &mut Random) -> f32 {
    low + (high - low) * random.uniform()
}

/// Episodes of a driver who leans to one side, and holds each action for a few steps.
fn log(episodes: u32, force: f32, seed: u64) -> Log {
    let mut random = Random::new(seed, 1);
    let mut log = Log::new(2, 1);
    for episode in 0..episodes {
        let mut state = [
            between([-1.15, 0.5], &mut random),
            between([-0.065, 0.065], &mut random),
        ];
        let lean = between([-0.9, 0.9], &mut random);
        let mut u = 0.0;
        for number in 0..STEPS {
            if number % 3 == 0 {
                u = (lean + 0.8 * random.normal()).clamp(-1.0, 1.0);
            }
            let next = step(state, u, force, &mut random);
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

/// The mean return of a linear controller on the car itself.
fn truth([gain_x, gain_v, bias]: [f32; 3]) -> Mean {
    let mut random = Random::new(99, 2);
    let runs = 4000;
    let returns: Vec<f64> = (0..runs)
        .map(|_| {
            let mut state = STARTS.map(|ends| between(ends, &mut random));
            let mut sum = 0.0;
            for _ in 0..STEPS {
                let u = gain_x * state[0] + gain_v * state[1] + bias;
                state = step(state, u, FORCE, &mut random);
                sum += f64::from(state[0]);
            }
            sum
        })
        .collect();
    Mean::of(&returns)
}

fn processes() -> ModelOptions {
    ModelOptions::GaussianProcess(GaussianProcessOptions {
        most_rows: 250,
        ..GaussianProcessOptions::default()
    })
}

fn networks() -> ModelOptions {
    ModelOptions::Networks(EnsembleOptions {
        hidden: vec![32; 2],
        steps: 3000,
        batch: 128,
        ..EnsembleOptions::for_board("stm32f405").unwrap()
    })
}

/// Up the hill, and against the wall.
const GOOD: [f32; 3] = [0.0, 10.0, 0.8];
const BAD: [f32; 3] = [0.0, 10.0, -0.8];

/// Half the width of the set in the speed, in standard deviations.
fn width(calibration: &ModelCalibration) -> f32 {
    let speed = &calibration.dimensions[1];
    speed.beta * speed.scale
}

#[test]
fn a_line_for_the_wall_makes_processes_that_decide() {
    decides("processes", processes());
}

#[test]
fn a_line_for_the_wall_makes_networks_that_decide() {
    decides("networks", networks());
}

fn decides(name: &str, options: ModelOptions) {
    let (good, bad) = (truth(GOOD), truth(BAD));
    assert!(good.mean > bad.mean + 20.0, "{good:?} {bad:?}");
    let threshold = 0.5 * (good.mean + bad.mean);
    let log = log(60, FORCE, 1);
    let (plain, lines) = (task("", threshold), task(LINES, threshold));
    let told = Told::of(&log, &lines.model_view());
    let held = log.len() - told.count(log.len(), 1);
    println!("{held} of {} rows are held", log.len());
    assert!(held > 100);

    let (_, without) = fitted(&plain, &log, options.clone()).unwrap();
    let (model, with) = fitted(&lines, &log, options).unwrap();
    println!(
        "{name}: without the lines {:?}, width {}; with them {:?}, width {}",
        without.status,
        width(&without),
        with.status,
        width(&with)
    );
    assert_eq!(with.status, CalibrationStatus::Calibrated, "{name}");
    assert!(
        without.status != CalibrationStatus::Calibrated || width(&without) > 1.5 * width(&with),
        "{name}"
    );
    for ([x, v, bias], truth, deploys) in [(GOOD, good, true), (BAD, bad, false)] {
        let result = checked(&lines, &model, (&[x, v], bias), 4).unwrap();
        let (bound, reasons) = (result.decision.bound.0, &result.decision.reasons);
        println!("{name}: {truth:?}, bound {bound:.2}, {reasons:?}");
        let verdict = result.decision.verdict;
        let right = (verdict == Some(Verdict::Deploy)) == deploys;
        assert!(right, "{name}: {verdict:?}, {reasons:?}");
        assert!(
            bound <= truth.mean + 3.0 * truth.error,
            "{name}: {bound} above {truth:?}"
        );
    }
    watched(&lines, &model, &with, name);
}

/// The monitor is silent on the car that was modelled, walls included, and finds a weaker motor.
fn watched(task: &TaskFile, model: &ModelFile, calibration: &ModelCalibration, name: &str) {
    let settings = monitor::settings(calibration, 0.01);
    let trips = |force: f32| {
        let log = log(30, force, 7);
        let drives = monitor::watch(task, model.model_part(), &log, settings).unwrap();
        let held = log.rows().filter(|row| row.next_state[1] == 0.0).count();
        assert!(held > 50, "{held}");
        drives.iter().filter(|drive| drive.trip.is_some()).count()
    };
    let (same, weaker) = (trips(FORCE), trips(0.3 * FORCE));
    println!("{name}: {same} of 30 drives trip, {weaker} with a weaker motor");
    assert!(same <= 2, "{same}");
    assert!(weaker >= 20, "{weaker}");
}
