//! A finished check as a run file, and the trajectories behind it.

use std::path::Path;
use std::time::SystemTime;

use crate::Error;
use crate::check::adversary::Contest;
use crate::check::case::Case;
use crate::formats::task::TaskFile;
use crate::learn::model_file::ModelFile;
use crate::present::report::{
    ConstraintFact, ContenderFact, EstimateFact, FileFact, ModelFacts, Run, RunResult, Settings,
    Story, StoryNames, hexadecimal,
};
use hambo_core::adversary::searches;
use hambo_core::check::{Adversary, Estimate, Outcome};
use hambo_core::image::Image;
use hambo_core::rollout::Objective;
use hambo_core::variant::Variant;
use hambo_core::verdict::Reason;
use sha2::{Digest, Sha256};

use super::{CheckArguments, words};

/// The estimate of the return that the bound comes from.
pub fn deciding<'a>(task: &TaskFile, outcome: &'a Outcome) -> Option<&'a Estimate> {
    outcome.estimates.iter().find(|estimate| {
        estimate.objective == Objective::Return
            && task.method.variants.contains(&estimate.variant)
            && estimate.lower == outcome.bound
    })
}

/// Constraints that were estimated: name, and the lowest of the bounds that
/// decide.
pub fn constraints(task: &TaskFile, outcome: &Outcome) -> Vec<(String, f32)> {
    let each = task.constraints.iter().filter_map(|(name, slot)| {
        let lowers = outcome.estimates.iter().filter(|estimate| {
            estimate.objective == Objective::Constraint(*slot)
                && task.method.variants.contains(&estimate.variant)
        });
        let lower = lowers.map(|estimate| estimate.lower).reduce(f32::min)?;
        Some((name.clone(), lower))
    });
    each.collect()
}

/// The variant whose search found what decides: CA may owe its minimum to a
/// member that DA1 or DAinf followed.
fn found_by(task: &TaskFile, estimate: &Estimate) -> Variant {
    let ran = |variant| task.method.variants.contains(&variant);
    match (estimate.variant, estimate.adversary) {
        (Variant::ContinuousAdversary, Adversary::Member(_))
            if ran(Variant::DiscreteAdversaryInf) =>
        {
            Variant::DiscreteAdversaryInf
        }
        (Variant::ContinuousAdversary, Adversary::Member(_) | Adversary::Sequence)
            if ran(Variant::DiscreteAdversary1) =>
        {
            Variant::DiscreteAdversary1
        }
        (own, _) => own,
    }
}

impl CheckArguments {
    /// The trajectories behind the bound; none if nothing was estimated.
    pub(super) fn story(&self, case: &Case, contest: &Contest) -> Result<Option<Story>, Error> {
        let (task, outcome) = (&case.task, &contest.outcome);
        // A bound that is not a number decides nothing; then the first
        // adversary is as good as any.
        let returns = outcome.estimates.iter();
        let first = returns.clone().find(|estimate| searches(estimate.variant));
        let Some(estimate) = deciding(task, outcome).or(first) else {
            return Ok(None);
        };
        let variant = found_by(task, estimate);
        let bytes = case.image(&contest.adversaries)?;
        let image = Image::parse(bytes.as_bytes())?;
        let log = self.case.log(task)?;
        let names = StoryNames {
            variant: words::variant(variant),
            states: &task.state_names,
            actions: &task.action_names,
        };
        Story::tell(&image, &contest.findings, variant, &names, log.as_ref())
    }

    /// Everything that a page about this check needs.
    pub(super) fn record(
        &self,
        case: &Case,
        model: &ModelFile,
        contest: &Contest,
        story: Option<Story>,
    ) -> Result<Run, Error> {
        let model = ModelFacts::of(model.metadata());
        let result = result(&case.task, contest);
        Ok(Run::new(self.settings(case)?, result, story, model))
    }

