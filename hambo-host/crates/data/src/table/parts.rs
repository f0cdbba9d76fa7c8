//! The parts of a log: states, actions, rewards and where episodes end.

use std::path::{Path, PathBuf};

use hambo_task::column_names::ColumnNames;

use super::numbers::Block;
#[cfg(test)]
use super::numbers::Numbers;
use super::origin::Origin;
use crate::error::DataError;

/// A log as a file holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The file, for messages; the first of several.
    pub file: PathBuf,
    /// Names of states and actions.
    pub names: ColumnNames,
    /// Whether the file or the caller tells states from actions; if not, all columns count as
    /// states.
    pub roles_known: bool,
    /// s.
    pub states: Block,
    /// a.
    pub actions: Block,
    /// s′, where the file has it.
    pub next_states: Option<Block>,
    /// r, where the file has it.
    pub rewards: Option<Block>,
    /// The episode ends after the row, for ever.
    pub terminals: Option<Vec<bool>>,
    /// The episode ends after the row, though it could have gone on.
    pub timeouts: Option<Vec<bool>>,
    /// Rows with the same number in a row belong together.
    pub episodes: Option<Vec<f64>>,
    /// The next row is not this one's successor, by the file's steps or times; where the file has
    /// none there is none.
    pub gaps: Option<Vec<bool>>,
    /// Where the rows come from.
    pub origin: Origin,
}

impl Table {
    /// States and actions without names, and nothing else.
    #[must_use]
    pub fn new(file: &Path, states: Block, actions: Block) -> Self {
        Self {
            file: file.to_owned(),
            names: ColumnNames::numbered(states.columns(), actions.columns()),
            roles_known: true,
            states,
            actions,
            next_states: None,
            rewards: None,
            terminals: None,
            timeouts: None,
            episodes: None,
            gaps: None,
            origin: Origin::default(),
        }
    }

    /// The blocks of numbers with the names of their columns, in the order that files have.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (Vec<String>, &Block)> {
        let states = &self.names.states;
        let next_states = states.iter().map(|name| format!("next.{name}"));
        let parts = [
            (states.clone(), Some(&self.states)),
            (self.names.actions.clone(), Some(&self.actions)),
            (next_states.collect(), self.next_states.as_ref()),
            (vec!["reward".to_owned()], self.rewards.as_ref()),
        ];
        let parts = parts.into_iter();
        parts.filter_map(|(names, block)| Some((names, block?)))
    }

    /// The count of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.states.rows()
    }

    /// Whether the row's episode ends with it by a flag.
    pub(crate) fn flagged(&self, row: usize) -> bool {
        let flag = |flags: &Option<Vec<bool>>| {
            let flags = flags.as_ref();
            flags.is_some_and(|flags| flags.get(row).copied().unwrap_or(false))
        };
        flag(&self.terminals) || flag(&self.timeouts)
    }

    /// Whether the next row belongs to the same episode: not after a terminal, not after a timeout,
    /// not where the file's steps or times have a gap, not where the episode's number changes, and,
    /// without numbers, not where a state is not the next state of the row before.
    #[must_use]
    pub fn goes_on(&self, row: usize) -> bool {
        let gap = |gaps: &Vec<bool>| gaps.get(row).copied().unwrap_or(false);
        if row + 1 >= self.rows() || self.flagged(row) || self.gaps.as_ref().is_some_and(gap) {
            return false;
        }
        match (&self.episodes, &self.next_states) {
            (Some(episodes), _) => episodes.get(row) == episodes.get(row + 1),
            (None, Some(next_states)) => next_states.same_row(row, &self.states, row + 1),
            (None, None) => true,
        }
    }

    /// Where the next state of a row stands: a block, and a row of it. Without next states it is
    /// the next row of the episode.
    pub(crate) fn next_of(&self, row: usize) -> Option<(&Block, usize)> {
        match &self.next_states {
            Some(next_states) => Some((next_states, row)),
            None => self.goes_on(row).then_some((&self.states, row + 1)),
        }
    }

    /// The length of every episode in rows, in order.
    #[must_use]
    pub fn episode_lengths(&self) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut length = 0;
        for row in 0..self.rows() {
            length += 1;
            if !self.goes_on(row) {
                lengths.push(length);
                length = 0;
            }
        }
        lengths
    }

    /// Numbers the episodes, and flags an end that nothing else flags as a timeout, so that no
    /// reader joins what belongs apart.
    pub(crate) fn number_episodes(&mut self) {
        let mut timeouts = self.timeouts.take().unwrap_or(vec![false; self.rows()]);
        self.timeouts = None;
        let mut episodes = Vec::with_capacity(self.rows());
        let mut episode = 0;
        for (row, timeout) in timeouts.iter_mut().enumerate() {
            episodes.push(f64::from(episode));
            let terminal = self.flagged(row);
            if *timeout || !self.goes_on(row) {
                *timeout |= !terminal;
                episode += 1;
            }
        }
        self.timeouts = Some(timeouts);
        self.episodes = Some(episodes);
        self.gaps = None;
    }

    /// Adds the rows of another file; no episode runs across.
    ///
    /// # Errors
    /// If it has other columns.
    pub fn append(&mut self, mut other: Self) -> Result<(), DataError> {
        let differs = |what: &str, here: &str, there: &str| {
            let problem = format!("{here} here, {there} in {}", self.file.display());
            let help =
                "files that are read together need the same columns; convert them one by one";
            Err(DataError::part(&other.file, what, problem, help))
        };
        let pairs = [
            ("states", &self.names.states, &other.names.states),
            ("actions", &self.names.actions, &other.names.actions),
        ];
        for (what, ours, theirs) in pairs {
            if ours != theirs {
                return differs(what, &theirs.join(", "), &ours.join(", "));
            }
        }
        let parts = [
            ("next states", &self.next_states, &other.next_states),
            ("rewards", &self.rewards, &other.rewards),
        ];
        for (what, ours, theirs) in parts {
            if ours.is_some() != theirs.is_some() {
                let word = |part: &Option<Block>| if part.is_some() { "given" } else { "missing" };
                return differs(what, word(theirs), word(ours));
            }
        }
        self.number_episodes();
        other.number_episodes();
        let (rows, more) = (self.rows(), other.rows());
        let last = self.episodes.as_ref().and_then(|all| all.last().copied());
        let offset = last.map_or(0.0, |last| last + 1.0);
        if let (Some(episodes), Some(more)) = (&mut self.episodes, other.episodes) {
            episodes.extend(more.into_iter().map(|episode| episode + offset));
        }
        let join = |ours: &mut Option<Vec<bool>>, theirs: Option<Vec<bool>>| {
            if ours.is_some() || theirs.is_some() {
                let ours = ours.get_or_insert_with(|| vec![false; rows]);
                ours.extend(theirs.unwrap_or(vec![false; more]));
            }
        };
        join(&mut self.terminals, other.terminals);
        join(&mut self.timeouts, other.timeouts);
        self.origin.files.extend(other.origin.files);
        self.states.append(other.states);
        self.actions.append(other.actions);
        for (ours, theirs) in [
            (&mut self.next_states, other.next_states),
            (&mut self.rewards, other.rewards),
        ] {
            if let (Some(ours), Some(theirs)) = (ours, theirs) {
                ours.append(theirs);
            }
        }
        Ok(())
    }

    /// Refuses NaN and infinity.
    ///
    /// # Errors
    /// The message names the row and the column.
    pub fn check_finite(&self) -> Result<(), DataError> {
        let bad = self.blocks().find_map(|(names, block)| {
            let (row, column) = block.first_bad()?;
            Some((row, names.get(column)?.clone(), block.at(row, column)))
        });
        let Some((row, name, value)) = bad else {
            return Ok(());
        };
        Err(DataError::Unfit {
            place: format!("{}, `{name}`", self.origin.place(row)),
            problem: format!("{value:e} is not a finite number (f32)"),
            help: "mend or remove this row; `hambo data info` counts them",
        })
    }
}

