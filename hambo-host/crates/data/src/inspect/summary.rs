//! What a log looks like: sizes, columns, and what is odd about it.

use std::fmt::Write as _;

use hambo_task::task::Wrap;
use serde::Serialize;

use super::column::ColumnSummary;
use super::odd::odd;
use crate::table::{Block, Table};

/// A log at a glance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Rows in the file.
    pub rows: usize,
    /// Rows whose next state is known.
    pub transitions: usize,
    /// Whether the file has next states, or they come from the next row.
    pub next_states: bool,
    /// The count of episodes.
    pub episodes: usize,
    /// Rows of the shortest one.
    pub shortest: usize,
    /// Rows of the mean one.
    pub mean_length: f64,
    /// Rows of the longest one.
    pub longest: usize,
    /// Rows that are terminal; `None` if the file does not say.
    pub terminals: Option<usize>,
    /// Rows that are a timeout; `None` if the file does not say.
    pub timeouts: Option<usize>,
    /// Every column of states, actions and rewards.
    pub columns: Vec<ColumnSummary>,
    /// What deserves a look, in words.
    pub odd: Vec<String>,
}

impl Summary {
    /// Looks at a table. `wraps` holds the states of which the task says that they wrap, as far as
    /// there is a task; one entry per state.
    #[must_use]
    pub fn new(table: &Table, wraps: &[Option<Wrap>]) -> Self {
        let lengths = table.episode_lengths();
        let rows = table.rows();
        // Without next states the last row of an episode is no transition.
        let cut = usize::from(table.next_states.is_none()) * lengths.len();
        let count = |flags: &Option<Vec<bool>>| {
            let flags = flags.as_ref()?.iter();
            Some(flags.filter(|flag| **flag).count())
        };
        let mut columns = Vec::new();
        let reward = ["reward".to_owned()];
        let parts: [(&'static str, Option<&Block>, &[String]); 3] = [
            ("state", Some(&table.states), &table.names.states),
            ("action", Some(&table.actions), &table.names.actions),
            ("reward", table.rewards.as_ref(), &reward),
        ];
        for (role, block, names) in parts {
            if let Some(block) = block {
                let summaries = names.iter().enumerate();
                columns.extend(
                    summaries.map(|(index, name)| ColumnSummary::new(name, role, block, index)),
                );
            }
        }
        Self {
            rows,
            transitions: rows - cut,
            next_states: table.next_states.is_some(),
            episodes: lengths.len(),
            shortest: lengths.iter().copied().min().unwrap_or(0),
            mean_length: rows as f64 / lengths.len().max(1) as f64,
            longest: lengths.iter().copied().max().unwrap_or(0),
            terminals: count(&table.terminals),
            timeouts: count(&table.timeouts),
            odd: odd(table, &columns, wraps),
            columns,
        }
    }

    /// For a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let flags = |name: &str, count: Option<usize>| match count {
            Some(count) => format!("{count} {name}"),
            None => format!("{name} not given"),
        };
        let next = if self.next_states {
            "given"
        } else {
            "from the next row of the episode"
        };
        let _ = writeln!(
            text,
            "{} rows, {} transitions (next states {next})\n{} episodes of {} to {} rows, {:.1} on average; {}, {}\n",
            self.rows,
            self.transitions,
            self.episodes,
            self.shortest,
            self.longest,
            self.mean_length,
            flags("terminals", self.terminals),
            flags("timeouts", self.timeouts),
        );
        let names = self
            .columns
            .iter()
            .map(|column| column.name.chars().count());
        let width = names.max().unwrap_or(0).max(6);
        let _ = writeln!(
            text,
            "{:<width$}  {:<6} {:>11} {:>11} {:>11} {:>11} {:>9}  histogram",
            "column", "role", "min", "mean", "std", "max", "NaN/inf"
        );
        for column in &self.columns {
            let _ = writeln!(
                text,
                "{:<width$}  {:<6} {:>11} {:>11} {:>11} {:>11} {:>9}  {}",
                column.name,
                column.role,
                short(column.min),
                short(column.mean),
                short(column.std),
                short(column.max),
                column.not_finite,
                bars(&column.histogram),
            );
        }
        if !self.odd.is_empty() {
            text.push_str("\nodd:\n");
            for line in &self.odd {
                let _ = writeln!(text, "- {line}");
            }
        }
        text
    }
}

