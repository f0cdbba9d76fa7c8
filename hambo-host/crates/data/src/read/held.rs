//! Logs that a program holds as arrays: one for each name, as Parquet has its columns, or the
//! whole ones that D4RL names. Nothing is copied but into the table.

use std::collections::HashMap;
use std::path::Path;
use std::slice::from_ref;

use hambo_task::column_names::ColumnNames;

use super::arrays::{self, Array, Source};
use super::clock::all_gaps;
use super::columns::{Column, Columns, episode_numbers};
use crate::error::DataError;
use crate::table::keys::OBSERVATIONS;
use crate::table::{Block, Numbers, Table};

/// The numbers of an array in C order, as wide as the program holds them.
#[derive(Clone, Debug)]
pub enum HeldNumbers<'a> {
    /// Numbers of 32 bits, flags, and integers of up to 16 bits.
    Single(&'a [f32]),
    /// Numbers of 64 bits, and longer integers.
    Double(&'a [f64]),
    /// Words, for episodes that have names.
    Words(Vec<String>),
}

/// An array under the name that tells what it is.
#[derive(Clone, Debug)]
pub struct HeldArray<'a> {
    /// The column, or D4RL's key.
    pub name: String,
    /// Rows, and the numbers of a row where there are several.
    pub shape: Vec<u64>,
    /// The numbers.
    pub numbers: HeldNumbers<'a>,
}

/// Reads a table from arrays; `origin` is what messages call them. D4RL's keys if `observations`
/// is among them, else columns.
///
/// # Errors
/// If an array is missing or unfit.
pub(super) fn read_held(
    origin: &Path,
    arrays: &[HeldArray<'_>],
    names: Option<&ColumnNames>,
) -> Result<Table, DataError> {
    let keys: Vec<String> = arrays.iter().map(|one| one.name.clone()).collect();
    let held = Held { origin, arrays };
    if OBSERVATIONS.find(&keys).is_some() {
        return arrays::read_table(&mut { held }, names);
    }
    let columns = Columns::find(origin, &keys, names)?;
    let rows = columns.states.first().map_or(0, |one| held.rows(one));
    let block = |columns: &[Column]| held.block(columns, rows);
    let mut table = Table::new(origin, block(&columns.states)?, block(&columns.actions)?);
    if let Some(columns) = &columns.next_states {
        table.next_states = Some(block(columns)?);
    }
    if let Some(column) = &columns.reward {
        table.rewards = Some(block(from_ref(column))?);
    }
    table.terminals = held.flags(&columns.terminal, rows)?;
    table.timeouts = held.flags(&columns.timeout, rows)?;
    table.episodes = held.episodes(&columns.episode, rows)?;
    let each = |columns: &[Column]| -> Result<Vec<Vec<f64>>, DataError> {
        let each = columns.iter().map(|column| {
            let block = block(from_ref(column))?;
            Ok((0..rows).map(|row| block.at(row, 0)).collect())
        });
        each.collect()
    };
    table.gaps = all_gaps(&each(&columns.clock)?, &each(&columns.index)?);
    (table.names, table.roles_known) = (columns.names, columns.roles_known);
    Ok(table)
}

#[derive(Clone, Copy)]
struct Held<'a> {
    origin: &'a Path,
    arrays: &'a [HeldArray<'a>],
}

