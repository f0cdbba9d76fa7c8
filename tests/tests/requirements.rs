//! Requirements in time, each one line of a task file: the bound on the probability that a
//! trajectory keeps it lies above the truth no more often than its share of delta allows. The
//! truth comes from the density of a state with normal noise, carried along a grid.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::f64::consts::PI;

use hambo_check::amounts::{Usual, Wanted};
use hambo_check::demand::Demand;
use hambo_core::check::{Estimate, Outcome};
use hambo_core::estimate::Margin;
use hambo_core::task::Objective;
use hambo_core::task::{Allocation, Effort, Method, Variant};
use hambo_task::plan::CheckPlan;
use hambo_task::task::TaskFile;
use hambo_tests::one_state::{OneState, most_failures};
use hambo_tests::pages::ensure_kept;
use rayon::prelude::*;

const RUNS: u64 = 200;
/// Large, so that bounds do lie above the truth now and then: an eighth of it is the share of
/// the sampled level of one of two objectives.
const DELTA: f64 = 0.4;
const HORIZON: usize = 20;
/// Of a run: few, so that the margin has to work.
const TRAJECTORIES: u32 = 200;
/// x′ = 0.9 x + 0.1 n from x = 0, with hardly anything left to the adversary.
const SYSTEM: OneState = OneState {
    slope: -0.1,
    reach: 1e-5,
    noise: 0.1,
};

/// What must hold, as a task file writes it, and the same for the grid: at a step, for the
/// state before and after it.
struct Requirement {
    line: &'static str,
    kind: Kind,
    holds: fn(usize, f64, f64) -> bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Always,
    Finally,
    Eventually,
}

/// The thresholds lie between two points of the grid, where its sums are exact to second
/// order.
const REQUIREMENTS: [Requirement; 8] = [
    // Never beyond the wall.
    Requirement {
        line: r#"expr = "x < 0.5025", kind = "always""#,
        kind: Kind::Always,
        holds: |_, x, _| x < 0.5025,
    },
    // Always in the band.
    Requirement {
        line: r#"expr = "abs(next.x) <= 0.5025", kind = "always""#,
        kind: Kind::Always,
        holds: |_, _, next| next.abs() < 0.5025,
    },
    // Gets there.
    Requirement {
        line: r#"expr = "x > 0.2025", kind = "eventually""#,
        kind: Kind::Eventually,
        holds: |_, x, _| x > 0.2025,
    },
    // In the box at the end.
    Requirement {
        line: r#"expr = "abs(next.x) < 0.3025", kind = "finally""#,
        kind: Kind::Finally,
        holds: |_, _, next| next.abs() < 0.3025,
    },
    // Gets there within ten steps.
    Requirement {
        line: r#"expr = "x > 0.1025 && t <= 10", kind = "eventually""#,
        kind: Kind::Eventually,
        holds: |t, x, _| x > 0.1025 && t <= 10,
    },
    // Has settled by half of the time.
    Requirement {
        line: r#"expr = "t < horizon / 2 || abs(x) < 0.4525", kind = "always""#,
        kind: Kind::Always,
        holds: |t, x, _| t < 10 || x.abs() < 0.4525,
    },
    // Stays in a funnel.
    Requirement {
        line: r#"expr = "abs(x) < 0.7025 - 0.015 * t", kind = "always""#,
        kind: Kind::Always,
        holds: |t, x, _| x.abs() < 0.7025 - 0.015 * t as f64,
    },
    // Is not there while somebody passes.
    Requirement {
        line: r#"expr = "!(x > 0.2525 && t >= 5 && t < 10)", kind = "always""#,
        kind: Kind::Always,
        holds: |t, x, _| !(x > 0.2525 && (5..10).contains(&t)),
    },
];

const POINTS: usize = 601;
const CELL: f64 = 0.005;

fn at(point: usize) -> f64 {
    (point as f64 - 300.0) * CELL
}

/// The density of the next state from a state, times the cell.
fn kernel(from: f64, to: f64) -> f64 {
    let noise = f64::from(SYSTEM.noise);
    let away = (to - (1.0 + f64::from(SYSTEM.slope)) * from) / noise;
    CELL / (noise * (2.0 * PI).sqrt()) * (-0.5 * away * away).exp()
}

