//! A log as a CSV file with a header.
//!
//! | column | what |
//! |---|---|
//! | the task's states and actions | s and a, before the transition |
//! | `next.NAME`, for every state or for none | s′; without them the next row of the episode |
//! | `reward` | optional |
//! | `terminal`, `timeout` | optional, 0 or 1: the episode ends after this row |
//! | `episode` | optional: rows with the same number in a row belong together |
//!
//! Without an `episode` column a new episode begins after a terminal, after a
//! timeout, and where a state is not the next state of the row before.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use csv::{Reader, ReaderBuilder, StringRecord, Trim};

use super::{DataError, Log, Transition};

/// Reads a log that has these states and actions.
///
/// # Errors
/// If the file cannot be read, a column is missing, or a field is not a
/// finite number; the message names the place.
///
/// ```
/// use hambo_host::data::read_csv;
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
    let file = path.display().to_string();
    let source = File::open(path).map_err(|source| DataError::Read {
        file: file.clone(),
        source,
    })?;
    let reader = ReaderBuilder::new().trim(Trim::All).from_reader(source);
    let mut table = Table::new(reader, file, states, actions)?;
    let rows = table.rows()?;
    table.log(&rows)
}

/// Where the columns are.
struct Table {
    reader: Reader<File>,
    file: String,
    states: Vec<Column>,
    actions: Vec<Column>,
    next_states: Option<Vec<Column>>,
    reward: Option<Column>,
    terminal: Option<Column>,
    timeout: Option<Column>,
    episode: Option<Column>,
}

struct Column {
    name: String,
    index: usize,
}

/// One line of the file.
struct Row {
    state: Vec<f32>,
    action: Vec<f32>,
    next_state: Option<Vec<f32>>,
    reward: f32,
    ends: bool,
    episode: Option<f64>,
}

impl Table {
    fn new(
        mut reader: Reader<File>,
        file: String,
        states: &[String],
        actions: &[String],
    ) -> Result<Self, DataError> {
        let header = reader.headers().map_err(|problem| DataError::Table {
            file: file.clone(),
            problem,
        })?;
        let names: Vec<String> = header.iter().map(str::to_owned).collect();
        let mut places = HashMap::new();
        for (index, name) in names.iter().enumerate() {
            if places.insert(name.as_str(), index).is_some() {
                let column = name.clone();
                return Err(DataError::Twice { file, column });
            }
        }
        let find = |name: &str| {
            let index = *places.get(name)?;
            let name = name.to_owned();
            Some(Column { name, index })
        };
        let required = |name: &str, help: &'static str| {
            find(name).ok_or_else(|| DataError::Column {
                file: file.clone(),
                column: name.to_owned(),
                found: names.join(", "),
                help,
            })
        };
        let all = |names: &[String], prefix: &str, help: &'static str| {
            let columns = names.iter();
            let columns = columns.map(|name| required(&format!("{prefix}{name}"), help));
            columns.collect::<Result<Vec<_>, _>>()
        };
        let named = "name the columns as the task names its states and actions";
        let complete = "give `next.NAME` for every state, or for none";
        let some_next = names.iter().any(|name| name.starts_with("next."));
        let next_states = some_next.then(|| all(states, "next.", complete));
        Ok(Self {
            states: all(states, "", named)?,
            actions: all(actions, "", named)?,
            next_states: next_states.transpose()?,
            reward: find("reward"),
            terminal: find("terminal"),
            timeout: find("timeout"),
            episode: find("episode"),
            reader,
            file,
        })
    }

    fn rows(&mut self) -> Result<Vec<Row>, DataError> {
        let mut rows = Vec::new();
        let mut record = StringRecord::new();
        loop {
            let more = self.reader.read_record(&mut record);
            let more = more.map_err(|problem| DataError::Table {
                file: self.file.clone(),
                problem,
            })?;
            if !more {
                return Ok(rows);
            }
            rows.push(self.row(&record)?);
        }
    }

    fn row(&self, record: &StringRecord) -> Result<Row, DataError> {
        let numbers = |columns: &[Column]| -> Result<Vec<f32>, DataError> {
            let numbers = columns.iter().map(|column| self.number(record, column));
            numbers.collect()
        };
        let flag = |column: &Option<Column>| match column {
            Some(column) => self.flag(record, column),
            None => Ok(false),
        };
        Ok(Row {
            state: numbers(&self.states)?,
            action: numbers(&self.actions)?,
            next_state: match &self.next_states {
                Some(columns) => Some(numbers(columns)?),
                None => None,
            },
            reward: match &self.reward {
                Some(column) => self.number(record, column)?,
                None => 0.0,
            },
            ends: flag(&self.terminal)? | flag(&self.timeout)?,
            episode: match &self.episode {
                Some(column) => Some(f64::from(self.number(record, column)?)),
                None => None,
            },
        })
    }

    fn number(&self, record: &StringRecord, column: &Column) -> Result<f32, DataError> {
        let field = record.get(column.index).unwrap_or_default();
        match field.parse::<f32>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.bad_field(record, column, field, "a finite number")),
        }
    }

    fn flag(&self, record: &StringRecord, column: &Column) -> Result<bool, DataError> {
        let field = record.get(column.index).unwrap_or_default();
        match field.to_ascii_lowercase().as_str() {
            "1" | "1.0" | "true" => Ok(true),
            "0" | "0.0" | "false" => Ok(false),
            _ => Err(self.bad_field(record, column, field, "0 or 1")),
        }
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

    /// Finds the episodes and, if need be, the next states.
    fn log(&self, rows: &[Row]) -> Result<Log, DataError> {
        let mut log = Log::new(self.states.len(), self.actions.len());
        let mut episode = 0;
        for (row, after) in rows.iter().zip(followers(rows)) {
            let goes_on = after.is_some_and(|after| continues(row, after));
            let next_state = match (&row.next_state, after) {
                (Some(next), _) => Some(next),
                (None, Some(after)) if goes_on => Some(&after.state),
                _ => None,
            };
            if let Some(next_state) = next_state {
                let transition = Transition {
                    state: &row.state,
                    action: &row.action,
                    next_state,
                    reward: row.reward,
                    episode,
                };
                log.push(transition).map_err(|problem| DataError::Row {
                    file: self.file.clone(),
                    problem,
                })?;
            }
            episode += u32::from(!goes_on);
        }
        if log.is_empty() {
            let help = match self.next_states {
                Some(_) => "the file has a header and no row",
                None => "without `next.NAME` columns an episode needs at least two rows",
            };
            let file = self.file.clone();
            return Err(DataError::Empty { file, help });
        }
        Ok(log)
    }
}

/// The row after each row.
fn followers(rows: &[Row]) -> impl Iterator<Item = Option<&Row>> {
    (1..=rows.len()).map(|index| rows.get(index))
}

/// Whether `after` belongs to the same episode as `row`.
fn continues(row: &Row, after: &Row) -> bool {
    if row.ends {
        return false;
    }
    match (row.episode, after.episode) {
        (Some(one), Some(other)) => one == other,
        _ => row
            .next_state
            .as_ref()
            .is_none_or(|next| *next == after.state),
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
