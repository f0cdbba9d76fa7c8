//! What the rows of the study of broken assumptions say.

use std::fmt::Write as _;

use hambo_report::figure::{BAD, GOOD, StripFigure};

use super::assumption::{ASSUMPTIONS, Assumption};
use super::plant::DELTA;
use super::statistics::Count;
use hambo_base::study::Summary;
use hambo_base::study::rows::Table;

/// The counts of one assumption.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    /// Controllers deployed whose truth misses the threshold.
    pub wrong: Count,
    /// Controllers refused whose truth clears it by a fifth of the spread.
    pub refused: Count,
    /// Checks whose evidence was called unfit.
    pub unfit: Count,
    /// Bounds above the truth, fit or not.
    pub above: Count,
}

impl Counts {
    /// Of one assumption's rows.
    #[must_use]
    pub fn of(table: &Table, assumption: Assumption) -> Self {
        let rows = || {
            let rows = table.rows();
            rows.filter(move |row| row.text("assumption") == assumption.name())
        };
        Self {
            wrong: Count::of(rows().map(|row| row.yes("wrong_deploy"))),
            refused: Count::of(rows().map(|row| !row.yes("good_deploy"))),
            unfit: Count::of(rows().map(|row| !row.yes("fit"))),
            above: Count::of(rows().map(|row| {
                row.number("bound") > row.number("truth") + 3.0 * row.number("truth_error")
            })),
        }
    }
}

/// Text and picture. Ten controllers share a log, so the limits of the shares, which take
/// them for independent, are narrower than they should be.
#[must_use]
pub fn summary(table: &Table) -> Summary {
    let mut text = String::from(
        "| broken | wrong deploys | refused good ones | unfit | bound above the truth |\n\
         |---|---|---|---|---|\n",
    );
    for assumption in ASSUMPTIONS {
        let seen = if assumption.can_be_seen() {
            ""
        } else {
            " (a log cannot show it)"
        };
        let counts = Counts::of(table, assumption);
        let mark = if counts.wrong.above(DELTA) { "**" } else { "" };
        let name = assumption.name();
        let _ = write!(
            text,
            "| {name}{seen} | {mark}{}{mark} |",
            counts.wrong.text()
        );
        for Count { hits, of } in [counts.refused, counts.unfit, counts.above] {
            let _ = write!(text, " {hits} of {of} |");
        }
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "\nBold: significantly above {} % (one-sided 5 %).",
        100.0 * DELTA
    );
    Summary {
        text,
        svg: draw(table),
    }
}

/// Two dots for each assumption: wrong deploys, and good ones.
fn draw(table: &Table) -> String {
    let names = ASSUMPTIONS.map(Assumption::name);
    let dots = ASSUMPTIONS
        .iter()
        .enumerate()
        .flat_map(|(row, assumption)| {
            let counts = Counts::of(table, *assumption);
            let good = 1.0 - counts.refused.share();
            [(row, counts.wrong.share(), BAD), (row, good, GOOD)]
        });
    let figure = StripFigure {
        title: "What if an assumption is broken?",
        subtitle: "Share of the controllers that are deployed",
        range: (0.0, 1.0),
        rows: &names,
        marks: &[(DELTA, "delta")],
        legend: &[
            (BAD, "that miss the threshold"),
            (GOOD, "that clear it by a fifth"),
        ],
        caption: "share of the controllers",
        dots: dots.collect(),
    };
    figure.to_svg()
}