impl Requirement {
    /// The probability that a trajectory keeps it.
    fn truth(&self) -> f64 {
        // Of what has not been decided yet: all of it, and what never held, or always did.
        let open = |step: usize, x: f64, next: f64| match self.kind {
            Kind::Always => (self.holds)(step, x, next),
            Kind::Eventually => !(self.holds)(step, x, next),
            Kind::Finally => step + 1 < HORIZON || (self.holds)(step, x, next),
        };
        let mut density = vec![0.0; POINTS];
        density[300] = 1.0;
        for step in 0..HORIZON {
            let mut next = vec![0.0; POINTS];
            for (from, mass) in density.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                for (to, sum) in next.iter_mut().enumerate() {
                    if open(step, at(from), at(to)) {
                        *sum += mass * kernel(at(from), at(to));
                    }
                }
            }
            density = next;
        }
        let left: f64 = density.iter().sum();
        match self.kind {
            Kind::Eventually => 1.0 - left,
            Kind::Always | Kind::Finally => left,
        }
    }

    fn task(&self, probability: f64) -> TaskFile {
        let text = format!(
            "name = \"in time\"\nhorizon = {HORIZON}\ndelta = {DELTA}\nthreshold = -1000\n\
             constraint = [{{ name = \"required\", {}, probability = {probability} }}]\n\
             [state]\nnames = [\"x\"]\n[action]\nnames = [\"u\"]\nlow = [-1]\nhigh = [1]\n\
             [reward]\nexpr = \"-abs(x)\"\n[initial]\nkind = \"point\"\nvalue = [0]\n",
            self.line
        );
        TaskFile::parse(&text, "in_time.toml").unwrap()
    }
}

fn check(task: &TaskFile, trajectories: u32, seed: u64) -> Outcome {
    let effort = Effort {
        trajectories,
        searched: 4,
        iterations: 8,
        seed,
        allocation: Allocation::Even,
    };
    SYSTEM.check(task, effort).unwrap()
}

#[test]
fn bounds_on_probabilities_fail_no_more_often_than_their_share_of_delta() {
    let share = DELTA / 8.0;
    let most = most_failures(RUNS, share);
    let (mut failures, mut most_above) = (0, 0);
    for requirement in &REQUIREMENTS {
        let truth = requirement.truth();
        let task = requirement.task(0.5);
        let lowers: Vec<f64> = (0..RUNS)
            .into_par_iter()
            .map(|seed| {
                let outcome = check(&task, TRAJECTORIES, seed);
                let mut all = outcome.estimates.iter();
                let wanted = |objective| objective == Objective::Constraint(0);
                let found = all.find(|one| wanted(one.objective) && one.variant.has_adversary());
                assert_eq!(found.unwrap().margin, Margin::ClopperPearson);
                // What the search may find beyond it has a share of its own.
                f64::from(found.unwrap().sampled.lower)
            })
            .collect();
        let above = lowers.iter().filter(|lower| **lower > truth).count();
        let mean = lowers.iter().sum::<f64>() / RUNS as f64;
        println!(
            "{:60} truth {truth:.4}, mean bound {mean:.4}, above the truth in {above} of {RUNS}",
            requirement.line
        );
        assert!(
            (0.4..0.99).contains(&truth),
            "{}: {truth}",
            requirement.line
        );
        assert!(above <= most, "{}: {above}", requirement.line);
        // No further below than the number of trajectories explains.
        let deviation = (truth * (1.0 - truth) / f64::from(TRAJECTORIES)).sqrt();
        assert!(
            mean > truth - 2.6 * deviation,
            "{}: {mean}",
            requirement.line
        );
        failures += above;
        most_above = most_above.max(above);
    }
    ensure_kept("requirements-most", most_above as f64, 0.0).unwrap();
    ensure_kept("requirements-above", failures as f64, 0.0).unwrap();
    // A bound that never fails at such a delta would be loose.
    assert!(failures > 20, "{failures}");
}

#[test]
fn what_is_likely_enough_deploys_and_what_is_not_does_not() {
    for requirement in &REQUIREMENTS {
        let truth = requirement.truth();
        let verdict = |probability: f64| {
            let task = requirement.task(probability);
            let method = Method::default();
            let demand = Demand::of(&task, &method, &[]);
            let effort = Effort {
                iterations: 8,
                seed: 7,
                ..demand.effort(Wanted::default(), Usual::HOST)
            };
            SYSTEM.check(&task, effort).unwrap().verdict.name()
        };
        assert_eq!(verdict(truth - 0.05), "deploy", "{}", requirement.line);
        assert_eq!(verdict(truth + 0.01), "reject", "{}", requirement.line);
    }
}

