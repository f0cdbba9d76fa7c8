//! How much of a margin over logged starts is the noise's.
//!
//! The return is the mean over starts of the mean over the noise from each. The bound that
//! decides is one over the starts: the mean of the trajectories from a start is one value, and
//! what it lacks of the start's own mean is part of that value's spread. Beside it stands a
//! bound of the mean **for these very starts**, at the same delta: what it takes off is the
//! noise's share of the margin, and the rest is the starts'. More trajectories from the same
//! starts make the first smaller and leave the second.
//!
//! Two bounds with half of delta each, whose margins are added, would hold as well. They are
//! nowhere closer: the margin of the starts alone is nearly the whole one already.

use super::betting::Betting;
use super::level_estimate::Margin;
use super::student::student_quantile;
use crate::numeric::elementary::sqrt;

/// Trajectories start by start, as many from each.
///
/// ```
/// use hambo_core::estimate::{GivenStarts, Margin};
/// // Two starts far apart, hardly any noise: two values of each are 0.1 from their mean.
/// let mut given = GivenStarts::new(None, 2);
/// for numbers in [[-0.1, 0.1], [99.9, 100.1]] {
///     numbers.map(|number| given.add(number));
///     given.end_start();
/// }
/// // The standard error of the mean is 0.1 / sqrt(2), with two degrees of freedom.
/// let margin = given.margin(Margin::StudentT, 0.05).ok_or("no margin")?;
/// assert!((margin - 2.92 * 0.0707).abs() < 1e-3);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GivenStarts {
    bounds: Option<[f32; 2]>,
    /// Numbers of each start; more are left out, so that all starts weigh the same.
    each: u32,
    starts: u32,
    /// Over all numbers.
    sum: f64,
    /// Over all starts: squared deviations from the start's own mean.
    squares: f64,
    betting: Betting,
    /// Numbers of the start at hand, their mean and squared deviations.
    own: (u32, f64, f64),
    /// Whether a start has too few.
    short: bool,
}

impl GivenStarts {
    /// No start yet; each will have `each` numbers, which lie within the bounds, if any.
    pub fn new(bounds: Option<[f32; 2]>, each: u32) -> Self {
        Self {
            bounds,
            each,
            starts: 0,
            sum: 0.0,
            squares: 0.0,
            betting: Betting::default(),
            own: (0, 0.0, 0.0),
            short: false,
        }
    }

    /// Adds a trajectory from the start at hand.
    pub fn add(&mut self, number: f32) {
        let (count, mean, squares) = &mut self.own;
        if *count >= self.each {
            return;
        }
        *count = count.saturating_add(1);
        let wide = f64::from(number);
        self.sum += wide;
        let before = wide - *mean;
        *mean += before / f64::from(*count);
        *squares += before * (wide - *mean);
        if let Some([low, high]) = self.bounds {
            self.betting.push((number - low) / (high - low));
        }
    }

    /// Ends the start at hand.
    pub fn end_start(&mut self) {
        let (count, _, squares) = core::mem::take(&mut self.own);
        self.short |= count < self.each;
        self.starts = self.starts.saturating_add(1);
        self.squares += squares;
    }

    /// What the noise takes off the mean over these starts, by the inequality of the whole
    /// margin; none if single trajectories show no noise, or a number is not finite.
    ///
    /// The bets are on single trajectories. Their means differ from start to start, and the
    /// wager still holds: with the mean m of all starts' means m_i the expected wealth is the
    /// product of (1 + b m_i) / (1 + b m), at most 1 since a geometric mean is no larger than
    /// the arithmetic one.
    pub fn margin(&self, margin: Margin, delta: f32) -> Option<f32> {
        let count = self.starts.checked_mul(self.each)?;
        if self.each < 2 || self.starts == 0 || self.short || !self.sum.is_finite() {
            return None;
        }
        let mean = (self.sum / f64::from(count)) as f32;
        let taken = match (margin, self.bounds) {
            (Margin::StudentT, _) | (_, None) => {
                let freedom = count.saturating_sub(self.starts);
                let variance = self.squares / f64::from(freedom);
                let error = sqrt((variance / f64::from(count)) as f32);
                student_quantile(freedom, delta) * error
            }
            (Margin::Betting | Margin::ClopperPearson, Some([low, high])) => {
                mean - (low + (high - low) * self.betting.lower(delta))
            }
        };
        taken.is_finite().then_some(taken.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::numeric::random::Stream;

    fn of(bounds: Option<[f32; 2]>, starts: &[&[f32]]) -> GivenStarts {
        let mut given = GivenStarts::new(bounds, starts[0].len() as u32);
        for numbers in starts {
            for number in *numbers {
                given.add(*number);
            }
            given.end_start();
        }
        given
    }

    #[test]
    fn what_cannot_be_told_has_no_share() {
        let margin = |given: &GivenStarts| given.margin(Margin::StudentT, 0.05);
        assert_eq!(margin(&of(None, &[&[1.0], &[2.0]])), None);
        assert_eq!(margin(&GivenStarts::new(None, 2)), None);
        assert_eq!(margin(&of(None, &[&[1.0, 2.0], &[2.0]])), None);
        let infinite = [1.0, f32::NEG_INFINITY];
        assert_eq!(margin(&of(None, &[&infinite, &[2.0, 2.0]])), None);
        // Starts alone leave nothing to the noise.
        assert_eq!(margin(&of(None, &[&[1.0, 1.0], &[9.0, 9.0]])), Some(0.0));
        // A third trajectory from one of the starts would weigh it more.
        let even = of(None, &[&[1.0, 2.0], &[2.0, 5.0]]);
        let odd = of(None, &[&[1.0, 2.0], &[2.0, 5.0, 100.0]]);
        assert_eq!(margin(&even), margin(&odd));
    }

    /// Starts with means far apart: the mean over these starts lies below the bound no more
    /// often than claimed, whatever the inequality; and the margin falls with the root of the
    /// number of trajectories.
    #[test]
    #[cfg_attr(miri, ignore = "a coverage rate needs thousands of samples")]
    fn the_bound_for_these_starts_covers_as_often_as_it_claims() {
        let means = [0.02_f32, 0.98, 0.5, 0.9, 0.99];
        let truth = means.iter().sum::<f32>() / 5.0;
        for (margin, each) in [(Margin::Betting, 20), (Margin::StudentT, 40)] {
            let mut above = 0;
            let mut width = [0.0; 2];
            for trial in 0..2000 {
                for (factor, width) in [1, 16].into_iter().zip(&mut width) {
                    if factor > 1 && trial >= 20 {
                        continue;
                    }
                    let mut stream = Stream::new(29, trial);
                    let mut given = GivenStarts::new(Some([0.0, 1.0]), each * factor);
                    let (mut sum, mut count) = (0.0, 0.0);
                    for mean in means {
                        for _ in 0..each * factor {
                            let kept = f32::from(u8::from(stream.uniform() < mean));
                            sum += kept;
                            count += 1.0;
                            given.add(kept);
                        }
                        given.end_start();
                    }
                    let taken = given.margin(margin, 0.1).unwrap();
                    above += u32::from(factor == 1 && sum / count - taken > truth);
                    *width += taken / if factor == 1 { 2000.0 } else { 20.0 };
                }
            }
            // 10 % of 2,000 and three standard deviations.
            assert!(above <= 240, "{margin:?}: {above}");
            let ratio = width[0] / width[1];
            assert!((3.4..6.0).contains(&ratio), "{margin:?}: {width:?}");
        }
    }
}
