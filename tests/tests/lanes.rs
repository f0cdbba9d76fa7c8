//! Results do not depend on the number of lanes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use hambo_check::findings::Findings;
use hambo_check::parallel::{Checked, Watch, check};
use hambo_core::adversary::Search;
use hambo_core::check::{Assessment, Check, Outcome, Progress};
use hambo_core::gate::Reason;
use hambo_core::image::Image;
use hambo_core::rollout::Buffers;
use hambo_core::task::Method;
use hambo_core::task::{Allocation, InitialKind, InitialState, Variant};
use hambo_task::image::AlignedBytes;
use hambo_task::task::TaskFile;
use hambo_tests::fixture::{self, Draw};
use hambo_tests::{gaussian_process, policy};

fn bits(outcome: &Outcome) -> Vec<u32> {
    let numbers = outcome
        .estimates
        .iter()
        .flat_map(|one| [one.sampled.mean, one.found.search, one.mean, one.lower]);
    numbers.map(f32::to_bits).collect()
}

/// Ensembles and Gaussian processes, every kind of policy.
fn images(count: u64) -> impl Iterator<Item = (u64, AlignedBytes)> {
    (0..count).flat_map(|seed| {
        let policy =
            |_: &mut Draw, [states, actions]: [usize; 2]| Ok(policy::random(seed, states, actions));
        let process = gaussian_process::image_of(seed, policy).unwrap();
        let networks = fixture::image_with(seed, policy, |_, method| {
            method.variants.clear();
            method.variants.extend(fixture::VARIANTS);
        });
        [
            (seed, fixture::image(seed).unwrap()),
            (seed, networks.unwrap()),
            (seed, process),
        ]
    })
}

#[test]
fn bits_are_equal_for_every_number_of_lanes() {
    let mut verdicts = std::collections::BTreeSet::new();
    for (seed, bytes) in images(100) {
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let one = check::<1>(&image, Watch::NONE).unwrap().outcome;
        let others = [
            check::<3>(&image, Watch::NONE).unwrap().outcome,
            check::<4>(&image, Watch::NONE).unwrap().outcome,
            check::<8>(&image, Watch::NONE).unwrap().outcome,
            check::<32>(&image, Watch::NONE).unwrap().outcome,
        ];
        let mut rows = vec![[0.0; 4]; Check::<4>::rows_needed(&image).unwrap()];
        let mut in_order = Check::new(&image, &mut rows).unwrap();
        let Progress::Finished(in_order) = in_order.advance(u32::MAX) else {
            panic!("unfinished");
        };
        assert_eq!(in_order.digest(), one.digest(), "seed {seed}");
        for other in &others {
            assert_eq!(bits(&one), bits(other), "seed {seed}");
            assert_eq!(one.verdict.name(), other.verdict.name());
            assert_eq!(one.reasons, other.reasons);
        }
        verdicts.insert(one.verdict.name());
        for estimate in &one.estimates {
            // The minimum over all that was tried, to the last bit.
            let of_members = estimate.variant == Variant::DiscreteAdversaryInf;
            assert!(
                of_members || estimate.mean <= estimate.sampled.mean,
                "seed {seed}"
            );
            assert!(estimate.lower <= estimate.mean, "seed {seed}");
        }
    }
    assert!(
        verdicts.contains("deploy") && verdicts.contains("reject"),
        "{verdicts:?}"
    );
}

/// What is kept stands trajectory by trajectory, and within one by the start.
fn assert_in_order(image: &Image<'_>, findings: &Findings) {
    let assessment = Assessment::new(image.model(), image.task(), image.policy()).unwrap();
    // After mean propagation and CA's first level.
    let stage = assessment.plan().nth(2).unwrap();
    let (rollout, level) = (&stage.rollout, stage.level);
    let mut rows = vec![[0.0; 1]; Check::<1>::rows_needed(image).unwrap()];
    for (candidate, choice) in (0..).zip(&findings.choices) {
        let dynamics = &image.model().dynamics;
        let buffers = Buffers::carve(&mut rows, dynamics, image.task(), image.policy());
        let mut search = Search::new(rollout, level, [candidate]);
        let mut buffers = buffers.unwrap();
        while !search.sweep(rollout, &mut buffers) {}
        assert_eq!(choice.least.to_bits(), search.least()[0].to_bits());
    }
}

