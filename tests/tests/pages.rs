//! The pages show what the kept rows, budgets and measured figures say.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_tests::pages::{Quality, ensure_kept, quality, stale};

#[test]
fn no_page_is_stale() {
    let stale = stale().unwrap();
    let names: Vec<&str> = stale.iter().map(|(page, _)| *page).collect();
    assert!(
        names.is_empty(),
        "{names:?} differ: run `cargo xtask pages`"
    );
}

#[test]
fn a_figure_that_moves_is_noticed() {
    let error = ensure_kept("sequences-reached", 0.0, 0.0).unwrap_err();
    assert!(error.contains("cargo xtask pages"), "{error}");
    assert!(ensure_kept("no such figure", 0.0, 0.0).is_err());
}

/// The first log takes the controller of 10 for the best; one estimate of six is above.
#[test]
fn the_quality_of_estimates_by_hand() {
    let (truths, errors) = ([0.0, 10.0, 20.0], [0.5; 3]);
    let logs = [vec![-5.0, 15.0, 10.0], vec![-1.0, 9.0, 20.9]];
    let error = (5.0 + 5.0 + 10.0 + 1.0 + 1.0 + 0.9) / 6.0;
    let wanted = Quality {
        error,
        relative: error / 20.0,
        rank: 0.75,
        regret: 5.0,
        above: 1.0 / 6.0,
        excess: 5.0,
    };
    let found = quality(&logs, &truths, &errors);
    let pairs = |one: &Quality| {
        [
            one.error,
            one.relative,
            one.rank,
            one.regret,
            one.above,
            one.excess,
        ]
    };
    for (found, wanted) in pairs(&found).into_iter().zip(pairs(&wanted)) {
        assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
    }
    let vacuous = quality(&[vec![f64::NEG_INFINITY; 3]], &truths, &errors);
    assert!(vacuous.rank.is_nan() && vacuous.regret.is_nan());
    assert_eq!(vacuous.above, 0.0);
}