/// x' = -0.5 x + 0.1 eta, walked without noise: pushes work only in time with the swing.
const SWING: OneState = OneState {
    slope: -1.5,
    reach: 0.1,
    noise: 0.01,
};
const START: f64 = 0.2;

/// The states that can be reached while none of them lies above a limit: an interval, from step
/// to step; `None` once there is none.
fn reachable_below(limit: f64, steps: usize) -> Option<[f64; 2]> {
    let (swing, reach) = (1.0 + f64::from(SWING.slope), f64::from(SWING.reach));
    let mut interval = [START; 2];
    for _ in 0..steps {
        // The swing turns the interval round.
        let [low, high] = interval;
        interval = [swing * high - reach, (swing * low + reach).min(limit)];
        if interval[0] > interval[1] {
            return None;
        }
    }
    Some(interval)
}

/// No network is trained against requirements in time. Where the least margin is known the search
/// alone finds it of `always` and `finally`. Of `eventually`, where all steps must be kept low at
/// once and only the highest has a slope, it misses a part of what the adversary could take.
#[test]
fn the_search_alone_finds_the_least_margin_of_requirements_in_time() {
    // The farthest that next.x gets up, step by step, and down at the end.
    let highest = |steps: usize| reachable_below(f64::INFINITY, steps).unwrap();
    let top = (1..=HORIZON)
        .map(|steps| highest(steps)[1])
        .fold(f64::MIN, f64::max);
    let [bottom, last] = highest(HORIZON);
    // How low the largest next.x can be kept.
    let (mut low, mut high) = (-1.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match reachable_below(middle, HORIZON) {
            Some(_) => high = middle,
            None => low = middle,
        }
    }
    let cases = [
        ("1 - next.x", "always", 1.0 - top),
        ("1 - next.x", "finally", 1.0 - last),
        ("1 - abs(next.x)", "finally", 1.0 - last.max(-bottom)),
        ("1 - abs(next.x)", "always", 1.0 - top.max(-bottom)),
        ("next.x", "eventually", high),
        (
            "next.x + 0.01 * t",
            "finally",
            bottom + 0.01 * (HORIZON - 1) as f64,
        ),
    ];
    let efforts = [40, 400];
    let cases = cases.into_iter();
    for ((expression, kind, least), iterations) in
        cases.flat_map(|case| efforts.map(|sweeps| (case, sweeps)))
    {
        let text = format!(
            "name = \"in time\"\nhorizon = {HORIZON}\ndelta = 0.05\nthreshold = -1000\n\
             constraint = [{{ name = \"required\", expr = \"{expression}\", kind = \"{kind}\" }}]\n\
             [state]\nnames = [\"x\"]\n[action]\nnames = [\"u\"]\nlow = [-1]\nhigh = [1]\n\
             [reward]\nexpr = \"-abs(x)\"\n[initial]\nkind = \"point\"\nvalue = [{START}]\n"
        );
        let task = TaskFile::parse(&text, "in_time.toml").unwrap();
        let effort = Effort {
            trajectories: 32,
            searched: 8,
            iterations,
            seed: 3,
            allocation: Allocation::Even,
        };
        let plan = CheckPlan {
            method: Method {
                aleatoric_noise: false,
                ..Method::default()
            },
            ..CheckPlan::from(effort)
        };
        let outcome = SWING.check(&task, plan).unwrap();
        let own = |one: &&Estimate| one.objective == Objective::Constraint(0);
        let mut all = outcome.estimates.iter().filter(own);
        let neutral = all.find(|one| one.variant == Variant::Mean).unwrap();
        let neutral = f64::from(neutral.mean);
        let wanted = |one: &&Estimate| {
            one.objective == Objective::Constraint(0) && one.variant == Variant::ContinuousAdversary
        };
        let found = &outcome.estimates.iter().find(wanted).unwrap().found;
        let (constant, search) = (found.constant.unwrap(), found.search);
        println!(
            "{kind:10} {expression:18} neutral {neutral:.4}, least {least:.4}, constants {constant:.4}, search with {iterations} sweeps {search:.4}"
        );
        assert!(found.network.is_none());
        // Of what the adversary could take from the neutral margin.
        let missed = (f64::from(search) - least) / (neutral - least);
        let most = if kind == "eventually" { 0.45 } else { 0.01 };
        assert!(
            (-1e-3..most).contains(&missed),
            "{kind} {expression}: {missed}"
        );
    }
}
