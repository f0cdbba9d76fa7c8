//! Writing a log: whole or not at all.

use std::fs::File;
use std::path::Path;

use hambo_base::files::write_file;

use super::csv::write_csv;
#[cfg(feature = "hdf5")]
use super::hdf5::write_hdf5;
#[cfg(feature = "hdf5")]
use super::minari::write_minari;
use super::npz::write_npz;
#[cfg(feature = "parquet")]
use super::parquet::write_parquet;
use crate::error::DataError;
use crate::format::Format;
use crate::table::Table;

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// The kind of file.
    pub format: Format,
    /// HDF5 with one group per episode, as Minari keeps it, instead of D4RL's arrays.
    pub minari: bool,
    /// Smaller and slower: deflate in NPZ, gzip and shuffle in HDF5, zstd in Parquet.
    pub compress: bool,
}

/// Writes a table beside `path` and renames, so that a failed or interrupted write leaves what was
/// there before.
///
/// # Errors
/// If a number is not finite, the layout cannot hold the log, or the file cannot be written.
pub fn write_table(path: &Path, table: &Table, options: OutputOptions) -> Result<(), DataError> {
    table.check_finite()?;
    if !table.roles_known {
        let problem = "nothing tells its states from its actions";
        let help = "name them with --task TASK, or give `next.NAME` columns for the states";
        return Err(DataError::whole(&table.file, problem, help));
    }
    let failed = DataError::write(path);
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
            Format::Csv => write_csv(out, table).map_err(failed),
            Format::Npz => write_npz(out, table, options.compress).map_err(failed),
            #[cfg(feature = "hdf5")]
            Format::Hdf5 if options.minari => write_minari(out, table, options.compress),
            #[cfg(feature = "hdf5")]
            Format::Hdf5 => write_hdf5(out, table, options.compress),
            #[cfg(feature = "parquet")]
            Format::Parquet => write_parquet(out, table, options.compress),
            #[cfg(not(all(feature = "hdf5", feature = "parquet")))]
            format => Err(format.left_out(path)),
        }
    })
}

/// Writes a file, whole or not at all.
pub(crate) fn write_beside(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), DataError>,
) -> Result<(), DataError> {
    write_file(path, DataError::write(path), write)
}
