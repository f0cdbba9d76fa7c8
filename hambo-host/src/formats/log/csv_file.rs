//! A log as a CSV file with a header; [`columns`](super::columns) says which.

use std::fs::File;
use std::path::Path;

use csv::{Reader, ReaderBuilder, StringRecord, Trim};

use super::columns::{Column, Columns};
use super::{Block, ColumnNames, DataError, Log, Numbers, Table, transitions};

/// Reads a log that has these states and actions.
///
/// # Errors
/// If the file cannot be read, a column is missing, or a field is not a
/// finite number; the message names the place.
///
/// ```
/// use hambo_host::formats::log::read_csv;
///
/// let file = std::env::temp_dir().join("hambo-doc-cart.csv");
/// std::fs::write(&file, "u,x,terminal\n0.5,0,0\n0.5,1,0\n0,2,1\n0.5,7,0\n0,8,0\n")?;
/// let log = read_csv(&file, &["x".to_owned()], &["u".to_owned()])?;
/// // Never across a terminal: 0 → 1, 1 → 2 and 7 → 8.
/// assert_eq!(log.len(), 3);
/// assert_eq!(log.rows().map(|row| row.episode).collect::<Vec<_>>(), [0, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_csv(path: &Path, states: &[String], actions: &[String]) -> Result<Log, DataError> {
    let names = ColumnNames {
        states: states.to_vec(),
        actions: actions.to_vec(),
    };
    transitions(&read_csv_table(path, Some(&names), Reading::Log)?)
}

/// What the numbers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// A log to fit: f32, and every number finite.
    Log,
    /// A table to look at or convert: f64; NaN, infinity and empty fields are
    /// let through and counted.
    Table,
}

/// Reads a table.
pub(super) fn read_csv_table(
    path: &Path,
    names: Option<&ColumnNames>,
    reading: Reading,
) -> Result<Table, DataError> {
    let file = path.display().to_string();
    let source = File::open(path).map_err(|source| DataError::Read {
        file: file.clone(),
        source,
    })?;
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(source);
    let header = reader.headers().map_err(|problem| DataError::Table {
        file: file.clone(),
        problem,
    })?;
    let header: Vec<String> = header.iter().map(str::to_owned).collect();
    let columns = Columns::find(&file, &header, names)?;
    let place = Place { file, reading };
    let parts = Parts::read(&mut reader, &columns, &place)?;
    let block = |columns: &[Column], numbers| Block::new(columns.len(), numbers);
    let next_states = columns.next_states.as_ref();
    Ok(Table {
        file: path.to_owned(),
        roles_known: columns.roles_known,
        states: block(&columns.states, parts.states),
        actions: block(&columns.actions, parts.actions),
        next_states: next_states.map(|columns| block(columns, parts.next_states)),
        rewards: columns.reward.map(|_| Block::new(1, parts.rewards)),
        terminals: columns.terminal.map(|_| parts.terminals),
        timeouts: columns.timeout.map(|_| parts.timeouts),
        episodes: columns.episode.map(|_| parts.episodes),
        names: columns.names,
    })
}

/// The columns as they grow.
struct Parts {
    states: Numbers,
    actions: Numbers,
    next_states: Numbers,
    rewards: Numbers,
    terminals: Vec<bool>,
    timeouts: Vec<bool>,
    episodes: Vec<f64>,
}

impl Parts {
    fn read(
        reader: &mut Reader<File>,
        columns: &Columns,
        place: &Place,
    ) -> Result<Self, DataError> {
        let empty = || match place.reading {
            Reading::Log => Numbers::Single(Vec::new()),
            Reading::Table => Numbers::Double(Vec::new()),
        };
        let mut parts = Self {
            states: empty(),
            actions: empty(),
            next_states: empty(),
            rewards: empty(),
            terminals: Vec::new(),
            timeouts: Vec::new(),
            episodes: Vec::new(),
        };
        let mut record = StringRecord::new();
        loop {
            let more = reader.read_record(&mut record);
            let more = more.map_err(|problem| DataError::Table {
                file: place.file.clone(),
                problem,
            })?;
            if !more {
                return Ok(parts);
            }
            place.push(&mut parts.states, &record, &columns.states)?;
            place.push(&mut parts.actions, &record, &columns.actions)?;
            if let Some(columns) = &columns.next_states {
                place.push(&mut parts.next_states, &record, columns)?;
            }
            place.push(&mut parts.rewards, &record, columns.reward.as_slice())?;
            if let Some(column) = &columns.terminal {
                parts.terminals.push(place.flag(&record, column)?);
            }
            if let Some(column) = &columns.timeout {
                parts.timeouts.push(place.flag(&record, column)?);
            }
            if let Some(column) = &columns.episode {
                parts.episodes.push(place.episode(&record, column)?);
            }
        }
    }
}

/// Which file, and how it is read.
struct Place {
    file: String,
    reading: Reading,
}

