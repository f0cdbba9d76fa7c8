//! Numbers of a run file. JSON knows no NaN and no infinity, and a run that
//! abstained may hold either: they are written as `null` and read as NaN.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that may not be finite.
///
/// ```
/// use hambo_host::check::number::Number;
/// let text = serde_json::to_string(&[Number::from(0.1_f32), Number::from(f32::NAN)])?;
/// assert_eq!(text, "[0.1,null]");
/// let [one, other]: [Number; 2] = serde_json::from_str(&text)?;
/// assert!(one == Number::from(0.1_f32) && other.0.is_nan());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl From<f32> for Number {
    fn from(value: f32) -> Self {
        Self(f64::from(value))
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let narrow = self.0 as f32;
        match f64::from(narrow) == self.0 {
            true => narrow.fmt(f),
            false => self.0.fmt(f),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let narrow = self.0 as f32;
        if !self.0.is_finite() {
            serializer.serialize_none()
        } else if f64::from(narrow) == self.0 {
            // Most numbers come from the core: eight digits say all of them.
            serializer.serialize_f32(narrow)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value: Option<f64> = Option::deserialize(deserializer)?;
        let value = value.unwrap_or(f64::NAN);
        // What an f32 wrote in its few digits is that f32 again.
        let narrow = value as f32;
        if narrow.to_string() == value.to_string() {
            return Ok(Self::from(narrow));
        }
        Ok(Self(value))
    }
}

/// A row of numbers.
#[must_use]
pub fn numbers<T: Into<Number>>(values: impl IntoIterator<Item = T>) -> Vec<Number> {
    values.into_iter().map(Into::into).collect()
}

/// The quantile of sorted numbers, between neighbours in proportion.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * sorted.len().saturating_sub(1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    match (sorted.get(below), sorted.get(below + 1)) {
        (Some(low), Some(high)) if part > 0.0 => low + part * (high - low),
        (Some(low), _) => *low,
        (None, _) => f64::NAN,
    }
}
