//! A lower confidence bound of a bounded mean by betting (Waudby-Smith and
//! Ramdas, "Estimating means of bounded random variables by betting").
//!
//! A gambler who believes that the mean of x in [0, 1] lies above m bets the
//! share lambda of the wealth on every value: the wealth is multiplied by
//! 1 + lambda (x − m). If the mean is at most m, the expected wealth never
//! grows, so it reaches 1 / delta with a probability of at most delta
//! (Ville). The bound is the largest m at which it does.
//!
//! With lambda = b / (1 + b m) the factor is (1 + b x) / (1 + b m), so one sum
//! of ln(1 + b x) for each b serves every m, and nothing but the sums is kept.
//! The wealth is spread evenly over a few b: whichever fits the values' spread
//! grows, and the others cost a factor of their number.

use crate::numeric::elementary::{ln, maximum};

/// b: from a sixty-fourth, for many widely spread values, to nearly all that
/// may be bet.
const BETS: [f32; 8] = [
    1.0 / 64.0,
    1.0 / 16.0,
    1.0 / 4.0,
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
];

/// The logarithm of the number of bets, rounded up.
const MOST_OF_ALL: f64 = 2.08;

/// What rounding may add to a sum of logarithms for each of its terms: the
/// largest is ln 257, and `ln` is right to the last place.
const ROUNDING: f64 = 1e-6;

/// Halvings of [0, 1]: what is left is far below an f32 of the result.
const HALVINGS: u32 = 30;

/// The logarithms of the wealth of each bet, before m comes off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Betting {
    sums: [f64; BETS.len()],
    count: u32,
}

impl Betting {
    /// Adds a value; what lies below 0 by rounding counts as 0.
    pub fn push(&mut self, value: f32) {
        let value = maximum(value, 0.0);
        for (sum, bet) in self.sums.iter_mut().zip(BETS) {
            *sum += f64::from(ln(1.0 + bet * value));
        }
        self.count = self.count.saturating_add(1);
    }

