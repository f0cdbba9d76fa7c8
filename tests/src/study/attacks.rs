//! What the studies of attacks on the gate share: the firmware and a table.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use hambo_base::study::Summary;
use hambo_report::figure::{GOOD, StripFigure};

/// The program that a variable names.
///
/// # Errors
/// If it names none.
pub fn firmware(variable: &str) -> io::Result<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    found.ok_or_else(|| io::Error::other(format!("{variable} is to name the firmware's ELF file")))
}

/// A line of the table.
pub struct Line {
    /// What was attacked.
    pub scene: &'static str,
    /// What stands in its columns before the last one.
    pub counts: Vec<String>,
    /// Attacks.
    pub tried: usize,
    /// Those that came through: the last column.
    pub wrong: usize,
}

/// Table and picture.
#[must_use]
pub fn summary(title: &str, subtitle: &str, columns: &[&str], lines: &[Line]) -> Summary {
    let mut text = format!("| attack | {} |\n|---|", columns.join(" | "));
    text += &"---|".repeat(columns.len());
    text += "\n";
    for line in lines {
        let counts = line.counts.join(" | ");
        let _ = writeln!(text, "| {} | {counts} | {} |", line.scene, line.wrong);
    }
    let scenes: Vec<&str> = lines.iter().map(|line| line.scene).collect();
    let share = |line: &Line| 100.0 * line.wrong as f64 / line.tried.max(1) as f64;
    let dots = lines.iter().enumerate();
    let figure = StripFigure {
        title,
        subtitle,
        range: (0.0, 100.0),
        rows: &scenes,
        marks: &[(0.0, "none"), (50.0, "50 %")],
        legend: &[(GOOD, "today's firmware")],
        caption: "per cent of the attacks",
        dots: dots.map(|(row, line)| (row, share(line), GOOD)).collect(),
    };
    Summary {
        text,
        svg: figure.to_svg(),
    }
}
