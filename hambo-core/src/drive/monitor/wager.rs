//! Whether something happens more often than it may: a wager that hardly ever
//! wins if it does not.
//!
//! Every step is a success or none. A gambler who bets the share c of what may be
//! bet on a success has the wealth multiplied by 1 + c (1 − p) / p after one and
//! by 1 − c after none. As long as the probability of a success, given all that
//! was before, is at most p, the expected wealth never grows, so it ever reaches
//! 1 / alpha with a probability of at most alpha (Ville).
//!
//! One gambler who began at the first step is poor by the time that something
//! goes wrong. So a wealth of 1 is shared out among gamblers who begin at every
//! step: those from 2^e to 2^(e+1) − 1 get 1 / ((e + 1)(e + 2)) of it together,
//! and each shares its part among a few c. All gamblers of one c are one number,
//! so the memory is four numbers, and what a late start costs grows with the
//! logarithm of the time.

use crate::numeric::ParameterError;

/// c: from a rate that is a little too high to a success in every step.
const BETS: [f32; 4] = [1.0 / 32.0, 1.0 / 8.0, 1.0 / 2.0, 7.0 / 8.0];

/// Keeps each product, sum and share below its exact value whatever way it was
/// rounded: four roundings of 2⁻²⁴ each.
const ROUNDED_DOWN: f32 = 1.0 - 1.0 / 2_097_152.0;

/// What the gamblers have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wager {
    /// By how much each bet grows with a success.
    pub(super) growth: [f32; BETS.len()],
    /// The wealth of all gamblers with the same bet.
    pub(super) wealth: [f32; BETS.len()],
    /// 1 / alpha.
    pub(super) limit: f32,
    pub(super) steps: u64,
}

impl Wager {
    /// Against a success in at most the share `rate` of the steps, with a false
    /// alarm in at most the share `alpha` of the runs.
    ///
    /// # Errors
    /// If one of them is no share between 0 and 1.
    pub fn new(rate: f32, alpha: f32) -> Result<Self, ParameterError> {
        let is_share = |x: f32| x > 0.0 && x < 1.0;
        ParameterError::number("rate", is_share(rate))?;
        ParameterError::number("alpha", is_share(alpha))?;
        let growth = BETS.map(|bet| (1.0 + bet * ((1.0 - rate) / rate)) * ROUNDED_DOWN);
        let limit = 1.0 / alpha;
        // A rate or an alpha near the smallest number has no reciprocal.
        let finite = growth.iter().all(|growth| growth.is_finite());
        ParameterError::number("rate", finite)?;
        ParameterError::number("alpha", limit.is_finite())?;
        Ok(Self {
            growth,
            wealth: [0.0; BETS.len()],
            limit,
            steps: 0,
        })
    }

    /// Adds a step; true if the gamblers have won by now.
    pub fn push(&mut self, success: bool) -> bool {
        let stake = self.stake();
        for ((wealth, growth), bet) in self.wealth.iter_mut().zip(self.growth).zip(BETS) {
            let factor = if success { growth } else { 1.0 - bet };
            *wealth = (*wealth + stake) * factor * ROUNDED_DOWN;
        }
        self.has_won()
    }

    /// Whether the wealth has reached 1 / alpha.
    #[must_use]
    fn has_won(&self) -> bool {
        // Written so that a NaN has won.
        let below = self.wealth() < self.limit;
        !below
    }

    /// The wealth of all gamblers together, without what is not staked yet.
    pub fn wealth(&self) -> f32 {
        let mut sum = 0.0;
        for wealth in self.wealth {
            sum += wealth;
        }
        sum
    }

    /// What the gamblers of the next step get, for each bet.
    fn stake(&mut self) -> f32 {
        let Some(step) = self.steps.checked_add(1) else {
            // After more steps than there are numbers nobody begins any more.
            return 0.0;
        };
        self.steps = step;
        let octave = 63_u32.saturating_sub(step.leading_zeros());
        let mut share = 1.0 / BETS.len() as f32;
        for _ in 0..octave {
            share *= 0.5;
        }
        let number = octave as f32;
        share / ((number + 1.0) * (number + 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::Stream;

    #[test]
    fn the_stakes_of_all_time_are_at_most_one() {
        let mut wager = Wager::new(0.1, 0.01).unwrap();
        let mut sum = 0.0_f64;
        for _ in 0..(1 << 16) - 1 {
            sum += 4.0 * f64::from(wager.stake());
        }
        // Sixteen octaves: 1 − 1 / 17.
        assert!((sum - 16.0 / 17.0).abs() < 1e-6, "{sum}");
    }

    /// The expected factor of a step is at most one, in exact arithmetic on the
    /// numbers that are used.
    #[test]
    fn a_step_is_no_gain_on_average() {
        for rate in [1e-6_f32, 1e-3, 0.01, 0.05, 0.3, 0.9] {
            let wager = Wager::new(rate, 0.01).unwrap();
            for (growth, bet) in wager.growth.iter().zip(BETS) {
                let p = f64::from(rate);
                let factor = p * f64::from(*growth) + (1.0 - p) * f64::from(1.0 - bet);
                assert!(factor <= 1.0, "{rate} {bet}: {factor}");
                assert!(factor > 1.0 - 1e-5, "{rate} {bet}: {factor}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a rate needs thousands of runs")]
    fn false_alarms_are_as_rare_as_claimed() {
        for (rate, alpha, runs, steps) in [(0.05, 0.05, 4000, 2000), (0.3, 0.1, 2000, 2000)] {
            let alarms = (0..runs).filter(|run| {
                let mut wager = Wager::new(rate, alpha).unwrap();
                let mut stream = Stream::new(31, *run);
                (0..steps).any(|_| wager.push(stream.uniform() < rate))
            });
            let alarms = alarms.count() as f32;
            let expected = alpha * runs as f32;
            assert!(alarms <= expected + 3.0 * expected.sqrt(), "{alarms}");
            // Not so careful that it sees nothing.
            assert!(alarms >= 0.02 * expected, "{alarms}");
        }
    }

    #[test]
    fn a_change_is_seen_after_a_few_steps_early_and_late() {
        for before in [0, 200, 100_000_u64] {
            let mut wager = Wager::new(0.05, 0.01).unwrap();
            let alarm = (0..before).any(|step| wager.push(step % 25 == 7));
            assert!(!alarm);
            let needed = (1..100).find(|_| wager.push(true)).unwrap();
            assert!(needed <= 9, "{before}: {needed}");
        }
        // A rate that doubles is seen too, later.
        let mut wager = Wager::new(0.05, 0.01).unwrap();
        let needed = (1..).find(|step| wager.push(step % 7 == 0)).unwrap();
        assert!((20..400).contains(&needed), "{needed}");
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for bad in [0.0, -0.1, 1.0, f32::NAN, f32::INFINITY] {
            let error = |name| Err(ParameterError::Number(name));
            assert_eq!(Wager::new(bad, 0.01), error("rate"));
            assert_eq!(Wager::new(0.05, bad), error("alpha"));
        }
        assert!(Wager::new(1e-45, 0.01).is_err() && Wager::new(0.1, 1e-45).is_err());
    }

    #[test]
    fn a_wealth_that_is_no_number_has_won() {
        let mut wager = Wager::new(0.05, 0.01).unwrap();
        wager.wealth = [f32::NAN; 4];
        assert!(wager.has_won() && wager.push(false));
        let mut wager = Wager::new(1e-30, 0.01).unwrap();
        assert!((0..3).any(|_| wager.push(true)));
        wager.steps = u64::MAX;
        assert!(wager.push(true) && wager.stake() == 0.0);
    }
}
