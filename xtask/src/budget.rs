//! The budgets: what the firmware takes on the device, compared with the
//! figures that are committed in `budgets.toml`.
//!
//! The file has two tables of `name = number`: `[limit]`, which people write,
//! and `[committed]`, which `cargo xtask budget --update` writes.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use crate::command::{CommandLine, Problem};
use crate::firmware::Firmware;
use crate::lint::linted;
use crate::project::Project;
use crate::workspace::example_build;

/// From the root of the repository.
pub const FILE: &str = "budgets.toml";
/// A figure may move this far before somebody has to look at it.
const TOLERANCE: f64 = 0.02;
const COMPILER: &str = "compiler";
const COMMITTED: &str = "[committed]";

/// Numbers by name, in order.
type Figures = Vec<(String, f64)>;

/// What the file holds.
#[derive(Debug, Default, PartialEq)]
pub struct Budgets {
    limits: Figures,
    committed: Figures,
    /// The compiler that the committed figures were measured with.
    compiler: String,
}

/// Reads the figures that the measuring program prints.
pub fn parse_figures(text: &str) -> Result<Figures, Problem> {
    text.lines()
        .map(|line| {
            let (name, value) = entry(line)?;
            Some((name.to_owned(), value.parse().ok()?))
        })
        .collect::<Option<Figures>>()
        .filter(|figures| !figures.is_empty())
        .ok_or_else(|| Problem::Advice(format!("These are no figures:\n{text}")))
}

/// `name = value`, without a comment at its end.
fn entry(line: &str) -> Option<(&str, &str)> {
    let line = line.split('#').next().unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    Some((name.trim(), value.trim()))
}

impl Budgets {
    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let mut budgets = Self::default();
        let mut table = "";
        for (number, line) in (1..).zip(text.lines()) {
            let bad = || Problem::Advice(format!("{FILE}, line {number} makes no sense: {line}"));
            let plain = line.split('#').next().unwrap_or(line).trim();
            if plain.is_empty() {
                continue;
            }
            if plain.starts_with('[') {
                table = plain;
                continue;
            }
            let (name, value) = entry(plain).ok_or_else(bad)?;
            if (table, name) == (COMMITTED, COMPILER) {
                budgets.compiler = value.trim_matches('"').to_owned();
                continue;
            }
            let figures = match table {
                "[limit]" => &mut budgets.limits,
                COMMITTED => &mut budgets.committed,
                _ => return Err(bad()),
            };
            figures.push((name.to_owned(), value.parse().map_err(|_| bad())?));
        }
        Ok(budgets)
    }

    pub fn read(root: &Path) -> Result<Self, Problem> {
        Self::parse(&text(root)?)
    }

    /// Holds measured figures against the file.
    pub fn compare<'a>(&'a self, measured: &'a Figures, compiler: &'a str) -> Comparison<'a> {
        Comparison {
            budgets: self,
            measured,
            compiler,
        }
    }
}

fn text(root: &Path) -> Result<String, Problem> {
    std::fs::read_to_string(root.join(FILE))
        .map_err(|error| Problem::Advice(format!("{FILE} cannot be read: {error}")))
}

/// Commits measured figures; what stands before them in the file stays.
pub fn update(root: &Path, measured: &Figures, compiler: &str) -> Result<(), Problem> {
    let text = updated(&text(root)?, measured, compiler);
    std::fs::write(root.join(FILE), text)
        .map_err(|error| Problem::Advice(format!("{FILE} cannot be written: {error}")))
}

fn updated(text: &str, measured: &Figures, compiler: &str) -> String {
    let kept: Vec<&str> = text.lines().take_while(|line| *line != COMMITTED).collect();
    let mut text = kept.join("\n");
    text += &format!("\n{COMMITTED}\n{COMPILER} = \"{compiler}\"\n");
    for (name, value) in measured {
        text += &format!("{name} = {}\n", shown(*value));
    }
    text
}

/// Whole numbers as they are, others with four digits after the point.
fn shown(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value}")
    } else {
        format!("{value:.4}")
    }
}

