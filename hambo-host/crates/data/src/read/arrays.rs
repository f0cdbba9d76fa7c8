//! Logs as whole arrays, the way D4RL keeps them: what NPZ and HDF5 share.

use std::path::Path;

use hambo_task::column_names::ColumnNames;

use crate::error::{DataError, short_list};
use crate::table::keys::{self, Key};
use crate::table::{Block, Numbers, Table};

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
    fn keys(&self) -> Vec<String>;
    /// Reads the array of a key that is there.
    fn array(&mut self, key: &str) -> Result<Array, DataError>;

    /// Reads an array that may be missing.
    fn find(&mut self, key: Key) -> Result<Option<Array>, DataError> {
        let found = key.find(&self.keys());
        found.map(|key| self.array(key)).transpose()
    }

    /// Reads an array that must be there.
    fn require(&mut self, key: Key) -> Result<Array, DataError> {
        self.find(key)?.ok_or_else(|| {
            let found = short_list(&self.keys());
            let problem = format!("the key `{}` is missing; the file has: {found}", key.name);
            let help = "name the arrays observations, actions, rewards, terminals, timeouts, next_observations";
            DataError::whole(self.path(), problem, help)
        })
    }
}

/// Reads a table; the names, if given, fix the dimensions.
pub(super) fn read_table(
    source: &mut impl Source,
    names: Option<&ColumnNames>,
) -> Result<Table, DataError> {
    let file = source.path().to_owned();
    let states = source.require(keys::OBSERVATIONS)?.into_matrix(&file)?;
    let rows = states.rows();
    let same_rows = |key: &str, block: Block| match block.rows() {
        found if found == rows => Ok(block),
        found => Err(DataError::part(
            &file,
            format!("`{key}`"),
            format!("{found} rows, `observations` has {rows}"),
            "every array needs a row for every step; write the file anew",
        )),
    };
    let matrix = |array: Array| {
        let key = array.key.clone();
        same_rows(&key, array.into_matrix(&file)?)
    };
    let vector = |array: Array| {
        let key = array.key.clone();
        same_rows(&key, array.into_vector(&file)?)
    };
    let flags_of = |array: Array| {
        let key = array.key.clone();
        flags(&file, &key, &vector(array)?)
    };
    let actions = matrix(source.require(keys::ACTIONS)?)?;
    let mut table = Table::new(&file, states, actions);
    table.next_states = source
        .find(keys::NEXT_OBSERVATIONS)?
        .map(matrix)
        .transpose()?;
    table.rewards = source.find(keys::REWARDS)?.map(vector).transpose()?;
    table.terminals = source.find(keys::TERMINALS)?.map(flags_of).transpose()?;
    table.timeouts = source.find(keys::TIMEOUTS)?.map(flags_of).transpose()?;
    let episodes = source.find(keys::EPISODES)?.map(vector).transpose()?;
    table.episodes = episodes.map(|block| (0..rows).map(|row| block.at(row, 0)).collect());
    named(table, names)
}

/// Checks the dimensions against the names, and takes the names over.
pub(super) fn named(mut table: Table, names: Option<&ColumnNames>) -> Result<Table, DataError> {
    let unfit = |key: &str, problem: String, help| {
        Err(DataError::part(
            &table.file,
            format!("`{key}`"),
            problem,
            help,
        ))
    };
    if let Some(next) = &table.next_states {
        let (found, expected) = (next.columns(), table.states.columns());
        if found != expected {
            let problem = format!("{found} numbers a row, `observations` has {expected}");
            return unfit(
                "next_observations",
                problem,
                "write both from the same space",
            );
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
            let (count, names) = (names.len(), names.join(", "));
            let problem = format!("{found} numbers a row, the task names {count}: {names}");
            let help =
                "choose the task of this log; arrays have no names, so all of them count, in order";
            return unfit(key, problem, help);
        }
    }
    table.names = names.clone();
    Ok(table)
}

impl Array {
    /// Rows of numbers; a vector is a matrix with one column.
    pub(super) fn into_matrix(self, file: &Path) -> Result<Block, DataError> {
        let columns = match self.shape[..] {
            [_] => Some(1),
            [_, columns] => usize::try_from(columns).ok().filter(|columns| *columns > 0),
            _ => None,
        };
        match columns {
            Some(columns) => Ok(Block::new(columns, self.numbers)),
            None => Err(self.of_other_shape(file, "rows × numbers")),
        }
    }

    /// One number a row.
    fn into_vector(self, file: &Path) -> Result<Block, DataError> {
        match self.shape[..] {
            [_] | [_, 1] => Ok(Block::new(1, self.numbers)),
            _ => Err(self.of_other_shape(file, "one number a row")),
        }
    }

    fn of_other_shape(&self, file: &Path, wanted: &str) -> DataError {
        let problem = format!("its shape is {:?}, not {wanted}", self.shape);
        let help = "reshape it; images and nested spaces are not for these models";
        DataError::part(file, format!("`{}`", self.key), problem, help)
    }
}

/// 0 or 1, whatever the type.
pub(super) fn flags(file: &Path, key: &str, block: &Block) -> Result<Vec<bool>, DataError> {
    let flag = |row: usize| {
        let value = block.at(row, 0);
        if value == 0.0 || value == 1.0 {
            return Ok(value == 1.0);
        }
        let place = format!("row {}, `{key}`", row + 1);
        let problem = format!("{value} is not 0 or 1");
        Err(DataError::part(
            file,
            place,
            problem,
            "mend or remove this row",
        ))
    };
    (0..block.rows()).map(flag).collect()
}
