//! The tables that `hambo fit` and `hambo model info` print.

use std::io::Write;

use hambo_base::Error;
use hambo_check::model_summary::calibration_problem;
use hambo_core::model::MOST_BEYOND_TESTED;
use hambo_data::Exploration;
use hambo_learn::calibration::{CalibrationStatus, CurvePoint, Gate, ModelCalibration};
use hambo_learn::ensemble::{Bandwidth, Inference};
use hambo_learn::fit::CALIBRATING_RECORDINGS;
use hambo_learn::gaussian_process::{ASSUMPTIONS, Smoothness};
use hambo_learn::model_file::{GaussianProcessSummary, Metadata, ModelFile, TrainingSummary};
use serde_json::{Value, json};

/// The log and its split.
pub fn data(metadata: &Metadata, out: &mut impl Write) -> Result<(), Error> {
    let data = &metadata.data;
    let hash: String = data
        .hash
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    writeln!(
        out,
        "data: {} rows ({} to train, {} to stop, {} to calibrate, split by {}), hash {hash}…",
        data.rows,
        data.training_rows,
        data.validation_rows,
        data.withheld_rows,
        match (data.split_by_episodes, data.stationary) {
            (true, _) => "whole episodes",
            (false, false) => "stretches of rows",
            (false, true) => "stretches of rows, which count as recordings: the task is stationary",
        }
    )?;
    let view = &metadata.view;
    if view.features.len() != view.states || view.moved.len() != view.states {
        let moved = view.moved.iter();
        let moved = moved.filter_map(|place| metadata.state_names.get(*place));
        let moved: Vec<&str> = moved.map(String::as_str).collect();
        writeln!(
            out,
            "it sees {} and the action, and learns {}",
            view.features.join(", "),
            moved.join(", ")
        )?;
    }
    for line in &view.known {
        writeln!(out, "known: {} = {}", line.state, line.next)?;
    }
    let actions = metadata.action_names.iter().zip(&data.exploration);
    for (name, share) in actions {
        let found = share.map(|share_of_range| Exploration { share_of_range });
        if let Some(warning) = found.and_then(|found| found.warning(name)) {
            writeln!(out, "warning: {warning}")?;
        }
    }
    Ok(())
}

/// The model and its training.
pub fn training(file: &ModelFile, out: &mut impl Write) -> Result<(), Error> {
    let bytes = file.model_part().len();
    match &file.metadata().training {
        TrainingSummary::Networks(networks) => {
            let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len().max(1) as f32;
            write!(out, "model: {} networks", networks.losses.len())?;
            let options = &networks.options;
            let widths: Vec<String> = options.hidden.iter().map(usize::to_string).collect();
            let inference = match options.inference {
                Inference::Ensemble => "deep ensemble".to_owned(),
                Inference::Svgd(Bandwidth::Fixed(l)) => format!("SVGD with bandwidth {l}"),
                Inference::Svgd(Bandwidth::Median) => "SVGD with median bandwidth".to_owned(),
            };
            write!(
                out,
                " of {} {:?} units, {inference}, weights of step {} of {}",
                widths.join(" × "),
                options.activation,
                networks.best_step,
                options.steps
            )?;
            writeln!(out, "; {bytes} bytes in an image")?;
            write!(
                out,
                "loss: {:.4} on the training rows",
                mean(&networks.losses)
            )?;
            match networks.validation_loss {
                Some(loss) => writeln!(out, ", {loss:.4} on the validation rows at the end")?,
                None => writeln!(out)?,
            }
        }
        TrainingSummary::GaussianProcess(processes) => {
            writeln!(
                out,
                "model: Gaussian processes on {} of {} rows; {bytes} bytes in an image",
                processes.points, processes.rows
            )?;
            hyperparameters(file.metadata(), processes, out)?;
            growth(processes, out)?;
            groups(file.metadata(), processes, out)?;
        }
    }
    Ok(())
}

fn hyperparameters(
    metadata: &Metadata,
    processes: &GaussianProcessSummary,
    out: &mut impl Write,
) -> Result<(), Error> {
    writeln!(
        out,
        "{:13} {:>9} {:>10} {:>10} {:>12}  lengthscales (standardised)",
        "state", "kernel", "signal", "noise", "-log p"
    )?;
    for (j, output) in processes.outputs.iter().enumerate() {
        let found = &output.hyperparameters;
        let lengthscales: Vec<String> = found
            .lengthscales
            .iter()
            .map(|l| format!("{l:.3}"))
            .collect();
        writeln!(
            out,
            "{:13} {:>9} {:>10.4} {:>10.2e} {:>12.3}  {}",
            metadata.moved_name(j),
            format!("{:?}", found.kernel),
            found.signal_variance,
            found.noise_variance,
            output.negative_log_likelihood,
            lengthscales.join(" ")
        )?;
        if !output.at_bounds.is_empty() {
            let limits: Vec<String> = output.at_bounds.iter().map(ToString::to_string).collect();
            writeln!(
                out,
                "{:13} at a limit of the search: {}",
                "",
                limits.join(", ")
            )?;
        }
    }
    Ok(())
}

