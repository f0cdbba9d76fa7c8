//! What only the search finds, in a share of the trajectories: whatever bounds it must not take
//! that it met nothing for proof. Drawn values stand for trajectories.

// Whole checks take minutes each under Miri.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, reason = "tests")]

use heapless::Vec;

use super::{Assessment, Estimate, Outcome, Stage};
use crate::adversary::{Candidate, Level, SearchResult};
use crate::estimate::{Margin, charge_of_nothing_found, probability_limit};
use crate::example;
use crate::task::{
    Allocation, Constraint, ConstraintKind, DistributionFree, Effort, Objective, Task, Variant,
};

const RUNS: u64 = 100;
/// What the requirement asks for.
const ASKED: f32 = 0.97;

/// A return of 0 and a margin of 1, but where the whole search finds the loss of the range.
fn result<P>(stage: &Stage<'_, P>, candidate: Candidate, p: f32) -> SearchResult {
    let mut stream = stage.level.stream(stage.rollout.task, candidate.trajectory);
    let lost = stream.uniform() < p
        && stage.level == Level::Searched
        && stage.rollout.variant == Variant::ContinuousAdversary;
    let start = match stage.rollout.objective {
        Objective::Return => 0.0,
        Objective::Constraint(_) => 1.0,
    };
    SearchResult::found(candidate.start, start, if lost { -1.0 } else { start })
}

/// The check of a task with a requirement, where the search finds a loss in a share `p`.
fn check(p: f32, seed: u64, change: impl Fn(&mut Task<'_>)) -> Outcome {
    let image = example::image_with(|task| {
        let requirement = Constraint {
            slot: task.reward,
            kind: ConstraintKind::Always,
            probability: Some(ASKED),
        };
        task.constraints = Vec::from_slice(&[requirement]).unwrap();
        task.return_bounds = Some([-1.0, 0.0]);
        task.plan.effort = Effort {
            trajectories: 4000,
            searched: 300,
            seed,
            allocation: Allocation::Tried,
            ..task.plan.effort
        };
        change(task);
    });
    let image = image.unwrap();
    let mut assessment = Assessment::new(image.model(), image.task(), image.policy()).unwrap();
    while let Some(stage) = assessment.current() {
        let numbers = 0..stage.candidates();
        let results: std::vec::Vec<SearchResult> = numbers
            .map(|number| result(&stage, assessment.candidate(&stage, number), p))
            .collect();
        assessment.add_results(results);
    }
    assessment.outcome()
}

fn of(outcome: &Outcome, objective: Objective) -> Estimate {
    let mut all = outcome.estimates.iter();
    let found = all.find(|one| one.objective == objective && one.variant.has_adversary());
    *found.unwrap()
}

/// How many of the checks certify the requirement.
fn certified(p: f32, change: impl Fn(&mut Task<'_>)) -> usize {
    let lower = |seed| of(&check(p, seed, &change), Objective::Constraint(0)).lower;
    (0..RUNS).filter(|seed| lower(*seed) >= ASKED).count()
}

#[test]
fn a_requirement_that_the_search_breaks_in_a_twentieth_is_not_certified() {
    // An eightieth is allowed; six of a hundred have a probability of 0.2 %.
    assert!(certified(0.05, |_| {}) < 6);
    // With few searches nothing at all is certified, broken or not.
    let few = |task: &mut Task<'_>| task.plan.effort.searched = 16;
    assert_eq!(certified(0.0, few), 0);
    // One that is never broken is certified with as many as there are.
    assert_eq!(certified(0.0, |_| {}), RUNS as usize);
    // Student's t takes what was not met for nothing.
    let students = |task: &mut Task<'_>| {
        few(task);
        task.distribution_free = DistributionFree::Nothing;
    };
    assert!(certified(0.05, students) > 30);
}

#[test]
fn nothing_found_is_not_nothing_to_find() {
    let shares = |_: &mut Task<'_>| {};
    let stated = |task: &mut Task<'_>| task.distribution_free = DistributionFree::SharesAndReturn;
    let outcome = check(0.0, 1, shares);
    // An interval's bounds of a return: its correction is Student's.
    let correction = of(&outcome, Objective::Return).correction.unwrap();
    assert_eq!(
        (correction.lower, correction.margin),
        (0.0, Margin::StudentT)
    );
    for outcome in [outcome, check(0.0, 1, stated)] {
        let correction = of(&outcome, Objective::Constraint(0)).correction.unwrap();
        // Half of delta 0.1 is the model's; two objectives have two levels each.
        let charge = 1.0 - probability_limit(300, 0, 0.0125);
        assert_eq!(correction.margin, Margin::ClopperPearson);
        assert!((correction.lower + charge).abs() < 1e-6, "{correction:?}");
    }
    let both = of(&check(0.0, 1, stated), Objective::Return);
    let correction = both.correction.unwrap();
    assert_eq!(
        (both.margin, correction.margin),
        (Margin::Betting, Margin::Betting)
    );
    let charge = charge_of_nothing_found(300, 0.0125);
    assert!((correction.lower + charge).abs() < 1e-4, "{correction:?}");
    assert_eq!(both.distribution_free(), Some(both.lower));
}
