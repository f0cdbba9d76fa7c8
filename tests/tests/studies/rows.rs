//! What the tests of several studies ask of committed rows.

use hambo_base::study::rows::{Record, Table};
use hambo_base::study::{Row, Study};
use hambo_tests::study::assumption::{ASSUMPTIONS, Assumption};
use hambo_tests::study::coverage::{EXPLORED, UNEXPLORED};
use hambo_tests::study::kept::kept;

pub(super) fn committed(study: &dyn Study) -> Table {
    let table = kept(study).unwrap();
    assert!(!table.is_empty(), "{} has no rows", study.name());
    table
}

/// Compares rows of the current program with the committed ones, field by field, but not the
/// wording of reasons.
pub(super) fn compare_with_committed(study: &dyn Study, cell: usize, rows: &[Row]) {
    let table = committed(study);
    let kept = table.of_cell(cell);
    assert!(!rows.is_empty() && rows.len() <= kept.len());
    for (row, kept) in rows.iter().zip(kept) {
        for ((column, now), kept) in study.columns().iter().zip(row).zip(kept) {
            let words = column.ends_with("reasons");
            let place = || format!("{} {cell}, {column}: {now}, not {kept}", study.name());
            assert!(words || now == kept, "{}", place());
        }
    }
}

/// Enough cells of both kinds to say something; the pages say how many.
pub(super) fn assert_worked_off(explored: &[Record<'_>], unexplored: &[Record<'_>]) {
    assert!(explored.len() >= EXPLORED / 10, "{}", explored.len());
    assert!(unexplored.len() >= UNEXPLORED / 10, "{}", unexplored.len());
}

/// The rows themselves: a bound above the truth is one that is marked so.
pub(super) fn marked_as_they_are(table: &Table) {
    for row in table.rows() {
        let far = row.number("truth") + 3.0 * row.number("truth_error");
        let (bound, marked) = (row.number("bound"), row.yes("violated"));
        assert_eq!(bound > far, marked, "cell {}", row.text("cell"));
        let gap = (row.number("truth") - bound) / row.number("spread");
        let same = (gap - row.number("gap_share")).abs() <= 1e-3 * (1.0 + gap.abs());
        assert!(same || bound.is_nan(), "cell {}", row.text("cell"));
    }
}

pub(super) fn place_of(assumption: Assumption) -> usize {
    let mut all = ASSUMPTIONS.iter();
    all.position(|one| *one == assumption).unwrap()
}
