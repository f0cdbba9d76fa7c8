//! Results do not depend on the number of lanes.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::check::Outcome;
use hambo_core::image::Image;
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
