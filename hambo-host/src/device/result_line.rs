//! The closing line, by which the device reports its result.
//!
//! `result bound=1.5 bits=3fc00000 digest=0000000a verdict=deploy output=on instructions=12 stack=96 ram=65536`

use std::{fmt, num::ParseIntError};
use thiserror::Error;

/// What the device decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceVerdict {
    /// The bound holds; the outputs are on.
    Deploy,
    /// The bound does not hold.
    Reject,
    /// The evidence is unfit for a verdict.
    Abstain,
    /// The image was not accepted, so no check ran.
    Refused,
}

impl DeviceVerdict {
    const ALL: [Self; 4] = [Self::Deploy, Self::Reject, Self::Abstain, Self::Refused];

    /// The word in the closing line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Reject => "reject",
            Self::Abstain => "abstain",
            Self::Refused => "refused",
        }
    }
}

impl fmt::Display for DeviceVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A closing line that agrees with itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultLine {
    /// The lower bound.
    pub bound: f32,
    /// The same, bit for bit.
    pub bound_bits: u32,
    /// One number for all estimates, see [`hambo_core::check::Outcome::digest`].
    pub digest: u32,
    /// The decision.
    pub verdict: DeviceVerdict,
    /// Whether the outputs are on.
    pub output_enabled: bool,
    /// Instructions from the start of the check to its verdict.
    pub instructions: u64,
    /// The most stack ever in use, in bytes.
    pub stack_high_water: u32,
    /// The check's workspace in bytes.
    pub ram_bytes: u32,
}

/// Why a closing line is no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResultLineError {
    /// A field is missing or in the wrong place.
    #[error("`{0}=` is missing")]
    Missing(&'static str),
    /// A field holds something else than it should.
    #[error("`{key}={value}` makes no sense")]
    Bad {
        /// The field.
        key: &'static str,
        /// What it holds.
        value: String,
    },
    /// There is more than the known fields.
    #[error("`{0}` does not belong there")]
    Trailing(String),
    /// The number and its bits differ.
    #[error("bound {bound} and bits {bits:08x} disagree")]
    BitsDisagree {
        /// The number as text.
        bound: String,
        /// The bits.
        bits: u32,
    },
    /// Outputs on without a passed check, or the other way round.
    #[error("verdict {verdict} with bound {bound} and outputs {output}")]
    Inconsistent {
        /// The verdict.
        verdict: DeviceVerdict,
        /// The number as text.
        bound: String,
        /// On or off.
        output: &'static str,
    },
}

impl ResultLine {
    /// Whether a log message claims to be a closing line.
    #[must_use]
    pub fn is_one(message: &str) -> bool {
        message == "result" || message.starts_with("result ")
    }

    /// Reads a closing line.
    ///
    /// # Errors
    ///
    /// If a field is missing, bad or too much, or if the fields contradict each other.
    ///
    /// ```
    /// use hambo_host::device::{DeviceVerdict, ResultLine};
    /// let line = "result bound=1.5 bits=3fc00000 digest=0000000a verdict=deploy output=on instructions=12 stack=96 ram=64";
    /// let result = ResultLine::parse(line)?;
    /// assert_eq!(result.verdict, DeviceVerdict::Deploy);
    /// assert_eq!(result.bound.to_bits(), result.bound_bits);
    /// # Ok::<(), hambo_host::device::ResultLineError>(())
    /// ```
    pub fn parse(message: &str) -> Result<Self, ResultLineError> {
        let mut words = message.split(' ');
        if words.next() != Some("result") {
            return Err(ResultLineError::Missing("result"));
        }
        let mut field = |key: &'static str| {
            words
                .next()
                .and_then(|word| word.strip_prefix(key)?.strip_prefix('='))
                .ok_or(ResultLineError::Missing(key))
        };

        let bound_text = field("bound")?;
        let bits_text = field("bits")?;
        let digest = number("digest", field("digest")?, |text| {
            u32::from_str_radix(text, 16)
        })?;
        let verdict_text = field("verdict")?;
        let output_text = field("output")?;
        let instructions = number("instructions", field("instructions")?, str::parse)?;
        let stack_high_water = number("stack", field("stack")?, str::parse)?;
        let ram_bytes = number("ram", field("ram")?, str::parse)?;
        if let Some(word) = words.next() {
            return Err(ResultLineError::Trailing(word.into()));
        }

        let bound: f32 = bound_text.parse().map_err(|_| bad("bound", bound_text))?;
        if bits_text.len() != 8 {
            return Err(bad("bits", bits_text));
        }
        let bound_bits = number("bits", bits_text, |text| u32::from_str_radix(text, 16))?;
        let bound_from_bits = f32::from_bits(bound_bits);
        let both_nan = bound.is_nan() && bound_from_bits.is_nan();
        if bound.to_bits() != bound_bits && !both_nan {
            return Err(ResultLineError::BitsDisagree {
                bound: bound_text.into(),
                bits: bound_bits,
            });
        }

