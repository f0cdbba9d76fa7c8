//! The work of a check: how much there is, how far it is, and what comes of one
//! that is stopped, too long or too large.

// Whole checks take minutes each under Miri.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use heapless::Vec;

use super::tests::{check, check_with};
use super::{Assessment, Check, Progress};
use crate::adversary::{Level, SearchResult};
use crate::example;
use crate::gate::Reason;
use crate::task::{Allocation, Constraint, InitialKind, InitialState, Objective, Variant};

#[test]
fn every_sweep_is_counted_once() {
    let image = example::image().unwrap();
    let mut rows = vec![[0.0; 1]; Check::<1>::rows_needed(&image).unwrap()];
    let mut check = Check::new(&image, &mut rows).unwrap();
    let mut sweeps = 0;
    let last = loop {
        match check.advance(1) {
            Progress::Working { done, total } => {
                sweeps += 1;
                assert_eq!(done, sweeps);
                assert!(done <= total);
                if done == total {
                    break total;
                }
            }
            Progress::Finished(_) => panic!("before the last sweep"),
        }
    };
    assert!(matches!(check.advance(1), Progress::Finished(_)));
    // Each walks four steps in its one lane.
    let assessment = Assessment::new(image.model(), image.task(), image.policy()).unwrap();
    assert_eq!(assessment.steps(), 4 * u64::from(last));
}

#[test]
fn a_check_of_just_the_allowed_steps_is_made_and_one_more_is_not() {
    let steps = {
        let image = example::image().unwrap();
        let assessment = Assessment::new(image.model(), image.task(), image.policy());
        assessment.unwrap().steps()
    };
    let outcome = check_with(|task| task.plan.method.step_limit = steps);
    assert_eq!(outcome.verdict.name(), "deploy");
    let outcome = check_with(|task| task.plan.method.step_limit = steps - 1);
    assert_eq!(outcome.verdict.name(), "abstain");
    assert!(outcome.reasons.contains(&Reason::OverBudget));
    assert!(!outcome.reasons.contains(&Reason::Unfinished));
    assert!(outcome.estimates.is_empty());
}

#[test]
fn a_check_that_is_stopped_abstains() {
    let image = example::image().unwrap();
    let mut rows = vec![[0.0; 4]; Check::<4>::rows_needed(&image).unwrap()];
    let mut check = Check::new(&image, &mut rows).unwrap();
    let Progress::Working { done, total } = check.advance(5) else {
        panic!("finished");
    };
    assert!(done == 5 && total > 5);
    let outcome = check.stop();
    assert_eq!(outcome.verdict.name(), "abstain");
    assert!(outcome.reasons.contains(&Reason::Unfinished));
}

#[test]
fn more_estimates_than_places_are_refused() {
    let all = [
        Variant::DistributionSampling,
        Variant::TrajectorySampling1,
        Variant::TrajectorySamplingInf,
        Variant::Penalised,
        Variant::ContinuousAdversary,
        Variant::DiscreteAdversary1,
        Variant::DiscreteAdversaryInf,
    ];
    let with = |constraints: &[u16]| {
        let image = example::image_with(|task| {
            task.plan.method.variants = Vec::from_slice(&all).unwrap();
            task.constraints = constraints.iter().copied().map(Constraint::mean).collect();
        });
        let image = image.unwrap();
        let assessment = Assessment::new(image.model(), image.task(), image.policy());
        assessment.map(|_| ()).map_err(|error| error.needed)
    };
    // Eight for the return, and eight for each constraint, in 24 places.
    assert_eq!(with(&[5, 4]), Ok(()));
    assert_eq!(with(&[5, 4, 3]), Err(32));
}

#[test]
fn only_an_adversary_that_searches_has_a_second_level() {
    let levels = |searched: u32| -> std::vec::Vec<_> {
        let image = example::image_with(|task| task.plan.effort.searched = searched).unwrap();
        let assessment = Assessment::new(image.model(), image.task(), image.policy()).unwrap();
        let plan = assessment.plan().take(3);
        plan.map(|stage| (stage.rollout.variant, stage.level))
            .collect()
    };
    let (mean, adversary) = (Variant::Mean, Variant::ContinuousAdversary);
    let both = [
        (mean, Level::Sampled),
        (adversary, Level::Sampled),
        (adversary, Level::Searched),
    ];
    assert_eq!(levels(2), both);
    // The third is the constraint's.
    let one = [
        (mean, Level::Sampled),
        (adversary, Level::Sampled),
        (mean, Level::Sampled),
    ];
    assert_eq!(levels(0), one);
}