impl Held<'_> {
    fn of(&self, column: &Column) -> Option<&HeldArray<'_>> {
        self.arrays.get(column.index)
    }

    fn rows(&self, column: &Column) -> usize {
        let shape = self.of(column).and_then(|one| one.shape.first());
        shape.map_or(0, |rows| usize::try_from(*rows).unwrap_or(usize::MAX))
    }

    fn part(&self, column: &Column, problem: String, help: &'static str) -> DataError {
        DataError::part(
            self.origin,
            format!("column `{}`", column.name),
            problem,
            help,
        )
    }

    /// The array of a column, which has one number a row, and as many rows as the others.
    fn column(&self, column: &Column, rows: usize) -> Result<&HeldNumbers<'_>, DataError> {
        let Some(array) = self.of(column) else {
            return Err(self.part(column, "it is missing".to_owned(), "give it"));
        };
        let [found] = array.shape[..] else {
            let problem = format!("its shape is {:?}, not one number a row", array.shape);
            let help = "give a column for every name, or the whole arrays observations and actions";
            return Err(self.part(column, problem, help));
        };
        if found != rows as u64 {
            let problem = format!("{found} rows, the first column has {rows}");
            return Err(self.part(column, problem, "every column needs a row for every step"));
        }
        Ok(&array.numbers)
    }

    /// Columns side by side, f32 if all of them are.
    fn block(&self, columns: &[Column], rows: usize) -> Result<Block, DataError> {
        let width = columns.len();
        let each = columns.iter().map(|column| self.column(column, rows));
        let each: Vec<&HeldNumbers<'_>> = each.collect::<Result<_, _>>()?;
        if let Some(place) = each
            .iter()
            .position(|one| matches!(one, HeldNumbers::Words(_)))
        {
            let column = columns.get(place).cloned();
            let name = column.map_or_else(String::new, |one| one.name);
            return Err(DataError::part(
                self.origin,
                format!("column `{name}`"),
                "it holds words, not numbers",
                "give numbers; times as seconds",
            ));
        }
        let narrow = each.iter().all(|one| matches!(one, HeldNumbers::Single(_)));
        if narrow {
            let mut numbers = vec![0.0; rows * width];
            for (place, column) in each.into_iter().enumerate() {
                if let HeldNumbers::Single(column) = column {
                    spread(&mut numbers, (place, width), column.iter().copied());
                }
            }
            return Ok(Block::new(width, Numbers::Single(numbers)));
        }
        let mut numbers = vec![0.0; rows * width];
        for (place, column) in each.into_iter().enumerate() {
            match column {
                HeldNumbers::Single(column) => spread(
                    &mut numbers,
                    (place, width),
                    column.iter().copied().map(f64::from),
                ),
                HeldNumbers::Double(column) => {
                    spread(&mut numbers, (place, width), column.iter().copied());
                }
                HeldNumbers::Words(_) => {}
            }
        }
        Ok(Block::new(width, Numbers::Double(numbers)))
    }

    /// Whether any of these columns says yes, for each row.
    fn flags(&self, columns: &[Column], rows: usize) -> Result<Option<Vec<bool>>, DataError> {
        let mut any: Option<Vec<bool>> = None;
        for column in columns {
            let block = self.block(from_ref(column), rows)?;
            let flags = arrays::flags(self.origin, &column.name, &block)?;
            let any = any.get_or_insert_with(|| vec![false; rows]);
            any.iter_mut()
                .zip(flags)
                .for_each(|(any, flag)| *any |= flag);
        }
        Ok(any)
    }

    /// A number for each row: another one wherever one of these columns changes.
    fn episodes(&self, columns: &[Column], rows: usize) -> Result<Option<Vec<f64>>, DataError> {
        if columns.is_empty() {
            return Ok(None);
        }
        let mut words = vec![String::new(); rows];
        for column in columns {
            let mut names: HashMap<&str, usize> = HashMap::new();
            let held = self.column(column, rows)?;
            for (row, word) in words.iter_mut().enumerate() {
                let own = match held {
                    HeldNumbers::Single(numbers) => numbers.get(row).map(f32::to_string),
                    HeldNumbers::Double(numbers) => numbers.get(row).map(f64::to_string),
                    HeldNumbers::Words(all) => all.get(row).map(|name| {
                        let next = names.len();
                        names.entry(name).or_insert(next).to_string()
                    }),
                };
                let own = own.filter(|own| own != "NaN").ok_or_else(|| {
                    let problem = format!("row {} has no episode", row + 1);
                    self.part(column, problem, "give every row its episode")
                })?;
                if !word.is_empty() {
                    word.push('/');
                }
                word.push_str(&own);
            }
        }
        Ok(Some(episode_numbers(&words)))
    }
}

/// Puts a column into its place in every row.
fn spread<T>(numbers: &mut [T], (place, width): (usize, usize), column: impl Iterator<Item = T>) {
    let rows = numbers.chunks_exact_mut(width.max(1));
    for (row, number) in rows.zip(column) {
        if let Some(cell) = row.get_mut(place) {
            *cell = number;
        }
    }
}

