//! A finished check for people.

use std::io::Write;
use std::path::Path;

use super::plan;
use anstyle::{AnsiColor, Style};
use hambo_base::Error;
use hambo_check::exact::ExactValue;
use hambo_check::loss::Loss;
use hambo_check::number::Number;
use hambo_check::paths::Paths;
use hambo_check::restarts::Restarts;
use hambo_check::support::SupportUse;
use hambo_check::{CheckOutcome, CheckResult, Verdict};
use hambo_core::check::MOST_OUTSIDE;

/// Lines that a check prints without `--details`, at most.
const MOST_LINES: usize = 15;

/// Writes the verdict, the bound and why; with `details` all tables as well.
pub(crate) fn write(
    outcome: &CheckOutcome,
    policy: &Path,
    details: bool,
    out: &mut impl Write,
) -> Result<(), Error> {
    let mut summary = Vec::new();
    write_summary(outcome, policy, &mut summary)?;
    let summary = String::from_utf8_lossy(&summary);
    if details {
        write!(out, "{summary}")?;
        return write_details(outcome, out);
    }
    for line in summary.lines().take(MOST_LINES - 1) {
        writeln!(out, "{line}")?;
    }
    writeln!(
        out,
        "every estimate and adversary: --details, or --report PAGE"
    )?;
    Ok(())
}

/// The verdict first, then what decided it, in the order of weight.
fn write_summary(outcome: &CheckOutcome, policy: &Path, out: &mut impl Write) -> Result<(), Error> {
    let result = &outcome.result;
    write_verdict(result, out)?;
    for reason in &result.decision.reasons {
        writeln!(out, "{reason}")?;
    }
    let (kept, broken): (Vec<_>, Vec<_>) = result.evidence.constraints.iter().partition(|c| c.ok);
    for constraint in broken.into_iter().chain(kept) {
        let kept = if constraint.ok { "kept" } else { "not kept" };
        writeln!(
            out,
            "constraint {} must hold {}: lower bound {:.4}, {kept}",
            constraint.name,
            constraint.requirement(),
            constraint.lower
        )?;
    }
    writeln!(out, "{}", result.decision.assumes)?;
    if let Some(line) = result.beyond_tested() {
        writeln!(out, "{line}")?;
    }
    if let Some(near) = &result.evidence.near_path {
        writeln!(out, "{}", near.sentence())?;
    }
    for question in &result.evidence.questions {
        writeln!(out, "question: {question}")?;
    }
    let allocation = match result.setting.allocation.as_str() {
        "focused" => ", focused: more of them from fewer starts",
        "tried" => ", from the starts that a trial brought lowest",
        _ => "",
    };
    let charge = result.setting.search_charge.map(|charge| {
        let percent = 100.0 * charge.0;
        format!("; if it finds nothing, that takes {percent:.1} % of the range off the bound")
    });
    let charge = charge.unwrap_or_default();
    writeln!(
        out,
        "{}: {} over {} steps, delta {}, {} trajectories, {} more searched with {} \
         sweeps{allocation}{charge}",
        result.setting.task,
        policy.display(),
        result.setting.horizon,
        result.setting.delta,
        result.setting.trajectories,
        result.setting.searched,
        result.setting.sweeps,
    )?;
    if let Some(starts) = result.setting.distinct_starts {
        let states = if starts == 1 { "state" } else { "states" };
        write!(out, "trajectories start from {starts} different {states}")?;
        match result.margin_shares() {
            Some(shares) => writeln!(out, "; {}", shares.sentence())?,
            None => writeln!(out)?,
        }
    }
    if let Some(logged) = &result.evidence.logged_return {
        writeln!(out, "{}", logged.sentence())?;
    }
    if let (Some(loss), Some(paths)) = (&result.evidence.loss, &outcome.paths) {
        write_loss(loss, paths, out)?;
    }
    if let (Some(loss), Some(support)) = (&result.evidence.loss, &result.evidence.support) {
        write_support(&loss.variant, support, out)?;
    }
    Ok(())
}

