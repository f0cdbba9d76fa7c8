//! Writing a log: whole or not at all.

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(feature = "parquet")]
use super::parquet_write;
use super::{DataError, Format, Table, csv_write, npz_file};
#[cfg(feature = "hdf5")]
use super::{hdf5_minari, hdf5_write};
use hambo_base::files::write_file;

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// The kind of file.
    pub format: Format,
    /// HDF5 with one group per episode, as Minari keeps it, instead of D4RL's
    /// arrays.
    pub minari: bool,
    /// Smaller and slower: deflate in NPZ, gzip and shuffle in HDF5, zstd in
    /// Parquet.
    pub compress: bool,
}

/// Writes a table beside `path` and renames, so that a failed or interrupted
/// write leaves what was there before.
///
/// # Errors
/// If a number is not finite, the layout cannot hold the log, or the file
/// cannot be written.
pub fn write_table(path: &Path, table: &Table, options: OutputOptions) -> Result<(), DataError> {
    table.check_finite()?;
    if !table.roles_known {
        return Err(DataError::Whole {
            file: table.file.display().to_string(),
            problem: "nothing tells its states from its actions".to_owned(),
            help: "name them with --task TASK, or give `next.NAME` columns for the states",
        });
    }
    let failed = |source: io::Error| failed(path, source);
    write_beside(path, |out| {
        let arrays = matches!(options.format, Format::Npz | Format::Hdf5);
        let numbered = (arrays && table.episodes.is_some()).then(|| {
            // Readers of D4RL's arrays look at flags only.
            let mut table = table.clone();
            table.number_episodes();
            table
        });
        let table = numbered.as_ref().unwrap_or(table);
        match options.format {
            Format::Csv => csv_write::write_csv(out, table).map_err(failed),
            Format::Npz => npz_file::write_npz(out, table, options.compress).map_err(failed),
            #[cfg(feature = "hdf5")]
            Format::Hdf5 if options.minari => {
                hdf5_minari::write_minari(out, table, options.compress)
            }
            #[cfg(feature = "hdf5")]
            Format::Hdf5 => hdf5_write::write_hdf5(out, table, options.compress),
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet_write::write_parquet(out, table, options.compress),
            #[cfg(not(all(feature = "hdf5", feature = "parquet")))]
            format => Err(format.left_out(path)),
        }
    })
}

/// Writes a file, whole or not at all.
pub(super) fn write_beside(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), DataError>,
) -> Result<(), DataError> {
    write_file(path, |source| failed(path, source), write)
}

/// The error of a file that cannot be written.
pub(super) fn failed(path: &Path, source: io::Error) -> DataError {
    DataError::Write {
        file: path.display().to_string(),
        source,
    }
}
