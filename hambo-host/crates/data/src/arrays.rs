//! Logs as whole arrays, the way D4RL keeps them: what NPZ and HDF5 share.
//!
//! | key | shape | what |
//! |---|---|---|
//! | `observations`, `actions` | rows × dimension | s and a, in the task's order |
//! | `next_observations` | rows × ds | optional: s′ |
//! | `rewards` | rows | optional |
//! | `terminals` or `terminations`, `timeouts` or `truncations` | rows | optional, 0 or 1 in any type |
//! | `episodes` | rows | optional: the episode's number |

use std::path::Path;

use super::{Block, ColumnNames, DataError, Numbers, Origin, Table};

/// Keys of a part; the first is the one that is written.
pub(super) const OBSERVATIONS: &[&str] = &["observations"];
pub(super) const ACTIONS: &[&str] = &["actions"];
pub(super) const NEXT_OBSERVATIONS: &[&str] = &["next_observations"];
pub(super) const REWARDS: &[&str] = &["rewards"];
pub(super) const TERMINALS: &[&str] = &["terminals", "terminations"];
pub(super) const TIMEOUTS: &[&str] = &["timeouts", "truncations"];
pub(super) const EPISODES: &[&str] = &["episodes"];

/// An array of a file: its key, its shape, and its numbers in C order.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) key: String,
    pub(super) shape: Vec<u64>,
    pub(super) numbers: Numbers,
}

/// Where arrays come from.
pub(super) trait Source {
    /// The file, for messages.
    fn path(&self) -> &Path;
    /// The keys that are there.
    fn keys(&self) -> Vec<String>;
    /// The array of the key.
    fn array(&mut self, key: &str) -> Result<Array, DataError>;

    /// The first of these keys that is there.
    fn find(&mut self, aliases: &[&str]) -> Result<Option<Array>, DataError> {
        let keys = self.keys();
        let found = aliases
            .iter()
            .find(|alias| keys.iter().any(|key| key == *alias));
        found.map(|key| self.array(key)).transpose()
    }

    /// Likewise, of a key that must be there.
    fn require(&mut self, aliases: &[&str]) -> Result<Array, DataError> {
        let found = self.find(aliases)?;
        found.ok_or_else(|| DataError::Key {
            file: self.path().display().to_string(),
            key: aliases.first().copied().unwrap_or_default().to_owned(),
            found: short_list(&self.keys()),
        })
    }
}

/// ColumnNames, but not thousands of them.
pub(super) fn short_list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    match (names.len(), names.len().saturating_sub(SHOWN)) {
        (0, _) => "nothing".to_owned(),
        (_, 0) => shown.join(", "),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Reads a table; the names, if given, fix the dimensions.
pub(super) fn read_table(
    source: &mut impl Source,
    names: Option<&ColumnNames>,
) -> Result<Table, DataError> {
    let file = source.path().to_owned();
    let states = matrix(&file, source.require(OBSERVATIONS)?)?;
    let actions = matrix(&file, source.require(ACTIONS)?)?;
    let rows = states.1.rows();
    let same = |(key, block): (String, Block)| match block.rows() {
        found if found == rows => Ok(block),
        found => Err(unequal(&file, &key, found, rows)),
    };
    let actions = same(actions)?;
    let next_states = source.find(NEXT_OBSERVATIONS)?;
    let next_states = next_states.map(|array| same(matrix(&file, array)?));
    let rewards = source.find(REWARDS)?;
    let rewards = rewards.map(|array| same(vector(&file, array)?));
    let mut flags = |aliases| {
        let array = source.find(aliases)?;
        let flags = array.map(|array| {
            let key = array.key.clone();
            flags(&file, &key, &same(vector(&file, array)?)?)
        });
        flags.transpose()
    };
    let (terminals, timeouts) = (flags(TERMINALS)?, flags(TIMEOUTS)?);
    let episodes = source.find(EPISODES)?;
    let episodes = episodes.map(|array| {
        let block = same(vector(&file, array)?)?;
        Ok((0..rows).map(|row| block.at(row, 0)).collect())
    });
    let table = Table {
        names: ColumnNames::numbered(states.1.columns(), actions.columns()),
        roles_known: true,
        states: states.1,
        actions,
        next_states: next_states.transpose()?,
        rewards: rewards.transpose()?,
        terminals,
        timeouts,
        episodes: episodes.transpose()?,
        gaps: None,
        origin: Origin::default(),
        file,
    };
    named(table, names)
}

/// Holds the dimensions against the names, and takes the names over.
pub(super) fn named(mut table: Table, names: Option<&ColumnNames>) -> Result<Table, DataError> {
    let file = || table.file.display().to_string();
    if let Some(next) = &table.next_states {
        let (found, expected) = (next.columns(), table.states.columns());
        if found != expected {
            return Err(DataError::Part {
                file: file(),
                place: "`next_observations`".to_owned(),
                problem: format!("{found} numbers a row, `observations` has {expected}"),
                help: "write both from the same space",
            });
        }
    }
    let Some(names) = names else {
        return Ok(table);
    };
    let parts = [
        ("observations", table.states.columns(), &names.states),
        ("actions", table.actions.columns(), &names.actions),
    ];
    for (key, found, names) in parts {
        if found != names.len() {
            return Err(DataError::Part {
                file: file(),
                place: format!("`{key}`"),
                problem: format!(
                    "{found} numbers a row, the task names {}: {}",
                    names.len(),
                    names.join(", ")
                ),
                help: "choose the task of this log; arrays have no names, so all of them count, in order",
            });
        }
    }
    table.names = names.clone();
    Ok(table)
}

fn unequal(file: &Path, key: &str, found: usize, expected: usize) -> DataError {
    DataError::Part {
        file: file.display().to_string(),
        place: format!("`{key}`"),
        problem: format!("{found} rows, `observations` has {expected}"),
        help: "every array needs a row for every step; write the file anew",
    }
}

/// Rows of numbers; a vector is a matrix with one column.
pub(super) fn matrix(file: &Path, array: Array) -> Result<(String, Block), DataError> {
    let columns = match array.shape.as_slice() {
        [_] => Some(1),
        [_, columns] => usize::try_from(*columns)
            .ok()
            .filter(|columns| *columns > 0),
        _ => None,
    };
    match columns {
        Some(columns) => Ok((array.key, Block::new(columns, array.numbers))),
        None => Err(shape(file, &array, "rows × numbers")),
    }
}

/// One number a row.
fn vector(file: &Path, array: Array) -> Result<(String, Block), DataError> {
    match array.shape.as_slice() {
        [_] | [_, 1] => Ok((array.key, Block::new(1, array.numbers))),
        _ => Err(shape(file, &array, "one number a row")),
    }
}

fn shape(file: &Path, array: &Array, wanted: &str) -> DataError {
    DataError::Part {
        file: file.display().to_string(),
        place: format!("`{}`", array.key),
        problem: format!("its shape is {:?}, not {wanted}", array.shape),
        help: "reshape it; images and nested spaces are not for these models",
    }
}

/// 0 or 1, whatever the type.
pub(super) fn flags(file: &Path, key: &str, block: &Block) -> Result<Vec<bool>, DataError> {
    let flag = |row: usize| {
        let value = block.at(row, 0);
        if value == 0.0 || value == 1.0 {
            return Ok(value == 1.0);
        }
        Err(DataError::Part {
            file: file.display().to_string(),
            place: format!("row {}, `{key}`", row + 1),
            problem: format!("{value} is not 0 or 1"),
            help: "mend or remove this row",
        })
    };
    (0..block.rows()).map(flag).collect()
}
