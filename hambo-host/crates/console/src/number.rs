//! Numbers on the command line: one that makes no sense is refused with what to give.

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use clap::Command;

/// Reads a whole number from 0, like a seed or a count.
///
/// # Errors
/// If it is none; the text says what to give.
pub fn whole<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: ParseIntError| {
        let help = match error.kind() {
            IntErrorKind::PosOverflow => "it is too large; give a smaller number",
            _ => "give a whole number that is not negative",
        };
        help.to_owned()
    })
}

/// Reads a whole number from 1.
///
/// # Errors
/// As [`whole`].
pub fn at_least_one<T: FromStr<Err = ParseIntError> + Default + PartialEq>(
    text: &str,
) -> Result<T, String> {
    let number = whole(text)?;
    if number == T::default() {
        return Err("give at least 1".to_owned());
    }
    Ok(number)
}

/// Reads a finite number from 0, like a norm or a Lipschitz constant.
///
/// # Errors
/// If it is none; the text says what to give.
pub fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &f64| *number >= 0.0 && number.is_finite())
        .ok_or_else(|| "give a finite number that is not negative".to_owned())
}

/// Lets every option take `-1` for a value, so that it is refused as what it is and not
/// as an unknown option.
pub fn with_negative_numbers(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let option = !argument.is_positional() && argument.get_action().takes_values();
        argument.allow_negative_numbers(option)
    });
    command.mut_subcommands(with_negative_numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_sense_are_refused() {
        assert_eq!(whole::<u64>("0"), Ok(0));
        assert_eq!(whole::<u64>("18446744073709551615"), Ok(u64::MAX));
        for (text, wanted) in [
            ("-1", "negative"),
            ("1.5", "whole"),
            ("99999999999", "large"),
        ] {
            let error = whole::<u32>(text).err();
            assert!(error.is_some_and(|error| error.contains(wanted)), "{text}");
        }
        assert_eq!(at_least_one::<u32>("1"), Ok(1));
        assert!(at_least_one::<u32>("0").is_err() && at_least_one::<u32>("-1").is_err());
        assert_eq!(not_negative("0"), Ok(0.0));
        for text in ["-1", "nan", "inf", "1e999", "x", ""] {
            assert!(not_negative(text).is_err(), "{text}");
        }
    }
}
