//! The exact lower limit of a probability (Clopper and Pearson 1934): how rare
//! a violation must be at least, given how many were seen.

use libm::{exp, log};

/// Terms of a binomial sum below this share of the first are left out.
const NEGLIGIBLE: f64 = 1e-18;

/// Halvings of the interval in which the limit lies: enough for f32.
const HALVINGS: u32 = 40;

/// The least probability of a success with which `violations` or fewer among
/// `count` trials happen with probability `delta`. A true probability lies below
/// it with probability `delta` at most.
///
/// ```
/// use hambo_core::estimate::probability_limit;
/// // Nothing went wrong in 300 trials: p^300 = 0.05.
/// assert!((probability_limit(300, 0, 0.05) - 0.990_064).abs() < 1e-6);
/// // Nothing is known without trials, or where all of them went wrong.
/// assert_eq!(probability_limit(0, 0, 0.05), 0.0);
/// assert_eq!(probability_limit(7, 7, 0.05), 0.0);
/// ```
pub fn probability_limit(count: u32, violations: u32, delta: f32) -> f32 {
    if violations >= count || !(delta > 0.0 && delta < 1.0) {
        return 0.0;
    }
    let ways = ln_ways(count, violations);
    // P(at most this many violations) falls with the probability of one.
    let [mut low, mut high] = [0.0_f64, 1.0];
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if at_most(count, violations, ways, middle) > f64::from(delta) {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Rounded down.
    let limit = (1.0 - high) as f32;
    if f64::from(limit) > 1.0 - high {
        limit.next_down()
    } else {
        limit
    }
}

/// The least number of trials among which `violations` leave a limit of
/// `probability` or more; none if there is no such number below 2^24.
///
/// ```
/// use hambo_core::estimate::trials_for;
/// assert_eq!(trials_for(0.99, 0, 0.0125), Some(437));
/// assert_eq!(trials_for(0.99, 3, 0.0125), Some(971));
/// assert_eq!(trials_for(1.0, 0, 0.0125), None);
/// ```
pub fn trials_for(probability: f32, violations: u32, delta: f32) -> Option<u32> {
    const MOST: u32 = 1 << 24;
    let reaches = |count| probability_limit(count, violations, delta) >= probability;
    let [mut low, mut high] = [violations, MOST];
    if !reaches(high) {
        return None;
    }
    while high.saturating_sub(low) > 1 {
        let middle = low.midpoint(high);
        if reaches(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// The logarithm of the number of ways to choose `chosen` of `count`.
fn ln_ways(count: u32, chosen: u32) -> f64 {
    let fewer = chosen.min(count.saturating_sub(chosen));
    let mut sum = 0.0;
    for place in 0..fewer {
        let left = count.saturating_sub(place);
        sum += log(f64::from(left) / f64::from(place.saturating_add(1)));
    }
    sum
}

/// P(X <= `violations`) of a binomial X over `count` trials, summed from its
/// last term down. `rate` lies between 0 and 1, `violations` below `count`, and
/// `ways` is their [`ln_ways`].
fn at_most(count: u32, violations: u32, ways: f64, rate: f64) -> f64 {
    let [n, k] = [f64::from(count), f64::from(violations)];
    let last = exp(ways + k * log(rate) + (n - k) * log(1.0 - rate));
    let odds = (1.0 - rate) / rate;
    let (mut term, mut sum) = (1.0, 1.0);
    let mut at = k;
    while at > 0.0 && term > NEGLIGIBLE * sum {
        term *= at / (n - at + 1.0) * odds;
        sum += term;
        at -= 1.0;
    }
    last * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_beta_distribution() {
        // scipy.stats.beta.ppf(delta, count - violations, violations + 1)
        let known = [
            (1, 0, 0.05, 0.05),
            (2, 1, 0.05, 0.025_320_566),
            (4, 1, 0.05, 0.248_604_63),
            (10, 9, 0.1, 0.010_480_742),
            (50, 20, 0.01, 0.426_332_8),
            (971, 3, 0.0125, 0.990_004_65),
            (1000, 999, 0.05, 5.129_198e-5),
            (5000, 1200, 0.01, 0.745_646_04),
            (100_000, 3, 0.0125, 0.999_902_6),
            (100_000, 50_000, 0.001, 0.495_109_04),
        ];
        for (count, violations, delta, limit) in known {
            let found = probability_limit(count, violations, delta);
            let error = (found - limit).abs() / (limit * (1.0 - limit)).max(1e-5);
            assert!(error < 3e-3, "{count} {violations} {delta}: {found}");
        }
    }

    #[test]
    fn no_number_of_trials_certifies_what_delta_forbids() {
        for delta in [0.0, 1.0, -0.1, f32::NAN] {
            assert_eq!(probability_limit(1000, 0, delta), 0.0, "{delta}");
            assert_eq!(trials_for(0.9, 0, delta), None, "{delta}");
        }
        assert_eq!(trials_for(f32::NAN, 0, 0.05), None);
        assert_eq!(trials_for(0.95, 0, 0.05), Some(59));
        // One more violation needs more.
        assert_eq!(trials_for(0.95, 1, 0.05), Some(93));
    }

    #[test]
    fn more_violations_and_fewer_trials_prove_less() {
        let limit = |count, violations| probability_limit(count, violations, 0.02);
        for violations in 0..20 {
            assert!(limit(400, violations) > limit(400, violations + 1));
            assert!(limit(400, violations) > limit(399, violations));
        }
    }
}
