//! Studies: many numbered cells whose rows are kept in a file, and that can be interrupted.
//!
//! A [`Study`] has numbered cells; a cell follows from its number alone. [`run`](run::run)
//! works off the cells that the file does not hold yet; a summary counts what the file holds
//! and draws it.

pub mod rows;
pub mod run;

use crate::Error;
use rows::Table;

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

/// A number as the files hold it: six significant digits.
///
/// ```
/// use hambo_base::study::digits;
///
/// assert_eq!((digits(1.0 / 3.0), digits(-2e7)), ("0.333333".to_owned(), "-20000000".to_owned()));
/// ```
#[must_use]
pub fn digits(number: f64) -> String {
    match format!("{number:.5e}").parse::<f64>() {
        Ok(rounded) if rounded.is_finite() => rounded.to_string(),
        _ => number.to_string(),
    }
}

/// A sentence as the files hold it: without the separator of fields.
#[must_use]
pub fn field(text: &str) -> String {
    text.replace(',', ";").replace('\n', " ")
}
