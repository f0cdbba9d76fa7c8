//! Limits of shares.

use hambo_base::study::digits;
use hambo_tests::study::statistics::{Count, median};

/// Figures of tables: 3 of 100 and 0 of 20 by Clopper and Pearson.
#[test]
fn shares_have_the_limits_of_the_tables() {
    let close = |a: f64, b: f64| (a - b).abs() < 5e-5;
    let [low, high] = Count { hits: 3, of: 100 }.limits();
    assert!(
        close(low, 0.006_23) && close(high, 0.085_18),
        "{low} {high}"
    );
    let [low, high] = Count { hits: 0, of: 20 }.limits();
    assert!(low == 0.0 && close(high, 0.168_43), "{low} {high}");
    // With 5 %, 9 of 100 may be chance and 10 are not.
    assert!(!Count { hits: 9, of: 100 }.above(0.05));
    assert!(Count { hits: 10, of: 100 }.above(0.05));
    assert!(!Count { hits: 0, of: 0 }.above(0.05));
    assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median([4.0, 1.0, f64::NAN, 2.0, 3.0]), 2.5);
    assert_eq!(digits(-12_345.678), "-12345.7");
}
