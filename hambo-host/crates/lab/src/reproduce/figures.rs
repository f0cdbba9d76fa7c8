//! The command itself: which figures are made, and where they go.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::control::Control;
use super::control_summary::{Axis, points, points_csv, summary};
use super::convergence::Convergence;
use super::effort::ReproductionEffort;
use super::locomotion::Locomotion;
use super::offline::Offline;
use super::offline_effort::OfflineEffort;
use clap::{Args, ValueEnum};
use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_base::observer::{Observer, Progress};
use hambo_base::study::rows::Table;
use hambo_base::study::run::{Plan, file, run as work_off};
use hambo_base::study::{Study, Summary};
use hambo_report::figure::write_picture;

use crate::demo::figure_1;
use hambo_console::line::Line;

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Figure {
    /// The point that must go around a disc: where the adversary leads it.
    Fig1,
    /// Gaussian processes: the bound against the size of the log.
    Fig2,
    /// Networks: all variants against the size of the log.
    Fig3,
    /// Networks: all variants against the horizon.
    Fig4,
    /// Offline learning on HalfCheetah, from a random and a medium log.
    Table1,
    /// All of them.
    All,
}

/// What `hambo reproduce` takes.
#[derive(Args)]
pub struct ReproduceArguments {
    /// What to make.
    figure: Figure,
    /// A small version in minutes: fewer and shorter logs, horizons, seeds and searches.
    #[arg(long)]
    quick: bool,
    /// The folder for rows, tables and pictures; work goes on from the rows in it [default:
    /// results, or results-quick].
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Minutes after which no cell begins; the next call goes on.
    #[arg(long)]
    minutes: Option<f64>,
    /// Only tables and pictures, of the rows that are there.
    #[arg(long)]
    summary: bool,
}

/// Works off what is left, prints the tables and draws.
///
/// # Errors
/// If a cell is wrong or a file cannot be written.
pub fn run(arguments: &ReproduceArguments, out: &mut impl Write) -> Result<(), Error> {
    let (effort, usual) = if arguments.quick {
        (ReproductionEffort::quick(), "results-quick")
    } else {
        (ReproductionEffort::full(), "results")
    };
    let folder = arguments.output.clone().unwrap_or_else(|| usual.into());
    std::fs::create_dir_all(&folder).map_err(|error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
    })?;
    if arguments
        .minutes
        .is_some_and(|minutes| !(minutes > 0.0 && minutes < 1e6))
    {
        let text = "--minutes: give a number above 0 and below a million";
        return Err(Error::Usage(text.to_owned()));
    }
    if arguments.figure != Figure::Table1 {
        writeln!(out, "{} version: {}", effort.name, effort.difference())?;
    }
    let wants = |figure| arguments.figure == figure || arguments.figure == Figure::All;
    if wants(Figure::Fig1) {
        let picture = figure_1(&folder.join("fig1"), out)?;
        writeln!(out, "figure 1: {}", picture.display())?;
    }
    if wants(Figure::Fig2) {
        let study = Convergence(effort.clone());
        let table = rows(&study, &folder, arguments)?;
        show(
            "figure 2",
            &study.summary(&table),
            &folder.join("fig2"),
            out,
        )?;
    }
    if wants(Figure::Fig3) || wants(Figure::Fig4) {
        let mut found = points(&rows(&Control(effort.clone()), &folder, arguments)?);
        if effort.mujoco {
            let study = Locomotion(effort.clone());
            let table = worked_off(&study, &folder, arguments)?;
            note_kept(&study, &table, out)?;
            found.extend(points(&table));
        }
        for (figure, name, axis) in [
            (Figure::Fig3, "fig3", Axis::Rows),
            (Figure::Fig4, "fig4", Axis::Horizon),
        ] {
            if wants(figure) {
                let stem = folder.join(name);
                let csv = points_csv(&found, axis, &effort);
                write_whole(&stem.with_extension("csv"), csv.as_bytes())?;
                show(name, &summary(&found, axis, &effort), &stem, out)?;
            }
        }
    }
    if wants(Figure::Table1) {
        table_1(&folder, arguments, out)?;
    }
    Ok(())
}

