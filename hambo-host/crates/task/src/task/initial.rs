//! `[initial]`: where trajectories start.

use super::checker::Checker;
use super::error::TaskError;
use super::raw::RawInitial;
use super::task_file::Initial;

impl Checker<'_> {
    pub(super) fn initial(&self, raw: RawInitial, names: &[String]) -> Result<Initial, TaskError> {
        let kinds = "choose \"point\" (value), \"uniform\" (low, high), \
                     \"gaussian\" (mean, std), \"worst\" (low, high) or \"data\"";
        let kind = self.present("initial.kind", raw.kind, kinds)?;
        let wanted: &[&str] = match kind.as_str() {
            "point" => &["value"],
            "uniform" | "worst" => &["low", "high"],
            "gaussian" => &["mean", "std"],
            "data" => &[],
            _ => {
                let problem = format!("is \"{}\"", kind.escape_debug());
                return self.fail("initial.kind", problem, kinds);
            }
        };
        let help = format!("with kind = \"{kind}\" give one finite number per state");
        let take = |field: &str, values: Option<Vec<f32>>| {
            let key = format!("initial.{field}");
            match (wanted.contains(&field), values) {
                (true, values) => {
                    let values = self.limits(&key, values, names.len(), true)?;
                    self.present(&key, values, &help)
                }
                (false, None) => Ok(Vec::new()),
                (false, Some(_)) => {
                    let problem = format!("does not belong to kind = \"{kind}\"");
                    self.fail(&key, problem, "remove it, or change the kind")
                }
            }
        };
        if raw.always.is_some() && kind != "data" {
            let problem = format!("does not belong to kind = \"{kind}\"");
            let help = "remove it, or start from kind = \"data\"";
            return self.fail("initial.always", problem, help);
        }
        let value = take("value", raw.value)?;
        let low = take("low", raw.low)?;
        let high = take("high", raw.high)?;
        let mean = take("mean", raw.mean)?;
        let std = take("std", raw.std)?;
        // A state may start at one value only, so low may equal high and std may be 0.
        for (index, ((low, high), name)) in low.iter().zip(&high).zip(names).enumerate() {
            if low > high {
                let problem = format!("of {name} is {low}, and its high is {high}");
                let part = format!("initial.low[{index}]");
                return self.fail_at(&part, "initial.low", problem, "make low at most high");
            }
        }
        if let Some((index, std)) = std.iter().enumerate().find(|(_, std)| **std < 0.0) {
            let part = format!("initial.std[{index}]");
            return self.fail_at(&part, "initial.std", format!("has {std}"), "give 0 or more");
        }
        Ok(match kind.as_str() {
            "point" => Initial::Point(value),
            "uniform" => Initial::Uniform { low, high },
            "worst" => Initial::Worst { low, high },
            "gaussian" => Initial::Gaussian { mean, std },
            _ => Initial::Data {
                always: raw.always.unwrap_or(false),
            },
        })
    }
}

/// Every start with the initial values of the states that the log does not have.
pub(super) fn start_memory(initial: &mut Initial, memory: &[f32]) {
    match initial {
        Initial::Point(value) => value.extend(memory),
        Initial::Uniform { low, high } | Initial::Worst { low, high } => {
            low.extend(memory);
            high.extend(memory);
        }
        Initial::Gaussian { mean, std } => {
            mean.extend(memory);
            std.extend(memory.iter().map(|_| 0.0));
        }
        // The log's rows have them.
        Initial::Data { .. } => {}
    }
}
