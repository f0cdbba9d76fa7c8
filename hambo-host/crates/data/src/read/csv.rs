//! Reading a log from a CSV file with a header; [`columns`](super::columns) says which columns.

use std::fs::File;
use std::path::Path;

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use hambo_task::column_names::ColumnNames;

use super::clock::{all_gaps, seconds};
use super::columns::{Column, Columns, episode_numbers};
use super::separator::{Separator, decimal};
use crate::error::DataError;
use crate::table::{Block, Numbers, Table};

/// What the numbers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A log to fit: f32, and every number finite.
    Log,
    /// A table to look at or convert: f64; NaN, infinity and empty fields are let through and
    /// counted.
    Table,
}

pub(super) fn read_csv(
    path: &Path,
    names: Option<&ColumnNames>,
    purpose: Purpose,
) -> Result<Table, DataError> {
    let separator = Separator::of_file(path).map_err(DataError::read(path))?;
    let source = File::open(path).map_err(DataError::read(path))?;
    let mut reader = ReaderBuilder::new()
        .trim(Trim::All)
        .delimiter(separator.byte())
        .from_reader(source);
    let header = reader.headers().map_err(|error| bad_line(path, &error))?;
    let header: Vec<String> = header.iter().map(str::to_owned).collect();
    let columns = Columns::find(path, &header, names)?;
    let mut fields = Fields {
        path,
        separator,
        points: None,
    };
    let parts = Parts::read(&mut reader, &columns, &mut fields, purpose)?;
    let block = |columns: &[Column], numbers| Block::new(columns.len(), numbers);
    let given = |columns: &[Column]| !columns.is_empty();
    let mut table = Table::new(
        path,
        block(&columns.states, parts.states),
        block(&columns.actions, parts.actions),
    );
    let next_states = columns.next_states.as_ref();
    table.next_states = next_states.map(|columns| block(columns, parts.next_states));
    table.rewards = columns.reward.map(|_| Block::new(1, parts.rewards));
    table.terminals = given(&columns.terminal).then_some(parts.terminals);
    table.timeouts = given(&columns.timeout).then_some(parts.timeouts);
    table.episodes = given(&columns.episode).then(|| episode_numbers(&parts.episodes));
    table.gaps = all_gaps(&parts.clocks, &parts.indices);
    (table.names, table.roles_known) = (columns.names, columns.roles_known);
    table.set_origin(parts.lines);
    Ok(table)
}

fn bad_line(path: &Path, error: &csv::Error) -> DataError {
    let help = "every line needs as many fields as the header";
    DataError::whole(path, error.to_string(), help)
}

/// The columns as they grow.
struct Parts {
    states: Numbers,
    actions: Numbers,
    next_states: Numbers,
    rewards: Numbers,
    terminals: Vec<bool>,
    timeouts: Vec<bool>,
    episodes: Vec<String>,
    clocks: Vec<Vec<f64>>,
    indices: Vec<Vec<f64>>,
    /// Whether each row is one line.
    lines: bool,
}

impl Parts {
    fn read(
        reader: &mut Reader<File>,
        columns: &Columns,
        fields: &mut Fields<'_>,
        purpose: Purpose,
    ) -> Result<Self, DataError> {
        let empty = || match purpose {
            Purpose::Log => Numbers::Single(Vec::new()),
            Purpose::Table => Numbers::Double(Vec::new()),
        };
        let mut parts = Self {
            states: empty(),
            actions: empty(),
            next_states: empty(),
            rewards: empty(),
            terminals: Vec::new(),
            timeouts: Vec::new(),
            episodes: Vec::new(),
            clocks: vec![Vec::new(); columns.clock.len()],
            indices: vec![Vec::new(); columns.index.len()],
            lines: true,
        };
        let mut line = 2;
        let mut record = StringRecord::new();
        loop {
            let more = reader.read_record(&mut record);
            if !more.map_err(|error| bad_line(fields.path, &error))? {
                return Ok(parts);
            }
            let next_states = columns.next_states.as_deref().unwrap_or_default();
            fields.numbers(&mut parts.states, &record, &columns.states)?;
            fields.numbers(&mut parts.actions, &record, &columns.actions)?;
            fields.numbers(&mut parts.next_states, &record, next_states)?;
            fields.numbers(&mut parts.rewards, &record, columns.reward.as_slice())?;
            parts
                .terminals
                .push(fields.any_flag(&record, &columns.terminal)?);
            parts
                .timeouts
                .push(fields.any_flag(&record, &columns.timeout)?);
            if !columns.episode.is_empty() {
                parts
                    .episodes
                    .push(fields.episode(&record, &columns.episode)?);
            }
            for (clock, column) in parts.clocks.iter_mut().zip(&columns.clock) {
                clock.push(fields.seconds(&record, column)?);
            }
            for (index, column) in parts.indices.iter_mut().zip(&columns.index) {
                let field = record.get(column.index).unwrap_or_default();
                index.push(seconds(field).unwrap_or(f64::NAN));
            }
            parts.lines &= record.position().map(csv::Position::line) == Some(line);
            line += 1;
        }
    }
}

