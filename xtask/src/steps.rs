//! Shows what is being done, and how long each step took.
//!
//! All of it goes to the error stream: the output stream belongs to results.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::command::Problem;

/// Writes a line for the person who watches. Nobody watching is no error.
pub fn say(line: impl fmt::Display) {
    if cfg!(test) {
        // Only this form is captured by the test runner.
        eprintln!("{line}");
    } else {
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// A step that failed, and why.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    step: String,
    problem: Problem,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: step {} failed", self.step)?;
        match &self.problem {
            Problem::Advice(text) => write!(f, ".\n{text}"),
            Problem::Command { line, outcome } => write!(
                f,
                ": its command {outcome}.\nTo repeat it, from the root of the repository:\n\n    {line}\n"
            ),
        }
    }
}

enum Outcome {
    Done(Duration),
    Skipped,
}

/// The steps of one command, in order.
pub struct Steps {
    started: Instant,
    /// Stands before a step's number where two lists are worked off side by side.
    letter: &'static str,
    rows: Vec<(String, Outcome)>,
}

impl Default for Steps {
    fn default() -> Self {
        Self::lettered("")
    }
}

impl Steps {
    /// A list whose numbers start with a letter.
    pub fn lettered(letter: &'static str) -> Self {
        Self {
            started: Instant::now(),
            letter,
            rows: Vec::new(),
        }
    }

    fn next_number(&self) -> String {
        format!("{}{}", self.letter, self.rows.len() + 1)
    }

    /// Does one step under a heading, and says how long it took.
    pub fn step<T>(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<T, Problem>,
    ) -> Result<T, Failure> {
        let number = self.next_number();
        say(format_args!("\n== {number}. {name}"));
        let start = Instant::now();
        let result = work();
        let time = start.elapsed();
        match result {
            Ok(value) => {
                say(format_args!("-- {number}. {name}: {}", seconds(time)));
                self.rows.push((name.to_owned(), Outcome::Done(time)));
                Ok(value)
            }
            Err(problem) => {
                say(format_args!(
                    "-- {number}. {name}: failed after {}\n",
                    seconds(time)
                ));
                Err(Failure {
                    step: format!("{number} ({name})"),
                    problem,
                })
            }
        }
    }

    /// Notes a step that this machine cannot do, and what would enable it.
    pub fn skip(&mut self, name: &str, why: &str) {
        let number = self.next_number();
        say(format_args!("\n== {number}. {name}\n-- SKIPPED: {why}"));
        self.rows.push((name.to_owned(), Outcome::Skipped));
    }
}

impl Steps {
    /// The steps that this machine could not do.
    pub fn skipped(&self) -> impl Iterator<Item = &str> {
        let skipped = |(_, outcome): &&(String, Outcome)| matches!(outcome, Outcome::Skipped);
        self.rows
            .iter()
            .filter(skipped)
            .map(|(name, _)| name.as_str())
    }
}

/// What is said where no step failed: whether all of them were done.
pub fn closing_words(lists: &[&Steps]) -> String {
    let skipped: Vec<&str> = lists.iter().flat_map(|steps| steps.skipped()).collect();
    if skipped.is_empty() {
        return "All steps passed.".to_owned();
    }
    format!(
        "No step failed, but not all were done. SKIPPED: {}.",
        skipped.join(", ")
    )
}

/// The table of all steps, with the time from the first to now.
impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(name, _)| name.chars().count());
        let width = width.max().unwrap_or(0).max("total".len());
        for (index, (name, outcome)) in self.rows.iter().enumerate() {
            let number = format!("{}{}", self.letter, index + 1);
            let time = match outcome {
                Outcome::Done(time) => seconds(*time),
                Outcome::Skipped => "skipped".to_owned(),
            };
            writeln!(f, "{number:>3}  {name:<width$}  {time:>9}")?;
        }
        let total = seconds(self.started.elapsed());
        write!(f, "     {:<width$}  {total:>9}", "total")
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_times_skips_and_a_total() {
        let steps = Steps {
            started: Instant::now(),
            letter: "b",
            rows: vec![
                ("set-up".into(), Outcome::Done(Duration::from_millis(250))),
                ("clippy".into(), Outcome::Skipped),
                ("tests".into(), Outcome::Done(Duration::from_millis(61_500))),
            ],
        };
        let expected = " b1  set-up      0.2 s
 b2  clippy    skipped
 b3  tests      61.5 s
     total       0.0 s";
        assert_eq!(steps.to_string(), expected);
    }

    #[test]
    fn a_skipped_step_has_not_passed() {
        let (mut steps, mut beside) = (Steps::default(), Steps::lettered("b"));
        assert_eq!(steps.step("tests", || Ok(1)), Ok(1));
        assert_eq!(closing_words(&[&steps, &beside]), "All steps passed.");
        steps.skip("clippy", "not here");
        beside.skip("Miri", "not here");
        let words = closing_words(&[&steps, &beside]);
        assert!(words.contains("SKIPPED: clippy, Miri."), "{words}");
        assert!(!words.contains("passed"), "{words}");
    }

    #[test]
    fn a_failure_names_its_step_and_its_command() {
        let mut steps = Steps::default();
        assert_eq!(steps.step("first", || Ok(1)), Ok(1));
        let failed = steps.step("second", || {
            Err::<(), _>(Problem::Command {
                line: "cargo fmt".into(),
                outcome: "ended with exit code 1".into(),
            })
        });
        let text = failed.err().map(|failure| failure.to_string());
        let text = text.unwrap_or_default();
        assert!(text.contains("step 2 (second) failed"), "{text}");
        assert!(text.contains("\n    cargo fmt\n"), "{text}");
    }
}
