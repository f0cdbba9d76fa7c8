//! Known next states in simulated logs: what was built in is found, and no more.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::f32::consts::{PI, TAU};

use hambo_task::task::TaskFile;

use super::known::Known;
use super::known_fit::Target;
use super::known_form::Form;
use super::rows::LoggedRows;
use super::simulated::{Noise, log, without_starts};
use super::text::draft;
use crate::inspect::spread;

fn known(log: &LoggedRows) -> Vec<Known> {
    log.known(&log.wrap_hints(&[]), &log.circles())
}

/// The lines of `[known]`, each an expression that a task can read.
fn lines(log: &LoggedRows) -> Vec<String> {
    let known = known(log);
    for state in &known {
        let task = draft(log, "robot");
        let task = task.lines().filter(|line| !line.starts_with("circle = "));
        let task: Vec<&str> = task.collect();
        let task = task.join("\n");
        let (start, rest) = task.split_once("[known]").unwrap();
        let (_, end) = rest.split_once("[reward]").unwrap();
        let reward = format!("expr = \"{}\"", state.expression);
        let task = format!("{start}[reward]{}", end.replace("# expr = \"\"", &reward));
        TaskFile::parse(&task, "task.toml").unwrap();
        assert!(state.residual <= 1e-4 && state.rows == log.rows.len());
    }
    known.iter().map(Known::line).collect()
}

/// Cart and pole, with x′ and theta′ by `rule` from (x, v, v′).
fn cart_pole(rule: impl Fn(f32, f32, f32) -> f32) -> LoggedRows {
    log("x v theta omega", |s, u, noise| {
        let [x, v, theta, omega] = *s else {
            return vec![];
        };
        let next_v = 0.98 * v + 0.2 * u - 0.05 * theta.sin() + 0.02 * noise.next();
        let next_omega = 0.97 * omega - 0.3 * theta.sin() + 0.1 * u + 0.02 * noise.next();
        let next_theta = rule(theta, omega, next_omega);
        vec![rule(x, v, next_v), next_v, next_theta, next_omega]
    })
}

#[test]
fn positions_follow_from_velocities() {
    let explicit = cart_pole(|x, v, _| x + 0.05 * v);
    let found = ["x = \"x + 0.05 * v\"", "theta = \"theta + 0.05 * omega\""];
    assert_eq!(lines(&explicit), found);
    let semi_implicit = cart_pole(|x, _, v| x + 0.02 * v);
    let found = [
        "x = \"x + 0.02 * next.v\"",
        "theta = \"theta + 0.02 * next.omega\"",
    ];
    assert_eq!(lines(&semi_implicit), found);
    let trapezoid = cart_pole(|x, v, next_v| x + 0.025 * (v + next_v));
    let found = [
        "x = \"x + 0.05 * 0.5 * (v + next.v)\"",
        "theta = \"theta + 0.05 * 0.5 * (omega + next.omega)\"",
    ];
    assert_eq!(lines(&trapezoid), found);
    // A step has the digits that it needs, and a sign.
    let odd = cart_pole(|x, v, _| x - v / 60.0);
    let line = lines(&odd).swap_remove(0);
    let h = line
        .trim_start_matches("x = \"x - ")
        .trim_end_matches(" * v\"");
    assert!(
        (h.parse::<f64>().unwrap() - 1.0 / 60.0).abs() < 1e-7,
        "{line}"
    );
}

/// At a high rate both rules are within the tolerance; the log still tells which of them the robot
/// has.
#[test]
fn the_rule_is_told_where_velocities_hardly_change() {
    let drift = |rule: fn(f32, f32, f32) -> f32| {
        log("x v", move |s, u, _| {
            let next_v = s[1] + 0.004 * u;
            vec![rule(s[0], s[1], next_v), next_v]
        })
    };
    let semi_implicit = drift(|x, _, v| x + 0.005 * v);
    let target = Target::new(&semi_implicit, 0, None).unwrap();
    assert!(target.fit(Form::Euler(1)).is_some());
    assert_eq!(lines(&semi_implicit), ["x = \"x + 0.005 * next.v\""]);
    let explicit = drift(|x, v, _| x + 0.005 * v);
    assert_eq!(lines(&explicit), ["x = \"x + 0.005 * v\""]);
}

#[test]
fn a_drone_in_a_plane_has_three_positions() {
    let drone = log("x z theta vx vz omega", |s, u, noise| {
        let [x, z, theta, vx, vz, omega] = *s else {
            return vec![];
        };
        let thrust = 9.81 + u;
        vec![
            x + 0.01 * vx,
            z + 0.01 * vz,
            theta + 0.01 * omega,
            vx - 0.01 * thrust * theta.sin() + 0.005 * noise.next(),
            vz + 0.01 * (thrust * theta.cos() - 9.81) + 0.005 * noise.next(),
            omega + 0.1 * u + 0.005 * noise.next(),
        ]
    });
    let found = [
        "x = \"x + 0.01 * vx\"",
        "z = \"z + 0.01 * vz\"",
        "theta = \"theta + 0.01 * omega\"",
    ];
    assert_eq!(lines(&drone), found);
    assert!(drone.circles().is_empty());
}