/// Without MuJoCo there is nothing to work off; rows that are kept are shown all the same.
fn table_1(
    folder: &Path,
    arguments: &ReproduceArguments,
    out: &mut impl Write,
) -> Result<(), Error> {
    let effort = if arguments.quick {
        OfflineEffort::quick()
    } else {
        OfflineEffort::full()
    };
    let difference = effort.difference();
    let study = Offline::new(effort);
    let kept = Table::read(&file(folder, &study), &study).map_err(Error::Usage)?;
    if !arguments.summary && kept.is_empty() && !study.can_run(0) {
        let text = "table 1 needs HalfCheetah, which this program lacks: `cargo xtask mujoco` \
                    builds one that has it";
        if arguments.figure == Figure::All {
            writeln!(out, "\n{text}")?;
            return Ok(());
        }
        return Err(Error::Usage(text.to_owned()));
    }
    let table = rows(&study, folder, arguments)?;
    note_kept(&study, &table, out)?;
    let text = study.summary(&table).text;
    writeln!(out, "\ntable 1: {difference}\n\n{text}")?;
    Ok(())
}

/// The rows of a study, at least one.
fn rows(study: &dyn Study, folder: &Path, arguments: &ReproduceArguments) -> Result<Table, Error> {
    let table = worked_off(study, folder, arguments)?;
    if table.is_empty() {
        let text = "there are no rows yet: leave --summary out, or give more --minutes";
        return Err(Error::Usage(text.to_owned()));
    }
    Ok(table)
}

/// The rows of a study, after the missing ones were worked off.
fn worked_off(
    study: &dyn Study,
    folder: &Path,
    arguments: &ReproduceArguments,
) -> Result<Table, Error> {
    if !arguments.summary {
        let plan = Plan {
            cells: None,
            every: 1,
            time: arguments
                .minutes
                .map(|minutes| Duration::from_secs_f64(60.0 * minutes)),
            threads: rayon::current_num_threads(),
        };
        let line = std::sync::Mutex::new(Line::begin());
        let tell = |done: usize, planned: usize| match line.lock() {
            Ok(mut line) => line.progress(Progress {
                done,
                planned,
                message: format!("{}: cells", study.name()),
            }),
            Err(_) => ControlFlow::Break(()),
        };
        work_off(study, folder, &plan, &tell).map_err(Error::Usage)?;
        if let Ok(line) = line.lock() {
            line.finish();
        }
    }
    let table = Table::read(&file(folder, study), study).map_err(Error::Usage)?;
    Ok(table.whole_cells(study))
}

/// Says which rows are shown that this program could not compute.
fn note_kept(study: &dyn Study, table: &Table, out: &mut impl Write) -> Result<(), Error> {
    let shown = |cell: &usize| !table.of_cell(*cell).is_empty() && !study.can_run(*cell);
    let kept = (0..study.cells()).filter(shown).count();
    if kept > 0 {
        writeln!(
            out,
            "\n{}: {kept} of {} cells are kept rows, which this program cannot compute: it lacks \
             MuJoCo; `cargo xtask mujoco` builds one that has it",
            study.name(),
            study.cells()
        )?;
    }
    Ok(())
}

/// Prints the table and draws, if there is anything to draw.
fn show(name: &str, summary: &Summary, stem: &Path, out: &mut impl Write) -> Result<(), Error> {
    if summary.svg.is_empty() {
        writeln!(out, "\n{name}: no cell of it has been worked off yet")?;
        return Ok(());
    }
    let picture = write_picture(&summary.svg, stem)?;
    writeln!(out, "\n{}\n{name}: {}", summary.text, picture.display())?;
    Ok(())
}
