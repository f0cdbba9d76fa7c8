//! What the rows of the glitches say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use hambo_report::figure::{GOOD, StripFigure};

use crate::glitch::campaign::{PARTS, Part};
use crate::glitch::images::{VERDICTS, Verdict};
use hambo_base::study::Summary;
use hambo_base::study::rows::{Record, Table};

/// The most places that a summary names.
const NAMED: usize = 12;

/// What came of the glitches of one part on one image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Glitches.
    pub runs: usize,
    /// Runs in which the pin was high at any time.
    pub high: usize,
    /// Runs that ended as without a glitch: the same end, verdict, bound and pin.
    pub unnoticed: usize,
    /// Runs whose bound is another one.
    pub changed: usize,
    /// Runs that hung.
    pub hung: usize,
    /// Runs in which the emulator ended.
    pub died: usize,
    /// Runs that never came to the moment of the glitch.
    pub unreached: usize,
    /// Changes with which the pin was high.
    pub opening: BTreeSet<String>,
    /// Functions in which a glitch raised the pin, with the number of glitches.
    pub holes: BTreeMap<String, usize>,
}

impl Counts {
    /// Of the rows of a part and an image.
    #[must_use]
    pub fn of(table: &Table, part: Part, verdict: Verdict) -> Self {
        let mut counts = Self::default();
        let mine = |row: &Record<'_>| {
            row.text("part") == part.name() && row.text("image") == verdict.name()
        };
        for row in table.rows().filter(mine) {
            counts.runs += 1;
            counts.changed += usize::from(row.text("bound") == "changed");
            counts.hung += usize::from(row.text("end") == "hang");
            counts.unreached += usize::from(row.text("end") == "unreached");
            counts.died += usize::from(row.text("end") == "died");
            let same = row.text("verdict") == verdict.name() && row.text("bound") == "same";
            let usual = row.yes("pin") == (verdict == Verdict::Deploy);
            counts.unnoticed += usize::from(same && usual);
            if row.yes("pin") {
                counts.high += 1;
                counts.opening.insert(row.text("change").to_owned());
                *counts
                    .holes
                    .entry(row.text("function").to_owned())
                    .or_default() += 1;
            }
        }
        counts
    }
}

/// Text and picture.
#[must_use]
pub fn summary(table: &Table) -> Summary {
    let mut text = String::new();
    describe(&mut text, table);
    Summary {
        text,
        svg: draw(table),
    }
}

fn lines(table: &Table) -> impl Iterator<Item = (Part, Verdict, Counts)> {
    let pairs = PARTS
        .into_iter()
        .flat_map(|part| VERDICTS.map(|one| (part, one)));
    let lines = pairs.map(|(part, one)| (part, one, Counts::of(table, part, one)));
    lines.filter(|(_, _, counts)| counts.runs > 0)
}

fn describe(text: &mut String, table: &Table) {
    *text += "| glitch | image | runs | pin high | changes that open | nothing to see | bound changed | hung | died | unreached |\n\
              |---|---|---|---|---|---|---|---|---|---|\n";
    for (part, verdict, counts) in lines(table) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            part.name(),
            verdict.name(),
            counts.runs,
            counts.high,
            counts.opening.len(),
            counts.unnoticed,
            counts.changed,
            counts.hung,
            counts.died,
            counts.unreached
        );
    }
    for (part, verdict, counts) in lines(table) {
        if part == Part::Control || counts.holes.is_empty() {
            continue;
        }
        let holes = counts.holes.iter().take(NAMED);
        let holes: Vec<String> = holes
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let (part, verdict) = (part.name(), verdict.name());
        let _ = writeln!(
            text,
            "\n{part}, {verdict}: pin high in {}",
            holes.join(", ")
        );
    }
}

/// A dot for the share of glitches of each part and image that raised the pin.
fn draw(table: &Table) -> String {
    let shown = |(part, _, _): &(Part, Verdict, Counts)| *part != Part::Control;
    let rows: Vec<_> = lines(table).filter(shown).collect();
    let names = rows
        .iter()
        .map(|(part, one, _)| format!("{}, {}", part.name(), one.name()));
    let names: Vec<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let dots = rows
        .iter()
        .enumerate()
        .map(|(row, (_, _, counts))| (row, counts.high as f64 / counts.runs as f64, GOOD));
    let figure = StripFigure {
        title: "Glitches that open the gate",
        subtitle: "Share of the glitches of a kind with which the pin was high at any time",
        range: (0.0, 1.0),
        rows: &names,
        marks: &[(0.0, "none"), (1.0, "all")],
        legend: &[(GOOD, "this firmware")],
        caption: "share of the glitches",
        dots: dots.collect(),
    };
    figure.to_svg()
}
