//! The terminating systems that adversaries are measured on.

use crate::terminating::{Exact, Terminating, Vector};

const fn pair(a: f64, b: f64) -> Vector {
    [a, b, 0.0]
}

const fn one(a: f64) -> Vector {
    [a, 0.0, 0.0]
}

const NONE: Vector = [0.0; 3];

fn indicator(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

/// All of them, in no order.
pub static TERMINATING: [Terminating; 8] = [
    Terminating {
        name: "an oscillator that is paid for every step",
        states: &["x", "v"],
        horizon: 100,
        discount: 1.0,
        matrix: [pair(-0.035, 0.196), pair(-0.196, -0.025), NONE],
        input: pair(0.0, 0.1),
        gain: pair(0.0, -0.1),
        offsets: &[pair(0.0, 0.02), pair(0.0, -0.02)],
        start: pair(0.1, 0.0),
        reward: "1",
        termination: "abs(next.x) > 0.4",
        judge: |_, next| (1.0, next[0].abs() > 0.4),
        step_reward: 1.0,
        exact: Exact::FirstExit {
            functional: one(1.0),
            limit: 0.4,
            both: true,
        },
    },
    Terminating {
        name: "a brake in front of a wall",
        states: &["x", "v"],
        horizon: 40,
        discount: 1.0,
        matrix: [pair(0.0, 0.1), pair(0.0, 0.0), NONE],
        input: pair(0.0, 0.1),
        gain: pair(-1.0, -1.5),
        offsets: &[pair(0.02, 0.04), pair(-0.02, -0.04), pair(0.0, 0.0)],
        start: pair(0.5, 0.5),
        reward: "0.1 - 10 * (next.x > 0.9)",
        termination: "next.x > 0.9",
        judge: |_, next| (0.1 - 10.0 * indicator(next[0] > 0.9), next[0] > 0.9),
        step_reward: 0.1,
        exact: Exact::FirstExit {
            functional: one(1.0),
            limit: 0.9,
            both: false,
        },
    },
    Terminating {
        name: "three tanks that must not spill",
        states: &["p", "q", "r"],
        horizon: 60,
        discount: 0.98,
        matrix: [[-0.3, 0.3, 0.0], [0.0, -0.3, 0.3], [0.0, 0.0, 0.0]],
        input: [0.0, 0.0, 1.0],
        gain: [0.0, 0.0, -0.1],
        offsets: &[
            [0.0, 0.005, 0.02],
            [0.0, -0.005, 0.03],
            [0.0, 0.01, -0.03],
            [0.0, 0.0, 0.01],
            [0.0, -0.01, -0.03],
        ],
        start: [0.2, 0.2, 0.2],
        reward: "1",
        termination: "next.p + 0.5 * next.q > 0.4",
        judge: |_, next| (1.0, next[0] + 0.5 * next[1] > 0.4),
        step_reward: 1.0,
        exact: Exact::FirstExit {
            functional: [1.0, 0.5, 0.0],
            limit: 0.4,
            both: false,
        },
    },
    Terminating {
        name: "a goal that every step towards it costs",
        states: &["x"],
        horizon: 40,
        discount: 1.0,
        matrix: [one(0.0), NONE, NONE],
        input: one(1.0),
        gain: one(-0.1),
        offsets: &[one(0.02), one(-0.02)],
        start: one(0.95),
        reward: "-1",
        termination: "next.x < 0.25",
        judge: |_, next| (-1.0, next[0] < 0.25),
        step_reward: 1.0,
        exact: Exact::Cells,
    },
    Terminating {
        name: "costs that are highest just before the end",
        states: &["x"],
        horizon: 40,
        discount: 1.0,
        matrix: [one(0.1), NONE, NONE],
        input: one(1.0),
        gain: one(-0.2),
        offsets: &[one(0.15), one(0.05), one(-0.05), one(-0.15)],
        start: one(0.3),
        reward: "-(next.x^2)",
        termination: "abs(next.x) > 1",
        judge: |_, next| (-next[0] * next[0], next[0].abs() > 1.0),
        step_reward: 0.0,
        exact: Exact::Cells,
    },
    Terminating {
        name: "a parking place that must be entered slowly",
        states: &["x", "v"],
        horizon: 60,
        discount: 1.0,
        matrix: [pair(0.0, 0.2), NONE, NONE],
        input: pair(0.0, 0.2),
        gain: pair(-1.0, -1.0),
        offsets: &[pair(0.0, 0.02), pair(0.0, -0.02)],
        start: pair(0.95, 0.0),
        reward: "-1",
        termination: "abs(next.x) < 0.1 && abs(next.v) < 0.1",
        judge: |_, next| (-1.0, next[0].abs() < 0.1 && next[1].abs() < 0.1),
        step_reward: 1.0,
        exact: Exact::NeverEnds(|state| pair(0.0, state[1])),
    },
    Terminating {
        name: "a prize on one side and a cliff on the other",
        states: &["x"],
        horizon: 40,
        discount: 1.0,
        matrix: [NONE; 3],
        input: NONE,
        gain: NONE,
        offsets: &[one(0.03), one(-0.05), one(-0.13)],
        start: one(0.6),
        reward: "5 * (next.x < 0.05) - 5 * (next.x > 1.2) - 0.03",
        termination: "next.x < 0.05 || next.x > 1.2",
        judge: |_, next| {
            let [x, ..] = *next;
            let reward = 5.0 * indicator(x < 0.05) - 5.0 * indicator(x > 1.2) - 0.03;
            (reward, !(0.05..=1.2).contains(&x))
        },
        step_reward: 0.03,
        exact: Exact::Cells,
    },
    Terminating {
        name: "a balance that costs until it is lost",
        states: &["x"],
        horizon: 50,
        discount: 1.0,
        matrix: [one(0.2), NONE, NONE],
        input: one(1.0),
        gain: one(-0.1),
        offsets: &[one(0.03), one(-0.03)],
        start: one(0.2),
        reward: "-1",
        termination: "abs(next.x) > 0.5",
        judge: |_, next| (-1.0, next[0].abs() > 0.5),
        step_reward: 1.0,
        exact: Exact::Cells,
    },
];
