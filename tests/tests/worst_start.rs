//! The worst start of a box, without noise: the check lies at or below what any of ten
//! thousand drawn starts gives.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::observer::Unobserved;
use hambo_check::adversary::{AdversarialCheck, check_against_adversaries};
use hambo_check::assumption::SetOrigin;
use hambo_check::case::Case;
use hambo_check::demand::WORST_STARTS;
use hambo_check::parallel::{Watch, check};
use hambo_check::worst_start::find_worst_starts;
use hambo_core::check::Outcome;
use hambo_core::estimate::Margin;
use hambo_core::image::Image;
use hambo_core::numeric::network::Activation;
use hambo_core::rollout::{Buffers, Rollout};
use hambo_core::task::Objective;
use hambo_core::task::{Allocation, Effort, Variant};
use hambo_learn::ensemble::encode_ensemble;
use hambo_task::image::{Adversaries, encode_policy};
use hambo_task::plan::CheckPlan;
use hambo_task::task::Initial;
use hambo_tests::fixture::{self, Draw, REWARDS};
use rayon::prelude::*;

/// Random tasks; `HAMBO_WORST_TASKS=100` for more.
const TASKS: u64 = 20;
const DRAWN: usize = 10_000;
const LANES: usize = 32;
/// Of every state.
const LOW: f32 = -1.0;
const HIGH: f32 = 0.5;

/// A random model, controller and task of one to three states, without noise.
fn case(seed: u64) -> Case {
    let draw = &mut Draw::new(seed);
    let space = 1 + draw.below(3);
    let activation = [Activation::Relu, Activation::Tanh, Activation::Silu][draw.below(3)];
    let ensemble = fixture::ensemble(draw, space, activation);
    let uncertainty = fixture::uncertainty(draw, &ensemble);
    let reward = REWARDS[seed as usize % REWARDS.len()];
    let mut task = fixture::task(draw, space, reward).unwrap();
    task.constraints.clear();
    task.initial = Initial::Worst {
        low: vec![LOW; space],
        high: vec![HIGH; space],
    };
    let policy = fixture::waypoints(draw, [space; 2]).unwrap();
    let mut case = Case {
        model_part: encode_ensemble(&ensemble, &uncertainty).unwrap(),
        task,
        plan: CheckPlan::from(Effort {
            trajectories: 2 * WORST_STARTS as u32,
            searched: 16,
            iterations: 40,
            seed,
            allocation: Allocation::Even,
        })
        .without_noise(),
        initial: Vec::new(),
        policy_part: encode_policy(&policy).unwrap(),
        set: SetOrigin::Networks,
        may_grow: false,
        judging_rows: hambo_learn::near_path::JudgingRows::default(),
        near_path: None,
    };
    find_worst_starts(&mut case, &mut Unobserved).unwrap();
    case
}

/// The least return over drawn starts and constant pushes.
fn least_of_drawn(case: &Case, seed: u64) -> f32 {
    let bytes = case.image(&Adversaries::default()).unwrap();
    let image = Image::parse(bytes.as_bytes()).unwrap();
    let (model, task, policy) = (image.model(), image.task(), image.policy());
    let rollout = Rollout {
        model,
        policy,
        task,
        variant: Variant::ContinuousAdversary,
        objective: Objective::Return,
    };
    let states = image.task().state_dimension();
    let needed = Buffers::<LANES>::rows_needed(&model.dynamics, task, policy).unwrap();
    let mut rows = vec![[0.0; LANES]; needed];
    let mut buffers = Buffers::carve(&mut rows, &model.dynamics, task, policy).unwrap();
    let streams =
        std::array::from_fn(|lane| hambo_core::numeric::random::Stream::new(seed, lane as u32));
    let draw = &mut Draw::new(seed ^ 0xD4A3);
    let mut least = f32::INFINITY;
    for _ in 0..DRAWN.div_ceil(LANES) {
        for row in &mut buffers.states[..states] {
            *row = std::array::from_fn(|_| draw.between(LOW, HIGH));
        }
        let first = buffers.states[..states].to_vec();
        // All corners, and no push.
        for number in 0..=2_usize.pow(states as u32) {
            buffers.states[..states].copy_from_slice(&first);
            for (place, row) in buffers.eta.iter_mut().enumerate() {
                let side = [-1.0, 1.0][number >> (place % states) & 1];
                let push = if number < 2_usize.pow(states as u32) {
                    side
                } else {
                    0.0
                };
                *row = [push; LANES];
            }
            let returns = rollout.forward(&streams, &mut buffers);
            least = returns.value.into_iter().fold(least, f32::min);
        }
    }
    least
}

fn outcome(case: &Case) -> Outcome {
    let bytes = case.image(&Adversaries::default()).unwrap();
    check::<LANES>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
        .unwrap()
        .outcome
}