        let verdict = DeviceVerdict::ALL
            .into_iter()
            .find(|verdict| verdict.as_str() == verdict_text)
            .ok_or_else(|| bad("verdict", verdict_text))?;
        let (output_enabled, output) = match output_text {
            "on" => (true, "on"),
            "off" => (false, "off"),
            _ => return Err(bad("output", output_text)),
        };
        let deploy = verdict == DeviceVerdict::Deploy;
        if deploy != output_enabled || (deploy && bound.is_nan()) {
            return Err(ResultLineError::Inconsistent {
                verdict,
                bound: bound_text.into(),
                output,
            });
        }

        Ok(Self {
            bound: bound_from_bits,
            bound_bits,
            digest,
            verdict,
            output_enabled,
            instructions,
            stack_high_water,
            ram_bytes,
        })
    }
}

fn bad(key: &'static str, value: &str) -> ResultLineError {
    ResultLineError::Bad {
        key,
        value: value.into(),
    }
}

fn number<T>(
    key: &'static str,
    text: &str,
    parse: impl Fn(&str) -> Result<T, ParseIntError>,
) -> Result<T, ResultLineError> {
    // The standard parsers also take a sign.
    if text.starts_with('+') {
        return Err(bad(key, text));
    }
    parse(text).map_err(|_| bad(key, text))
}

#[cfg(test)]
mod tests {
    use super::{DeviceVerdict, ResultLine, ResultLineError};

    const GOOD: &str = "result bound=-12.5 bits=c1480000 digest=0000000a verdict=reject output=off instructions=5000000000 stack=1024 ram=65536";

    #[test]
    fn a_good_line_is_read_in_full() {
        assert_eq!(
            ResultLine::parse(GOOD),
            Ok(ResultLine {
                bound: -12.5,
                bound_bits: 0xc148_0000,
                digest: 0xa,
                verdict: DeviceVerdict::Reject,
                output_enabled: false,
                instructions: 5_000_000_000,
                stack_high_water: 1024,
                ram_bytes: 65536,
            })
        );
    }

    #[test]
    fn a_refused_image_has_no_bound() -> Result<(), ResultLineError> {
        let line = "result bound=NaN bits=7fc00000 digest=0000000a verdict=refused output=off instructions=1 stack=2 ram=3";
        let result = ResultLine::parse(line)?;
        assert!(result.bound.is_nan());
        assert_eq!(result.verdict, DeviceVerdict::Refused);
        Ok(())
    }

    #[test]
    fn infinities_are_numbers() -> Result<(), ResultLineError> {
        let line = GOOD
            .replace("-12.5", "-inf")
            .replace("c1480000", "ff800000");
        assert!(ResultLine::parse(&line)?.bound.is_infinite());
        Ok(())
    }

    #[test]
    fn number_and_bits_must_agree() {
        for line in [
            GOOD.replace("c1480000", "c1480001"),
            GOOD.replace("-12.5", "12.5"),
            GOOD.replace("-12.5", "NaN"),
            GOOD.replace("c1480000", "7fc00000"),
            // The two zeros are equal as numbers, but not in their bits.
            GOOD.replace("-12.5", "0.0").replace("c1480000", "80000000"),
        ] {
            let result = ResultLine::parse(&line);
            assert!(
                matches!(result, Err(ResultLineError::BitsDisagree { .. })),
                "{line}: {result:?}"
            );
        }
    }

    #[test]
    fn outputs_are_on_for_deploy_and_for_nothing_else() {
        for line in [
            GOOD.replace("output=off", "output=on"),
            GOOD.replace("reject", "deploy"),
            GOOD.replace("reject", "abstain")
                .replace("output=off", "output=on"),
            "result bound=NaN bits=7fc00000 digest=0000000a verdict=deploy output=on instructions=1 stack=2 ram=3"
                .into(),
        ] {
            let result = ResultLine::parse(&line);
            assert!(
                matches!(result, Err(ResultLineError::Inconsistent { .. })),
                "{line}: {result:?}"
            );
        }
    }

    #[test]
    fn bad_fields_are_named() {
        for (line, key) in [
            (GOOD.replace("-12.5", "twelve"), "bound"),
            (GOOD.replace("c1480000", "c148000"), "bits"),
            (GOOD.replace("c1480000", "+1480000"), "bits"),
            (GOOD.replace("c1480000", "c148000g"), "bits"),
            (GOOD.replace("reject", "Reject"), "verdict"),
            (GOOD.replace("=off", "=low"), "output"),
            (GOOD.replace("5000000000", "-1"), "instructions"),
            (GOOD.replace("1024", "4294967296"), "stack"),
            (GOOD.replace("65536", ""), "ram"),
        ] {
            let result = ResultLine::parse(&line);
            assert!(
                matches!(result, Err(ResultLineError::Bad { key: found, .. }) if found == key),
                "{line}: {result:?}"
            );
        }
    }

    #[test]
    fn missing_swapped_and_extra_fields_are_errors() {
        for line in [
            String::new(),
            "result".into(),
            GOOD.replace(" ram=65536", ""),
            GOOD.replace("result ", ""),
            GOOD.replace("stack", "ram"),
            GOOD.replace(" stack", "  stack"),
            format!("{GOOD} more"),
            format!("{GOOD} "),
        ] {
            assert!(ResultLine::parse(&line).is_err(), "{line}");
        }
    }
}
