//! `hambo check`: the verdict on a controller.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hambo_core::check::{Adversary, Estimate, Outcome};
use hambo_core::estimate::Margin;
use hambo_core::image::Image;
use hambo_core::rollout::Objective;
use hambo_core::variant::Variant;
use hambo_core::verdict::{Reason, Verdict};
use hambo_host::Error;
use hambo_host::check::check;
use hambo_host::image_file::AlignedBytes;
use hambo_host::model_file::ModelFile;
use hambo_host::task_file::TaskFile;
use serde_json::{Value, json};

use super::case::CaseArguments;

/// What `hambo check` takes.
#[derive(Args)]
pub struct CheckArguments {
    /// The task file (TOML).
    task: PathBuf,
    /// The model file of `hambo fit`.
    #[arg(long)]
    model: PathBuf,
    #[command(flatten)]
    case: CaseArguments,
    /// What decides; with `all` the lowest of them.
    #[arg(long, value_enum, default_value = "ca")]
    variant: VariantName,
    /// Deploy only at or above this return, instead of the task's threshold.
    #[arg(long, allow_negative_numbers = true)]
    threshold: Option<f32>,
    /// The bound may fail with this probability, instead of the task's delta.
    #[arg(long)]
    delta: Option<f32>,
    /// Steps of a trajectory, instead of the task's horizon.
    #[arg(long)]
    horizon: Option<u32>,
    /// One JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VariantName {
    Ca,
    Da1,
    Dainf,
    Ds,
    Ts1,
    Tsinf,
    Mean,
    Mopo,
    All,
}

const VARIANTS: [(VariantName, Variant, &str); 8] = [
    (VariantName::Ca, Variant::ContinuousAdversary, "ca"),
    (VariantName::Da1, Variant::DiscreteAdversary1, "da1"),
    (VariantName::Dainf, Variant::DiscreteAdversaryInf, "dainf"),
    (VariantName::Ds, Variant::DistributionSampling, "ds"),
    (VariantName::Ts1, Variant::TrajectorySampling1, "ts1"),
    (VariantName::Tsinf, Variant::TrajectorySamplingInf, "tsinf"),
    (VariantName::Mean, Variant::Mean, "mean"),
    (VariantName::Mopo, Variant::Penalised, "mopo"),
];

/// Exit codes of a verdict.
const REJECT: u8 = 1;
const ABSTAIN: u8 = 3;

/// Judges a controller and tells; returns the exit code.
///
/// # Errors
/// If an input is bad.
pub fn run(arguments: &CheckArguments, out: &mut impl Write) -> Result<u8, Error> {
    let mut task = TaskFile::read(&arguments.task)?;
    arguments.change(&mut task)?;
    let model = ModelFile::read(&arguments.model)?;
    let variants = arguments.variants(&model)?;
    task.method.variants.clear();
    task.method.variants.extend(variants);
    let bytes = AlignedBytes::new(&arguments.case.image(&model, &mut task)?);
    let outcome = check(&Image::parse(bytes.as_bytes())?)?;
    if arguments.json {
        writeln!(out, "{}", arguments.object(&task, &outcome))?;
    } else {
        arguments.tell(&task, &outcome, out)?;
    }
    Ok(match (&outcome.verdict, outcome.threshold) {
        (_, None) | (Verdict::Deploy(_), _) => 0,
        (Verdict::Reject, _) => REJECT,
        (Verdict::Abstain, _) => ABSTAIN,
    })
}

impl CheckArguments {
    /// Takes over what the command line says instead of the task.
    fn change(&self, task: &mut TaskFile) -> Result<(), Error> {
        if let Some(threshold) = self.threshold {
            if !threshold.is_finite() {
                return Err(Error::Usage("--threshold: give a finite number".to_owned()));
            }
            task.threshold = Some(threshold);
        }
        if let Some(delta) = self.delta {
            if !(delta > 0.0 && delta < 1.0) {
                let text = format!("--delta {delta}: give a probability between 0 and 1");
                return Err(Error::Usage(text));
            }
            task.delta = delta;
        }
        match self.horizon {
            Some(0) => return Err(Error::Usage("--horizon 0: give at least 1".to_owned())),
            Some(horizon) => task.horizon = horizon,
            None => {}
        }
        if self.case.trajectories == 0 {
            return Err(Error::Usage("--trajectories 0: give at least 1".to_owned()));
        }
        Ok(())
    }

    /// The variants that decide.
    fn variants(&self, model: &ModelFile) -> Result<Vec<Variant>, Error> {
        let members = model.model()?.dynamics.members() > 0;
        let named = VARIANTS
            .iter()
            .filter(|(name, ..)| self.variant == VariantName::All || self.variant == *name);
        let possible = |variant: &Variant| members || !variant.needs_members();
        let variants: Vec<Variant> = named
            .map(|(_, variant, _)| *variant)
            .filter(possible)
            .collect();
        if variants.is_empty() {
            let text = "--variant: this one needs networks, and the model is a Gaussian process; \
                        choose ca, ds or mean";
            return Err(Error::Usage(text.to_owned()));
        }
        Ok(variants)
    }

