//! A log as a file holds it: nothing shifted, dropped or narrowed, so that it
//! can be looked at and converted without loss.
//!
//! [`Log`](super::Log) is what models are fitted to; a [`Table`] is one step
//! earlier.

use std::path::PathBuf;

use super::origin::Origin;
use super::{ColumnNames, DataError};

/// Numbers as wide as in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// `f32`, and integers that fit.
    Single(Vec<f32>),
    /// `f64`, and longer integers.
    Double(Vec<f64>),
}

impl Numbers {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Single(numbers) => numbers.len(),
            Self::Double(numbers) => numbers.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at this place; NaN beyond the end.
    #[must_use]
    pub fn at(&self, index: usize) -> f64 {
        match self {
            Self::Single(numbers) => numbers.get(index).map_or(f64::NAN, |x| f64::from(*x)),
            Self::Double(numbers) => numbers.get(index).copied().unwrap_or(f64::NAN),
        }
    }

    fn append(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Single(numbers), Self::Single(more)) => numbers.extend(more),
            (Self::Double(numbers), Self::Double(more)) => numbers.extend(more),
            (Self::Double(numbers), Self::Single(more)) => {
                numbers.extend(more.into_iter().map(f64::from));
            }
            (Self::Single(numbers), Self::Double(more)) => {
                let mut wide: Vec<f64> = numbers.iter().copied().map(f64::from).collect();
                wide.extend(more);
                *self = Self::Double(wide);
            }
        }
    }
}

/// Some columns of a table, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    columns: usize,
    numbers: Numbers,
}

impl Block {
    /// Numbers in rows of so many columns; what does not fill a row is not
    /// seen.
    #[must_use]
    pub fn new(columns: usize, numbers: Numbers) -> Self {
        Self { columns, numbers }
    }

    /// How many rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.numbers.len().checked_div(self.columns).unwrap_or(0)
    }

    /// How many columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All numbers, row by row.
    #[must_use]
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// One number.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.numbers.at(row * self.columns + column)
    }

    /// One row, as wide as a log holds it.
    pub(super) fn copy_row(&self, row: usize, into: &mut [f32]) {
        let from = row * self.columns;
        match &self.numbers {
            Numbers::Single(numbers) => {
                if let Some(numbers) = numbers.get(from..from + self.columns) {
                    into.copy_from_slice(numbers);
                }
            }
            Numbers::Double(numbers) => {
                for (into, number) in into.iter_mut().zip(numbers.iter().skip(from)) {
                    *into = *number as f32;
                }
            }
        }
    }

    /// Whether a row equals a row of another block.
    pub(super) fn same_row(&self, row: usize, other: &Self, other_row: usize) -> bool {
        (0..self.columns).all(|column| self.at(row, column) == other.at(other_row, column))
    }

    /// The first number that a log refuses: NaN, or infinite once it is f32.
    pub(super) fn first_bad(&self) -> Option<(usize, usize)> {
        let index = match &self.numbers {
            Numbers::Single(numbers) => {
                const PIECE: usize = 4096;
                let piece = numbers.chunks(PIECE).position(|piece| !all_finite(piece));
                let start = piece.map(|piece| piece * PIECE);
                start.and_then(|start| {
                    let mut rest = numbers.iter().skip(start);
                    Some(start + rest.position(|x| !x.is_finite())?)
                })
            }
            Numbers::Double(numbers) => numbers.iter().position(|x| !(*x as f32).is_finite()),
        }?;
        Some((index / self.columns.max(1), index % self.columns.max(1)))
    }
}

/// Whether no number is NaN or infinite, many numbers at a time.
pub(super) fn all_finite(numbers: &[f32]) -> bool {
    let bits = numbers.iter().map(|x| x.to_bits() & 0x7fff_ffff);
    // That of infinity; NaN is above it.
    bits.fold(0, u32::max) < 0x7f80_0000
}

/// A log as a file holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The file, for messages; the first of several.
    pub file: PathBuf,
    /// ColumnNames of the columns.
    pub names: ColumnNames,
    /// Whether the file or the caller tells states from actions; if not, all
    /// columns count as states.
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
    /// The next row is not this one's successor, by the file's steps or times; where the file
    /// has none there is none.
    pub gaps: Option<Vec<bool>>,
    /// Where the rows come from.
    pub origin: Origin,
}