fn find(figures: &Figures, name: &str) -> Option<f64> {
    let found = figures.iter().find(|(other, _)| other == name);
    found.map(|(_, value)| *value)
}

/// Measured figures beside those of the file.
pub struct Comparison<'a> {
    budgets: &'a Budgets,
    measured: &'a Figures,
    compiler: &'a str,
}

impl Comparison<'_> {
    /// What is wrong, if anything is.
    pub fn verdict(&self) -> Result<(), Problem> {
        let mut complaints = self.above_limits();
        // Another compiler makes another firmware; only the limits hold for all.
        if self.compiler == self.budgets.compiler {
            complaints.extend(self.drifts());
        }
        if complaints.is_empty() {
            return Ok(());
        }
        Err(Problem::Advice(complaints.join("\n")))
    }

    fn above_limits(&self) -> Vec<String> {
        let check = |(name, limit): &(String, f64)| match find(self.measured, name) {
            None => Some(format!("{name} has a limit, but is not measured.")),
            Some(value) if value <= *limit => None,
            Some(value) => Some(format!(
                "{name} is {}, above its limit of {}.",
                shown(value),
                shown(*limit)
            )),
        };
        self.budgets.limits.iter().filter_map(check).collect()
    }

    fn drifts(&self) -> Vec<String> {
        let check = |(name, value): &(String, f64)| {
            let Some(committed) = find(&self.budgets.committed, name) else {
                return Some(format!(
                    "{name} is not in {FILE}; `cargo xtask budget --update` adds it."
                ));
            };
            let change = value / committed - 1.0;
            let (word, remedy) = if change.abs() <= TOLERANCE {
                return None;
            } else if change < 0.0 {
                ("shrank", "Commit the better figure")
            } else {
                ("grew", "Find out why, or commit it if it is worth that")
            };
            Some(format!(
                "{name} {word} by {:.1} %: {}, and {} is committed. {remedy}: \
                 `cargo xtask budget --update`.",
                100.0 * change.abs(),
                shown(*value),
                shown(committed)
            ))
        };
        let gone = |(name, _): &(String, f64)| {
            find(self.measured, name)
                .is_none()
                .then(|| format!("{name} is in {FILE}, but no longer measured."))
        };
        let drifted = self.measured.iter().filter_map(check);
        let gone = self.budgets.committed.iter().filter_map(gone);
        drifted.chain(gone).collect()
    }
}

/// The table, for people.
impl fmt::Display for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows =
            vec![["figure", "measured", "committed", "change", "limit"].map(String::from)];
        for (name, value) in self.measured {
            let committed = find(&self.budgets.committed, name);
            rows.push([
                name.clone(),
                shown(*value),
                committed.map(shown).unwrap_or_default(),
                committed.map_or_else(String::new, |old| {
                    format!("{:+.1} %", 100.0 * (value / old - 1.0))
                }),
                find(&self.budgets.limits, name)
                    .map(shown)
                    .unwrap_or_default(),
            ]);
        }
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(String::len).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..5).map(width).collect();
        for row in &rows {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        if self.compiler != self.budgets.compiler && !self.budgets.compiler.is_empty() {
            writeln!(
                f,
                "\nCommitted with {}, measured with {}: only the limits decide.",
                self.budgets.compiler, self.compiler
            )?;
        }
        Ok(())
    }
}