#[test]
fn no_drawn_start_is_worse_than_what_the_check_found() {
    let tasks = std::env::var("HAMBO_WORST_TASKS").map_or(TASKS, |tasks| tasks.parse().unwrap());
    let found: Vec<(u64, f32, f32, f32)> = (0..tasks)
        .into_par_iter()
        .map(|seed| {
            let case = case(seed);
            let outcome = outcome(&case);
            let worst = outcome.estimates[1];
            assert_eq!(worst.variant, Variant::ContinuousAdversary);
            let mut uniform = case.clone();
            let space = case.task.state_names.len();
            uniform.task.initial = Initial::Uniform {
                low: vec![LOW; space],
                high: vec![HIGH; space],
            };
            let average = self::outcome(&uniform).estimates[1].mean;
            (seed, worst.mean, least_of_drawn(&case, seed), average)
        })
        .collect();
    let mut below = 0.0;
    for (seed, worst, drawn, average) in found {
        assert!(
            worst <= drawn + 1e-5 * drawn.abs(),
            "{seed}: {worst} against {drawn}"
        );
        assert!(
            worst <= average,
            "{seed}: {worst} against {average} on average"
        );
        below += (drawn - worst) / (average - worst).max(1e-6);
    }
    println!(
        "{tasks} tasks: the worst start lies below the least of {DRAWN} drawn ones by {:.2} % of \
         its distance from the average start",
        100.0 * below / tasks as f32
    );
}

/// A check that may grow takes as many trajectories as every one of the worst starts needs.
#[test]
fn every_worst_start_has_enough_trajectories_for_betting() {
    let mut case = case(0);
    // Few steps, so that it is worth that many.
    case.task.horizon = 3;
    let worst = outcome(&case).estimates[1].mean;
    let most = 3.0 * worst.abs() + 1.0;
    case.task.return_bounds = Some([-most, most]);
    // Else bounds that the task states would decide, cheap or not.
    case.task.distribution_free = Some(false);
    let [asked, grown] = [false, true].map(|may_grow| {
        case.may_grow = may_grow;
        case.parsed(|case| check_against_adversaries(&case, None, &mut Unobserved))
            .unwrap()
    });
    let margin = |check: &AdversarialCheck| check.outcome.estimates[1].margin;
    assert_eq!(margin(&asked), Margin::StudentT);
    assert_eq!(asked.effort.trajectories, 2 * WORST_STARTS as u32);
    assert_eq!(margin(&grown), Margin::Betting);
    let each = grown.effort.trajectories / WORST_STARTS as u32;
    assert!(each > 1000, "{each}");
}

/// Ten known states that halve at every step, each with a place of its own that it should keep
/// away from: the return is the sum over two steps of w (x - c)^2. From x it is
/// w ((x - c)^2 + (x / 2 - c)^2), which is least at x = 1.2 c, 0.2 w c^2 in all.
#[test]
fn the_derivative_finds_the_worst_start_that_is_known() {
    const STATES: usize = 10;
    let place = |state: usize| 0.75 * (1.3 * state as f32 + 0.4).sin();
    let weight = |state: usize| 1.0 + 3.0 * state as f32;
    let names: Vec<String> = (0..STATES).map(|state| format!("k{state}")).collect();
    let known: String = names
        .iter()
        .map(|name| format!("{name} = '0.5 * {name}'\n"))
        .collect();
    let reward: Vec<String> = (0..STATES)
        .map(|state| format!("{} * (k{state} - {})^2", weight(state), place(state)))
        .collect();
    let ends = |end: f32| vec![end; STATES + 1];
    let mut all = vec!["s0".to_owned()];
    all.extend(names);
    let text = format!(
        "name = 'away'\nhorizon = 2\ndelta = 0.1\n[state]\nnames = {all:?}\n\
         [action]\nnames = ['a0']\nlow = [-1]\nhigh = [1]\n\
         [model]\ninputs = ['s0']\n[known]\n{known}[reward]\nexpr = '{}'\n\
         [initial]\nkind = 'worst'\nlow = {:?}\nhigh = {:?}\n",
        reward.join(" + ").replace("- -", "+ "),
        ends(-1.0),
        ends(1.0)
    );
    let draw = &mut Draw::new(5);
    let ensemble = fixture::ensemble(draw, 1, Activation::Tanh);
    let uncertainty = fixture::uncertainty(draw, &ensemble);
    let task = hambo_task::task::TaskFile::parse(&text, "away.toml").unwrap();
    let idle = "kind = \"constant\"\nvalue = [0]";
    let idle = hambo_task::policy::HostPolicy::parse(idle, "idle", &task).unwrap();
    let mut case = Case {
        model_part: encode_ensemble(&ensemble, &uncertainty).unwrap(),
        task,
        policy_part: encode_policy(&idle).unwrap(),
        ..case(0)
    };
    case.initial.clear();
    find_worst_starts(&mut case, &mut Unobserved).unwrap();
    let worst = &case.initial[1..=STATES];
    let value = |x: f32, state: usize| {
        let c = place(state);
        weight(state) * ((x - c).powi(2) + (0.5 * x - c).powi(2))
    };
    let found: f32 = (0..STATES).map(|state| value(worst[state], state)).sum();
    let least: f32 = (0..STATES)
        .map(|state| 0.2 * weight(state) * place(state).powi(2))
        .sum();
    // Moves at random alone end a tenth above it.
    assert!(
        found >= least - 1e-4 && found < 1.005 * least,
        "{found} {least}"
    );
}
