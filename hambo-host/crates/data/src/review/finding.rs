//! What a comparison of task and log says, for people and programs.

use std::fmt::Write as _;

use serde::Serialize;

/// What a comparison found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Review {
    /// Rows of the log.
    pub rows: usize,
    pub episodes: usize,
    /// True without problems; warnings and notes do not count.
    pub ok: bool,
    /// What is wrong, or worth knowing.
    pub findings: Vec<Finding>,
}

/// One thing that is wrong, or worth knowing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Whether the task and the log contradict each other; else it is a warning if it says what to
    /// do, and a note if not.
    pub problem: bool,
    /// The task's key, like `reward.expr`.
    pub key: String,
    /// What was found.
    pub text: String,
    /// What to do; empty for a note.
    pub help: String,
    /// The rows that show it most, worst first.
    pub worst: Vec<WorstRow>,
}

/// A row that shows a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorstRow {
    /// Number of the row in all files together, from 0.
    pub row: usize,
    /// Its file and line.
    pub place: String,
    /// What was logged.
    pub logged: f32,
    /// What the task says: the reward, the limit, or 0 and 1 for a termination.
    pub task: f32,
}

impl Review {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let problems = self
            .findings
            .iter()
            .filter(|finding| finding.problem)
            .count();
        let _ = match problems {
            0 => writeln!(
                text,
                "{} rows, {} episodes: the task fits the log",
                self.rows, self.episodes
            ),
            _ => writeln!(
                text,
                "{} rows, {} episodes: {problems} problems",
                self.rows, self.episodes
            ),
        };
        for finding in &self.findings {
            let kind = match (finding.problem, finding.help.is_empty()) {
                (true, _) => "problem",
                (false, false) => "warning",
                (false, true) => "note",
            };
            let _ = writeln!(text, "{kind}: `{}` {}", finding.key, finding.text);
            for worst in &finding.worst {
                let WorstRow {
                    place,
                    logged,
                    task,
                    ..
                } = worst;
                let _ = writeln!(text, "    {place}: logged {logged}, task {task}");
            }
            if !finding.help.is_empty() {
                let _ = writeln!(text, "  help: {}", finding.help);
            }
        }
        text
    }
}