/// The verdict, the bound and its margin in one line.
fn write_verdict(result: &CheckResult, out: &mut impl Write) -> Result<(), Error> {
    let bound = result.decision.bound;
    match (result.decision.verdict, result.decision.threshold) {
        (Some(verdict), Some(threshold)) => writeln!(
            out,
            "{style}{}{style:#}: lower bound {bound:.3}, threshold {threshold}; margin by {}",
            verdict.name(),
            result.margin(),
            style = style(verdict)
        )?,
        (Some(verdict), None) => writeln!(
            out,
            "{style}{}{style:#}: lower bound {bound:.3}, no threshold",
            verdict.name(),
            style = style(verdict)
        )?,
        (None, _) => writeln!(
            out,
            "lower bound {bound:.3}; no threshold, no verdict (give --threshold or set one in the \
             task)"
        )?,
    }
    Ok(())
}

/// Every estimate, what each adversary found, and where to log next.
fn write_details(outcome: &CheckOutcome, out: &mut impl Write) -> Result<(), Error> {
    let result = &outcome.result;
    writeln!(
        out,
        "\n{:24} {:8} {:18} {:>12} {:>11} {:>12}",
        "", "estimate", "adversary", "mean", "std. error", "lower bound"
    )?;
    for (objective, estimate) in result.all_estimates() {
        writeln!(
            out,
            "{:24} {:8} {:18} {:>12.3} {:>11.3} {:>12}",
            objective,
            estimate.variant,
            estimate.adversary,
            estimate.mean,
            estimate.std_error,
            match estimate.guarantee() {
                Some(lower) => format!("{lower:.3}"),
                None => "bounds none".to_owned(),
            }
        )?;
    }
    write_levels(result, out)?;
    write_adversaries(result, out)?;
    if let Some(first_order) = &result.evidence.first_order {
        let sentence = first_order.sentence_with(|number| format!("{number:.3}"));
        writeln!(out, "return, ca: {sentence}")?;
    }
    if let Some(exact) = &result.evidence.exact {
        write_exact(result, exact, out)?;
    }
    if let Some(restarts) = &result.evidence.restarts {
        write_restarts(restarts, out)?;
    }
    if let Some(paths) = &outcome.paths {
        plan::write(&result.evidence.log_next, paths, out)?;
    }
    Ok(())
}

/// Where each deciding lower bound comes from.
fn write_levels(result: &CheckResult, out: &mut impl Write) -> Result<(), Error> {
    writeln!(out)?;
    for (objective, estimate) in result.all_estimates() {
        if !result.setting.variants.contains(&estimate.variant) {
            continue;
        }
        let sampled = &estimate.sampled;
        write!(
            out,
            "{objective}, {}: {:.3} of {} values less {:.3} by {}",
            estimate.variant,
            sampled.mean,
            sampled.count,
            Number(sampled.mean.0 - sampled.lower.0),
            estimate.margin
        )?;
        if let Some(search) = &estimate.correction {
            write!(
                out,
                "; correction by the search {:.3} of {} less {:.3} by {}",
                search.mean,
                search.count,
                Number(search.mean.0 - search.lower.0),
                search.margin
            )?;
        }
        match estimate.distribution_free {
            Some(bound) => writeln!(out, "; for any distribution: lower bound {bound:.3}")?,
            None => writeln!(out, "; for any distribution: none, it has no finite bounds")?,
        }
        if let Some(shares) = &estimate.shares {
            writeln!(out, "  {}", shares.sentence())?;
        }
    }
    Ok(())
}

/// How a verdict looks on a terminal.
pub(crate) fn style(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Deploy => AnsiColor::Green,
        Verdict::Reject => AnsiColor::Red,
        Verdict::Abstain => AnsiColor::Yellow,
    };
    colour.on_default().bold()
}

