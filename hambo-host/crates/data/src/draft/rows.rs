//! The rows of a log with all that a task is compared with: rewards and terminals too, which
//! [`Log`](crate::Log) does not keep apart.

use std::path::{Path, PathBuf};

use hambo_base::Error;
use hambo_core::task::expression::ProgramError;
use hambo_task::column_names::ColumnNames;
use hambo_task::expression::is_identifier;
use hambo_task::task::{RETURN_SO_FAR, TaskFile};

use crate::error::DataError;
use crate::log::Memory;
use crate::read::{HeldArray, read_held_table, read_table};
use crate::table::{Origin, Table};

/// A whole log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedRows {
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the actions.
    pub actions: Vec<String>,
    /// In the files' order.
    pub rows: Vec<LoggedRow>,
    /// Where they come from.
    pub origin: Origin,
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
    /// Number of the step in it, from 0.
    pub step: u32,
}

impl LoggedRows {
    /// With the states that a task computes and the log does not have. A row in which one of them
    /// is not finite has no next state.
    pub(crate) fn with_memory(&self, task: &TaskFile) -> Result<Self, ProgramError> {
        let own = self.states.len();
        let (mut longer, view) = (self.clone(), task.model_view());
        let added = task.state_names.iter().skip(own).take(task.memory.len());
        longer.states.extend(added.cloned());
        let mut memory = Memory::new(&view)?;
        for row in &mut longer.rows {
            let seen = (row.state.as_slice(), row.action.as_slice());
            let found = memory.row(row.episode as u32, seen, row.next_state.as_deref());
            let (state, next_state) = found.unwrap_or_else(|| {
                let mut state = row.state.clone();
                state.extend(&task.memory);
                (state, None)
            });
            (row.state, row.next_state) = (state, next_state);
        }
        Ok(longer)
    }

    /// With the return so far as the last state, for a task that learns its reward; without
    /// rewards, which the review complains about, it stays at 0.
    pub(crate) fn with_return(&self) -> Self {
        let mut longer = self.clone();
        longer.states.push(RETURN_SO_FAR.to_owned());
        for row in &mut longer.rows {
            row.state.push(0.0);
            if let Some(next) = &mut row.next_state {
                next.push(row.reward.unwrap_or(0.0));
            }
        }
        longer
    }

    /// Reads a log with these states and actions from files of any format; no episode runs across
    /// them.
    ///
    /// # Errors
    /// If a file is unfit or a name is not in it.
    pub fn read(paths: &[PathBuf], names: &ColumnNames) -> Result<Self, Error> {
        Ok(Self::from_table(&read_table(paths, Some(names))?)?)
    }

    /// Reads a log that tells itself which is which: arrays are states and actions, a column with a
    /// `next.NAME` or called `obs_0` is a state, one called `action_0` or any other column an
    /// action. `actions` says it where no column does, and names the actions of arrays.
    ///
    /// # Errors
    /// If it cannot be told, or a file is unfit.
    pub fn discover(paths: &[PathBuf], actions: &[String]) -> Result<Self, Error> {
        Self::told(|names| read_table(paths, names), actions)
    }

    /// The same of arrays that a program holds; `origin` is what messages call them.
    ///
    /// # Errors
    /// As [`Self::discover`].
    pub fn discover_held(
        origin: &Path,
        arrays: &[HeldArray<'_>],
        actions: &[String],
    ) -> Result<Self, Error> {
        Self::told(|names| read_held_table(origin, arrays, names), actions)
    }

    /// Of a table that is read again where the actions' names say that it holds other states.
    fn told(
        read: impl Fn(Option<&ColumnNames>) -> Result<Table, DataError>,
        actions: &[String],
    ) -> Result<Self, Error> {
        let mut table = read(None)?;
        if !actions.is_empty() {
            let names = with_actions(&table.names, actions);
            if names != table.names {
                table = read(Some(&names))?;
            }
        } else if !table.roles_known {
            return Err(Error::Usage(format!(
                "{}: no column says which names are states: {}\n\
                 help: name the actions, for example --actions {}",
                table.file.display(),
                table.names.states.join(", "),
                table.names.states.last().map_or("u", String::as_str)
            )));
        }
        check_names(&table)?;
        Ok(Self::from_table(&table)?)
    }

    fn from_table(table: &Table) -> Result<Self, DataError> {
        table.check_finite()?;
        table.check_ends()?;
        let mut rows = Vec::with_capacity(table.rows());
        let (mut episode, mut step) = (0, 0);
        for row in 0..table.rows() {
            let goes_on = table.goes_on(row);
            let terminals = table.terminals.as_ref();
            rows.push(LoggedRow {
                state: table.states.row(row),
                action: table.actions.row(row),
                next_state: table.next_of(row).map(|(block, row)| block.row(row)),
                reward: table.rewards.as_ref().map(|block| block.at(row, 0) as f32),
                terminal: terminals.and_then(|flags| flags.get(row).copied()),
                goes_on,
                episode,
                step,
            });
            episode += usize::from(!goes_on);
            step = if goes_on { step + 1 } else { 0 };
        }
        if rows.iter().all(|row| row.next_state.is_none()) {
            let help = "without next states an episode needs at least two rows";
            return Err(DataError::empty(&table.file, help));
        }
        Ok(Self {
            states: table.names.states.clone(),
            actions: table.names.actions.clone(),
            rows,
            origin: table.origin.clone(),
        })
    }

    /// The count of episodes.
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

    /// The count of rows that are logged as terminal.
    pub(crate) fn terminals(&self) -> usize {
        let rows = self.rows.iter();
        rows.filter(|row| row.terminal == Some(true)).count()
    }

    /// The first row of each episode.
    pub fn first_rows(&self) -> impl Iterator<Item = (usize, &LoggedRow)> {
        let mut last = None;
        let rows = self.rows.iter().enumerate();
        rows.filter(move |(_, row)| last.replace(row.episode) != Some(row.episode))
    }
}

/// The names once the actions are told: every other column is a state. Where no column has such a
/// name they are new names for the actions that the file knows.
fn with_actions(found: &ColumnNames, actions: &[String]) -> ColumnNames {
    let all = found.states.iter().chain(&found.actions);
    let others: Vec<String> = all
        .clone()
        .filter(|name| !actions.contains(name))
        .cloned()
        .collect();
    let states = if others.len() == all.count() {
        found.states.clone()
    } else {
        others
    };
    ColumnNames {
        states,
        actions: actions.to_vec(),
    }
}

/// Refuses what no task can name.
fn check_names(table: &Table) -> Result<(), Error> {
    let ColumnNames { states, actions } = &table.names;
    let file = table.file.display();
    for (what, names, others) in [("state", states, actions), ("action", actions, states)] {
        if names.is_empty() {
            return Err(Error::Usage(format!(
                "{file}: there is no {what} in it, only {}\n\
                 help: a state `x` has a column `next.x`, an action has none; or give --actions",
                others.join(", ")
            )));
        }
    }
    let mut names = states.iter().chain(actions);
    match names.find(|name| !is_identifier(name)) {
        Some(name) => Err(Error::Usage(format!(
            "{file}: the column `{}` cannot be a name in a task\n\
             help: rename it: letters, digits and _, a letter first",
            name.escape_debug()
        ))),
        None => Ok(()),
    }
}
