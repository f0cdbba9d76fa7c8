//! Reading logs from Parquet; [`columns`](super::columns) says which columns.
//!
//! pandas keeps its index as a column of its own; like any other column that the task does not name
//! it is not read.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::slice::from_ref;

use hambo_task::column_names::ColumnNames;
use parquet::basic::{ConvertedType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::arrays;
use super::clock::{all_gaps, seconds};
use super::columns::{Column, Columns, episode_numbers};
use super::contained::contained;
use super::csv::flag;
use super::limits::Allowance;
use crate::error::DataError;
use crate::table::{Block, Numbers, Table};

/// Records that are decoded at a time.
const STEP: usize = 8192;
const DAMAGED: &str = "the file is damaged or cut short; write it anew";

/// Reads a log from a Parquet file.
///
/// # Errors
/// If the file is damaged or a column is missing or unfit.
pub(super) fn read_parquet(path: &Path, names: Option<&ColumnNames>) -> Result<Table, DataError> {
    contained(|| read(path, names)).unwrap_or_else(|| {
        let problem = "this Parquet file contradicts itself";
        Err(DataError::whole(
            path,
            problem,
            "the file is damaged; write it anew",
        ))
    })
}

fn read(path: &Path, names: Option<&ColumnNames>) -> Result<Table, DataError> {
    let file = File::open(path).map_err(DataError::read(path))?;
    let length = file.metadata().map_err(DataError::read(path))?.len();
    let reader = SerializedFileReader::new(file).map_err(|error| {
        DataError::whole(
            path,
            format!("this Parquet file cannot be read: {error}"),
            DAMAGED,
        )
    })?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let header = schema.columns().iter().map(|column| column.path().string());
    let columns = Columns::find(path, &header.collect::<Vec<String>>(), names)?;
    let mut source = Source {
        path,
        reader: &reader,
        rows: rows(path, reader.metadata())?,
        allowance: Allowance::new(path, length),
    };
    source.check_sizes(length)?;
    let states = source.block(&columns.states, number)?;
    let mut table = Table::new(path, states, source.block(&columns.actions, number)?);
    if let Some(columns) = &columns.next_states {
        table.next_states = Some(source.block(columns, number)?);
    }
    if let Some(column) = &columns.reward {
        table.rewards = Some(source.block(from_ref(column), number)?);
    }
    table.terminals = source.flags(&columns.terminal)?;
    table.timeouts = source.flags(&columns.timeout)?;
    table.episodes = source.episodes(&columns.episode)?;
    let clocks = source.columns(&columns.clock)?;
    table.gaps = all_gaps(&clocks, &source.columns(&columns.index)?);
    (table.names, table.roles_known) = (columns.names, columns.roles_known);
    Ok(table)
}

fn rows(path: &Path, metadata: &ParquetMetaData) -> Result<usize, DataError> {
    let groups = metadata.row_groups().iter();
    let mut rows = groups.map(|group| usize::try_from(group.num_rows()).ok());
    let rows = rows.try_fold(0_usize, |sum, rows| sum.checked_add(rows?));
    rows.ok_or_else(|| {
        let problem = "its numbers of rows make no sense";
        DataError::whole(path, problem, "the file is damaged; write it anew")
    })
}

struct Source<'a> {
    path: &'a Path,
    reader: &'a SerializedFileReader<File>,
    rows: usize,
    allowance: Allowance,
}

