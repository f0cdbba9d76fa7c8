//! Why a constructor cannot build: a wrong parameter, or too little memory.

use serde::{Deserialize, Serialize};

/// A parameter with which nothing can be built, by its name.
///
/// ```
/// use hambo_core::ParameterError;
/// use hambo_core::policy::{Leg, Waypoints};
/// let leg = Leg { target: [2.0, 0.0, 0.0], axis: 0, below: f32::MAX };
/// assert_eq!(Waypoints::new(2, -0.5, &[leg]), Err(ParameterError::Number("speed")));
/// assert_eq!(Waypoints::new(2, 0.5, &[]), Err(ParameterError::Size("legs")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ParameterError {
    /// A size is zero, too large, or does not fit the others.
    Size(&'static str),
    /// A number is not finite or out of its range.
    Number(&'static str),
}

impl ParameterError {
    /// Nothing wrong if the size of `name` fits.
    pub(crate) fn size(name: &'static str, fits: bool) -> Result<(), Self> {
        if fits { Ok(()) } else { Err(Self::Size(name)) }
    }

    /// Nothing wrong if the number `name` is in its range.
    pub(crate) fn number(name: &'static str, fits: bool) -> Result<(), Self> {
        if fits {
            Ok(())
        } else {
            Err(Self::Number(name))
        }
    }
}

/// The lent slice is too short, or the task too large to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CapacityError {
    /// Rows that the check needs.
    pub needed: usize,
    /// Rows that were lent.
    pub available: usize,
}
