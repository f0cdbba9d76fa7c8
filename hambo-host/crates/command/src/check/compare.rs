//! Several controllers in one table, the best first.

use std::io::Write;
use std::path::Path;

use super::CheckArguments;
use super::claim::claim;
use crate::exit_code::exit_code;
use hambo_base::Error;
use hambo_check::ranking::order::order;
use hambo_check::{CheckOutcome, CheckResult, Verdict};
use hambo_task::policy::HostPolicy;

impl CheckArguments {
    /// Checks them one after the other and compares; returns the worst exit code.
    pub(super) fn compare(
        &self,
        policies: &[(&Path, HostPolicy)],
        judge: impl Fn(&HostPolicy) -> Result<CheckOutcome, Error>,
        out: &mut impl Write,
    ) -> Result<u8, Error> {
        let mut judged = Vec::with_capacity(policies.len());
        for (path, policy) in policies {
            judged.push((*path, judge(policy)?.result));
        }
        judged.sort_by(|(_, one), (_, other)| order(one, other));
        if self.json {
            let objects = judged
                .iter()
                .map(|(path, result)| self.object(path, result));
            let objects: Vec<serde_json::Value> = objects.collect::<Result<_, Error>>()?;
            writeln!(out, "{}", serde_json::Value::from(objects))?;
        } else {
            write(&judged, out)?;
        }
        let codes = judged
            .iter()
            .map(|(_, result)| exit_code(result.decision.verdict));
        Ok(codes.max().unwrap_or(0))
    }
}

fn write(judged: &[(&Path, CheckResult)], out: &mut impl Write) -> Result<(), Error> {
    let names: Vec<String> = judged
        .iter()
        .map(|(path, _)| path.display().to_string())
        .collect();
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0).max(10);
    if let Some((_, first)) = judged.first() {
        let threshold = first
            .decision
            .threshold
            .map_or("none".to_owned(), |one| one.to_string());
        writeln!(
            out,
            "{}: {} controllers over {} steps, delta {}, threshold {threshold}\n",
            first.setting.task,
            judged.len(),
            first.setting.horizon,
            first.setting.delta
        )?;
    }
    writeln!(
        out,
        "{:width$}  {:8} {:>12} {:>12}  why not",
        "controller", "verdict", "lower bound", "neutral"
    )?;
    for (name, (_, result)) in names.iter().zip(judged) {
        let verdict = result.decision.verdict.map_or("none", Verdict::name);
        writeln!(
            out,
            "{name:width$}  {verdict:8} {:>12.3} {:>12.3}  {}",
            result.decision.bound,
            result.decision.neutral,
            result.decision.reasons.join("; ")
        )?;
    }
    if let Some(logged) = judged
        .first()
        .and_then(|(_, first)| first.evidence.logged_return.as_ref())
    {
        writeln!(out, "\n{}", logged.sentence())?;
    }
    if let Some((_, first)) = judged.first() {
        writeln!(out, "{}", claim(&first.setting, judged.len()))?;
    }
    Ok(())
}
