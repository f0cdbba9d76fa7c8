//! What the rows of the coverage study say.

use std::fmt::Write as _;

use hambo_core::task::Allocation;
use hambo_report::figure::{CAUTION, GOOD, StripFigure, UNDECIDED};

use super::plant::{DELTA, MARGIN};
use super::statistics::{Count, median};
use hambo_base::study::Summary;
use hambo_base::study::rows::{Record, Table};

/// The counts of one kind of model on some cells. Every cell's truth clears its threshold by
/// a fifth of the spread.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// Bounds above the truth, of the cells with a verdict that is not `abstain`.
    pub violations: Count,
    /// Bounds above the truth where the verdict was `abstain`.
    pub abstained_above: Count,
    /// Lower bounds of constraints above their truth, where there is a verdict.
    pub constraint_violations: Count,
    /// The truth less the bound, over the spread: the middle one of the cells with a verdict.
    pub median_gap: f64,
    /// Verdicts `deploy`, of all cells.
    pub deployed: Count,
    /// Verdicts `reject`, of all cells.
    pub rejected: Count,
}

impl Counts {
    /// Of rows; `prefix` stands before the columns of the model.
    #[must_use]
    pub fn of(rows: &[Record<'_>], prefix: &str) -> Self {
        let column = |name: &str| format!("{prefix}{name}");
        let verdict_column = column("verdict");
        let verdict = |row: &Record<'_>| -> String { row.text(&verdict_column).to_owned() };
        let claims = |row: &&Record<'_>| matches!(verdict(row).as_str(), "deploy" | "reject");
        let rows = || rows.iter().filter(|row| !verdict(row).is_empty());
        let above = |row: &Record<'_>| row.yes(&column("violated"));
        let constraint = column("constraint_violated");
        let constrained = |row: &&Record<'_>| !row.text(&constraint).is_empty();
        let constraints = rows().filter(claims).filter(constrained);
        Self {
            violations: Count::of(rows().filter(claims).map(above)),
            abstained_above: Count::of(rows().filter(|row| !claims(row)).map(above)),
            constraint_violations: Count::of(constraints.map(|row| row.yes(&constraint))),
            median_gap: median(
                rows()
                    .filter(claims)
                    .map(|row| row.number(&column("gap_share"))),
            ),
            deployed: Count::of(rows().map(|row| verdict(row) == "deploy")),
            rejected: Count::of(rows().map(|row| verdict(row) == "reject")),
        }
    }

    /// In words, after what they are of.
    #[must_use]
    pub fn text(&self, what: &str) -> String {
        let test = if self.violations.above(DELTA) {
            "significantly above"
        } else {
            "not significantly above"
        };
        format!(
            "{what}\n\
             - bounds above the truth: {}, {test} {} % (one-sided 5 %, p = {:.3}); with `abstain`: {} of {}\n\
             - constraints' bounds above their truth: {}\n\
             - the truth less the bound, median: {:.1} % of the spread\n\
             - deploy {}, reject {}, abstain or no model {}\n",
            self.violations.text(),
            100.0 * DELTA,
            self.violations.at_least(DELTA),
            self.abstained_above.hits,
            self.abstained_above.of,
            self.constraint_violations.text(),
            100.0 * self.median_gap,
            self.deployed.text(),
            self.rejected.hits,
            self.deployed.of - self.deployed.hits - self.rejected.hits,
        )
    }
}

/// Rows whose log has exploration, and those whose log has none.
#[must_use]
pub fn explored(table: &Table) -> [Vec<Record<'_>>; 2] {
    let rows = |explored: bool| {
        let rows = table.rows();
        rows.filter(move |row| (row.number("exploration") > 0.0) == explored)
            .collect()
    };
    [rows(true), rows(false)]
}

/// Of the cells whose networks deploy and that have a process: in how many it deploys too.
#[must_use]
pub fn deployed_by_both(rows: &[Record<'_>]) -> Count {
    let both = rows.iter().filter(|row| !row.text("gp_verdict").is_empty());
    let networks = both.filter(|row| row.text("verdict") == "deploy");
    Count::of(networks.map(|row| row.text("gp_verdict") == "deploy"))
}

/// Text and picture of the rows with this kind of search.
#[must_use]
pub fn summary(table: &Table, search: Allocation) -> Summary {
    let [logs, unexplored] = explored(table);
    let all: Vec<Record<'_>> = table.rows().collect();
    let parts = [
        ("networks", &logs, ""),
        ("networks, logs without exploration", &unexplored, ""),
        ("Gaussian processes", &logs, "gp_"),
        (
            "Gaussian processes, logs without exploration too",
            &all,
            "gp_",
        ),
    ];
    let mut text = String::new();
    for (what, rows, prefix) in parts {
        let counts = Counts::of(rows, prefix);
        if counts.deployed.of > 0 {
            text += &counts.text(&format!("{what}, {} cells:", counts.deployed.of));
        }
    }
    let both = deployed_by_both(&logs);
    if both.of > 0 {
        let _ = writeln!(
            text,
            "of the controllers that networks deploy, Gaussian processes deploy {}\n",
            both.text()
        );
    }
    Summary {
        text,
        svg: draw(table, search),
    }
}

/// A strip for every kind of system: how far each bound lies below the truth.
fn draw(table: &Table, search: Allocation) -> String {
    let [rows, _] = explored(table);
    let search = if search == Allocation::Focused {
        ", a focused search"
    } else {
        ""
    };
    strips(&rows, "system", search)
}

/// A strip for every value of a column.
pub(super) fn strips(rows: &[Record<'_>], column: &str, search: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.text(column)) {
            names.push(row.text(column));
        }
    }
    let dots = rows.iter().filter_map(|row| {
        let strip = names.iter().position(|name| *name == row.text(column));
        let colour = verdict_colour(row.text("verdict"))?;
        Some((strip?, row.number("gap_share"), colour))
    });
    let figure = StripFigure {
        title: "How far below the truth is the bound?",
        subtitle: &format!(
            "{} random systems, logs and controllers; five networks{search}",
            rows.len()
        ),
        range: (-0.2, 1.0),
        rows: &names,
        marks: &[(0.0, "truth"), (MARGIN, "threshold")],
        legend: &VERDICTS,
        caption: "(truth − bound) / spread; left of 0 the bound is wrong",
        dots: dots.collect(),
    };
    figure.to_svg()
}

/// Colours of the verdicts.
pub(super) const VERDICTS: [(&str, &str); 3] = [
    (GOOD, "deploy"),
    (CAUTION, "reject"),
    (UNDECIDED, "abstain"),
];

pub(super) fn verdict_colour(verdict: &str) -> Option<&'static str> {
    let found = VERDICTS.iter().find(|(_, name)| *name == verdict);
    found.map(|(colour, _)| *colour)
}
