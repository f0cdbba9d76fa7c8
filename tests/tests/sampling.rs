//! The bound lies above the truth no more often than its share of delta allows, on returns
//! whose worst mean is known.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::check::Estimate;
use hambo_core::task::{Allocation, Effort};
use hambo_task::plan::CheckPlan;
use hambo_task::task::TaskFile;
use hambo_tests::one_state::{OneState, most_failures};
use rayon::prelude::*;

/// Runs of each distribution.
const RUNS: u64 = 1000;
/// Sampled trajectories of a run: few, so that the margin has to work.
const TRAJECTORIES: u32 = 400;
/// delta; half of it is the sampling's.
const DELTA: f64 = 0.05;
/// How far a member lies from the mean: the adversary's reach, with beta = 1.
const REACH: f32 = 0.02;

/// A return of one step from a state that chance draws, and the mean of its worst case.
struct Distribution {
    name: &'static str,
    initial: &'static str,
    reward: &'static str,
    truth: f64,
}

const UNIFORM: &str = "kind = \"uniform\"\nlow = [0]\nhigh = [1]";

const DISTRIBUTIONS: [Distribution; 5] = [
    Distribution {
        name: "normal",
        initial: "kind = \"gaussian\"\nmean = [1]\nstd = [0.5]",
        reward: "expr = \"next.x\"",
        truth: 1.0 - REACH as f64,
    },
    Distribution {
        name: "0/1 at 0.911",
        initial: UNIFORM,
        reward: "expr = \"x < 0.911\"\nlow = 0\nhigh = 1",
        truth: 0.911,
    },
    Distribution {
        name: "0/1 at 0.99",
        initial: UNIFORM,
        reward: "expr = \"x < 0.99\"\nlow = 0\nhigh = 1",
        truth: 0.99,
    },
    Distribution {
        name: "a disaster of 2 % that neutral rollouts meet",
        initial: UNIFORM,
        reward: "expr = \"x - 100 * (x < 0.02)\"\nlow = -100\nhigh = 1",
        truth: 0.5 - 2.0,
    },
    Distribution {
        name: "a disaster of 2 % that only the adversary reaches",
        initial: UNIFORM,
        reward: "expr = \"x - 100 * (next.x < 0)\"\nlow = -100\nhigh = 1.1",
        truth: 0.5 - 2.0,
    },
];

impl Distribution {
    fn estimate(&self, trajectories: u32, seed: u64) -> Estimate {
        let text = format!(
            "name = \"one step\"\nhorizon = 1\ndelta = {DELTA}\nthreshold = -1000\n\
             [state]\nnames = [\"x\"]\n[action]\nnames = [\"u\"]\nlow = [-1]\nhigh = [1]\n\
             [reward]\n{}\n[initial]\n{}\n",
            self.reward, self.initial
        );
        let task = TaskFile::parse(&text, "one_step.toml").unwrap();
        let effort = Effort {
            trajectories,
            searched: 8,
            iterations: 8,
            seed,
            allocation: Allocation::Even,
        };
        let system = OneState {
            slope: 0.0,
            reach: REACH,
            noise: 1.0,
        };
        system
            .check(&task, CheckPlan::from(effort).without_noise())
            .unwrap()
            .estimates[1]
    }
}

#[test]
fn the_bound_lies_above_the_truth_no_more_often_than_its_share_of_delta() {
    let most = most_failures(RUNS, 0.5 * DELTA);
    assert_eq!(most, 33);
    for distribution in &DISTRIBUTIONS {
        let lowers: Vec<f64> = (0..RUNS)
            .into_par_iter()
            .map(|seed| f64::from(distribution.estimate(TRAJECTORIES, seed).lower))
            .collect();
        let above = lowers
            .iter()
            .filter(|lower| **lower > distribution.truth)
            .count();
        let mean = lowers.iter().sum::<f64>() / RUNS as f64;
        println!(
            "{:50} truth {:.3}, mean bound {mean:.3}, above the truth in {above} of {RUNS}",
            distribution.name, distribution.truth
        );
        assert!(above <= most, "{}: {above}", distribution.name);
    }
}