    fn settings(&self, case: &Case) -> Result<Settings, Error> {
        let mut files = vec![
            fact("task", &self.task)?,
            fact("model", &self.model)?,
            fact("policy", &self.case.policy)?,
        ];
        for data in &self.case.data {
            files.push(fact("log", data)?);
        }
        let task = &case.task;
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let variants = task.method.variants.iter();
        Ok(Settings {
            hambo_version: env!("CARGO_PKG_VERSION").to_owned(),
            time: time.map_or(0, |time| time.as_secs()),
            command: command_line(std::env::args()),
            task: task.name.clone(),
            task_text: String::from_utf8_lossy(&read(&self.task)?).into_owned(),
            files,
            policy_part: hexadecimal(&Sha256::digest(&case.policy_part)),
            horizon: task.horizon,
            delta: task.delta.into(),
            discount: task.discount.into(),
            trajectories: case.effort.trajectories,
            sweeps: case.effort.iterations,
            effort: self.effort().name().to_owned(),
            seed: case.effort.seed,
            variants: variants
                .map(|variant| words::variant(*variant).to_owned())
                .collect(),
        })
    }
}

fn result(task: &TaskFile, contest: &Contest) -> RunResult {
    let outcome = &contest.outcome;
    let estimates = outcome.estimates.iter().map(|estimate| EstimateFact {
        objective: words::objective(task, estimate),
        variant: words::variant(estimate.variant).to_owned(),
        adversary: words::adversary(estimate.adversary),
        decides: task.method.variants.contains(&estimate.variant),
        mean: estimate.mean.into(),
        std_error: estimate.standard_error.into(),
        lower: estimate.lower.into(),
    });
    let contenders = contest.contenders.iter().map(|one| ContenderFact {
        variant: words::variant(one.variant).to_owned(),
        name: one.name.to_owned(),
        mean: one.mean.into(),
        model_steps: one.model_steps,
        gradient_steps: one.gradient_steps,
        seconds: one.time.as_secs_f64().into(),
    });
    let margins = outcome.estimates.iter();
    let margin = margins
        .clone()
        .find(|one| one.objective == Objective::Return);
    let reasons = outcome.reasons.iter();
    let reasons = reasons.filter(|reason| **reason != Reason::NoThreshold);
    let deciding = deciding(task, outcome);
    RunResult {
        verdict: outcome.threshold.map(|_| outcome.verdict.name().to_owned()),
        reasons: reasons
            .map(|reason| words::why(task, outcome, *reason))
            .collect(),
        bound: outcome.bound.into(),
        bound_bits: format!("{:08x}", outcome.bound.to_bits()),
        bound_variant: deciding.map(|estimate| words::variant(estimate.variant).to_owned()),
        threshold: outcome.threshold.map(Into::into),
        neutral: outcome.neutral.into(),
        digest: format!("{:08x}", outcome.digest()),
        margin: margin
            .map_or("none", |one| words::margin(one.margin))
            .to_owned(),
        estimates: estimates.collect(),
        constraints: constraints(task, outcome)
            .into_iter()
            .map(|(name, lower)| ConstraintFact {
                name,
                lower: lower.into(),
                ok: lower >= 0.0,
            })
            .collect(),
        contenders: contenders.collect(),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let named = |error: std::io::Error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    Ok(std::fs::read(path).map_err(named)?)
}

fn fact(what: &str, path: &Path) -> Result<FileFact, Error> {
    Ok(FileFact {
        what: what.to_owned(),
        path: path.display().to_string(),
        sha256: hexadecimal(&Sha256::digest(read(path)?)),
    })
}

/// The words of a command line, quoted where a shell would split them.
fn command_line(words: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+%@".contains(c);
    let quoted = words.enumerate().map(|(place, word)| {
        // The program's own name, without the folder it happened to lie in.
        let name = Path::new(&word).file_name().filter(|_| place == 0);
        let word = name.map_or(word.clone(), |name| name.to_string_lossy().into_owned());
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::command_line;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["/opt/bin/hambo", "check", "my task.toml", "it's", ""];
        let line = command_line(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(line, r"hambo check 'my task.toml' 'it'\''s' ''");
    }
}