impl Place {
    fn push(
        &self,
        numbers: &mut Numbers,
        record: &StringRecord,
        columns: &[Column],
    ) -> Result<(), DataError> {
        for column in columns {
            let field = record.get(column.index).unwrap_or_default();
            let known = match numbers {
                Numbers::Single(numbers) => {
                    let number = field.parse::<f32>().ok().filter(|x| x.is_finite());
                    number.map(|number| numbers.push(number))
                }
                Numbers::Double(numbers) if field.is_empty() => {
                    numbers.push(f64::NAN);
                    Some(())
                }
                Numbers::Double(numbers) => field.parse().ok().map(|number| numbers.push(number)),
            };
            if known.is_none() {
                return Err(self.bad_field(record, column, field, "a finite number"));
            }
        }
        Ok(())
    }

    fn episode(&self, record: &StringRecord, column: &Column) -> Result<f64, DataError> {
        let field = record.get(column.index).unwrap_or_default();
        match field.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.bad_field(record, column, field, "a finite number")),
        }
    }

    fn flag(&self, record: &StringRecord, column: &Column) -> Result<bool, DataError> {
        let field = record.get(column.index).unwrap_or_default();
        flag(field).ok_or_else(|| self.bad_field(record, column, field, "0 or 1"))
    }

    fn bad_field(
        &self,
        record: &StringRecord,
        column: &Column,
        field: &str,
        wanted: &'static str,
    ) -> DataError {
        DataError::Field {
            file: self.file.clone(),
            line: record.position().map_or(0, csv::Position::line),
            column: column.name.clone(),
            field: field.to_owned(),
            wanted,
        }
    }
}

/// 0 or 1 in words.
pub(super) fn flag(field: &str) -> Option<bool> {
    match field.to_ascii_lowercase().as_str() {
        "1" | "1.0" | "true" => Some(true),
        "0" | "0.0" | "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_cart(path: &Path) -> Result<Log, DataError> {
        read_csv(path, &["x".to_owned(), "v".to_owned()], &["u".to_owned()])
    }

    fn read(name: &str, text: &str) -> Result<Log, String> {
        let file = std::env::temp_dir().join(format!("hambo-csv-{}-{name}", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let log = read_cart(&file).map_err(|error| error.to_string());
        std::fs::remove_file(file).unwrap();
        log
    }

    #[test]
    fn columns_in_any_order_and_next_states_as_given() {
        let log = read(
            "given.csv",
            "episode, v, u, x, next.x, next.v, reward, more\n\
             3, 1, 0.5, 0, 1, 1, -2, a\n3, 1, 0.25, 1, 2, 1, -3, b\n4, 0, 0, 9, 9, 0, 0, c\n",
        )
        .unwrap();
        let rows: Vec<_> = log.rows().collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[1].state, [1.0, 1.0]);
        assert_eq!((rows[1].action, rows[1].reward), (&[0.25][..], -3.0));
        assert_eq!(rows[1].next_state, [2.0, 1.0]);
        assert_eq!(
            rows.iter().map(|row| row.episode).collect::<Vec<_>>(),
            [0, 0, 1]
        );
    }

    #[test]
    fn a_jump_begins_an_episode() {
        let log = read(
            "jump.csv",
            "x,v,u,next.x,next.v\n0,0,0,1,0\n1,0,0,2,0\n5,0,0,6,0\n",
        );
        let episodes: Vec<u32> = log.unwrap().rows().map(|row| row.episode).collect();
        assert_eq!(episodes, [0, 0, 1]);
    }

    #[test]
    fn errors_name_the_place() {
        let cases = [
            (
                "nan.csv",
                "x,v,u\n0,0,0\n1,NaN,0\n",
                ["line 3", "column `v`", "NaN"],
            ),
            (
                "text.csv",
                "x,v,u\n0,0,left\n1,1,0\n",
                ["line 2", "column `u`", "left"],
            ),
            (
                "missing.csv",
                "x,u\n0,0\n",
                ["`v` is missing", "header has: x, u", "help"],
            ),
            (
                "half.csv",
                "x,v,u,next.x\n0,0,0,0\n",
                ["`next.v`", "for every state", "help"],
            ),
            (
                "twice.csv",
                "x,v,v,u\n0,0,0,0\n",
                ["two columns `v`", "rename", "help"],
            ),
            (
                "short.csv",
                "x,v,u\n0,0,0\n1,1\n",
                ["line", "2 fields", "as many fields"],
            ),
            (
                "flag.csv",
                "x,v,u,terminal\n0,0,0,maybe\n",
                ["`terminal`", "maybe", "0 or 1"],
            ),
            (
                "one.csv",
                "x,v,u\n0,0,0\n",
                ["no transition", "two rows", "help"],
            ),
            (
                "none.csv",
                "x,v,u,next.x,next.v\n",
                ["no transition", "no row", "help"],
            ),
        ];
        for (name, text, parts) in cases {
            let error = read(name, text).unwrap_err();
            for part in parts.into_iter().chain([name]) {
                assert!(error.contains(part), "{name}: {error}");
            }
        }
        let error = read_cart(Path::new("no/such.csv")).unwrap_err();
        assert!(error.to_string().contains("no/such.csv"));
    }
}
