//! Rare events that the log met: steps whose noise no Gaussian explains.
//!
//! Every event is a row of the log, the residuals of all states together in predicted standard
//! deviations. A step meets one with the probability `share`, and the rows divide it among
//! them. A push in one step of fifty is thus a push in one step of fifty here, and not a
//! standard deviation that is ten times too large in all of them.

use crate::numeric::ParameterError;
use crate::numeric::checksum::Checksum;
use crate::numeric::random::Stream;

/// The largest share of steps that may be extreme: what is more frequent is the rule.
pub const MOST_EXTREME: f32 = 0.25;

/// Events, each with its share of the steps.
///
/// ```
/// use hambo_core::model::Extremes;
/// // Two states; one step in a hundred is pushed, three in four of them the first way.
/// let (centre, ends, rows) = ([0.0, 0.0], [0.0075, 0.01], [0.0, -9.0, 0.5, -7.0]);
/// let extremes = Extremes::new(&centre, &ends, &rows, 2)?;
/// assert_eq!(extremes.share(), 0.01);
/// assert_eq!(extremes.at(0.005), Some(&rows[..2]));
/// assert_eq!(extremes.at(0.009), Some(&rows[2..]));
/// assert_eq!(extremes.at(0.5), None);
/// # Ok::<(), hambo_core::numeric::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Extremes<'a> {
    /// The mean of all other steps' noise, one number for each state.
    centre: &'a [f32],
    /// Where each event's part of [0, share) ends.
    ends: &'a [f32],
    /// The events, one row after the other.
    rows: &'a [f32],
}

impl<'a> Extremes<'a> {
    /// No step is extreme.
    pub const NONE: Self = Self {
        centre: &[],
        ends: &[],
        rows: &[],
    };

    /// Events of `outputs` states.
    ///
    /// # Errors
    /// If sizes do not fit, a number is not finite, or the ends do not rise from above 0 to at
    /// most [`MOST_EXTREME`].
    pub fn new(
        centre: &'a [f32],
        ends: &'a [f32],
        rows: &'a [f32],
        outputs: usize,
    ) -> Result<Self, ParameterError> {
        let wanted = ends.len().checked_mul(outputs);
        let fits = centre.len() == outputs && wanted == Some(rows.len()) && !ends.is_empty();
        ParameterError::size("extremes of the noise", fits)?;
        let mut numbers = centre.iter().chain(rows);
        let finite = numbers.all(|number| number.is_finite());
        ParameterError::number("extremes of the noise", finite)?;
        let mut before = 0.0;
        let rising = ends.iter().all(|end| {
            let rises = *end > before && *end <= MOST_EXTREME;
            before = *end;
            rises
        });
        ParameterError::number("shares of the extremes", rising)?;
        Ok(Self { centre, ends, rows })
    }

    /// Whether no step is extreme.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The share of steps that are extreme.
    pub fn share(&self) -> f32 {
        self.ends.last().copied().unwrap_or(0.0)
    }

    /// The event at a place in [0, 1); none where the step is ordinary.
    pub fn at(&self, place: f32) -> Option<&'a [f32]> {
        let number = self.ends.partition_point(|end| *end <= place);
        self.rows.chunks_exact(self.centre.len().max(1)).nth(number)
    }

    /// The event that a step meets. Takes one number of the stream, or none where there are
    /// no events.
    pub(crate) fn draw(&self, stream: &mut Stream) -> Option<&'a [f32]> {
        if self.is_empty() {
            return None;
        }
        self.at(stream.uniform())
    }

    /// How many numbers of a stream a step takes.
    pub(crate) fn draws(&self) -> u64 {
        u64::from(!self.is_empty())
    }

    /// The mean of a state's noise in steps that are not extreme.
    pub(crate) fn centre(&self, state: usize) -> f32 {
        self.centre.get(state).copied().unwrap_or(0.0)
    }
}

impl Extremes<'_> {
    /// Adds where the numbers lie.
    pub(in crate::model) fn add_to(&self, sum: &mut Checksum) {
        let Self { centre, ends, rows } = self;
        sum.place(*centre);
        sum.place(*ends);
        sum.place(*rows);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const CENTRE: [f32; 2] = [0.1, -0.1];
    const ENDS: [f32; 3] = [0.05, 0.06, 0.1];
    const ROWS: [f32; 6] = [5.0, 0.0, -4.0, 6.0, 9.0, 9.0];

    #[test]
    #[cfg_attr(miri, ignore = "thousands of draws")]
    fn events_are_drawn_with_their_shares_and_whole() {
        let extremes = Extremes::new(&CENTRE, &ENDS, &ROWS, 2).unwrap();
        let mut stream = Stream::new(3, 0);
        let mut counts = [0_u32; 4];
        let draws = 100_000;
        for _ in 0..draws {
            let event = extremes.draw(&mut stream);
            let place = event.map_or(3, |event| {
                ROWS.chunks_exact(2).position(|row| row == event).unwrap()
            });
            counts[place] += 1;
        }
        for (count, share) in counts.iter().zip([0.05, 0.01, 0.04, 0.9]) {
            let found = f64::from(*count) / f64::from(draws);
            let error = (share * (1.0 - share) / f64::from(draws)).sqrt();
            assert!((found - share).abs() < 5.0 * error, "{counts:?}");
        }
    }

    #[test]
    fn a_step_takes_one_number_and_none_without_events() {
        let extremes = Extremes::new(&CENTRE, &ENDS, &ROWS, 2).unwrap();
        for (extremes, draws) in [(extremes, 1), (Extremes::NONE, 0)] {
            assert_eq!(extremes.draws(), draws);
            let (mut one, mut other) = (Stream::new(1, 1), Stream::new(1, 1));
            let _ = extremes.draw(&mut one);
            other.skip(draws);
            assert_eq!(one.uniform().to_bits(), other.uniform().to_bits());
        }
    }

    #[test]
    fn wrong_sizes_shares_and_numbers_are_refused() {
        let refused = |centre: &[f32], ends: &[f32], rows: &[f32]| {
            Extremes::new(centre, ends, rows, 2).is_err()
        };
        assert!(!refused(&CENTRE, &ENDS, &ROWS));
        assert!(refused(&CENTRE[..1], &ENDS, &ROWS));
        assert!(refused(&CENTRE, &ENDS[..2], &ROWS));
        assert!(refused(&CENTRE, &[], &[]));
        for (place, end) in [
            (0, 0.0),
            (0, -0.1),
            (1, 0.05),
            (1, f32::NAN),
            (2, f32::INFINITY),
            (2, 0.26),
        ] {
            let mut ends = ENDS;
            ends[place] = end;
            assert!(refused(&CENTRE, &ends, &ROWS), "{ends:?}");
        }
        let mut rows = ROWS;
        rows[5] = f32::NAN;
        assert!(refused(&CENTRE, &ENDS, &rows));
        assert!(refused(&[0.0, f32::INFINITY], &ENDS, &ROWS));
    }
}
