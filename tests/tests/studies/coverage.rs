//! What is said of coverage, counted from the committed rows.

use super::rows::{assert_worked_off, committed, marked_as_they_are};
use hambo_tests::study::coverage::{Coverage, SETTING_COLUMNS as COVERAGE_SETTING};
use hambo_tests::study::coverage_summary::{Counts, deployed_by_both, explored};
use hambo_tests::study::focused_summary::{Beside, apart};
use hambo_tests::study::plant::DELTA;

/// What README and docs/evidence.md say of networks and Gaussian processes.
#[test]
fn the_claims_of_the_coverage_study_hold() {
    let table = committed(&Coverage::EVEN);
    let [explored, unexplored] = explored(&table);
    assert_worked_off(&explored, &unexplored);
    let networks = Counts::of(&explored, "");
    assert!(!networks.violations.above(DELTA), "{networks:?}");
    assert!(!networks.constraint_violations.above(DELTA), "{networks:?}");
    assert!(networks.median_gap <= 0.15, "{networks:?}");
    assert!(networks.deployed.share() >= 0.7, "{networks:?}");
    let unexplored = Counts::of(&unexplored, "");
    assert!(!unexplored.violations.above(DELTA), "{unexplored:?}");
    let all: Vec<_> = table.rows().collect();
    let processes = Counts::of(&all, "gp_");
    assert!(!processes.violations.above(DELTA), "{processes:?}");
    let both = deployed_by_both(&explored);
    assert!(both.share() >= 0.5, "{both:?}");
    marked_as_they_are(&table);
}

/// What docs/evidence.md says of a focused search.
#[test]
fn the_claims_of_the_focused_coverage_hold() {
    let table = committed(&Coverage::FOCUSED);
    let [explored, unexplored] = explored(&table);
    assert_worked_off(&explored, &unexplored);
    for rows in [&explored, &unexplored] {
        let counts = Counts::of(rows, "");
        assert!(!counts.violations.above(DELTA), "{counts:?}");
        assert!(!counts.constraint_violations.above(DELTA), "{counts:?}");
    }
    let networks = Counts::of(&explored, "");
    assert!(networks.median_gap <= 0.15, "{networks:?}");
    assert!(networks.deployed.share() >= 0.7, "{networks:?}");
    marked_as_they_are(&table);
    // Of the same systems, logs and networks.
    let even = committed(&Coverage::EVEN);
    for row in table.rows() {
        let cell = row.number("cell") as usize;
        if even.of_cell(cell).is_empty() {
            continue;
        }
        // With what the mean of the networks returns.
        let same = ..=COVERAGE_SETTING;
        let [row, even] = [&table, &even].map(|table| table.of_cell(cell)[0][same].to_vec());
        assert_eq!(row, even, "cell {cell}");
    }
    let beside = Beside::of(&table, &even);
    let [lower, higher] = apart(&beside.differences);
    assert!(lower > 5 * higher, "{beside:?}");
    assert_eq!(beside.newly_deployed, 0);
}