impl Project {
    /// Measures the firmware, prints the table and, unless it is to become the
    /// committed one, compares it with the committed one.
    pub fn ensure_budgets(
        &self,
        firmware: &Firmware,
        driver: Option<&Path>,
        update: bool,
    ) -> Result<(), Problem> {
        let budgets = Budgets::read(&self.root)?;
        self.run(linted(example_build().words("--example budget"), driver))?;
        let program = self.target_directory.join("release/examples/budget");
        let line = CommandLine::program(program)
            .argument(firmware.elf())
            .argument(firmware.budget_elf());
        let measured = parse_figures(&self.prepared(line).read(&self.root)?)?;
        let compiler = firmware.compiler().output().unwrap_or_default();
        let comparison = budgets.compare(&measured, &compiler);
        let _ = write!(io::stdout(), "{comparison}");
        if update {
            self::update(&self.root, &measured, &compiler)
        } else {
            comparison.verdict()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\n[limit]\nforward = 2.1 # at most\n\n[committed]\n\
                        compiler = \"rustc 1\"\nforward = 2\nstack = 1000\n";

    fn complaints(figures: &[(&str, f64)], compiler: &str) -> String {
        let measured = figures.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
        let budgets = Budgets::parse(TEXT);
        match budgets.and_then(|budgets| budgets.compare(&measured, compiler).verdict()) {
            Err(Problem::Advice(text)) => text,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn within_two_percent_nothing_is_said() {
        for stack in [981.0, 1000.0, 1019.0] {
            let text = complaints(&[("forward", 2.03), ("stack", stack)], "rustc 1");
            assert_eq!(text, "Ok(())");
        }
    }

    #[test]
    fn says_what_grew_and_what_shrank() {
        let text = complaints(&[("forward", 1.9), ("stack", 1050.0)], "rustc 1");
        assert!(
            text.contains("forward shrank by 5.0 %: 1.9000, and 2 is"),
            "{text}"
        );
        assert!(
            text.contains("stack grew by 5.0 %: 1050, and 1000 is"),
            "{text}"
        );
    }

    #[test]
    fn a_limit_holds_for_every_compiler() {
        let text = complaints(&[("forward", 2.11), ("stack", 5000.0)], "rustc 2");
        assert_eq!(text, "forward is 2.1100, above its limit of 2.1000.");
        let text = complaints(&[("forward", f64::NAN), ("stack", 5000.0)], "rustc 2");
        assert_eq!(text, "forward is NaN, above its limit of 2.1000.");
    }

    #[test]
    fn every_figure_is_measured_and_committed() {
        let text = complaints(&[("forward", 2.0), ("flash", 1.0)], "rustc 1");
        assert!(text.contains("flash is not in budgets.toml"), "{text}");
        assert!(text.contains("stack is in budgets.toml, but"), "{text}");
        let text = complaints(&[("stack", 1000.0)], "rustc 2");
        assert_eq!(text, "forward has a limit, but is not measured.");
    }

    #[test]
    fn an_update_keeps_the_limits() {
        let measured = vec![("forward".to_owned(), 1.987_66), ("stack".to_owned(), 9.0)];
        let text = updated(TEXT, &measured, "rustc 2");
        assert_eq!(
            text,
            "# a comment\n[limit]\nforward = 2.1 # at most\n\n[committed]\n\
             compiler = \"rustc 2\"\nforward = 1.9877\nstack = 9\n"
        );
        assert_eq!(updated(&text, &measured, "rustc 2"), text);
    }

    #[test]
    fn bad_lines_are_named() {
        for text in ["x = 1", "[limit]\nx", "[limit]\nx = y", "[other]\nx = 1"] {
            let problem = Budgets::parse(text);
            assert!(
                matches!(&problem, Err(Problem::Advice(text)) if text.contains("line")),
                "{problem:?}"
            );
        }
        assert!(parse_figures("x = 1\ny = 2.5\n").is_ok());
        assert!(parse_figures("").is_err());
        assert!(parse_figures("x = 1\nhello\n").is_err());
    }

    #[test]
    fn the_table_shows_change_and_limit() {
        let measured = vec![("forward".to_owned(), 1.99), ("stack".to_owned(), 1010.0)];
        let budgets = Budgets::parse(TEXT).unwrap_or_default();
        let expected = "\
figure   measured  committed  change   limit
forward    1.9900          2  -0.5 %  2.1000
stack        1010       1000  +1.0 %
";
        assert_eq!(budgets.compare(&measured, "rustc 1").to_string(), expected);
        let other = budgets.compare(&measured, "rustc 2").to_string();
        assert!(
            other.ends_with("with rustc 2: only the limits decide.\n"),
            "{other}"
        );
    }
}
