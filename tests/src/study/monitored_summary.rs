//! What the rows of the study of the monitor say.

use std::fmt::Write as _;

use hambo_report::figure::{BAD, GOOD, StripFigure};

use super::faults::DRIVE_CONDITIONS;
use super::known_summary::systems;
use super::statistics::{Count, median};
use hambo_base::study::Summary;
use hambo_base::study::rows::{Record, Table};

/// The counts of one condition, of a robot or of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// Drives that were stopped.
    pub stopped: Count,
    /// Drives with a transition beyond three radii.
    pub at_once: usize,
    /// The median over the models of the median step of a stop.
    pub step: f64,
    /// The median over the models of the median residual of a stop, in radii.
    pub residual: f64,
    /// Models whose bound lies above the true return after the fault by more than three
    /// standard errors.
    pub above: Count,
}

impl Counts {
    /// Of the rows that `belongs` picks.
    #[must_use]
    pub fn of(table: &Table, belongs: impl Fn(&Record<'_>) -> bool) -> Self {
        let rows: Vec<Record<'_>> = table
            .rows()
            .filter(|row| row.number("drives") > 0.0 && belongs(row))
            .collect();
        let sum = |name: &str| -> usize { rows.iter().map(|row| row.number(name) as usize).sum() };
        let numbers = |name: &'static str| {
            let numbers = rows.iter().map(move |row| row.number(name));
            median(numbers.filter(|number| !number.is_nan()))
        };
        let above = |row: &Record<'_>| {
            row.number("bound") > row.number("truth") + 3.0 * row.number("truth_error")
        };
        Self {
            stopped: Count {
                hits: sum("stopped"),
                of: sum("drives"),
            },
            at_once: sum("at_once"),
            step: numbers("median_step"),
            residual: numbers("median_residual"),
            above: Count::of(rows.iter().map(above)),
        }
    }
}

/// Text and picture.
#[must_use]
pub fn summary(table: &Table) -> Summary {
    let mut text = String::from(
        "| system | condition | drives | stopped | at once | median step | median residual | bound above the truth |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let systems = systems(table);
    for system in &systems {
        for condition in DRIVE_CONDITIONS {
            let counts = Counts::of(table, |row| {
                row.text("system") == system && row.text("condition") == condition
            });
            if counts.stopped.of == 0 {
                continue;
            }
            let step = match counts.stopped.hits {
                0 => "none".to_owned(),
                _ => format!("{:.0}", counts.step),
            };
            let _ = writeln!(
                text,
                "| {system} | {condition} | {} | {} ({:.1} %) | {} | {step} | {:.2} | {} of {} |",
                counts.stopped.of,
                counts.stopped.hits,
                100.0 * counts.stopped.share(),
                counts.at_once,
                counts.residual,
                counts.above.hits,
                counts.above.of,
            );
        }
    }
    text += "\nResiduals in radii of set and noise. `at once`: drives with a transition beyond \
             three radii, which are among the stopped. Median step: of the drives that were \
             stopped.\n";
    Summary {
        text,
        svg: draw(table, &systems),
    }
}

/// A strip for every robot and condition.
fn draw(table: &Table, systems: &[String]) -> String {
    let lines: Vec<(&String, &str)> = systems
        .iter()
        .flat_map(|name| DRIVE_CONDITIONS.map(|condition| (name, condition)))
        .filter(|(name, condition)| {
            table.rows().any(|row| {
                row.text("system") == *name
                    && row.text("condition") == *condition
                    && row.number("drives") > 0.0
            })
        })
        .collect();
    let names: Vec<String> = lines
        .iter()
        .map(|(name, condition)| match *condition {
            "as logged" => format!("{name}: as logged"),
            other => other.to_owned(),
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let dots = table.rows().filter_map(|row| {
        let place = lines.iter().position(|(name, condition)| {
            *name == row.text("system") && *condition == row.text("condition")
        });
        let colour = match row.text("condition") {
            "as logged" => GOOD,
            _ => BAD,
        };
        Some((place?, row.number("stopped") / row.number("drives"), colour))
    });
    let figure = StripFigure {
        title: "What the monitor stops",
        subtitle: "Share of the drives of a model that were stopped, at alpha = 0.01",
        range: (0.0, 1.0),
        rows: &names,
        marks: &[(0.0, "none"), (1.0, "all")],
        legend: &[(GOOD, "the robot as it was logged"), (BAD, "another robot")],
        caption: "one dot for each model and condition",
        dots: dots.collect(),
    };
    figure.to_svg()
}