/// The core walks trajectories in their order, four at a time; the host puts those
/// that start near each other together, in several blocks.
#[test]
fn the_company_of_a_trajectory_changes_no_bit() {
    let both = [Allocation::Even, Allocation::Focused];
    let cases = both.into_iter().flat_map(|allocation| {
        let sizes = [0, 1, 33, 40, 20_000];
        sizes.map(|trajectories| (allocation, trajectories))
    });
    for (allocation, trajectories) in cases {
        let image = hambo_core::example::image_with(|task| {
            task.initial = InitialState {
                kind: InitialKind::Uniform,
                first: &[-2.0],
                second: &[3.0],
            };
            task.plan.effort.trajectories = trajectories;
            task.plan.effort.searched = trajectories.min(40);
            task.plan.effort.allocation = allocation;
        });
        let image = image.unwrap();
        let rows = Check::<4>::rows_needed(&image).unwrap();
        let mut rows = vec![[0.0; 4]; rows];
        let mut in_order = Check::new(&image, &mut rows).unwrap();
        let Progress::Finished(in_order) = in_order.advance(u32::MAX) else {
            panic!("unfinished");
        };
        let watch = Watch {
            keep: 32,
            ..Watch::NONE
        };
        let Checked {
            outcome: beside,
            findings,
            ..
        } = check::<32>(&image, watch).unwrap();
        assert_eq!(bits(&in_order), bits(&beside), "{trajectories}");
        assert_eq!(in_order.reasons, beside.reasons, "{trajectories}");
        if trajectories > 0 {
            let kept = trajectories.min(32) as usize;
            assert_eq!(findings[0].choices.len(), kept * findings[0].starts);
            if allocation == Allocation::Even {
                assert_in_order(&image, &findings[0]);
            }
        }
    }
}

#[test]
fn bits_are_equal_for_one_and_two_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap()
    };
    let (one, two) = (with(1), with(2));
    for (seed, bytes) in images(100) {
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let [one, two] = [&one, &two].map(|pool| {
            let outcome = pool.install(|| check::<4>(&image, Watch::NONE));
            let outcome = outcome.unwrap().outcome;
            (bits(&outcome), outcome.verdict.name())
        });
        assert_eq!(one, two, "seed {seed}");
    }
}

#[test]
fn a_check_in_slices_is_the_same_check() {
    for seed in 0..40 {
        let bytes = fixture::image(seed).unwrap();
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let whole = check::<8>(&image, Watch::NONE).unwrap().outcome;
        for slice in [1, 7] {
            let mut rows = vec![[0.0; 4]; Check::<4>::rows_needed(&image).unwrap()];
            let mut check = Check::new(&image, &mut rows).unwrap();
            let mut seen = 0;
            let sliced = loop {
                match check.advance(slice) {
                    Progress::Working { done, total } => {
                        assert!(done > seen && done <= total, "{done} of {total}");
                        seen = done;
                    }
                    Progress::Finished(outcome) => break outcome,
                }
            };
            assert_eq!(bits(&whole), bits(&sliced), "seed {seed}");
            assert_eq!(whole.verdict.name(), sliced.verdict.name());
        }
    }
}

#[test]
fn a_check_over_its_budget_abstains_at_once() {
    let limited = |steps: u64| {
        let limit = |_: &mut TaskFile, method: &mut Method| method.step_limit = steps;
        fixture::image_with(0, fixture::waypoints, limit).unwrap()
    };
    let bytes = fixture::image(0).unwrap();
    let image = Image::parse(bytes.as_bytes()).unwrap();
    let free = check::<4>(&image, Watch::NONE).unwrap().outcome;
    let steps = Assessment::new(image.model(), image.task(), image.policy())
        .unwrap()
        .steps();
    let bytes = limited(steps);
    let enough = check::<8>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
        .unwrap()
        .outcome;
    assert_eq!(bits(&free), bits(&enough));
    let bytes = limited(steps - 1);
    let image = Image::parse(bytes.as_bytes()).unwrap();
    let mut rows = vec![[0.0; 4]; Check::<4>::rows_needed(&image).unwrap()];
    let mut sliced = Check::new(&image, &mut rows).unwrap();
    let Progress::Finished(device) = sliced.advance(1) else {
        panic!("it must not start");
    };
    for outcome in [check::<8>(&image, Watch::NONE).unwrap().outcome, device] {
        assert_eq!(outcome.verdict.name(), "abstain");
        assert!(outcome.reasons.contains(&Reason::OverBudget));
        assert!(outcome.bound.is_nan() && outcome.estimates.is_empty());
    }
}

#[test]
fn a_stopped_check_abstains() {
    let deploys = (0..100).find_map(|seed| {
        let bytes = fixture::image(seed).unwrap();
        let outcome = check::<8>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
            .unwrap()
            .outcome;
        (outcome.verdict.name() == "deploy").then_some(bytes)
    });
    let bytes = deploys.unwrap();
    let image = Image::parse(bytes.as_bytes()).unwrap();
    let mut rows = vec![[0.0; 4]; Check::<4>::rows_needed(&image).unwrap()];
    for slices in [0, 1, 5] {
        let mut check = Check::new(&image, &mut rows).unwrap();
        for _ in 0..slices {
            assert!(matches!(check.advance(1), Progress::Working { .. }));
        }
        let outcome = check.stop();
        assert_eq!(outcome.verdict.name(), "abstain");
        assert!(outcome.reasons.contains(&Reason::Unfinished));
    }
}
