//! A sweep's folder: the frozen plan, models, rows, and what engines need.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hambo_base::Error;
use hambo_base::files::write_whole;

use crate::keep::{Kept, keep, keep_bytes, part};
use crate::plan::Sweep;
use crate::row::Row;

/// Rows in one folder.
const SHELF: usize = 1000;
/// The frozen plan.
const SWEEP: &str = "sweep.json";

/// The folder and the sweep in it.
#[derive(Clone, Debug)]
pub struct SweepFolder {
    root: PathBuf,
    sweep: Sweep,
}

impl SweepFolder {
    /// Makes the folder for a sweep, or finds the one that is there and holds the same.
    ///
    /// # Errors
    /// If another sweep is there, or the folder cannot be written.
    pub fn make(root: &Path, sweep: Sweep) -> Result<Self, Error> {
        if root.join(SWEEP).exists() {
            let there = Self::open(root)?;
            if let Some(part) = there.sweep.difference(&sweep) {
                return Err(Error::Usage(format!(
                    "{}: another sweep is there: {part} differs\nhelp: give another folder with \
                     -o, or remove this one",
                    root.display()
                )));
            }
            return Ok(there);
        }
        if fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Error::Usage(format!(
                "{}: the folder is not empty, and no sweep is in it\nhelp: give another with -o",
                root.display()
            )));
        }
        fs::create_dir_all(root).map_err(named(root))?;
        let root = root.canonicalize().map_err(named(root))?;
        let mut text = serde_json::to_string_pretty(&sweep).map_err(io::Error::other)?;
        text.push('\n');
        write_whole(&root.join(SWEEP), text.as_bytes())?;
        Ok(Self { root, sweep })
    }

    /// The folder of a sweep that was planned.
    ///
    /// # Errors
    /// If there is none, or another version of hambo planned it.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let path = root.join(SWEEP);
        let text = fs::read_to_string(&path).map_err(|problem| {
            Error::Usage(format!(
                "{}: {problem}\nhelp: give the folder of a sweep; hambo sweep PLAN makes one",
                path.display()
            ))
        })?;
        let sweep: Sweep = serde_json::from_str(&text).map_err(|problem| {
            Error::Usage(format!(
                "{}: {problem}\nhelp: this is no sweep of this version: plan it anew in another \
                 folder",
                path.display()
            ))
        })?;
        if sweep.hambo_version != env!("CARGO_PKG_VERSION") {
            return Err(Error::Usage(format!(
                "{}: planned by hambo {}, this is {}: their bits may differ\nhelp: plan it anew in \
                 another folder",
                path.display(),
                sweep.hambo_version,
                env!("CARGO_PKG_VERSION")
            )));
        }
        let root = root.canonicalize().map_err(named(root))?;
        Ok(Self { root, sweep })
    }

    /// The sweep.
    #[must_use]
    pub fn sweep(&self) -> &Sweep {
        &self.sweep
    }

    /// Where it is, from the root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a fit's model is.
    #[must_use]
    pub fn model(&self, fit_cell: usize) -> PathBuf {
        self.root.join(format!("models/{fit_cell:07}.hambo"))
    }

    /// Where a cell's row is.
    #[must_use]
    pub fn row_path(&self, cell: usize) -> PathBuf {
        let shelf = cell / SHELF;
        self.root.join(format!("rows/{shelf:04}/{cell:07}.json"))
    }

    /// Lets `write` fill a model file and puts it into its place.
    ///
    /// # Errors
    /// If it cannot be written, or a different model is there.
    pub fn keep_model(
        &self,
        fit_cell: usize,
        write: impl FnOnce(&Path) -> Result<(), Error>,
    ) -> Result<Kept, Error> {
        let part = part(&self.root, &format!("{fit_cell:07}.hambo"))?;
        if let Err(error) = write(&part) {
            let _ = fs::remove_file(&part);
            return Err(error);
        }
        Ok(keep(&part, &self.model(fit_cell))?)
    }

    /// Puts a row into its place.
    ///
    /// # Errors
    /// If it cannot be written, or a different row is there.
    pub fn keep_row(&self, row: &Row) -> Result<Kept, Error> {
        let place = self.row_path(row.cell);
        Ok(keep_bytes(&self.root, &place, row.text()?.as_bytes())?)
    }

    /// The row of a cell, if it is there.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn row(&self, cell: usize) -> Result<Option<Row>, Error> {
        let path = self.row_path(cell);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(named(&path)(error).into()),
        };
        match serde_json::from_str::<Row>(&text) {
            Ok(row) if row.cell == cell => Ok(Some(row)),
            read => {
                let problem = match read {
                    Ok(row) => format!("it holds the row of cell {}", row.cell),
                    Err(problem) => problem.to_string(),
                };
                Err(Error::Usage(format!(
                    "{}: this is not the row of its cell: {problem}\nhelp: remove the file and call \
                     hambo sweep again, which works it off anew",
                    path.display()
                )))
            }
        }
    }

    /// Every row that is there, by its cell.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn rows(&self) -> Result<BTreeMap<usize, Row>, Error> {
        let cells = 0..self.sweep.counts().cells();
        let done = self.done()?;
        let cells = cells.filter(|cell| done.get(*cell).copied().unwrap_or(false));
        cells
            .filter_map(|cell| Some(self.row(cell).transpose()?.map(|row| (cell, row))))
            .collect()
    }

    /// Which cells have a row, by one look at the folders.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn done(&self) -> Result<Vec<bool>, Error> {
        let cells = self.sweep.counts().cells();
        let mut done = vec![false; cells];
        for shelf in 0..cells.div_ceil(SHELF) {
            let folder = self.root.join(format!("rows/{shelf:04}"));
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(named(&folder)(error).into()),
            };
            for entry in entries {
                let name = entry.map_err(named(&folder))?.file_name();
                let name = name.to_string_lossy();
                let number = name.strip_suffix(".json");
                let number = number.and_then(|number| number.parse::<usize>().ok());
                if let Some(done) = number.and_then(|number| done.get_mut(number)) {
                    *done = true;
                }
            }
        }
        Ok(done)
    }
}

fn named(path: &Path) -> impl Fn(io::Error) -> io::Error + '_ {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
