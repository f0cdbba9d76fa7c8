//! What the rows of the study of broken assumptions say.

use std::fmt::Write as _;

use super::Summary;
use super::assumption::{ASSUMPTIONS, Assumption};
use super::picture;
use super::plant::DELTA;
use super::rows::Table;
use super::statistics::Count;

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

/// Two bars for each assumption: wrong deploys, and good ones.
fn draw(table: &Table) -> String {
    const TOP: f64 = 150.0;
    const ROW: f64 = 40.0;
    const LEFT: f64 = 300.0;
    const LONGEST: f64 = 700.0;
    let height = TOP + ROW * ASSUMPTIONS.len() as f64 + 20.0;
    let mut svg = picture::page(
        "What if an assumption is broken?",
        "share of controllers deployed",
        height,
    );
    let legend = [
        (560.0, picture::BAD, "that miss the threshold"),
        (800.0, picture::GOOD, "that clear it by a fifth"),
    ];
    for (x, colour, words) in legend {
        svg.push(picture::bar(x, 90.0, 14.0, colour, "1"));
        svg.push(picture::text(x + 22.0, 102.0, "start", words));
    }
    for (row, assumption) in (0..).zip(ASSUMPTIONS) {
        let y = TOP + ROW * f64::from(row);
        let name = picture::text(LEFT - 16.0, y + 17.0, "end", assumption.name());
        svg.push(if assumption.can_be_seen() {
            name
        } else {
            name.set("fill", picture::QUIET_TEXT)
        });
        let counts = Counts::of(table, assumption);
        let bars = [
            (counts.wrong.share(), picture::BAD),
            (1.0 - counts.refused.share(), picture::GOOD),
        ];
        for (index, (share, colour)) in (0..).zip(bars) {
            let y = y + 13.0 * f64::from(index);
            let width = LONGEST * share;
            svg.push(picture::bar(LEFT, y, width.max(1.0), colour, "1"));
            let words = format!("{:.0} %", 100.0 * share);
            let label = picture::text(LEFT + width + 8.0, y + 11.0, "start", &words);
            svg.push(label.set("font-size", 13.0));
        }
    }
    svg.to_text()
}
