//! Results do not depend on the number of lanes.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::check::{Check, Outcome, Progress};
use hambo_core::image::Image;
use hambo_core::verdict::Reason;
use hambo_host::check::check_in_lanes;
use hambo_tests::fixture;

fn bits(outcome: &Outcome) -> Vec<u32> {
    let numbers = outcome
        .estimates
        .iter()
        .flat_map(|estimate| [estimate.start_mean, estimate.mean, estimate.lower]);
    numbers.map(f32::to_bits).collect()
}

#[test]
fn bits_are_equal_for_every_number_of_lanes() {
    let mut verdicts = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let bytes = fixture::image(seed).unwrap();
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let one = check_in_lanes::<1>(&image).unwrap();
        let others = [
            check_in_lanes::<3>(&image).unwrap(),
            check_in_lanes::<4>(&image).unwrap(),
            check_in_lanes::<8>(&image).unwrap(),
            check_in_lanes::<32>(&image).unwrap(),
        ];
        for other in &others {
            assert_eq!(bits(&one), bits(other), "seed {seed}");
            assert_eq!(one.verdict.name(), other.verdict.name());
            assert_eq!(one.reasons, other.reasons);
        }
        verdicts.insert(one.verdict.name());
        for estimate in &one.estimates {
            // The minimum over all that was tried, to the last bit.
            assert!(estimate.mean <= estimate.start_mean, "seed {seed}");
            assert!(estimate.lower <= estimate.mean, "seed {seed}");
        }
    }
    assert!(
        verdicts.contains("deploy") && verdicts.contains("reject"),
        "{verdicts:?}"
    );
}

#[test]
fn bits_are_equal_for_one_and_two_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap()
    };
    let (one, two) = (with(1), with(2));
    for seed in 0..40 {
        let bytes = fixture::image(seed).unwrap();
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let [one, two] = [&one, &two].map(|pool| {
            let outcome = pool.install(|| check_in_lanes::<4>(&image)).unwrap();
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
        let whole = check_in_lanes::<8>(&image).unwrap();
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
fn a_stopped_check_abstains() {
    let deploys = (0..100).find_map(|seed| {
        let bytes = fixture::image(seed).unwrap();
        let outcome = check_in_lanes::<8>(&Image::parse(bytes.as_bytes()).unwrap()).unwrap();
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