impl Table {
    /// How many rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.states.rows()
    }

    /// Whether the row's episode ends with it by a flag.
    pub(super) fn flagged(&self, row: usize) -> bool {
        let flag = |flags: &Option<Vec<bool>>| {
            let flags = flags.as_ref();
            flags.is_some_and(|flags| flags.get(row).copied().unwrap_or(false))
        };
        flag(&self.terminals) || flag(&self.timeouts)
    }

    /// Whether the next row belongs to the same episode: not after a terminal,
    /// not after a timeout, not where the file's steps or times have a gap, not
    /// where the episode's number changes, and, without numbers, not where a
    /// state is not the next state of the row before.
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

    /// Length in rows of every episode, in order.
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

    /// Numbers the episodes, and flags an end that nothing else flags as a
    /// timeout, so that no reader joins what belongs apart.
    pub(super) fn number_episodes(&mut self) {
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
        let differs = |what: &str, here: String, there: String| DataError::Part {
            file: other.file.display().to_string(),
            place: what.to_owned(),
            problem: format!("{here} here, {there} in {}", self.file.display()),
            help: "files that are read together need the same columns; convert them one by one",
        };
        let pairs = [
            ("states", &self.names.states, &other.names.states),
            ("actions", &self.names.actions, &other.names.actions),
        ];
        for (what, ours, theirs) in pairs {
            if ours != theirs {
                return Err(differs(what, theirs.join(", "), ours.join(", ")));
            }
        }
        let parts = [
            ("next states", &self.next_states, &other.next_states),
            ("rewards", &self.rewards, &other.rewards),
        ];
        for (what, ours, theirs) in parts {
            if ours.is_some() != theirs.is_some() {
                let word = |part: &Option<Block>| {
                    let word = if part.is_some() { "given" } else { "missing" };
                    word.to_owned()
                };
                return Err(differs(what, word(theirs), word(ours)));
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
        self.states.numbers.append(other.states.numbers);
        self.actions.numbers.append(other.actions.numbers);
        for (ours, theirs) in [
            (&mut self.next_states, other.next_states),
            (&mut self.rewards, other.rewards),
        ] {
            if let (Some(ours), Some(theirs)) = (ours, theirs) {
                ours.numbers.append(theirs.numbers);
            }
        }
        Ok(())
    }

    /// Refuses NaN and infinity.
    ///
    /// # Errors
    /// The message names the row and the column.
    pub fn check_finite(&self) -> Result<(), DataError> {
        let next: Vec<String> = self
            .names
            .states
            .iter()
            .map(|n| format!("next.{n}"))
            .collect();
        let reward = ["reward".to_owned()];
        let parts: [(Option<&Block>, &[String]); 4] = [
            (Some(&self.states), &self.names.states),
            (Some(&self.actions), &self.names.actions),
            (self.next_states.as_ref(), &next),
            (self.rewards.as_ref(), &reward),
        ];
        for (block, names) in parts {
            let Some((row, column)) = block.and_then(Block::first_bad) else {
                continue;
            };
            let value = block.map_or(f64::NAN, |block| block.at(row, column));
            let name = names.get(column).map_or("?", String::as_str);
            return Err(DataError::Part {
                file: self.origin.place(row),
                place: format!("`{name}`"),
                problem: format!("{value:e} is not a finite number (f32)"),
                help: "mend or remove this row; `hambo data info` counts them",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A state that counts, so that every step shows.
    pub(in super::super) fn table(rows: usize) -> Table {
        let numbers = |from: usize| {
            let numbers = (from..from + rows).map(|x| x as f32);
            Block::new(1, Numbers::Single(numbers.collect()))
        };
        Table {
            file: PathBuf::from("counting"),
            names: ColumnNames::numbered(1, 1),
            roles_known: true,
            states: numbers(0),
            actions: numbers(100),
            next_states: None,
            rewards: None,
            terminals: None,
            timeouts: None,
            episodes: None,
            gaps: None,
            origin: Origin::default(),
        }
    }

    #[test]
    fn an_episode_ends_by_flag_number_or_jump() {
        let plain = table(6);
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
        let mut table = table(5);
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
        let mut all = table(2);
        let mut other = table(3);
        other.states = Block::new(1, Numbers::Double(vec![0.1, 0.2, 0.3]));
        all.append(other).unwrap();
        assert_eq!(all.episode_lengths(), [2, 3]);
        let states = vec![0.0, 1.0, 0.1, 0.2, 0.3];
        assert_eq!(all.states.numbers(), &Numbers::Double(states));
        let mut wide = table(2);
        wide.names.states = vec!["x".to_owned()];
        let error = all.append(wide).unwrap_err().to_string();
        assert!(error.contains("states: x here, s0 in counting"), "{error}");
    }

    #[test]
    fn a_bad_number_is_found_wherever_it_is() {
        for place in [0, 4095, 4096, 9999] {
            for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut numbers = vec![f32::MAX; 10_000];
                assert_eq!(
                    Block::new(2, Numbers::Single(numbers.clone())).first_bad(),
                    None
                );
                numbers[place] = bad;
                let block = Block::new(2, Numbers::Single(numbers));
                assert_eq!(block.first_bad(), Some((place / 2, place % 2)));
            }
        }
    }

    #[test]
    fn the_first_bad_number_is_named() {
        let mut table = table(3);
        let numbers = vec![0.0, f64::NAN, 1e60];
        table.next_states = Some(Block::new(1, Numbers::Double(numbers)));
        let error = table.check_finite().unwrap_err().to_string();
        assert!(error.contains("row 2, `next.s0`: NaN"), "{error}");
        table.come_from_file(true);
        let error = table.check_finite().unwrap_err().to_string();
        assert!(
            error.starts_with("counting, line 3, `next.s0`: NaN"),
            "{error}"
        );
    }
}
