//! The traces against the check that they explain.

#![allow(clippy::unwrap_used, reason = "a failed test may stop where it fails")]

use hambo_core::task::Limits;
use hambo_core::task::Objective;
use hambo_core::task::Variant;

use super::paths::{Seen, walk_system};
use crate::case::system::System;
use crate::evidence::trace::{neutral_traces, traces};
use crate::search::findings::TRACED_TRAJECTORIES;
use crate::search::parallel::{Checked, LANES, Watch, check};
use hambo_task::task::TaskFile;

fn checked(system: &System<'_>, keep: u32) -> Checked {
    let watch = Watch {
        keep,
        ..Watch::NONE
    };
    check::<LANES>(system.clone(), watch).unwrap()
}

/// The trajectories shown are those the search was on: their mean is what it found, for
/// every variant.
#[test]
fn traces_return_what_the_check_found() {
    let variants = [
        Variant::ContinuousAdversary,
        Variant::DiscreteAdversary1,
        Variant::DiscreteAdversaryInf,
    ];
    let image = hambo_core::example::image_with(|task| {
        task.plan.effort.trajectories = 5;
        task.plan.effort.searched = 5;
        task.plan.method.variants.clear();
        task.plan.method.variants.extend(variants);
    });
    let image = image.unwrap();
    let image = System::from(&image);
    let Checked {
        outcome, findings, ..
    } = checked(&image, 5);
    assert_eq!(findings.len(), 3);
    for variant in variants {
        let found = findings.iter().find(|one| one.variant == variant).unwrap();
        let (traces, neutral) = (traces(&image, found), neutral_traces(&image, found));
        let (traces, neutral) = (traces.unwrap(), neutral.unwrap());
        assert_eq!((traces.len(), neutral.len()), (5, 5));
        let mean = traces.iter().map(|trace| trace.value).sum::<f32>() / 5.0;
        let mut returns = outcome.estimates.iter();
        let estimate = returns.find(|one| one.variant == variant).unwrap();
        assert!((mean - estimate.mean).abs() < 1e-5, "{variant:?}");
        for trace in traces.iter().chain(&neutral) {
            // The steps add up to the core's sum.
            let sum: f32 = trace.rewards.iter().sum();
            assert!((sum - trace.value).abs() < 1e-5);
            assert_eq!(trace.states.len(), trace.actions.len() + 1);
        }
        // The adversary did find more than the mean.
        assert!((neutral[0].value - outcome.neutral).abs() < 1e-5);
        assert!(traces[0].value < neutral[0].value - 0.1);
    }
}

#[test]
fn losses_add_up_to_what_the_adversary_takes() {
    // The controller wants more than it may: the clipped action counts.
    let image = hambo_core::example::image_with(|task| {
        task.action_limits = Limits {
            low: &[-0.3],
            high: &[0.3],
        };
    });
    let image = image.unwrap();
    let text = "name = 'line'\nhorizon = 4\n[state]\nnames = ['s']\n[action]\nnames = ['a']\n\
                low = [-1]\nhigh = [1]\n[reward]\nexpr = '-s^2'\n[initial]\nkind = 'data'\n";
    let task = TaskFile::parse(text, "line.toml").unwrap();
    let image = System::from(&image);
    let Checked {
        outcome, findings, ..
    } = checked(&image, TRACED_TRAJECTORIES);
    let variant = Variant::ContinuousAdversary;
    let seen = Seen {
        findings: &findings,
        outside: outcome.outside(),
        variant,
    };
    let walked = walk_system(&image, &seen, &task, None, 3);
    let walked = walked.unwrap().unwrap();
    let (loss, paths) = (walked.loss, walked.paths);
    let estimate = outcome.estimates.iter().find(|estimate| {
        estimate.variant == Variant::ContinuousAdversary && estimate.objective == Objective::Return
    });
    let lost = f64::from(outcome.neutral - estimate.unwrap().mean);
    assert!((loss.total.0 - lost).abs() < 1e-5, "{lost}");
    assert!(loss.half_by_step.unwrap() < loss.by_step.len());
    assert_eq!(paths.neutral[0].mean.len(), 5);
    // All of it is bought where the trajectory is, in the one state there is.
    let share: f64 = walked.log_next.iter().map(|place| place.share.0).sum();
    assert!(share > 0.8 && share < 1.0001, "{share}");
    assert!(walked.log_next.iter().all(|place| place.uncertain == "s"));
    // The neutral path is the middle of the set around it.
    let ends = paths.shown.set_low[0].iter().zip(&paths.shown.set_high[0]);
    for ((low, high), x) in ends.zip(&paths.shown.neutral[0][1..]) {
        assert!(low.0 < high.0 && (0.5 * (low.0 + high.0) - x.0).abs() < 1e-6);
    }
}
