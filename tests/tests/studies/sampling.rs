//! What is said of sampling alone, counted from the committed rows.

use super::rows::committed;
use hambo_base::study::Study;
use hambo_base::study::rows::Record;
use hambo_tests::study::sampling::{RUNS, Sampling, SamplingCell};
use hambo_tests::study::sampling_finder::Finder;
use hambo_tests::study::sampling_summary::{ALLOWED, BOUNDS, above};

/// What docs/evidence.md says of sampling alone.
#[test]
fn the_claims_of_the_sampling_hold() {
    let table = committed(&Sampling);
    assert_eq!(table.rows().count(), Sampling.cells());
    for row in table.rows() {
        let cell = row.number("cell") as usize;
        let setting = SamplingCell::of(cell);
        assert_eq!(row.number("probability"), setting.probability);
        for (column, name) in BOUNDS {
            let count = above(&row, column);
            assert_eq!(count.of as u64, RUNS);
            // What a task gets that asks for no bound for any distribution is there to compare.
            if !column.contains("students") {
                assert!(!count.above(ALLOWED), "{cell} {name}: {count:?}");
            }
        }
        assert_eq!(
            row.number("searched") as u32,
            setting.effort().unwrap().searched
        );
    }
    // A study that sees no failure anywhere would prove nothing: half of the bounds by
    // Student's t lie above what only the search finds.
    for column in ["return_students_above", "share_students_above"] {
        let searched = |row: &Record<'_>| row.text("found_by") == Finder::Search.name();
        let mut rows = table.rows().filter(searched);
        assert!(rows.any(|row| above(&row, column).above(0.5)), "{column}");
    }
}