    /// The bound, which lies above the mean with a probability of at most
    /// `delta`; 0 if nothing is known.
    pub fn lower(&self, delta: f32) -> f32 {
        let needed = f64::from(ln(BETS.len() as f32 / delta)) + self.slack();
        if !(delta > 0.0 && needed.is_finite()) {
            return 0.0;
        }
        let (mut low, mut high) = (0.0_f32, 1.0_f32);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.reaches(needed, middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    fn slack(&self) -> f64 {
        f64::from(self.count) * ROUNDING
    }

    /// Whether the logarithm of the summed wealth of all bets is at least `needed` if the mean is
    /// `mean`. The sum is between the largest and [`BETS`] times that, which mostly decides: on
    /// a Cortex-M exponentials would take most of the time.
    fn reaches(&self, needed: f64, mean: f32) -> bool {
        let mut each = [0.0; BETS.len()];
        for ((log, sum), bet) in each.iter_mut().zip(&self.sums).zip(BETS) {
            *log = *sum - f64::from(self.count) * f64::from(ln(1.0 + bet * mean));
        }
        let largest = each.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !largest.is_finite() || largest + MOST_OF_ALL < needed {
            return false;
        }
        if largest >= needed {
            return true;
        }
        let rest = each.map(|log| crate::numeric::elementary::exp((log - largest) as f32));
        largest + f64::from(ln(rest.iter().sum::<f32>())) >= needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::Stream;

    fn of(values: impl IntoIterator<Item = f32>) -> Betting {
        let mut betting = Betting::default();
        for value in values {
            betting.push(value);
        }
        betting
    }

    #[test]
    fn the_bound_is_the_root_of_the_wealth() {
        // Twenty successes: the largest bet alone would give 1 − m with
        // (257 / (1 + 256 m))^20 = 8 / delta.
        let betting = of([1.0; 20]);
        let alone = ((257.0_f64 / (8.0_f64 / 0.05).powf(0.05)) - 1.0) / 256.0;
        let lower = f64::from(betting.lower(0.05));
        assert!(lower >= alone - 1e-4 && lower < 0.87, "{lower} {alone}");
        assert_eq!(of([]).lower(0.05), 0.0);
        assert_eq!(of([0.0; 100]).lower(0.05), 0.0);
    }

    /// The gamblers' mean wealth if the mean were `mean`, by the definition: in f64, value by
    /// value, as a product.
    fn wealth(values: &[f32], mean: f64) -> f64 {
        let each = BETS.map(|bet| {
            let bet = f64::from(bet);
            let factors = values
                .iter()
                .map(|x| (1.0 + bet * f64::from(*x)) / (1.0 + bet * mean));
            factors.product::<f64>()
        });
        each.iter().sum::<f64>() / BETS.len() as f64
    }

    /// Ville's inequality charges delta for a wealth of 1 / delta: at the bound it is that,
    /// and neither half nor twice as much.
    #[test]
    fn at_the_bound_the_wealth_is_one_over_delta() {
        let mut stream = Stream::new(23, 0);
        let samples: [Vec<f32>; 4] = [
            vec![1.0, 1.0],
            vec![1.0, 0.0, 1.0, 1.0, 1.0],
            (0..40).map(|_| stream.uniform()).collect(),
            (0..60).map(|_| 0.8 + 0.1 * stream.uniform()).collect(),
        ];
        for values in &samples {
            for delta in [0.3, 0.1, 0.01] {
                let betting = of(values.iter().copied());
                let lower = f64::from(betting.lower(delta));
                let charged = f64::from(delta) * wealth(values, lower);
                assert!(
                    (charged - 1.0).abs() < 1e-3,
                    "{values:?} {delta}: {charged}"
                );
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of values")]
    fn it_is_close_to_the_mean_of_many_values() {
        let mut stream = Stream::new(3, 0);
        let values: Vec<f32> = (0..4000).map(|_| stream.uniform()).collect();
        let mean: f32 = values.iter().sum::<f32>() / 4000.0;
        let lower = of(values).lower(0.0125);
        // Standard error 0.0046; the normal bound would be 2.2 of them below.
        let errors = (mean - lower) / 0.004_56;
        assert!((2.2..4.5).contains(&errors), "{errors}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "a coverage rate needs thousands of samples")]
    fn it_lies_above_the_mean_no_more_often_than_claimed() {
        for probability in [0.911_f32, 0.99, 0.5] {
            let above = (0..2000).filter(|trial| {
                let mut stream = Stream::new(17, *trial);
                let draws = (0..200).map(|_| f32::from(u8::from(stream.uniform() < probability)));
                of(draws).lower(0.1) > probability
            });
            // 10 % of 2,000 and three standard deviations.
            let above = above.count();
            assert!(above <= 240, "{probability}: {above}");
        }
    }

    #[test]
    fn what_is_no_probability_bounds_nothing() {
        let betting = of([1.0; 20]);
        for delta in [0.0, -0.1, f32::NAN, f32::INFINITY] {
            assert_eq!(betting.lower(delta), 0.0, "{delta}");
        }
        assert_eq!(of([f32::INFINITY]).lower(0.05), 0.0);
    }

    /// The bounds of widely and of closely spread values, few and many, bit for bit.
    #[test]
    #[cfg_attr(miri, ignore = "thousands of values")]
    fn bounds_have_the_same_bits_everywhere() {
        let lower = |count: u32, low: f32, range: f32, delta: f32| {
            let mut stream = Stream::new(5, count);
            let values: Vec<f32> = (0..count).map(|_| low + range * stream.uniform()).collect();
            of(values).lower(delta).to_bits()
        };
        let bounds = [
            lower(5, 0.5, 0.5, 0.1),
            lower(20, 0.0, 1.0, 0.05),
            lower(20, 0.9, 0.1, 0.05),
            lower(300, 0.0, 1.0, 0.0125),
            lower(300, 0.001, 0.002, 0.0125),
            lower(4000, 0.4, 0.2, 0.025),
        ];
        assert_eq!(
            bounds,
            [
                0x3ED5_39CF,
                0x3EBA_29E0,
                0x3F4A_62B5,
                0x3EE9_CFDA,
                0x3AF6_8768,
                0x3EFD_CEFA
            ]
        );
        // Rounding costs a millionth of each value.
        assert_eq!(of([0.5; 1000]).slack(), 1000.0 * 1e-6);
    }

    /// Where delta is large and there are few values, no single bet decides: all of them together
    /// reach what is needed, as their plain sum says.
    #[test]
    fn the_wealth_of_all_bets_counts() {
        let mut stream = Stream::new(5, 0);
        for (count, delta) in [(1, 0.9), (2, 0.9), (3, 0.8), (4, 0.7), (6, 0.5), (9, 0.3)] {
            let values: Vec<f32> = (0..count).map(|_| 0.5 + 0.5 * stream.uniform()).collect();
            let wealth = |mean: f64| -> f64 {
                let of_bet = |bet: &f32| -> f64 {
                    let bet = f64::from(*bet);
                    let factor = |x: &f32| (1.0 + bet * f64::from(*x)) / (1.0 + bet * mean);
                    values.iter().map(factor).product()
                };
                BETS.iter().map(of_bet).sum::<f64>() / BETS.len() as f64
            };
            let steps = (0..=10_000).map(|step| f64::from(step) / 10_000.0);
            let wanted = steps.filter(|mean| wealth(*mean) >= 1.0 / f64::from(delta));
            let wanted = wanted.fold(0.0, f64::max);
            let found = f64::from(of(values.iter().copied()).lower(delta));
            assert!(
                (found - wanted).abs() < 2e-4,
                "{count} {delta}: {found} {wanted}"
            );
        }
    }
}