impl Source<'_> {
    fn part(&self, column: &Column, problem: String, help: &'static str) -> DataError {
        DataError::part(
            self.path,
            format!("column `{}`", column.name),
            problem,
            help,
        )
    }

    /// Checks what the file says about its chunks against its length, before any of them is opened.
    fn check_sizes(&self, length: u64) -> Result<(), DataError> {
        for group in self.reader.metadata().row_groups() {
            for chunk in group.columns() {
                // The crate's own `byte_range` panics on negative numbers.
                let first = chunk.dictionary_page_offset();
                let first = first.unwrap_or(chunk.data_page_offset());
                let [start, second, size] =
                    [first, chunk.data_page_offset(), chunk.compressed_size()]
                        .map(|number| u64::try_from(number).unwrap_or(u64::MAX));
                // The size counts from the dictionary on, if there is one.
                let end = start.checked_add(size);
                let inside = end.is_some_and(|end| second <= end && end <= length);
                let claim = u64::try_from(chunk.uncompressed_size()).unwrap_or(u64::MAX);
                let place = format!("column `{}`", chunk.column_path().string());
                self.allowance.clone().take(&place, &[claim])?;
                if !inside {
                    let problem = "its bytes lie outside the file";
                    return Err(DataError::part(self.path, place, problem, DAMAGED));
                }
            }
        }
        Ok(())
    }

    /// Columns side by side, f32 if all of them are.
    fn block(&mut self, columns: &[Column], word: fn(&str) -> f64) -> Result<Block, DataError> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        const SHORT: [ConvertedType; 4] = [
            ConvertedType::INT_8,
            ConvertedType::INT_16,
            ConvertedType::UINT_8,
            ConvertedType::UINT_16,
        ];
        let kinds = columns
            .iter()
            .map(|column| schema.columns().get(column.index));
        let narrow = kinds.into_iter().all(|kind| {
            kind.is_some_and(|kind| {
                matches!(kind.physical_type(), Type::FLOAT | Type::BOOLEAN)
                    || SHORT.contains(&kind.converted_type())
            })
        });
        let (rows, width) = (self.rows, columns.len());
        let size = if narrow { 4 } else { 8 };
        let place = columns.first().map_or("", |column| &column.name);
        let place = format!("column `{place}`");
        self.allowance
            .take(&place, &[rows as u64, width as u64, size])?;
        let mut numbers = if narrow {
            Numbers::Single(vec![0.0; rows * width])
        } else {
            Numbers::Double(vec![0.0; rows * width])
        };
        for (place, column) in columns.iter().enumerate() {
            self.each(column, word, |row, number| {
                numbers.set(row * width + place, number);
            })?;
        }
        Ok(Block::new(width, numbers))
    }

    /// Each column by itself.
    fn columns(&mut self, columns: &[Column]) -> Result<Vec<Vec<f64>>, DataError> {
        let each = columns.iter().map(|column| {
            let block = self.block(from_ref(column), number)?;
            Ok((0..block.rows()).map(|row| block.at(row, 0)).collect())
        });
        each.collect()
    }

    /// A number for each row: another one wherever one of these columns changes.
    fn episodes(&mut self, columns: &[Column]) -> Result<Option<Vec<f64>>, DataError> {
        if columns.is_empty() {
            return Ok(None);
        }
        self.allowance.take("episodes", &[self.rows as u64, 24])?;
        let mut words = vec![String::new(); self.rows];
        for column in columns {
            let mut names: HashMap<String, f64> = HashMap::new();
            let mut numbers = Vec::with_capacity(self.rows);
            self.each(
                column,
                |text| {
                    let next = names.len() as f64;
                    *names.entry(text.to_owned()).or_insert(next)
                },
                |_, number| numbers.push(number),
            )?;
            if let Some(row) = numbers.iter().position(|number| number.is_nan()) {
                let problem = format!("row {} has no episode", row + 1);
                return Err(self.part(column, problem, "give every row its episode"));
            }
            for (word, number) in words.iter_mut().zip(numbers) {
                if !word.is_empty() {
                    word.push('/');
                }
                word.push_str(&number.to_string());
            }
        }
        Ok(Some(episode_numbers(&words)))
    }

    /// Whether any of these columns says yes, for each row.
    fn flags(&mut self, columns: &[Column]) -> Result<Option<Vec<bool>>, DataError> {
        let mut any: Option<Vec<bool>> = None;
        for column in columns {
            let block = self.block(from_ref(column), flag_or_number)?;
            let flags = arrays::flags(self.path, &column.name, &block)?;
            let any = any.get_or_insert_with(|| vec![false; flags.len()]);
            any.iter_mut()
                .zip(flags)
                .for_each(|(any, flag)| *any |= flag);
        }
        Ok(any)
    }

    /// Every number of a column, in order; null is NaN. `word` says what a text counts as.
    fn each(
        &self,
        column: &Column,
        mut word: impl FnMut(&str) -> f64,
        mut take: impl FnMut(usize, f64),
    ) -> Result<(), DataError> {
        let failed =
            |error: ParquetError| self.part(column, format!("it cannot be read: {error}"), DAMAGED);
        let mut row = 0;
        let mut next = |number: f64| {
            take(row, number);
            row += 1;
        };
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(failed)?;
            let nested = group.metadata().columns().get(column.index);
            if nested.is_none_or(|chunk| {
                chunk.column_descr().max_rep_level() > 0 || chunk.column_descr().max_def_level() > 1
            }) {
                let help = "give one number per row and column";
                return Err(self.part(column, "it is nested".to_owned(), help));
            }
            let expected = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            let found = match group.get_column_reader(column.index).map_err(failed)? {
                ColumnReader::FloatColumnReader(reader) => {
                    drain(reader, |x| f64::from(*x), &mut next)
                }
                ColumnReader::DoubleColumnReader(reader) => drain(reader, |x| *x, &mut next),
                ColumnReader::Int32ColumnReader(reader) => {
                    drain(reader, |x| f64::from(*x), &mut next)
                }
                ColumnReader::Int64ColumnReader(reader) => drain(reader, |x| *x as f64, &mut next),
                ColumnReader::BoolColumnReader(reader) => {
                    drain(reader, |x| f64::from(u8::from(*x)), &mut next)
                }
                ColumnReader::ByteArrayColumnReader(reader) => drain(
                    reader,
                    |x| word(std::str::from_utf8(x.data()).unwrap_or_default()),
                    &mut next,
                ),
                _ => {
                    let help = "save it as float, double, an integer or a boolean";
                    return Err(self.part(column, "its type is not a number".to_owned(), help));
                }
            };
            let found = found.map_err(failed)?;
            if found != expected {
                let problem = format!("{found} rows where {expected} are announced");
                return Err(self.part(column, problem, "the file is damaged; write it anew"));
            }
        }
        Ok(())
    }
}

