//! The table of all rows, and what the page about them says.

mod page;
mod summary;
mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;

use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_data::write_plain_parquet;

use crate::folder::SweepFolder;
use crate::row::{Found, Row};

/// What was gathered, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// Cells of the sweep.
    pub cells: usize,
    /// Models that were fitted.
    pub fitted: usize,
    /// Verdicts that were found, by their words.
    pub verdicts: BTreeMap<String, usize>,
    /// Cells that failed.
    pub failed: usize,
    /// Cells without a row.
    pub missing: usize,
    /// The files that were written.
    pub files: Vec<PathBuf>,
}

/// Reads every row and writes table and page into the sweep's folder. The same rows give the same
/// bytes.
///
/// # Errors
/// If there is no row, one cannot be read, or a file cannot be written.
pub fn gather(folder: &SweepFolder) -> Result<Gathered, Error> {
    let rows = folder.rows()?;
    let mut gathered = counted(folder.sweep().counts().cells(), &rows);
    if rows.is_empty() {
        return Err(Error::Usage(format!(
            "{}: no cell has been worked off yet\nhelp: hambo sweep PLAN works them off",
            folder.root().display()
        )));
    }
    let columns = table::columns(&rows);
    let places = ["table.parquet", "table.csv", "report.html"];
    let [parquet, csv, page] = places.map(|name| folder.root().join(name));
    write_whole(&csv, table::csv(&columns)?.as_bytes())?;
    write_plain_parquet(&parquet, &columns)?;
    let about = page::about(folder, &rows, &gathered)?;
    write_whole(&page, hambo_report::sweep_page(&about).as_bytes())?;
    gathered.files = vec![parquet, csv, page];
    Ok(gathered)
}

/// Counts what was found.
fn counted(cells: usize, rows: &BTreeMap<usize, Row>) -> Gathered {
    let mut gathered = Gathered {
        cells,
        fitted: 0,
        verdicts: BTreeMap::new(),
        failed: 0,
        missing: cells.saturating_sub(rows.len()),
        files: Vec::new(),
    };
    for row in rows.values() {
        match &row.found {
            Found::Fitted(_) => gathered.fitted += 1,
            Found::Failed(_) => gathered.failed += 1,
            Found::Checked(checked) => {
                let word = checked.verdict.clone().unwrap_or_else(|| "none".to_owned());
                *gathered.verdicts.entry(word).or_default() += 1;
            }
        }
    }
    gathered
}
