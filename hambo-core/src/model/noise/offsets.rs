//! What stays for an episode and no state tells: a payload, a battery.
//!
//! Every trajectory draws one of the log's episodes before its first step, and adds what that
//! one deviated by, in predicted standard deviations, to the noise of all of its steps.

use crate::numeric::ParameterError;
use crate::numeric::checksum::Checksum;
use crate::numeric::random::Stream;

/// What stayed in each of some episodes, all equally likely.
///
/// ```
/// use hambo_core::model::Offsets;
/// assert!(!Offsets::new(&[0.0, 1.5, 0.0, -1.5], 2)?.is_empty());
/// assert!(Offsets::new(&[0.0, 1.5, 0.0], 2).is_err());
/// # Ok::<(), hambo_core::numeric::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Offsets<'a> {
    outputs: usize,
    /// One row for each episode.
    rows: &'a [f32],
}

impl<'a> Offsets<'a> {
    /// Nothing stays.
    pub const NONE: Self = Self {
        outputs: 0,
        rows: &[],
    };

    /// Rows of `outputs` numbers.
    ///
    /// # Errors
    /// If there is none, one is not whole, or a number is not finite.
    pub fn new(rows: &'a [f32], outputs: usize) -> Result<Self, ParameterError> {
        let whole = rows.len().checked_rem(outputs) == Some(0) && !rows.is_empty();
        let few = u32::try_from(rows.len()).is_ok();
        ParameterError::size("offsets of the noise", whole && few)?;
        let finite = rows.iter().all(|number| number.is_finite());
        ParameterError::number("offsets of the noise", finite)?;
        Ok(Self { outputs, rows })
    }

    /// Whether nothing stays.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What stays for a trajectory. Takes one number of the stream, or none where nothing
    /// stays.
    pub(crate) fn draw(&self, stream: &mut Stream) -> Option<&'a [f32]> {
        let count = self.rows.len().checked_div(self.outputs)?;
        let number = stream.index(u32::try_from(count).ok()?);
        self.rows
            .chunks_exact(self.outputs.max(1))
            .nth(number as usize)
    }
}

impl Offsets<'_> {
    /// Adds sizes, and where the numbers lie.
    pub(in crate::model) fn add_to(&self, sum: &mut Checksum) {
        let Self { outputs, rows } = self;
        sum.value(outputs);
        sum.place(*rows);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn every_episode_is_drawn_as_often() {
        let rows = [1.0, -1.0, 2.0, -2.0, 3.0, -3.0];
        let offsets = Offsets::new(&rows, 2).unwrap();
        let mut counts = [0_u32; 3];
        let draws = if cfg!(miri) { 300 } else { 30_000 };
        for trajectory in 0..draws {
            let [one, other] = offsets.draw(&mut Stream::new(9, trajectory)).unwrap() else {
                panic!("not a row of two");
            };
            assert_eq!(*one, -other);
            counts[*one as usize - 1] += 1;
        }
        let slack = 5.0 * f64::from(draws).sqrt();
        for count in counts {
            assert!((f64::from(count) - f64::from(draws) / 3.0).abs() < slack);
        }
    }

    #[test]
    fn a_trajectory_takes_one_number_and_none_where_nothing_stays() {
        let offsets = Offsets::new(&[1.0, 2.0], 1).unwrap();
        for (offsets, draws) in [(offsets, 1), (Offsets::NONE, 0)] {
            let (mut one, mut other) = (Stream::new(1, 1), Stream::new(1, 1));
            assert_eq!(offsets.draw(&mut one).is_some(), draws == 1);
            other.skip(draws);
            assert_eq!(one.uniform().to_bits(), other.uniform().to_bits());
        }
    }

    #[test]
    fn wrong_sizes_and_numbers_are_refused() {
        let refused = |rows: &[f32], outputs| Offsets::new(rows, outputs).is_err();
        assert!(!refused(&[1.0, 2.0], 2) && !refused(&[1.0, 2.0], 1));
        assert!(refused(&[], 2) && refused(&[1.0], 2) && refused(&[1.0], 0));
        assert!(refused(&[1.0, f32::NAN], 2) && refused(&[f32::INFINITY, 0.0], 2));
    }
}