/// What each adversary found and spent, and how the search went on.
fn write_adversaries(result: &CheckResult, out: &mut impl Write) -> Result<(), Error> {
    if result.evidence.adversaries.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:24} {:8} {:20} {:>12} {:>14} {:>15} {:>9}",
        "what adversaries found", "", "", "mean", "model steps", "gradient steps", "seconds"
    )?;
    for one in &result.evidence.adversaries {
        let seconds = one
            .seconds
            .map_or_else(String::new, |time| format!("{time:.2}"));
        writeln!(
            out,
            "{:24} {:8} {:20} {:>12.3} {:>14} {:>15} {:>9}",
            one.objective,
            one.variant,
            one.name,
            one.mean,
            one.model_steps,
            one.gradient_steps,
            seconds
        )?;
    }
    for (objective, estimate) in result.all_estimates() {
        if estimate.course.is_empty() {
            continue;
        }
        let points = estimate.course.iter();
        let points: Vec<String> = points
            .map(|point| format!("{:.3} ({})", point.mean, point.sweeps))
            .collect();
        writeln!(
            out,
            "{objective}, {}: the least found by sweeps: {}",
            estimate.variant,
            points.join(", ")
        )?;
        if let Some(network) = estimate.network {
            writeln!(
                out,
                "{objective}, {}: the search reaches {:.3}, the network {network:.3}",
                estimate.variant, estimate.search
            )?;
        }
    }
    Ok(())
}

/// What the grid says beside the search.
fn write_exact(
    result: &CheckResult,
    exact: &ExactValue,
    out: &mut impl Write,
) -> Result<(), Error> {
    let coarse = if exact.too_coarse { ": too coarse" } else { "" };
    writeln!(
        out,
        "worst return on a grid of {} points a state: {:.3} ± {:.3}{coarse} ({:.1} s); the search \
         reaches {:.3}",
        exact.points,
        exact.value,
        exact.difference,
        exact.seconds,
        Number(result.searched_return().unwrap_or(f64::NAN))
    )?;
    Ok(())
}

/// Whether one more search would find less.
fn write_restarts(restarts: &Restarts, out: &mut impl Write) -> Result<(), Error> {
    writeln!(
        out,
        "{} of {} more searches from random signs lowered the worst mean by more than {:.3}: one \
         more would with a probability of at most {:.0} % (95 % limit; of this search, not of \
         the worst case)",
        restarts.lowered,
        restarts.count,
        restarts.epsilon,
        100.0 * restarts.limit.0
    )?;
    Ok(())
}

/// At which step and in which state the adversary takes the return away.
fn write_loss(loss: &Loss, paths: &Paths, out: &mut impl Write) -> Result<(), Error> {
    if let (Some(half), Some(worst)) = (loss.half_by_step, loss.worst_step) {
        writeln!(
            out,
            "{} takes {:.3} from the neutral return, half of it by step {half}; the costliest step is {worst}",
            loss.variant, loss.total
        )?;
    }
    if let Some(place) = loss.places.first() {
        let state = paths.states.iter().zip(&place.state);
        let state: Vec<String> = state
            .map(|(name, value)| format!("{name} = {value:.3}"))
            .collect();
        writeln!(
            out,
            "trajectory {} lost most ({:.3}), of it {:.3} at step {}: {}",
            place.trajectory,
            place.total,
            place.loss,
            place.step,
            state.join(", ")
        )?;
    }
    Ok(())
}

/// How far the trajectories leave the log.
fn write_support(variant: &str, support: &SupportUse, out: &mut impl Write) -> Result<(), Error> {
    let percent = |share: Number| 100.0 * share.0;
    writeln!(
        out,
        "outside what the log covers: {:.1} % of the neutral steps ({MOST_OUTSIDE} % are allowed), \
         {:.1} % of those under {variant}; far outside at least once: {:.1} % of the neutral \
         trajectories ({:.0} % are allowed)",
        percent(support.neutral.steps_outside),
        percent(support.worst.steps_outside),
        percent(support.neutral.far_trajectories),
        percent(support.far_trajectories_allowed)
    )?;
    for (name, excursion) in [("neutral", &support.neutral), (variant, &support.worst)] {
        if let Some(far) = &excursion.farthest {
            writeln!(
                out,
                "{name} is at most {:.2} from the log (1 is the edge): {} = {:.3} at step {}",
                far.distance, far.name, far.value, far.step
            )?;
        }
    }
    Ok(())
}