    fn tell(&self, task: &TaskFile, outcome: &Outcome, out: &mut impl Write) -> Result<(), Error> {
        writeln!(
            out,
            "{}: {} over {} steps, delta {}, {} trajectories, {} sweeps",
            task.name,
            self.case.policy.display(),
            task.horizon,
            task.delta,
            self.case.trajectories,
            self.case.sweeps
        )?;
        writeln!(
            out,
            "\n{:24} {:8} {:18} {:>12} {:>11} {:>12}",
            "", "estimate", "adversary", "mean", "std. error", "lower bound"
        )?;
        for estimate in &outcome.estimates {
            writeln!(
                out,
                "{:24} {:8} {:18} {:>12.3} {:>11.3} {:>12.3}",
                objective(task, estimate),
                variant(estimate),
                adversary(estimate.adversary),
                estimate.mean,
                estimate.standard_error,
                estimate.lower
            )?;
        }
        if let Some(last) = outcome.estimates.last() {
            let margin = match last.margin {
                Margin::StudentT => "Student's t",
                Margin::Bernstein { .. } => "empirical Bernstein",
            };
            writeln!(out, "\nsampling margin by {margin}")?;
        }
        for reason in &outcome.reasons {
            if *reason != Reason::NoThreshold {
                writeln!(out, "{}", why(task, outcome, *reason))?;
            }
        }
        match outcome.threshold {
            Some(threshold) => writeln!(
                out,
                "\n{}: lower bound {:.3}, threshold {threshold}",
                outcome.verdict.name(),
                outcome.bound
            )?,
            None => writeln!(
                out,
                "\nlower bound {:.3}; no threshold, no verdict (give --threshold or set one in the task)",
                outcome.bound
            )?,
        }
        Ok(())
    }

    fn object(&self, task: &TaskFile, outcome: &Outcome) -> Value {
        let of_return = outcome.estimates.iter();
        let of_return = of_return.filter(|estimate| estimate.objective == Objective::Return);
        let deciding = of_return.clone().find(|estimate| {
            task.method.variants.contains(&estimate.variant) && estimate.lower == outcome.bound
        });
        let constraints = task.constraints.iter().filter_map(|(name, slot)| {
            let lowers = outcome.estimates.iter().filter(|estimate| {
                estimate.objective == Objective::Constraint(*slot)
                    && task.method.variants.contains(&estimate.variant)
            });
            let lower = lowers.map(|estimate| estimate.lower).reduce(f32::min)?;
            Some(json!({ "name": name, "lower": lower, "ok": lower >= 0.0 }))
        });
        let reasons = outcome
            .reasons
            .iter()
            .filter(|reason| **reason != Reason::NoThreshold);
        json!({
            "task": task.name,
            "policy": self.case.policy,
            "model": self.model,
            "delta": task.delta,
            "horizon": task.horizon,
            "trajectories": self.case.trajectories,
            "sweeps": self.case.sweeps,
            "seed": self.case.seed,
            "estimates": of_return.map(|estimate| json!({
                "variant": variant(estimate),
                "adversary": adversary(estimate.adversary),
                "constant": estimate.start_mean,
                "mean": estimate.mean,
                "std_error": estimate.standard_error,
                "lower": estimate.lower,
            })).collect::<Vec<_>>(),
            "constraints": constraints.collect::<Vec<_>>(),
            "bound": outcome.bound,
            "bound_bits": format!("{:08x}", outcome.bound.to_bits()),
            "bound_variant": deciding.map(variant),
            "threshold": outcome.threshold,
            "verdict": outcome.threshold.map(|_| outcome.verdict.name()),
            "reasons": reasons.map(|reason| why(task, outcome, *reason)).collect::<Vec<_>>(),
        })
    }
}

fn variant(estimate: &Estimate) -> &'static str {
    let named = VARIANTS
        .iter()
        .find(|(_, variant, _)| *variant == estimate.variant);
    named.map_or("", |(.., name)| name)
}

fn objective(task: &TaskFile, estimate: &Estimate) -> String {
    match estimate.objective {
        Objective::Return => "return".to_owned(),
        Objective::Constraint(slot) => {
            let named = task.constraints.iter().find(|(_, other)| *other == slot);
            named.map_or_else(String::new, |(name, _)| format!("constraint {name}"))
        }
    }
}

fn adversary(adversary: Adversary) -> String {
    match adversary {
        Adversary::None => "none".to_owned(),
        Adversary::Constant(number) => format!("constant {number}"),
        Adversary::Member(number) => format!("member {number}"),
        Adversary::Adjoint => "adjoint search".to_owned(),
        Adversary::Sequence => "sequence search".to_owned(),
        Adversary::Network => "trained network".to_owned(),
    }
}

fn why(task: &TaskFile, outcome: &Outcome, reason: Reason) -> String {
    match reason {
        Reason::ReturnBelowThreshold => format!(
            "the bound {:.3} on the return lies below the threshold {}",
            outcome.bound,
            outcome.threshold.unwrap_or(f32::NAN)
        ),
        Reason::ConstraintViolated(index) => {
            let name = task.constraints.get(usize::from(index));
            format!(
                "the bound on the constraint {} lies below zero",
                name.map_or("", |(name, _)| name)
            )
        }
        Reason::NoThreshold => "the task states no threshold".to_owned(),
        Reason::NotCalibrated(_) => {
            "the model is not calibrated: log more and fit again (hambo model info says what failed)"
                .to_owned()
        }
        Reason::OutsideSupport => {
            "the controller leaves the states and actions that the log covers: log more there"
                .to_owned()
        }
        Reason::NotFinite => {
            "a number was not finite: look for a division by zero or a logarithm of a negative number in the task"
                .to_owned()
        }
        Reason::OutsideRewardBounds => {
            "a reward lay outside the bounds that the task states: correct them".to_owned()
        }
        Reason::Unfinished => "the check did not come to its end".to_owned(),
        Reason::OverBudget => "the check would take more steps than the task allows".to_owned(),
    }
}