/// A text that stands for a number, or a date and time.
fn number(text: &str) -> f64 {
    let number = text.parse().ok().or_else(|| seconds(text));
    number.unwrap_or(f64::NAN)
}

/// A text that says yes or no, or stands for a number: whether an episode ends.
fn flag_or_number(text: &str) -> f64 {
    let flag = flag(text).map(|flag| f64::from(u8::from(flag)));
    flag.unwrap_or_else(|| number(text))
}

/// Reads a chunk to its end; returns the count of its rows.
fn drain<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    mut number: impl FnMut(&T::T) -> f64,
    next: &mut impl FnMut(f64),
) -> Result<usize, ParquetError> {
    let mut levels = Vec::new();
    let mut values = Vec::new();
    let mut rows = 0;
    loop {
        levels.clear();
        values.clear();
        let (records, count, _) =
            reader.read_records(STEP, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Ok(rows);
        }
        rows += records;
        if levels.is_empty() || count == records {
            values.iter().for_each(|value| next(number(value)));
        } else {
            let mut values = values.iter();
            for level in &levels {
                let value = if *level > 0 { values.next() } else { None };
                next(value.map_or(f64::NAN, &mut number));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_flags_only_where_an_episode_ends() {
        for word in ["yes", "t", "true", "no", "f", "false"] {
            assert!(number(word).is_nan(), "{word}");
            assert!(!flag_or_number(word).is_nan(), "{word}");
        }
        assert_eq!((number("1.5"), flag_or_number("1")), (1.5, 1.0));
        assert_eq!((flag_or_number("yes"), flag_or_number("No")), (1.0, 0.0));
        assert!(number("1970-01-01 00:00:02") == 2.0);
    }
}
