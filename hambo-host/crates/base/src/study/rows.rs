//! The file of a study's rows: plain CSV without quotes, that an interrupt cannot spoil.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::error::Error;

/// The fields of one row, in the order of the study's columns.
pub type Row = Vec<String>;

/// Numbered cells, each with its rows.
pub trait Study: Sync {
    /// As the command and the files call it.
    fn name(&self) -> &'static str;

    /// The file's header. The first column is the cell's number.
    fn columns(&self) -> &'static [&'static str];

    /// How many cells there are.
    fn cells(&self) -> usize;

    /// How many rows a cell has.
    fn rows_per_cell(&self) -> usize {
        1
    }

    /// How many rows one cell has, where they differ.
    fn rows_of(&self, _cell: usize) -> usize {
        self.rows_per_cell()
    }

    /// Whether this program can work off a cell: some need parts that it may lack.
    fn can_run(&self, _cell: usize) -> bool {
        true
    }

    /// Works off a cell, which depends on nothing but its number and the program.
    ///
    /// # Errors
    /// If the cell itself is wrong; a model that cannot be fitted is a row.
    fn run(&self, cell: usize) -> Result<Vec<Row>, Error>;

    /// What the rows say.
    fn summary(&self, table: &Table) -> Summary;
}

/// What a study's rows say.
#[derive(Clone, Debug)]
pub struct Summary {
    /// For the terminal, and for the documentation.
    pub text: String,
    /// The picture.
    pub svg: String,
}

/// Rows under a header.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Row>,
}

impl Table {
    /// Reads a file's text. A last line without its end, or one of another length, was cut
    /// off by an interrupt and does not count.
    ///
    /// # Errors
    /// If the header is not the study's.
    pub fn parse(text: &str, study: &dyn Study) -> Result<Self, String> {
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let mut lines = whole.lines();
        let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Row>();
        let columns = study.columns().iter().map(|name| (*name).to_owned());
        let columns: Row = columns.collect();
        match lines.next().map(fields) {
            None => {}
            Some(header) if header == columns => {}
            Some(header) => {
                return Err(format!(
                    "the file's header is {}, the study's columns are {}: move the file away",
                    header.join(","),
                    columns.join(",")
                ));
            }
        }
        let rows = lines.map(fields).filter(|row| row.len() == columns.len());
        Ok(Self {
            rows: rows.collect(),
            columns,
        })
    }

    /// Reads a file; one that is not there has no rows.
    ///
    /// # Errors
    /// If it cannot be read, or its header is not the study's.
    pub fn read(path: &Path, study: &dyn Study) -> Result<Self, String> {
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, study),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::parse("", study),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    pub fn rows(&self) -> impl Iterator<Item = Record<'_>> {
        self.rows.iter().map(|row| Record { table: self, row })
    }

    /// The rows of a cell.
    #[must_use]
    pub fn of_cell(&self, cell: usize) -> Vec<&Row> {
        let rows = self.rows.iter();
        rows.filter(|row| number_of(row) == Some(cell)).collect()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Only the cells that have all their rows, each once, in the order of their numbers.
    #[must_use]
    pub fn whole_cells(&self, study: &dyn Study) -> Self {
        let mut cells: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
        for row in &self.rows {
            if let Some(cell) = number_of(row) {
                cells.entry(cell).or_default().push(row.clone());
            }
        }
        let whole = cells
            .into_iter()
            .filter(|(cell, rows)| rows.len() == study.rows_of(*cell))
            .map(|(_, rows)| rows);
        Self {
            columns: self.columns.clone(),
            rows: whole.flatten().collect(),
        }
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> String {
        let lines = std::iter::once(&self.columns).chain(&self.rows);
        lines.map(|row| row.join(",") + "\n").collect()
    }

    /// Writes the file anew, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let beside = path.with_extension("csv.part");
        fs::write(&beside, self.text())?;
        fs::rename(beside, path)
    }
}

/// One row with the names of its fields.
#[derive(Clone, Copy, Debug)]
pub struct Record<'t> {
    table: &'t Table,
    row: &'t Row,
}

impl<'t> Record<'t> {
    /// A field; empty if there is no such column.
    #[must_use]
    pub fn text(&self, column: &str) -> &'t str {
        let place = self.table.columns.iter().position(|name| name == column);
        let field = place.and_then(|place| self.row.get(place));
        field.map_or("", String::as_str)
    }

    /// A number; NaN if there is none.
    #[must_use]
    pub fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(f64::NAN)
    }

    /// Whether a field says yes.
    #[must_use]
    pub fn yes(&self, column: &str) -> bool {
        self.text(column) == "yes"
    }
}

/// How a file says whether something holds.
#[must_use]
pub fn yes_or_no(holds: bool) -> String {
    if holds {
        "yes".to_owned()
    } else {
        "no".to_owned()
    }
}

/// A file that grows by whole cells.
pub struct Appender {
    file: File,
}

impl Appender {
    /// Writes what is whole and goes on behind it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new(path: &Path, table: &Table) -> io::Result<Self> {
        table.write(path)?;
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Self { file })
    }

    /// Adds a cell, at once.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, rows: &[Row]) -> io::Result<()> {
        let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        self.file.write_all(text.as_bytes())?;
        self.file.flush()
    }
}

fn number_of(row: &Row) -> Option<usize> {
    row.first()?.parse().ok()
}
