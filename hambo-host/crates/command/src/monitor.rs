//! `hambo monitor`: what the monitor on the robot would have done over a log.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use hambo_core::drive::monitor::Trip;
use hambo_core::image::MonitorSettings;
use serde::Serialize;

use crate::exit_code::REJECT;
use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_check::case::ensure_model_fits;
use hambo_data::read_task_logs;
use hambo_learn::calibration::CalibrationStatus;
use hambo_learn::model_file::ModelFile;
use hambo_learn::monitor::{Drive, settings, watch};
use hambo_report::figure::{MonitoredEpisode, monitor_figure};
use hambo_task::task::TaskFile;

/// Episodes that were stopped and are named one by one.
const MOST_NAMED: usize = 10;

/// What `hambo monitor` takes.
#[derive(Args)]
pub struct MonitorArguments {
    /// The task file (TOML).
    task: PathBuf,
    /// The model file of `hambo fit`.
    #[arg(long)]
    model: PathBuf,
    /// The log: every episode is a drive of its own. Several files count as one.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// The probability of ever stopping a robot that is as the model says.
    #[arg(long, default_value_t = 0.01)]
    alpha: f32,
    /// A table to write (CSV): residual, surprise, support and wealth of every row.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// A picture to write (SVG).
    #[arg(long)]
    figure: Option<PathBuf>,
    /// One JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

/// The object of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    model: String,
    settings: MonitorSettings,
    stopped: usize,
    drives: &'a [Drive],
}

/// Watches the log and prints what came of it. Exit code 0: every episode was driven to its
/// end; 1: some were stopped.
///
/// # Errors
/// If an input is bad.
pub fn run(arguments: &MonitorArguments, out: &mut impl Write) -> Result<u8, Error> {
    let outputs = [&arguments.output, &arguments.figure];
    for file in outputs.into_iter().flatten() {
        ensure_output(file, OutputKind::Text)?;
    }
    let alpha = arguments.alpha;
    if !(alpha > 0.0 && alpha < 1.0) {
        let text = format!("--alpha: {alpha} is no share\nhelp: give a number between 0 and 1");
        return Err(Error::Usage(text));
    }
    let task = TaskFile::read(&arguments.task)?;
    let model = ModelFile::read(&arguments.model)?;
    ensure_model_fits(&task, &model)?;
    let calibration = &model.metadata().calibration;
    let settings = settings(calibration, alpha);
    if calibration.status != CalibrationStatus::Calibrated {
        return Err(Error::Usage(format!(
            "{}: the model is not calibrated, so nobody knows how many surprises are usual\n\
             help: log more episodes and fit again; `hambo model info` says what is missing",
            arguments.model.display()
        )));
    }
    let log = read_task_logs(&arguments.data, &task)?;
    let drives = watch(&task, model.model_part(), &log, settings)?;
    let stopped: Vec<&Drive> = drives.iter().filter(|one| one.trip.is_some()).collect();
    let names = &task.state_names;
    if arguments.json {
        let json = Json {
            model: arguments.model.display().to_string(),
            settings,
            stopped: stopped.len(),
            drives: &drives,
        };
        serde_json::to_writer_pretty(&mut *out, &json).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        print(&drives, &stopped, settings, names, out)?;
    }
    if let Some(path) = &arguments.output {
        write_whole(path, csv(&drives, names).as_bytes())?;
        said(path, arguments.json, out)?;
    }
    if let Some(path) = &arguments.figure {
        let title = format!("{}: what the monitor would have done", task.name);
        let svg = monitor_figure(&title, &episodes(&drives), f64::from(2.0 / alpha))?;
        write_whole(path, svg.as_bytes())?;
        said(path, arguments.json, out)?;
    }
    Ok(if stopped.is_empty() { 0 } else { REJECT })
}

fn said(path: &Path, json: bool, out: &mut impl Write) -> Result<(), Error> {
    if !json {
        writeln!(out, "saved {}", path.display())?;
    }
    Ok(())
}

fn print(
    drives: &[Drive],
    stopped: &[&Drive],
    settings: MonitorSettings,
    names: &[String],
    out: &mut impl Write,
) -> Result<(), Error> {
    let sum = |of: fn(&Drive) -> u32| drives.iter().map(|one| u64::from(of(one))).sum::<u64>();
    let steps = sum(|one| one.counts.steps);
    let share = |count: u64| 100.0 * count as f64 / steps.max(1) as f64;
    let (surprises, outside) = (
        sum(|one| one.counts.surprises),
        sum(|one| one.counts.outside),
    );
    writeln!(out, "{} episodes, {steps} steps", drives.len())?;
    writeln!(
        out,
        "surprises: {surprises} ({:.2} %; up to {:.2} % are usual)",
        share(surprises),
        100.0 * settings.surprise_rate
    )?;
    writeln!(out, "outside the data: {outside} ({:.2} %)", share(outside))?;
    for one in stopped.iter().take(MOST_NAMED) {
        if let Some(trip) = one.trip {
            let why = reason(trip.why, names);
            let after = trip.step + 1;
            writeln!(
                out,
                "episode {}: stopped after {after} steps, {why}",
                one.episode
            )?;
        }
    }
    if let more @ 1.. = stopped.len().saturating_sub(MOST_NAMED) {
        writeln!(out, "and {more} more")?;
    }
    writeln!(
        out,
        "the monitor would have stopped {} of {} episodes (of a robot that is as the model says, at \
         most {:.1} % are expected)",
        stopped.len(),
        drives.len(),
        100.0 * settings.alpha
    )?;
    Ok(())
}

/// Why, in a few words.
pub(super) fn reason(trip: Trip, names: &[String]) -> String {
    match trip {
        Trip::NotFinite => "a number was not finite".to_owned(),
        Trip::Far(state) => format!(
            "`{}` moved more than three times as far as set and noise allow",
            names.get(usize::from(state)).map_or("a state", |name| name)
        ),
        Trip::Surprises => "surprises came too often".to_owned(),
        Trip::OutsideSupport => "too often where the log has no data".to_owned(),
    }
}

fn csv(drives: &[Drive], names: &[String]) -> String {
    let mut text = "episode,step,residual,state,surprise,outside,wealth,tripped\n".to_owned();
    for one in drives {
        let rows = one.observations.iter().zip(&one.wealth).enumerate();
        for (step, (seen, wealth)) in rows {
            let state = names.get(usize::from(seen.state)).map_or("", |name| name);
            let _ = writeln!(
                text,
                "{},{step},{},{state},{},{},{wealth},{}",
                one.episode,
                seen.residual,
                u8::from(seen.surprise),
                u8::from(seen.outside),
                u8::from(seen.trip.is_some())
            );
        }
    }
    text
}

fn episodes(drives: &[Drive]) -> Vec<MonitoredEpisode> {
    let episode = |one: &Drive| MonitoredEpisode {
        residuals: one
            .observations
            .iter()
            .map(|seen| f64::from(seen.residual))
            .collect(),
        wealth: one.wealth.iter().map(|wealth| f64::from(*wealth)).collect(),
        trip: one.trip.map(|trip| trip.step),
    };
    drives.iter().map(episode).collect()
}