/// A state that counts, so that every step shows.
#[cfg(test)]
pub(super) fn counting(rows: usize) -> Table {
    let numbers = |from: usize| {
        let numbers = (from..from + rows).map(|x| x as f32);
        Block::new(1, Numbers::Single(numbers.collect()))
    };
    Table::new(Path::new("counting"), numbers(0), numbers(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_ends_by_flag_number_or_jump() {
        let plain = counting(6);
        assert_eq!(plain.episode_lengths(), [6]);
        let at = |row: usize| Some((0..6).map(|other| other == row).collect());
        let mut flagged = plain.clone();
        flagged.terminals = at(1);
        flagged.timeouts = at(3);
        assert_eq!(flagged.episode_lengths(), [2, 2, 2]);
        let mut numbered = plain.clone();
        numbered.episodes = Some(vec![7.0, 7.0, 7.0, 2.0, 2.0, 7.0]);
        assert_eq!(numbered.episode_lengths(), [3, 2, 1]);
        let mut jumping = plain.clone();
        let next = vec![1.0, 2.0, 9.0, 4.0, 5.0, 6.0];
        jumping.next_states = Some(Block::new(1, Numbers::Double(next)));
        assert_eq!(jumping.episode_lengths(), [3, 3]);
        let mut timed = plain.clone();
        timed.gaps = at(1);
        assert_eq!(timed.episode_lengths(), [2, 4]);
        timed.number_episodes();
        assert_eq!(timed.episode_lengths(), [2, 4]);
    }

    #[test]
    fn numbering_keeps_the_ends_and_flags_them() {
        let mut table = counting(5);
        table.terminals = Some(vec![false, true, false, false, false]);
        table.number_episodes();
        assert_eq!(table.episodes, Some(vec![0.0, 0.0, 1.0, 1.0, 1.0]));
        let timeouts = vec![false, false, false, false, true];
        assert_eq!(table.timeouts, Some(timeouts));
        let once = table.clone();
        table.number_episodes();
        assert_eq!(table, once);
    }

    #[test]
    fn files_are_joined_without_joining_episodes() {
        let mut all = counting(2);
        let mut other = counting(3);
        other.states = Block::new(1, Numbers::Double(vec![0.1, 0.2, 0.3]));
        all.append(other).unwrap();
        assert_eq!(all.episode_lengths(), [2, 3]);
        let states = vec![0.0, 1.0, 0.1, 0.2, 0.3];
        assert_eq!(all.states.numbers(), &Numbers::Double(states));
        let mut wide = counting(2);
        wide.names.states = vec!["x".to_owned()];
        let error = all.append(wide).unwrap_err().to_string();
        assert!(error.contains("states: x here, s0 in counting"), "{error}");
    }

    #[test]
    fn the_first_bad_number_is_named() {
        let mut table = counting(3);
        let numbers = vec![0.0, f64::NAN, 1e60];
        table.next_states = Some(Block::new(1, Numbers::Double(numbers)));
        let error = table.check_finite().unwrap_err().to_string();
        assert!(error.contains("row 2, `next.s0`: NaN"), "{error}");
        table.set_origin(true);
        let error = table.check_finite().unwrap_err().to_string();
        assert!(
            error.starts_with("counting, line 3, `next.s0`: NaN"),
            "{error}"
        );
    }
}
