//! The rows of a log with all that a task is held against: rewards and terminals too,
//! which [`Log`](crate::data::Log) does not keep apart. The one place of this module
//! that knows about files.

use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};

use crate::Error;
use crate::data::{DataError, read_log_of};
use crate::expression::is_identifier;

/// Columns that are neither states nor actions.
const OTHERS: [&str; 4] = ["reward", "terminal", "timeout", "episode"];

/// A whole log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedRows {
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the actions.
    pub actions: Vec<String>,
    /// In the file's order.
    pub rows: Vec<LoggedRow>,
}

/// One row of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedRow {
    /// s.
    pub state: Vec<f32>,
    /// a.
    pub action: Vec<f32>,
    /// s′: given, or the next row's state in the same episode.
    pub next_state: Option<Vec<f32>>,
    /// r, if it was logged.
    pub reward: Option<f32>,
    /// Whether the robot stopped after this row, if that was logged.
    pub terminal: Option<bool>,
    /// Whether the episode goes on with the next row.
    pub goes_on: bool,
    /// Number of the episode, from 0.
    pub episode: usize,
}

/// Where a row's columns are.
struct Columns {
    states: Vec<usize>,
    actions: Vec<usize>,
    next_states: Option<Vec<usize>>,
    others: [Option<usize>; OTHERS.len()],
}

impl LoggedRows {
    /// Reads a log with these states and actions.
    ///
    /// # Errors
    /// If the file is unfit or a name is not in it.
    pub fn read(path: &Path, states: &[String], actions: &[String]) -> Result<Self, Error> {
        // Finds everything that is wrong with the file, in the data's own words.
        read_log_of(path, states, actions)?;
        let (header, records) = records(path)?;
        let place = |name: &str| header.iter().position(|column| column == name);
        let places = |prefix: &str, names: &[String]| -> Vec<usize> {
            let columns = names.iter().map(|name| place(&format!("{prefix}{name}")));
            columns.flatten().collect()
        };
        let next_states = places("next.", states);
        let columns = Columns {
            states: places("", states),
            actions: places("", actions),
            next_states: Some(next_states).filter(|columns| columns.len() == states.len()),
            others: OTHERS.map(place),
        };
        let mut rows: Vec<LoggedRow> = Vec::new();
        let mut episode = 0;
        for (index, record) in records.iter().enumerate() {
            let mut row = columns.row(record, episode);
            let after = records.get(index + 1);
            row.goes_on = after.is_some_and(|after| columns.continues(&row, record, after));
            if row.next_state.is_none() && row.goes_on {
                row.next_state = after.map(|after| numbers(after, &columns.states));
            }
            episode += usize::from(!row.goes_on);
            rows.push(row);
        }
        Ok(Self {
            states: states.to_vec(),
            actions: actions.to_vec(),
            rows,
        })
    }

    /// Reads a log whose columns tell which is which: a state has a `next.NAME`, every
    /// other column is an action. `actions` says it where there is no such column.
    ///
    /// # Errors
    /// If it cannot be told, or the file is unfit.
    pub fn discover(path: &Path, actions: &[String]) -> Result<Self, Error> {
        let (header, _) = records(path)?;
        let plain = |name: &&String| {
            !name.starts_with("next.") && !OTHERS.contains(&name.as_str()) && !name.is_empty()
        };
        let has_next = |name: &String| header.contains(&format!("next.{name}"));
        let names: Vec<&String> = header.iter().filter(plain).collect();
        let (states, actions): (Vec<String>, Vec<String>) = if actions.is_empty() {
            if !names.iter().any(|name| has_next(name)) {
                return Err(Error::Usage(format!(
                    "{}: no column says which names are states: {}\n\
                     help: name the actions, for example --actions {}",
                    path.display(),
                    header.join(", "),
                    names.last().map_or("u", |name| name.as_str())
                )));
            }
            let (states, actions): (Vec<_>, Vec<_>) = names.into_iter().partition(|n| has_next(n));
            (
                states.into_iter().cloned().collect(),
                actions.into_iter().cloned().collect(),
            )
        } else {
            let states = names.into_iter().filter(|name| !actions.contains(name));
            (states.cloned().collect(), actions.to_vec())
        };
        for (what, names) in [("state", &states), ("action", &actions)] {
            if names.is_empty() {
                return Err(Error::Usage(format!(
                    "{}: there is no {what} in it; the header has: {}\n\
                     help: a state `x` has a column `next.x`, an action has none; or give --actions",
                    path.display(),
                    header.join(", ")
                )));
            }
        }
        if let Some(name) = states
            .iter()
            .chain(&actions)
            .find(|name| !is_identifier(name))
        {
            return Err(Error::Usage(format!(
                "{}: the column `{}` cannot be a name in a task\n\
                 help: rename it: letters, digits and _, a letter first",
                path.display(),
                name.escape_debug()
            )));
        }
        Self::read(path, &states, &actions)
    }

