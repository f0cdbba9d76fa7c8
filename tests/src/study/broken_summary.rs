//! What the rows of the study of broken assumptions say.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hambo_report::figure::{BAD, GOOD, StripFigure};

use super::assumption::{ASSUMPTIONS, Assumption};
use super::plant::DELTA;
use super::statistics::Count;
use hambo_base::study::Summary;
use hambo_base::study::rows::{Record, Table};

/// The counts of one assumption. A log that misleads a model misleads it about all of its
/// controllers, so that only logs are independent cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    /// Logs with a controller that is deployed and whose truth misses the threshold.
    pub wrong_logs: Count,
    /// Such controllers.
    pub wrong: Count,
    /// Controllers refused whose truth clears the threshold by a fifth of the spread.
    pub refused: Count,
    /// Logs all of whose controllers are refused though they clear it.
    pub refused_logs: Count,
    /// Checks whose evidence was called unfit.
    pub unfit: Count,
    /// Bounds above the truth, fit or not.
    pub above: Count,
}

impl Counts {
    /// Of one assumption's rows.
    #[must_use]
    pub fn of(table: &Table, assumption: Assumption) -> Self {
        let rows = table.rows();
        let rows = rows.filter(|row| row.text("assumption") == assumption.name());
        Self::of_rows(&rows.collect::<Vec<_>>())
    }

    fn of_rows(rows: &[Record<'_>]) -> Self {
        let mut logs: BTreeMap<&str, Vec<&Record<'_>>> = BTreeMap::new();
        for row in rows {
            logs.entry(row.text("log")).or_default().push(row);
        }
        let of_logs =
            |holds: fn(&[&Record<'_>]) -> bool| Count::of(logs.values().map(|log| holds(log)));
        let of_rows = |holds: fn(&Record<'_>) -> bool| Count::of(rows.iter().map(holds));
        Self {
            wrong_logs: of_logs(|log| log.iter().any(|row| row.yes("wrong_deploy"))),
            wrong: of_rows(|row| row.yes("wrong_deploy")),
            refused: of_rows(|row| !row.yes("good_deploy")),
            refused_logs: of_logs(|log| log.iter().all(|row| !row.yes("good_deploy"))),
            unfit: of_rows(|row| !row.yes("fit")),
            above: of_rows(|row| {
                row.number("bound") > row.number("truth") + 3.0 * row.number("truth_error")
            }),
        }
    }

    /// Whether wrong deploys are significantly more frequent than delta.
    #[must_use]
    pub fn too_many(&self) -> bool {
        self.wrong_logs.above(DELTA)
    }
}

/// Text and picture.
#[must_use]
pub fn summary(table: &Table) -> Summary {
    let mut text = String::from(
        "| broken | logs with a wrong deploy | wrong deploys | refused good ones | logs without a \
         good one | unfit | bound above the truth |\n|---|---|---|---|---|---|---|\n",
    );
    for assumption in ASSUMPTIONS {
        let counts = Counts::of(table, assumption);
        let mark = if counts.too_many() { "**" } else { "" };
        let _ = write!(
            text,
            "| {}{} | {mark}{}{mark} |",
            assumption.name(),
            assumption.whether_seen(),
            counts.wrong_logs.text()
        );
        for Count { hits, of } in [
            counts.wrong,
            counts.refused,
            counts.refused_logs,
            counts.unfit,
            counts.above,
        ] {
            let _ = write!(text, " {hits} of {of} |");
        }
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "\nBold: in significantly more than {} % of the logs a controller is deployed that misses \
         its threshold (exact binomial test on logs, one-sided, 5 %).",
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
            [(row, counts.wrong_logs.share(), BAD), (row, good, GOOD)]
        });
    let figure = StripFigure {
        title: "What if an assumption is broken?",
        subtitle: "Share of the logs that mislead, and of the good controllers that are deployed",
        range: (0.0, 1.0),
        rows: &names,
        marks: &[(DELTA, "delta")],
        legend: &[
            (BAD, "logs with a deploy that misses its threshold"),
            (GOOD, "controllers that clear it by a fifth, deployed"),
        ],
        caption: "share",
        dots: dots.collect(),
    };
    figure.to_svg()
}
