//! Checks that the values of many keys share, with errors that name file and key.

use super::error::TaskError;
use super::locate::{in_file, key as place_of_key};
use crate::expression::error::ExpressionError;
use crate::expression::parser::FUNCTIONS;
use crate::expression::{RESERVED, is_identifier};

/// The checks, with the file's name and text for their errors.
pub(super) struct Checker<'a> {
    pub origin: &'a str,
    pub text: &'a str,
}

impl Checker<'_> {
    pub(super) fn fail<T>(
        &self,
        key: &str,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T, TaskError> {
        self.fail_at(key, key, problem, help)
    }

    /// Fails with an error at `part`, a part of the key's value, like `state.low[1]`.
    pub(super) fn fail_at<T>(
        &self,
        part: &str,
        key: &str,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T, TaskError> {
        Err(TaskError::Key {
            origin: self.origin.to_owned(),
            key: key.to_owned(),
            problem: problem.into(),
            place: place_of_key(self.text, part).map(Box::new),
            help: help.into(),
        })
    }

    pub(super) fn present<T>(
        &self,
        key: &str,
        value: Option<T>,
        help: &str,
    ) -> Result<T, TaskError> {
        match value {
            Some(value) => Ok(value),
            None => self.fail(key, "is missing", help),
        }
    }

    pub(super) fn compiled(
        &self,
        key: &str,
        slot: Result<u16, ExpressionError>,
    ) -> Result<u16, TaskError> {
        slot.map_err(|problem| TaskError::Expression {
            origin: self.origin.to_owned(),
            key: key.to_owned(),
            problem: Box::new(in_file(self.text, key, problem)),
        })
    }

    /// Names that expressions can use, all different, also from `taken`.
    pub(super) fn names(
        &self,
        key: &str,
        names: Option<Vec<String>>,
        taken: &[String],
    ) -> Result<Vec<String>, TaskError> {
        let names = self.present(key, names, "list the names, for example [\"x\", \"v\"]")?;
        if names.is_empty() {
            return self.fail(key, "is empty", "give at least one name");
        }
        if names.len() > usize::from(u16::MAX) {
            let problem = format!("has {} names", names.len());
            return self.fail(key, problem, format!("give at most {}", u16::MAX));
        }
        let mut seen: std::collections::HashSet<&str> = taken.iter().map(String::as_str).collect();
        for (index, name) in names.iter().enumerate() {
            let part = format!("{key}[{index}]");
            if !is_identifier(name) {
                let problem = format!("has `{}`, which is not a name", name.escape_debug());
                let help = "use letters, digits and _, a letter first";
                return self.fail_at(&part, key, problem, help);
            }
            if FUNCTIONS.contains(&name.as_str()) || RESERVED.contains(&name.as_str()) {
                let problem = format!("has `{name}`, which means something in expressions");
                let help = format!("rename it, for example `{name}_1`");
                return self.fail_at(&part, key, problem, help);
            }
            if !seen.insert(name) {
                let problem = format!("has `{name}`, which is there already");
                let help = "give every state and action a name of its own";
                return self.fail_at(&part, key, problem, help);
            }
        }
        Ok(names)
    }

    /// One number per name if there are any; never NaN, and finite where asked for.
    pub(super) fn limits(
        &self,
        key: &str,
        values: Option<Vec<f32>>,
        length: usize,
        finite: bool,
    ) -> Result<Option<Vec<f32>>, TaskError> {
        let Some(values) = values else {
            return Ok(None);
        };
        if values.len() != length {
            let problem = format!("has length {}, not {length}", values.len());
            return self.fail(key, problem, "give one number per name");
        }
        let bad = |value: &f32| value.is_nan() || (finite && value.is_infinite());
        if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| bad(value)) {
            let part = format!("{key}[{index}]");
            return self.fail_at(&part, key, format!("has {value}"), "give finite numbers");
        }
        Ok(Some(values))
    }

    pub(super) fn below(
        &self,
        key: &str,
        low: &[f32],
        high: &[f32],
        names: &[String],
    ) -> Result<(), TaskError> {
        for (index, ((low, high), name)) in low.iter().zip(high).zip(names).enumerate() {
            if low >= high {
                let problem = format!("of {name} is {low}, and its high is {high}");
                let part = format!("{key}[{index}]");
                return self.fail_at(&part, key, problem, "make low less than high");
            }
        }
        Ok(())
    }
}