impl Source for Held<'_> {
    fn path(&self) -> &Path {
        self.origin
    }

    fn keys(&self) -> Vec<String> {
        self.arrays.iter().map(|one| one.name.clone()).collect()
    }

    fn array(&mut self, key: &str) -> Result<Array, DataError> {
        let array = self.arrays.iter().find(|one| one.name == key);
        let numbers = array.and_then(|one| match &one.numbers {
            HeldNumbers::Single(numbers) => Some(Numbers::Single(numbers.to_vec())),
            HeldNumbers::Double(numbers) => Some(Numbers::Double(numbers.to_vec())),
            HeldNumbers::Words(_) => None,
        });
        let (Some(array), Some(numbers)) = (array, numbers) else {
            return Err(DataError::part(
                self.origin,
                format!("`{key}`"),
                "it holds words, not numbers",
                "give numbers",
            ));
        };
        Ok(Array {
            key: key.to_owned(),
            shape: array.shape.clone(),
            numbers,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn names() -> ColumnNames {
        ColumnNames {
            states: vec!["x".to_owned(), "v".to_owned()],
            actions: vec!["u".to_owned()],
        }
    }

    fn column<'a>(name: &str, numbers: HeldNumbers<'a>) -> HeldArray<'a> {
        let rows = match &numbers {
            HeldNumbers::Single(all) => all.len(),
            HeldNumbers::Double(all) => all.len(),
            HeldNumbers::Words(all) => all.len(),
        };
        HeldArray {
            name: name.to_owned(),
            shape: vec![rows as u64],
            numbers,
        }
    }

    fn read(arrays: &[HeldArray<'_>]) -> Result<Table, String> {
        let read = read_held(Path::new("data"), arrays, Some(&names()));
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn columns_stand_in_the_tasks_order_as_wide_as_they_are() {
        let (x, v, u) = ([1.0_f32, 2.0], [0.1_f64, 0.2], [5.0_f32, 6.0]);
        let words = ["a", "b"].map(str::to_owned).to_vec();
        let arrays = [
            column("v", HeldNumbers::Double(&v)),
            column("u", HeldNumbers::Single(&u)),
            column("x", HeldNumbers::Single(&x)),
            column("terminated", HeldNumbers::Single(&[0.0, 1.0])),
            column("episode", HeldNumbers::Words(words)),
        ];
        let table = read(&arrays).unwrap();
        let wide = Numbers::Double(vec![1.0, 0.1, 2.0, 0.2]);
        assert_eq!(table.states, Block::new(2, wide));
        let narrow = Numbers::Single(vec![5.0, 6.0]);
        assert_eq!(table.actions, Block::new(1, narrow));
        assert_eq!(table.terminals, Some(vec![false, true]));
        assert_eq!(table.episodes, Some(vec![0.0, 1.0]));
    }

    #[test]
    fn whole_arrays_go_by_their_keys() {
        let observations = [1.0_f32, 0.1, 2.0, 0.2];
        let array = |name: &str, shape: &[u64], numbers| HeldArray {
            name: name.to_owned(),
            shape: shape.to_vec(),
            numbers,
        };
        let arrays = [
            array("actions", &[2], HeldNumbers::Double(&[5.0, 6.0])),
            array("observations", &[2, 2], HeldNumbers::Single(&observations)),
            array("terminals", &[2], HeldNumbers::Single(&[0.0, 1.0])),
        ];
        let table = read(&arrays).unwrap();
        assert_eq!(table.names, names());
        assert_eq!(table.states.at(1, 1), f64::from(0.2_f32));
        let arrays = [array(
            "observations",
            &[2, 2],
            HeldNumbers::Single(&observations),
        )];
        assert!(read(&arrays).unwrap_err().contains("`actions` is missing"));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let two = || HeldNumbers::Single(&[0.0, 1.0]);
        let all = |last: HeldArray<'static>| {
            read(&[column("x", two()), column("v", two()), last]).unwrap_err()
        };
        let missing = all(column("w", two()));
        assert!(
            missing.contains("data: the column `u` is missing; the header has: x, v, w"),
            "{missing}"
        );
        let short = all(column("u", HeldNumbers::Single(&[0.0])));
        assert!(
            short.contains("data, column `u`: 1 rows, the first column has 2"),
            "{short}"
        );
        let words = all(column("u", HeldNumbers::Words(vec![String::new(); 2])));
        assert!(words.contains("column `u`: it holds words"), "{words}");
        let square = all(HeldArray {
            name: "u".to_owned(),
            shape: vec![2, 1],
            numbers: two(),
        });
        assert!(square.contains("its shape is [2, 1]"), "{square}");
    }
}
