//! Numbers of a run file. JSON knows no NaN and no infinity, and a run that
//! abstained may hold either: they are written as `null` and read as NaN.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that may not be finite.
///
/// ```
/// use hambo_check::number::Number;
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
        if let Some(digits) = f.precision() {
            let width = f.width().unwrap_or(0);
            let text = significant(self.0, digits);
            return write!(f, "{text:>width$}");
        }
        let narrow = self.0 as f32;
        if f64::from(narrow) == self.0 {
            narrow.fmt(f)
        } else {
            self.0.fmt(f)
        }
    }
}

/// `digits` decimals, or as many significant digits where decimals would hide them.
fn significant(value: f64, digits: usize) -> String {
    let size = value.abs();
    if size == 0.0 || size >= 0.1 || !value.is_finite() || digits == 0 {
        // Without the sign of -0.
        return format!("{:.digits$}", if size == 0.0 { 0.0 } else { value });
    }
    let digits = digits.saturating_sub(1);
    if size < 1e-4 {
        return format!("{value:.digits$e}");
    }
    let decimals = digits + (-size.log10().floor()) as usize;
    format!("{value:.decimals$}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_keep_their_digits() {
        for (value, wanted) in [
            (-43.96, "-43.960"),
            (0.5, "0.500"),
            (0.01, "0.0100"),
            (-0.001_234, "-0.00123"),
            (-2.5e-7, "-2.50e-7"),
            (0.0, "0.000"),
            (-0.0, "0.000"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(format!("{:.3}", Number(value)), wanted);
        }
        assert_eq!(format!("{:>9.3}", Number(0.01)), "   0.0100");
    }
}
