//! What the rows of the study of known physics say.

use std::fmt::Write as _;

use hambo_report::figure::StripFigure;

use super::coverage_summary::{VERDICTS, verdict_colour};
use super::statistics::{Count, median};
use hambo_base::study::Summary;
use hambo_base::study::rows::{Record, Table};

/// The counts of one robot.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// The median of (truth − bound) / spread: everything learned, then with what is known. Of
    /// the cells where both gave a bound.
    pub gaps: [f64; 2],
    /// The median over those cells of the second gap over the first.
    pub ratio: f64,
    /// Cells in which the gap at least halves.
    pub halved: Count,
    /// Bounds above the truth, of those that a user is told.
    pub violations: [Count; 2],
    /// Verdicts `deploy`.
    pub deployed: [Count; 2],
}

impl Counts {
    /// Of a robot's rows, or of all.
    #[must_use]
    pub fn of(table: &Table, system: Option<&str>) -> Self {
        let of_kind = |known: bool| -> Vec<Record<'_>> {
            let rows = table.rows();
            let rows = rows.filter(|row| system.is_none_or(|name| row.text("system") == name));
            rows.filter(|row| row.yes("known") == known).collect()
        };
        let kinds = [of_kind(false), of_kind(true)];
        let claims = |row: &Record<'_>| matches!(row.text("verdict"), "deploy" | "reject");
        let gap = |row: &Record<'_>| row.number("gap_share");
        let pairs = || {
            let pairs = kinds[0].iter().zip(&kinds[1]);
            let both = pairs.filter(|(plain, known)| claims(plain) && claims(known));
            both.map(|(plain, known)| [gap(plain), gap(known)])
        };
        let count = |of: &dyn Fn(&Record<'_>) -> bool, told: bool| {
            [0, 1].map(|kind| {
                let rows: &Vec<Record<'_>> = &kinds[kind];
                let rows = rows.iter().filter(|row| !told || claims(row));
                Count::of(rows.map(of))
            })
        };
        Self {
            gaps: [0, 1].map(|kind| median(pairs().map(|pair| pair[kind]))),
            ratio: median(pairs().map(|[plain, known]| known / plain)),
            halved: Count::of(pairs().map(|[plain, known]| known <= 0.5 * plain)),
            violations: count(&|row| row.yes("violated"), true),
            deployed: count(&|row| row.text("verdict") == "deploy", false),
        }
    }
}

/// The robots in the order of the rows.
pub(super) fn systems(table: &Table) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in table.rows() {
        if !names.iter().any(|name| name == row.text("system")) {
            names.push(row.text("system").to_owned());
        }
    }
    names
}

/// Text and picture.
#[must_use]
pub fn summary(table: &Table) -> Summary {
    let mut text = String::from(
        "| system | cells | gap, all learned | gap, with what is known | median ratio | at least halved | above the truth | deployed |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let names = systems(table);
    let all = names
        .iter()
        .map(|name| (name.as_str(), Some(name.as_str())));
    for (name, system) in all.chain([("all", None)]) {
        let counts = Counts::of(table, system);
        let [plain, known] = counts.gaps.map(|gap| format!("{:.1} %", 100.0 * gap));
        let of = |[plain, known]: [Count; 2]| {
            format!(
                "{} of {}, {} of {}",
                plain.hits, plain.of, known.hits, known.of
            )
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {plain} | {known} | {:.2} | {} of {} | {} | {} |",
            counts.deployed[0].of,
            counts.ratio,
            counts.halved.hits,
            counts.halved.of,
            of(counts.violations),
            of(counts.deployed),
        );
    }
    text += "\nThe gap is (truth − bound) / spread, the median of the cells where both gave a \
             bound. Pairs of counts: all learned, then with what is known.\n";
    Summary {
        text,
        svg: draw(table, &names),
    }
}

/// Two strips for every robot.
fn draw(table: &Table, systems: &[String]) -> String {
    let lines = systems
        .iter()
        .flat_map(|name| [(name, false), (name, true)]);
    let lines: Vec<(&String, bool)> = lines.collect();
    let names: Vec<String> = lines
        .iter()
        .map(|(name, known)| {
            if *known {
                format!("{name}, known")
            } else {
                (*name).clone()
            }
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let dots = table.rows().filter_map(|row| {
        let place = lines
            .iter()
            .position(|(name, known)| *name == row.text("system") && *known == row.yes("known"));
        let colour = verdict_colour(row.text("verdict"))?;
        Some((place?, row.number("gap_share"), colour))
    });
    let figure = StripFigure {
        title: "What known physics is worth",
        subtitle: "The same logs and controllers; integrators, rotations and features written down",
        range: (-0.2, 1.0),
        rows: &names,
        marks: &[(0.0, "truth"), (0.2, "threshold")],
        legend: &VERDICTS,
        caption: "(truth − bound) / spread; left of 0 the bound is wrong",
        dots: dots.collect(),
    };
    figure.to_svg()
}
