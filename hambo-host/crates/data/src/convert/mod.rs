//! Logs from one kind of file to another.

#[cfg(feature = "hdf5")]
mod npz_to_hdf5;

use std::path::{Path, PathBuf};

use hambo_task::column_names::ColumnNames;

use crate::error::DataError;
#[cfg(feature = "hdf5")]
use crate::format::Format;
use crate::read::read_table;
use crate::write::{OutputOptions, write_table};

/// What the end of a file says of its last episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEnds {
    /// Nothing: the file's columns must say where episodes end.
    Marked,
    /// Where columns say nothing, a file is one episode.
    OfEpisodes,
}

/// Reads logs and writes them as one file, whole or not at all; returns the count of rows.
///
/// # Errors
/// As [`read_table`] and [`write_table`].
///
/// ```
/// use hambo_data::{FileEnds, Format, OutputOptions, convert, read_table};
///
/// let folder = std::env::temp_dir();
/// let (csv, npz) = (folder.join("hambo-doc-in.csv"), folder.join("hambo-doc-out.npz"));
/// std::fs::write(&csv, "x,u,next.x\n0,1,1\n1,1,2\n")?;
/// let options = OutputOptions { format: Format::Npz, minari: false, compress: false };
/// assert_eq!(convert(&[csv], None, &npz, options, FileEnds::Marked)?, 2);
/// assert_eq!(read_table(&[npz], None)?.rows(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert(
    inputs: &[PathBuf],
    names: Option<&ColumnNames>,
    output: &Path,
    options: OutputOptions,
    ends: FileEnds,
) -> Result<usize, DataError> {
    #[cfg(feature = "hdf5")]
    if let [input] = inputs
        && options.format == Format::Hdf5
        && !(options.minari || options.compress)
        && let Some(rows) = npz_to_hdf5::convert(input, names, output)
    {
        return Ok(rows);
    }
    let mut table = read_table(inputs, names)?;
    table.check_finite()?;
    match ends {
        FileEnds::Marked => table.check_ends()?,
        FileEnds::OfEpisodes => table.files_are_episodes(),
    }
    write_table(output, &table, options)?;
    Ok(table.rows())
}