/// How the fields of a file are read.
struct Fields<'a> {
    path: &'a Path,
    separator: Separator,
    /// Whether its numbers have decimal points, or commas; not known before the first.
    points: Option<bool>,
}

impl Fields<'_> {
    fn numbers(
        &mut self,
        numbers: &mut Numbers,
        record: &StringRecord,
        columns: &[Column],
    ) -> Result<(), DataError> {
        for column in columns {
            let field = record.get(column.index).unwrap_or_default();
            let written = decimal(field, self.separator, &mut self.points);
            let Some(written) = written else {
                let wanted = "a number with the decimal sign of the numbers before it";
                return Err(self.bad_field(record, column, field, wanted));
            };
            let known = match numbers {
                Numbers::Single(numbers) => {
                    let number = written.parse::<f32>().ok().filter(|x| x.is_finite());
                    number.map(|number| numbers.push(number))
                }
                Numbers::Double(numbers) if field.is_empty() => {
                    numbers.push(f64::NAN);
                    Some(())
                }
                Numbers::Double(numbers) => {
                    let number = written.parse().ok();
                    number.map(|number| numbers.push(number))
                }
            };
            if known.is_none() {
                return Err(self.bad_field(record, column, field, "a finite number"));
            }
        }
        Ok(())
    }

    /// What tells the row's episode from others.
    fn episode(&self, record: &StringRecord, columns: &[Column]) -> Result<String, DataError> {
        let mut words = Vec::with_capacity(columns.len());
        for column in columns {
            let field = record.get(column.index).unwrap_or_default();
            if field.is_empty() || field.eq_ignore_ascii_case("nan") {
                let wanted = "the number or name of an episode";
                return Err(self.bad_field(record, column, field, wanted));
            }
            words.push(field);
        }
        Ok(words.join("/"))
    }

    fn seconds(&mut self, record: &StringRecord, column: &Column) -> Result<f64, DataError> {
        let field = record.get(column.index).unwrap_or_default();
        let written = decimal(field, self.separator, &mut self.points);
        let number = written.and_then(|written| seconds(&written));
        let wanted = "a number or a date and time";
        number.ok_or_else(|| self.bad_field(record, column, field, wanted))
    }

    fn any_flag(&self, record: &StringRecord, columns: &[Column]) -> Result<bool, DataError> {
        let mut any = false;
        for column in columns {
            let field = record.get(column.index).unwrap_or_default();
            any |= flag(field).ok_or_else(|| self.bad_field(record, column, field, "0 or 1"))?;
        }
        Ok(any)
    }

    fn bad_field(
        &self,
        record: &StringRecord,
        column: &Column,
        field: &str,
        wanted: &str,
    ) -> DataError {
        let line = record.position().map_or(0, csv::Position::line);
        let place = format!("line {line}, column `{}`", column.name);
        let problem = format!("\"{field}\" is not {wanted}");
        DataError::part(self.path, place, problem, "mend or remove this row")
    }
}

/// 0 or 1 in words.
pub(super) fn flag(field: &str) -> Option<bool> {
    match field.to_ascii_lowercase().as_str() {
        "1" | "1.0" | "true" | "t" | "yes" => Some(true),
        "0" | "0.0" | "false" | "f" | "no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Log, transitions};

    fn read_cart(path: &Path) -> Result<Log, DataError> {
        let names = ColumnNames {
            states: vec!["x".to_owned(), "v".to_owned()],
            actions: vec!["u".to_owned()],
        };
        transitions(&read_csv(path, Some(&names), Purpose::Log)?)
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
                "line 3|column `v`|NaN",
            ),
            (
                "text.csv",
                "x,v,u\n0,0,left\n1,1,0\n",
                "line 2|column `u`|left",
            ),
            (
                "missing.csv",
                "x,u\n0,0\n",
                "`v` is missing|header has: x, u|help",
            ),
            (
                "half.csv",
                "x,v,u,next.x\n0,0,0,0\n",
                "`next.v`|for every state|help",
            ),
            (
                "twice.csv",
                "x,v,v,u\n0,0,0,0\n",
                "two columns `v`|rename|help",
            ),
            (
                "short.csv",
                "x,v,u\n0,0,0\n1,1\n",
                "line|2 fields|as many fields",
            ),
            (
                "flag.csv",
                "x,v,u,terminal\n0,0,0,maybe\n",
                "`terminal`|maybe|0 or 1",
            ),
            ("one.csv", "x,v,u\n0,0,0\n", "no transition|two rows|help"),
            (
                "none.csv",
                "x,v,u,next.x,next.v\n",
                "no transition|no row|help",
            ),
        ];
        for (name, text, parts) in cases {
            let error = read(name, text).unwrap_err();
            for part in parts.split('|').chain([name]) {
                assert!(error.contains(part), "{name}: {error}");
            }
        }
        let error = read_cart(Path::new("no/such.csv")).unwrap_err();
        assert!(error.to_string().contains("no/such.csv"));
    }
}