#[test]
fn a_focused_estimate_has_a_pilot_and_blocks_of_trials() {
    let stages = |trajectories: u32| -> std::vec::Vec<_> {
        let image = example::image_with(|task| {
            task.plan.effort.trajectories = trajectories;
            task.plan.effort.searched = 20;
            task.plan.effort.allocation = Allocation::Focused;
        });
        let image = image.unwrap();
        let assessment = Assessment::new(image.model(), image.task(), image.policy()).unwrap();
        // Those of the constraint are the same once more.
        let plan: std::vec::Vec<_> = assessment
            .plan()
            .map(|stage| (stage.level, stage.first, stage.trajectories, stage.starts))
            .collect();
        let (of_return, of_constraint) = plan.split_at(plan.len() / 2);
        assert_eq!(of_return, of_constraint);
        of_return.to_vec()
    };
    // The mean, then CA with five starts: one is searched.
    let trials = [
        (Level::Trial, 0, 16, 5),
        (Level::Searched, 0, 16, 1),
        (Level::Trial, 16, 4, 5),
        (Level::Searched, 16, 4, 1),
    ];
    let few = [(Level::Sampled, 0, 2, 1), (Level::Sampled, 0, 2, 5)];
    assert_eq!(stages(2), [&few[..], &trials].concat());
    // Of many two are sampled, and every start has a quarter.
    let many = [
        (Level::Sampled, 0, 8000, 1),
        (Level::Pilot, 0, 64, 5),
        (Level::Complete, 0, 2000, 5),
        (Level::Sampled, 2000, 6000, 2),
    ];
    assert_eq!(stages(8000), [&many[..], &trials].concat());
}

#[test]
fn only_the_pilots_choice_is_left_out() {
    let image = example::image_with(|task| {
        task.plan.effort.trajectories = 1100;
        task.plan.effort.allocation = Allocation::Focused;
    });
    let image = image.unwrap();
    let mut assessment = Assessment::new(image.model(), image.task(), image.policy()).unwrap();
    let mut walked: std::vec::Vec<(Level, u32, std::vec::Vec<usize>)> = std::vec::Vec::new();
    while let Some(stage) = assessment.current() {
        let numbers = 0..stage.candidates();
        let candidates: std::vec::Vec<_> = numbers
            .map(|number| assessment.candidate(&stage, number))
            .collect();
        // Starts 3 and 1 look worst in the pilot.
        let value = |start: usize| [0.0, -2.0, -1.0, -3.0, 1.0][start];
        let results = candidates.iter().map(|candidate| {
            let value = value(candidate.start);
            SearchResult::found(candidate.start, value, value)
        });
        assessment.add_results(results.collect::<std::vec::Vec<_>>());
        for one in candidates {
            match walked.last_mut() {
                Some((level, trajectory, starts))
                    if *level == stage.level && *trajectory == one.trajectory =>
                {
                    starts.push(one.start);
                }
                _ => walked.push((stage.level, one.trajectory, [one.start].to_vec())),
            }
        }
    }
    let of = |level: Level, trajectory: u32| {
        let mut all = walked
            .iter()
            .filter(|one| one.0 == level && one.1 == trajectory);
        all.next_back().unwrap().2.clone()
    };
    assert_eq!(of(Level::Complete, 999), [0, 1, 2, 3, 4]);
    assert_eq!(of(Level::Sampled, 1000), [1, 3]);
    assert_eq!(of(Level::Sampled, 1099), [1, 3]);
    let outcome = assessment.outcome();
    let estimate = outcome.estimates[1];
    assert_eq!((estimate.sampled.count, estimate.mean), (1100, -3.0));
}

#[test]
fn estimates_come_in_the_order_of_the_plan() {
    let outcome = check_with(|task| {
        let variants = [Variant::Mean, Variant::DiscreteAdversary1];
        task.plan.method.variants = Vec::from_slice(&variants).unwrap();
    });
    let order: std::vec::Vec<_> = outcome
        .estimates
        .iter()
        .map(|one| (one.objective, one.variant))
        .collect();
    // Mean propagation is made once, named or not.
    assert_eq!(
        order,
        [
            (Objective::Return, Variant::Mean),
            (Objective::Return, Variant::DiscreteAdversary1),
            (Objective::Constraint(0), Variant::Mean),
            (Objective::Constraint(0), Variant::DiscreteAdversary1),
        ]
    );
}

#[test]
fn student_has_a_degree_of_freedom_less_than_different_starts() {
    static STARTS: [f32; 6] = [1.0, 0.9, 0.8, 0.7, 0.6, 0.6];
    let outcome = check_with(|task| {
        task.initial = InitialState {
            kind: InitialKind::Logged,
            first: &STARTS,
            second: &[],
        };
        task.plan.effort.trajectories = 60;
    });
    let mean = outcome.estimates[0];
    let margin = (mean.mean - mean.lower) / mean.standard_error;
    // Five differ: t of 4 degrees of freedom at 0.025 is 2.776.
    assert!((2.77..2.79).contains(&margin), "{margin}");
}

#[test]
fn the_bound_is_the_least_of_what_decides() {
    let image = example::image_with(|task| {
        let variants = [Variant::DiscreteAdversaryInf, Variant::ContinuousAdversary];
        task.plan.method.variants = Vec::from_slice(&variants).unwrap();
    });
    let outcome = check(&image.unwrap());
    let lowers = outcome
        .estimates
        .iter()
        .filter(|one| one.objective == Objective::Return && one.variant != Variant::Mean);
    let least = lowers.map(|one| one.lower).fold(f32::INFINITY, f32::min);
    assert_eq!(outcome.bound.to_bits(), least.to_bits());
    assert!((outcome.neutral + 1.328).abs() < 1e-3);
    assert_eq!(outcome.threshold, Some(-2.0));
}