fn short(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || (1e-3..1e5).contains(&size) {
        format!("{number:.4}")
    } else {
        format!("{number:.3e}")
    }
}

fn bars(counts: &[usize]) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    // Something is never drawn as nothing.
    let level = |count: usize| (count * 8).div_ceil(most).min(8);
    let blocks = counts.iter().map(|count| BLOCKS.get(level(*count)));
    blocks.flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::table::Numbers;

    fn table(states: Vec<f64>) -> Table {
        let actions = (0..states.len()).map(|x| x as f32).collect();
        let states = Block::new(1, Numbers::Double(states));
        Table::new(
            Path::new("t"),
            states,
            Block::new(1, Numbers::Single(actions)),
        )
    }

    #[test]
    fn a_column_by_hand() {
        let summary = Summary::new(&table(vec![1.0, 2.0, f64::NAN, 3.0, 6.0]), &[]);
        let column = &summary.columns[0];
        assert_eq!((column.min, column.mean, column.max), (1.0, 3.0, 6.0));
        assert!((column.std - 3.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(column.not_finite, 1);
        assert_eq!(column.histogram.iter().sum::<usize>(), 4);
        assert_eq!((column.histogram[0], column.histogram[15]), (1, 1));
        assert_eq!(
            (summary.rows, summary.transitions, summary.episodes),
            (5, 4, 1)
        );
        assert!(
            summary.odd.iter().any(|odd| odd.contains("NaN")),
            "{:?}",
            summary.odd
        );
    }

    #[test]
    fn what_is_odd_is_said() {
        let says = |table: &Table, words: &str| {
            let odd = Summary::new(table, &[]).odd;
            odd.iter().any(|line| line.contains(words))
        };
        let walk: Vec<f64> = (0..200).map(|step| f64::from(step) * 0.1).collect();
        let calm = table(walk.clone());
        let mut jumping = calm.clone();
        let jumps = walk.iter().map(|x| if *x > 9.95 { x + 500.0 } else { *x });
        jumping.states = Block::new(1, Numbers::Double(jumps.collect()));
        assert!(says(&jumping, "the first after row 100"));
        assert!(!says(&calm, "times the mean step"));
        let mut constant = table(vec![2.0; 4]);
        assert!(says(&constant, "`s0` is always 2"));
        assert!(!says(&constant, "repeat"));
        constant.actions = Block::new(1, Numbers::Single(vec![0.0, 1.0, 1.0, 1.0]));
        assert!(says(&constant, "2 rows repeat"));
        constant.next_states = Some(Block::new(1, Numbers::Double(vec![2.0, 3.0, 2.0, 2.0])));
        constant.episodes = Some(vec![0.0; 4]);
        assert!(says(&constant, "in 1 rows, the first is row 2"));
    }

    #[test]
    fn an_angle_that_wraps_is_named_with_its_line() {
        let turn = |row: i32| (0.1 * f64::from(row) + 3.0).rem_euclid(std::f64::consts::TAU);
        let turning = table((0..200).map(turn).collect());
        let said = |wraps: &[Option<Wrap>]| {
            let odd = Summary::new(&turning, wraps).odd;
            odd.into_iter().find(|line| line.contains("wraps"))
        };
        let line = said(&[]).unwrap_or_default();
        assert!(
            line.contains("`s0` jumps by about 2 pi in 3 of 199 steps"),
            "{line}"
        );
        assert!(
            line.ends_with("wrap = [{ name = \"s0\", low = 0 }]"),
            "{line}"
        );
        assert_eq!(said(&[Some(Wrap::RADIANS)]), None);
    }

    #[test]
    fn little_is_drawn_and_nothing_is_not() {
        assert_eq!(bars(&[0, 1, 50, 100]), " ▁▄█");
    }
}