fn growth(processes: &GaussianProcessSummary, out: &mut impl Write) -> Result<(), Error> {
    if processes.growth.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:>7} {:>9}  standard deviation against all {} rows, mean (largest) of each state",
        "points", "bytes", processes.rows
    )?;
    for row in &processes.growth {
        let cells: Vec<String> = row
            .mean
            .iter()
            .zip(&row.largest)
            .map(|(mean, largest)| format!("× {mean:.2} ({largest:.2})"))
            .collect();
        writeln!(
            out,
            "{:>7} {:>9}  {}",
            row.points,
            row.bytes,
            cells.join("  ")
        )?;
    }
    Ok(())
}

/// The points that the variance takes together, and what that costs.
fn groups(
    metadata: &Metadata,
    processes: &GaussianProcessSummary,
    out: &mut impl Write,
) -> Result<(), Error> {
    if processes.groups.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:13} {:>7}  of the {} points, taken together for the standard deviation: mean (largest) growth",
        "state", "groups", processes.points
    )?;
    for (j, row) in processes.groups.iter().enumerate() {
        let growth = match (row.mean, row.largest) {
            (Some(mean), Some(largest)) => format!("× {mean:.2} ({largest:.2})"),
            _ => "no withheld rows to tell".to_owned(),
        };
        writeln!(
            out,
            "{:13} {:>7}  {growth}",
            metadata.moved_name(j),
            row.groups
        )?;
    }
    Ok(())
}

/// beta, norms, Lipschitz constants and C_n, with what they rest on.
pub fn theory(
    metadata: &Metadata,
    smoothness: Option<&Smoothness>,
    out: &mut impl Write,
) -> Result<(), Error> {
    let TrainingSummary::GaussianProcess(processes) = &metadata.training else {
        return Ok(());
    };
    writeln!(out, "\ntheory")?;
    for row in processes.theory.rows(smoothness) {
        writeln!(out, "  {row}")?;
    }
    writeln!(out, "  assuming that")?;
    let needed = |text: &&&str| smoothness.is_some() || !text.starts_with("for C_n");
    for assumption in ASSUMPTIONS.iter().filter(needed) {
        writeln!(out, "  - {assumption}")?;
    }
    Ok(())
}

/// Withheld windows replayed over several steps.
pub fn backtest(metadata: &Metadata, out: &mut impl Write) -> Result<(), Error> {
    let Some(found) = &metadata.backtest else {
        return Ok(());
    };
    writeln!(out, "\nbacktest on withheld episodes")?;
    super::backtest::print(found, out)
}

/// Pairs of states that are named.
const MOST_SHARED: usize = 5;

/// Scales, errors and coverages, and whether to rely on them.
pub fn calibration(metadata: &Metadata, out: &mut impl Write) -> Result<(), Error> {
    let calibration = &metadata.calibration;
    if calibration.gate.rows == 0 {
        writeln!(out, "\n{}", status(metadata, calibration))?;
        return Ok(());
    }
    writeln!(
        out,
        "\n{:13} {:>8} {:>8} {:>8} {:>8} {:>10} {:>10} {:>9} {:>9} {:>9}",
        "calibration",
        "tau*",
        "tau",
        "noise",
        "beta",
        "error",
        "after",
        "90 % set",
        "set",
        "set+noise"
    )?;
    let percent = |share: f32| format!("{:.1} %", 100.0 * share);
    for (j, row) in calibration.dimensions.iter().enumerate() {
        writeln!(
            out,
            "{:13} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>10.2e} {:>10.2e} {:>9} {:>9} {:>9}",
            metadata.moved_name(j),
            row.best_scale,
            row.scale,
            row.noise_scale,
            row.beta,
            row.error_before,
            row.error_after,
            percent(row.coverage_90),
            percent(row.epistemic_coverage),
            percent(row.simulated_coverage)
        )?;
    }
    writeln!(
        out,
        "all states at once: {} of the next states in the set, {} with noise (lower limit {}), the set widened {:.2} times",
        percent(calibration.joint_epistemic_coverage),
        percent(calibration.gate.share),
        percent(calibration.gate.share_lower),
        calibration.gate.widening
    )?;
    for ([one, other], correlation) in calibration.shared_noise().into_iter().take(MOST_SHARED) {
        let names = [one, other].map(|state| metadata.moved_name(state));
        let [one, other] = names;
        writeln!(
            out,
            "noise in common: {one} and {other}, correlation {correlation:.2}"
        )?;
    }
    if calibration.extreme_share() > 0.0 {
        writeln!(
            out,
            "rare events of the log: {} rows, drawn in {} of the steps (the upper limit of their share)",
            calibration.noise_pools.ends.len(),
            percent(calibration.extreme_share())
        )?;
    }
    let stays = calibration.stays.iter().enumerate();
    for (state, size) in stays.filter(|(_, size)| **size > 0.0) {
        writeln!(
            out,
            "what stays for an episode: {}, {size:.2} standard deviations of its noise, drawn once for a trajectory",
            metadata.moved_name(state)
        )?;
    }
    for sentence in metadata.errs_more() {
        writeln!(out, "{sentence}")?;
    }
    for window in &calibration.gate.windows {
        writeln!(
            out,
            "errors over {:>3} steps: {} of {} windows held",
            window.length,
            percent(window.share),
            window.windows
        )?;
    }
    writeln!(out, "{}", status(metadata, calibration))?;
    Ok(())
}