    /// The number of episodes.
    #[must_use]
    pub fn episodes(&self) -> usize {
        self.rows.last().map_or(0, |row| row.episode + 1)
    }

    /// Steps of each episode.
    #[must_use]
    pub fn episode_lengths(&self) -> Vec<usize> {
        let mut lengths = vec![0; self.episodes()];
        for row in self.rows.iter().filter(|row| row.next_state.is_some()) {
            if let Some(length) = lengths.get_mut(row.episode) {
                *length += 1;
            }
        }
        lengths
    }

    /// The first row of each episode.
    pub fn first_rows(&self) -> impl Iterator<Item = (usize, &LoggedRow)> {
        let mut last = None;
        let rows = self.rows.iter().enumerate();
        rows.filter(move |(_, row)| last.replace(row.episode) != Some(row.episode))
    }
}

fn records(path: &Path) -> Result<(Vec<String>, Vec<StringRecord>), Error> {
    let file = path.display().to_string();
    if !path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("csv"))
    {
        return Err(DataError::Kind { file }.into());
    }
    let source = std::fs::File::open(path).map_err(|source| DataError::Read {
        file: file.clone(),
        source,
    })?;
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(source);
    let table = |problem| DataError::Table {
        file: file.clone(),
        problem,
    };
    let header = reader.headers().map_err(table)?;
    let header = header.iter().map(str::to_owned).collect();
    let records: Result<Vec<_>, _> = reader.records().collect();
    Ok((header, records.map_err(table)?))
}

/// The numbers of some columns; `read_log_of` has seen them all.
fn numbers(record: &StringRecord, columns: &[usize]) -> Vec<f32> {
    let numbers = columns.iter().map(|column| number(record, *column));
    numbers.map(|number| number.unwrap_or(f32::NAN)).collect()
}

fn number(record: &StringRecord, column: usize) -> Option<f32> {
    record.get(column)?.parse().ok()
}

impl Columns {
    fn other(&self, record: &StringRecord, index: usize) -> Option<f32> {
        let field = record.get((*self.others.get(index)?)?)?;
        match field.to_ascii_lowercase().as_str() {
            "true" => Some(1.0),
            "false" => Some(0.0),
            field => field.parse().ok(),
        }
    }

    fn row(&self, record: &StringRecord, episode: usize) -> LoggedRow {
        let next_states = self.next_states.as_ref();
        LoggedRow {
            state: numbers(record, &self.states),
            action: numbers(record, &self.actions),
            next_state: next_states.map(|columns| numbers(record, columns)),
            reward: self.other(record, 0),
            terminal: self.other(record, 1).map(|flag| flag != 0.0),
            goes_on: false,
            episode,
        }
    }

    /// Whether the second record belongs to the same episode, as the data's readers say.
    fn continues(&self, row: &LoggedRow, record: &StringRecord, after: &StringRecord) -> bool {
        if row.terminal == Some(true) || self.other(record, 2).is_some_and(|flag| flag != 0.0) {
            return false;
        }
        match (self.other(record, 3), self.other(after, 3)) {
            (Some(one), Some(other)) => one == other,
            _ => {
                let next = row.next_state.as_ref();
                next.is_none_or(|next| *next == numbers(after, &self.states))
            }
        }
    }
}
