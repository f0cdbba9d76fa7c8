//! A few cells of each study again, against the committed rows.

use super::rows::{committed, compare_with_committed, place_of};
use hambo_base::study::Study;
use hambo_tests::study::assumption::{ASSUMPTIONS, Assumption};
use hambo_tests::study::backtests::{Backtests, first_rows as first_backtests};
use hambo_tests::study::broken::{Broken, LogCell, SETTING_COLUMNS as BROKEN_SETTING, first_rows};
use hambo_tests::study::coverage::{Coverage, SETTING_COLUMNS as COVERAGE_SETTING, Setting};
use hambo_tests::study::known_physics::KnownPhysics;
use hambo_tests::study::monitored::Monitored;
use hambo_tests::study::sampling::Sampling;

/// Systems, controllers, truths and spreads are no matter of the program that is studied.
#[test]
fn what_is_true_of_a_cell_is_found_again() {
    let table = committed(&Coverage::EVEN);
    for cell in [1, 3] {
        let fields = Setting::of(cell).unwrap().fields(cell);
        assert_eq!(
            fields,
            table.of_cell(cell)[0][..COVERAGE_SETTING],
            "cell {cell}"
        );
    }
    let table = committed(&Broken);
    for cell in [0, 1] {
        let mut this = LogCell::of(cell);
        let checked = this.controllers();
        let rows = table.of_cell(cell);
        assert_eq!(rows.len(), checked.len());
        for (number, (row, checked)) in rows.iter().zip(&checked).enumerate() {
            let fields = this.fields(cell, number, checked);
            assert_eq!(fields, row[..BROKEN_SETTING], "cell {cell}");
        }
    }
}

#[test]
fn cells_of_the_broken_assumptions_are_repeated() {
    for (log, assumption) in [
        (0, Assumption::Nothing),
        (1, Assumption::CommonGusts),
        (2, Assumption::Hole),
        (0, Assumption::FiveEpisodes),
        (1, Assumption::DisasterFocused),
    ] {
        let cell = log * ASSUMPTIONS.len() + place_of(assumption);
        compare_with_committed(&Broken, cell, &first_rows(cell, 1).unwrap());
    }
}

/// To be repeated again when the rows are made anew; docs/evidence.md says of each what they are of.
#[test]
#[ignore = "rows of the program that drew no rare events: coverage, focused, backtest, known, monitor"]
fn cells_of_the_older_rows_are_repeated() {
    // Cell 0 has a Gaussian process.
    for cell in [0, 2] {
        compare_with_committed(&Coverage::EVEN, cell, &Coverage::EVEN.run(cell).unwrap());
    }
    compare_with_committed(&Coverage::FOCUSED, 3, &Coverage::FOCUSED.run(3).unwrap());
    // A right model and a payload on a line; a right model of a pendulum.
    for (cell, rows) in [(0, 2), (1, 1)] {
        compare_with_committed(&Backtests, cell, &first_backtests(cell, rows).unwrap());
    }
    // The pendulum's first log, and its first model.
    compare_with_committed(&KnownPhysics, 2, &KnownPhysics.run(2).unwrap());
    compare_with_committed(&Monitored, 2, &Monitored.run(2).unwrap());
}

/// A few runs of every kind of cell anew, and two whole cells against the committed rows.
#[test]
fn cells_of_the_sampling_are_repeated() {
    // Few trajectories, even and focused; the second finds by the search.
    for cell in [2, 32] {
        compare_with_committed(&Sampling, cell, &Sampling.run(cell).unwrap());
    }
}
