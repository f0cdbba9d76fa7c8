//! A finished check for people.

use std::io::Write;

use crate::Error;
use crate::check::adversary::{Contender, Contest};
use crate::check::case::Case;
use crate::present::report::{Place, Reach, Story};
use hambo_core::verdict::Reason;

use super::{CheckArguments, words};

impl CheckArguments {
    /// Tells people.
    pub(super) fn tell(
        &self,
        case: &Case,
        contest: &Contest,
        story: Option<&Story>,
        out: &mut impl Write,
    ) -> Result<(), Error> {
        let (task, outcome) = (&case.task, &contest.outcome);
        writeln!(
            out,
            "{}: {} over {} steps, delta {}, {} trajectories, {} sweeps",
            task.name,
            self.case.policy.display(),
            task.horizon,
            task.delta,
            self.case.trajectories,
            case.effort.iterations
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
                words::objective(task, estimate),
                words::variant(estimate.variant),
                words::adversary(estimate.adversary),
                estimate.mean,
                estimate.standard_error,
                estimate.lower
            )?;
        }
        if let Some(last) = outcome.estimates.last() {
            writeln!(out, "\nsampling margin by {}", words::margin(last.margin))?;
        }
        tell_contenders(contest, out)?;
        if let Some(story) = story {
            tell_story(story, out)?;
        }
        for reason in &outcome.reasons {
            if *reason != Reason::NoThreshold {
                writeln!(out, "{}", words::why(task, outcome, *reason))?;
            }
        }
        match outcome.threshold {
            Some(threshold) => writeln!(
                out,
                "\n{style}{}{style:#}: lower bound {:.3}, threshold {threshold}",
                outcome.verdict.name(),
                outcome.bound,
                style = words::style(&outcome.verdict)
            )?,
            None => writeln!(
                out,
                "\nlower bound {:.3}; no threshold, no verdict (give --threshold or set one in the task)",
                outcome.bound
            )?,
        }
        Ok(())
    }
}

/// What each adversary found and spent, and how far they are apart.
fn tell_contenders(contest: &Contest, out: &mut impl Write) -> Result<(), Error> {
    if contest.contenders.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:24} {:20} {:>12} {:>14} {:>15} {:>9}",
        "what adversaries found", "", "mean", "model steps", "gradient steps", "seconds"
    )?;
    for contender in &contest.contenders {
        writeln!(
            out,
            "{:24} {:20} {:>12.3} {:>14} {:>15} {:>9.2}",
            words::variant(contender.variant),
            contender.name,
            contender.mean,
            contender.model_steps,
            contender.gradient_steps,
            contender.time.as_secs_f64()
        )?;
    }
    for estimate in &contest.outcome.estimates {
        let own = |contender: &&Contender| contender.variant == estimate.variant;
        let means = contest.contenders.iter().filter(own).map(|one| one.mean);
        let Some(best) = means.clone().reduce(f32::min) else {
            continue;
        };
        let Some(least) = means.reduce(f32::max) else {
            continue;
        };
        let spread = contest.outcome.neutral - estimate.mean;
        if estimate.objective == hambo_core::rollout::Objective::Return && spread > 0.0 {
            writeln!(
                out,
                "{}: the adversaries differ by {:.3}, {:.1} % of the way from the neutral estimate to the worst",
                words::variant(estimate.variant),
                least - best,
                100.0 * (least - best) / spread
            )?;
        }
    }
    Ok(())
}

/// Where in state space and at which step the adversary won, and how far the
/// trajectories leave the data.
fn tell_story(story: &Story, out: &mut impl Write) -> Result<(), Error> {
    let variant = &story.variant;
    if let (Some(half), Some(worst)) = (story.half_loss_step(), story.worst_step()) {
        writeln!(
            out,
            "\n{variant} takes {:.3} from the neutral return, half of it by step {half}; the costliest step is {worst}",
            story.total_loss()
        )?;
    }
    if let Some(place) = story.places.first() {
        let Place {
            trajectory,
            step,
            loss,
            total,
            state,
            ..
        } = place;
        let names = story.states.iter().zip(state);
        let names: Vec<String> = names
            .map(|(name, value)| format!("{name} = {:.3}", value.0))
            .collect();
        writeln!(
            out,
            "trajectory {trajectory} lost most ({:.3}), of it {:.3} at step {step}: {}",
            total.0,
            loss.0,
            names.join(", ")
        )?;
    }
    let (neutral, worst) = (&story.support.neutral, &story.support.worst);
    writeln!(
        out,
        "outside the box around the log: {} of the neutral steps, {} of those under {variant}",
        share(neutral),
        share(worst)
    )?;
    for (name, reach) in [("neutral", neutral), (variant, worst)] {
        if let Some(far) = &reach.farthest {
            writeln!(
                out,
                "{name} goes {:.2} of the way from its middle to its edge: {} = {:.3} at step {}",
                far.distance.0,
                story.input_name(far.input),
                far.value.0,
                far.step
            )?;
        }
    }
    Ok(())
}

fn share(reach: &Reach) -> String {
    format!("{:.1} %", 100.0 * reach.outside.0)
}