/// How far a check may go.
pub fn tested(file: &ModelFile, out: &mut impl Write) -> Result<(), Error> {
    let tested = file.model()?.confidence.tested_steps;
    let most = u32::from(tested).saturating_mul(MOST_BEYOND_TESTED);
    writeln!(
        out,
        "tested on windows of up to {tested} steps: a check of more than {most} steps abstains"
    )?;
    Ok(())
}

fn status(metadata: &Metadata, calibration: &ModelCalibration) -> String {
    let help = match calibration.status {
        CalibrationStatus::Calibrated => {
            let Gate { rows, episodes, .. } = calibration.gate;
            return format!("calibrated: judged by {rows} withheld rows of {episodes} episodes");
        }
        CalibrationStatus::TooFewRecordings { needed, .. } => {
            let help = format!(
                "log {needed} or more recordings with a restart between them, or write \
                 stationary = true before [state] of the task if nothing of the system changes \
                 between recordings"
            );
            return not_calibrated(metadata, &help);
        }
        CalibrationStatus::TooFewEpisodes { .. }
            if metadata.data.recordings < CALIBRATING_RECORDINGS =>
        {
            let help = format!(
                "log {CALIBRATING_RECORDINGS} or more recordings with a restart between them, or write \
                 stationary = true before [state] of the task if nothing of the system changes \
                 between recordings"
            );
            return not_calibrated(metadata, &help);
        }
        CalibrationStatus::TooFewRows { .. } | CalibrationStatus::TooFewEpisodes { .. } => {
            "log more episodes or withhold a larger share (--withhold)"
        }
        CalibrationStatus::Failed { .. } => match metadata.training {
            TrainingSummary::Networks(_) => {
                "log more, train longer (--steps) or a larger model (--hidden)"
            }
            TrainingSummary::GaussianProcess(_) => "log more, or fit networks (--model bnn)",
        },
        CalibrationStatus::ErrorsStay { .. } => {
            "log what stays (a payload, a bias) as a state, say which angles wrap (state.wrap), or log \
             more"
        }
    };
    not_calibrated(metadata, help)
}

fn not_calibrated(metadata: &Metadata, help: &str) -> String {
    let problem = calibration_problem(metadata);
    format!("NOT calibrated: {problem}; a check will abstain.\nhelp: {help}")
}

/// The calibration curves before and after.
pub fn curves(metadata: &Metadata, out: &mut impl Write) -> Result<(), Error> {
    let calibration = &metadata.calibration;
    let line = |curve: &[CurvePoint], get: fn(&CurvePoint) -> f32| -> String {
        let cells = curve.iter().map(|point| format!("{:>6.3}", get(point)));
        cells.collect::<Vec<_>>().join(" ")
    };
    let Some(first) = calibration.dimensions.first() else {
        return Ok(());
    };
    writeln!(
        out,
        "\n{:20} {}",
        "claimed",
        line(&first.curve_before, |point| point.nominal)
    )?;
    for (j, row) in calibration.dimensions.iter().enumerate() {
        for (when, curve) in [("before", &row.curve_before), ("after", &row.curve_after)] {
            let observed = line(curve, |point| point.observed);
            writeln!(out, "{:13} {when:6} {observed}", metadata.moved_name(j))?;
        }
    }
    Ok(())
}

/// All of it as one object, with the warnings of a fit.
pub fn json(
    file: &ModelFile,
    smoothness: Option<&Smoothness>,
    warnings: Option<&[String]>,
    out: &mut impl Write,
) -> Result<(), Error> {
    let mut encoded = serde_json::to_value(file.metadata()).map_err(std::io::Error::other)?;
    // Rows of the log are no description of the model.
    if let Value::Object(metadata) = &mut encoded {
        metadata.remove("sample");
    }
    let mut object = json!({
        "metadata": encoded,
        "image_bytes": file.model_part().len(),
        "tested_steps": file.model()?.confidence.tested_steps,
    });
    if let (Value::Object(object), Some(warnings)) = (&mut object, warnings) {
        object.insert("warnings".to_owned(), json!(warnings));
    }
    if let (TrainingSummary::GaussianProcess(processes), Some(smoothness)) =
        (&file.metadata().training, smoothness)
        && let Value::Object(object) = &mut object
    {
        let constant = processes.theory.ln_constant(smoothness);
        object.insert("ln_c_n".to_owned(), json!(constant));
    }
    writeln!(out, "{object}")?;
    Ok(())
}