#[test]
fn what_wraps_is_taken_the_short_way_round() {
    let wrapped = |x: f32| x - TAU * ((x + PI) / TAU).floor();
    let wheel = log("yaw rate", move |s, u, _| {
        let rate = 0.9 * s[1] + 0.5 + u;
        vec![wrapped(s[0] + 0.05 * rate), rate]
    });
    assert_eq!(wheel.wrap_hints(&[]).len(), 1);
    assert_eq!(lines(&wheel), ["yaw = \"yaw + 0.05 * next.rate\""]);
    assert!(wheel.known(&[], &[]).is_empty());
}

#[test]
fn a_near_miss_is_left_to_the_model() {
    let noisy = |share: f32| {
        let clean = cart_pole(|x, v, _| x + 0.05 * v);
        let spread = spread(clean.rows.iter().map(|row| f64::from(row.state[0])));
        let size = share * spread as f32;
        let mut noise = Noise(3);
        let mut log = clean;
        for row in &mut log.rows {
            row.next_state.as_mut().unwrap()[0] += size * noise.next();
        }
        lines(&log)
    };
    assert_eq!(noisy(1e-3), ["theta = \"theta + 0.05 * omega\""]);
    assert_eq!(noisy(5e-5)[0], "x = \"x + 0.05 * v\"");
    // One row is enough to refute it.
    let mut log = cart_pole(|x, v, _| x + 0.05 * v);
    log.rows[77].next_state.as_mut().unwrap()[0] += 0.01;
    assert_eq!(lines(&log), ["theta = \"theta + 0.05 * omega\""]);
}

#[test]
fn nothing_follows_from_counters_and_flags_and_constants_stay() {
    // A constant velocity, with and without the last bit: it may stay, and nothing follows
    // from it.
    for jitter in [0.0, 1e-7] {
        let ramp = log("x v", move |s, _, noise| {
            vec![s[0] + 0.05 * 2.0, 2.0 + jitter * noise.next()]
        });
        let found = lines(&without_starts(ramp));
        assert!(
            found.iter().all(|line| line == "v = \"v\""),
            "{jitter}: {found:?}"
        );
        assert!(jitter > 0.0 || found.len() == 1);
    }
    let still = without_starts(log("x v", |_, _, noise| vec![3.0, noise.next()]));
    assert_eq!(lines(&still), ["x = \"x\""]);
    assert_eq!(still.constants(), [("x", 3.0)]);
    let text = draft(&still, "still");
    assert!(text.contains("\ninputs = [\"v\"]\n"), "{text}");
    // One that differs between episodes stays too, and the model sees it.
    let mut goals = still;
    for row in &mut goals.rows {
        let goal = row.episode as f32;
        row.state[0] = goal;
        if let Some(next) = &mut row.next_state {
            next[0] = goal;
        }
    }
    assert_eq!(lines(&goals), ["x = \"x\""]);
    assert!(!draft(&goals, "goals").contains("[model]"));
    // A counter, a gear and a flag beside a walk.
    let mixed = log("count gear flag x", |s, u, noise| {
        let gear = (2.0 * noise.next()).round();
        vec![
            s[0].floor() + 1.0,
            gear,
            f32::from(u > 0.9),
            s[3] + 0.1 * noise.next(),
        ]
    });
    assert!(lines(&without_starts(mixed)).is_empty());
    // An alarm that is raised once, and a total that rises with it: no evidence for a line.
    let mut alarm = log("alarm total", |_, _, _| vec![0.0, 0.0]);
    for (index, row) in alarm.rows.iter_mut().enumerate() {
        let at = |index: usize| f32::from(index > 100);
        row.state = vec![f32::from(index == 100), at(index)];
        row.next_state = Some(vec![f32::from(index == 99), at(index + 1)]);
    }
    assert!(lines(&alarm).is_empty());
    // Too few rows.
    let mut short = cart_pole(|x, v, _| x + 0.05 * v);
    short.rows.truncate(9);
    assert!(lines(&short).is_empty());
    short = cart_pole(|x, v, _| x + 0.05 * v);
    short.rows.truncate(12);
    assert_eq!(lines(&short).len(), 2);
}

#[test]
fn remembered_actions_and_delays_follow() {
    let delayed = log("x before last", |s, u, noise| {
        vec![0.9 * s[0] + s[2] + 0.1 * noise.next(), s[0], u]
    });
    assert_eq!(lines(&delayed), ["before = \"x\"", "last = \"u\""]);
}

/// x′ = x + 0.1 v′ and v′ = v - 0.2 x′ cannot both be computed first.
#[test]
fn no_state_waits_for_itself() {
    let both = log("x v", |_, _, noise| vec![noise.next(), noise.next()]);
    let mut both = without_starts(both);
    for row in &mut both.rows {
        let [x, v] = [0, 1].map(|column| f64::from(row.state[column]));
        let next_x = (x + 0.1 * v) / 1.02;
        row.next_state = Some(vec![next_x as f32, (v - 0.2 * next_x) as f32]);
    }
    assert_eq!(lines(&both), ["x = \"x + 0.1 * next.v\""]);
}

#[test]
fn a_draft_shows_the_evidence() {
    let mut cart = cart_pole(|x, v, _| x + 0.05 * v);
    cart.states[2] = "θ".to_owned();
    let text = draft(&cart, "cart");
    let table: toml::Table = text.parse().unwrap();
    assert_eq!(table["known"]["x"].as_str(), Some("x + 0.05 * v"));
    assert_eq!(table["known"]["θ"].as_str(), Some("θ + 0.05 * omega"));
    let evidence = "of its standard deviation, in 600 rows.\nx = ";
    assert!(text.contains(evidence), "{text}");
    assert!(!text.contains("circle"), "{text}");
}
