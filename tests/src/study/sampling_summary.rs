//! What the rows of the study of sampling say.

use std::fmt::Write as _;

use hambo_check::names::allocation_name;
use hambo_report::figure::{BAD, CAUTION, GOOD, StripFigure};

use super::plant::DELTA;
use super::sampling_finder::Finder;
use super::statistics::Count;
use hambo_base::study::Summary;
use hambo_base::study::rows::{Record, Table};
use hambo_core::task::Allocation;

/// What one objective's bounds may fail with: half of delta is the model's, and there are two
/// objectives.
pub const ALLOWED: f64 = DELTA / 4.0;

/// The bounds of a row: the column of those above the truth, and what they are called.
pub const BOUNDS: [(&str, &str); 4] = [
    ("return_above", "return"),
    ("return_students_above", "return, Student's t"),
    ("share_above", "requirement"),
    ("share_students_above", "requirement, Student's t"),
];

/// Bounds above the truth in a row.
#[must_use]
pub fn above(row: &Record<'_>, column: &str) -> Count {
    Count {
        hits: row.number(column) as usize,
        of: row.number("runs") as usize,
    }
}

/// Text and picture.
#[must_use]
pub fn summary(table: &Table) -> Summary {
    let mut text = String::from("| found by | trajectories | goes wrong in |");
    for allocation in ["tried", "focused"] {
        for (_, name) in BOUNDS {
            let _ = write!(text, " {allocation}: {name} |");
        }
    }
    let _ = writeln!(text, "\n|---|---|---{}|", "|---".repeat(2 * BOUNDS.len()));
    let mut all: Vec<Record<'_>> = table.rows().collect();
    all.sort_by_key(|row| row.number("cell") as usize);
    let tried = allocation_name(Allocation::Tried);
    for row in all.iter().filter(|row| row.text("allocation") == tried) {
        let same = |other: &&Record<'_>| {
            ["found_by", "trajectories", "probability"]
                .iter()
                .all(|column| row.text(column) == other.text(column))
        };
        let _ = write!(
            text,
            "| {} | {} | {:.1} % |",
            row.text("found_by"),
            row.text("trajectories"),
            100.0 * row.number("probability")
        );
        for one in all.iter().filter(same) {
            for (column, _) in BOUNDS {
                let count = above(one, column);
                let share = format!("{:.1} %", 100.0 * count.share());
                let mark = if count.above(ALLOWED) { "**" } else { "" };
                let _ = write!(text, " {mark}{share}{mark} |");
            }
        }
        text += "\n";
    }
    let _ = writeln!(
        text,
        "\nBounds above the truth in 2,000 checks each; {:.2} % are allowed, bold is significantly \
         more.",
        100.0 * ALLOWED
    );
    Summary {
        text,
        svg: draw(&all),
    }
}

/// A strip for every allocation, finder and number of trajectories; a dot for every cell and
/// bound.
fn draw(rows: &[Record<'_>]) -> String {
    let name = |row: &Record<'_>| {
        format!(
            "{}, {}, {}",
            row.text("found_by"),
            row.text("allocation"),
            row.text("trajectories")
        )
    };
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        if !names.contains(&name(row)) {
            names.push(name(row));
        }
    }
    // Those of the sampled level first.
    names.sort_by_key(|name| name.starts_with(Finder::Search.name()));
    let colour = |column: &str| match column {
        "return_students_above" => BAD,
        "share_students_above" => CAUTION,
        _ => GOOD,
    };
    let dots = rows.iter().flat_map(|row| {
        let place = names.iter().position(|other| *other == name(row));
        BOUNDS.iter().filter_map(move |(column, _)| {
            Some((place?, above(row, column).share(), colour(column)))
        })
    });
    let dots = dots.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let figure = StripFigure {
        title: "How often sampling alone fails",
        subtitle: "A loss in 0.2 to 5 % of the trajectories, found by a start or by the search alone",
        range: (0.0, 1.0),
        rows: &names,
        marks: &[(ALLOWED, "allowed")],
        legend: &[
            (GOOD, "default"),
            (BAD, "return, Student's t"),
            (CAUTION, "requirement, Student's t"),
        ],
        caption: "share of 2,000 checks whose bound lies above the truth",
        dots,
    };
    figure.to_svg()
}
