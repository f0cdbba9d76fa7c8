//! Reading logs from HDF5: D4RL's arrays at the root, or Minari's groups of one episode each.

use std::path::Path;

use hambo_task::column_names::ColumnNames;
use hdf5_pure::File;

use super::arrays;
use super::hdf5_arrays::{Arrays, damaged};
use super::limits::Allowance;
use super::minari;
use crate::error::DataError;
use crate::table::Table;

/// Files up to this size are read whole.
const IN_MEMORY: u64 = 64 << 20;

/// Reads a log from an HDF5 file.
///
/// # Errors
/// If the file is damaged or a part is missing or unfit.
pub(super) fn read_hdf5(path: &Path, names: Option<&ColumnNames>) -> Result<Table, DataError> {
    let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    // In memory the reader looks before it allocates.
    let file = if length <= IN_MEMORY {
        File::open(path)
    } else {
        File::open_streaming(path)
    };
    let file = file.map_err(|error| damaged(path, &error))?;
    let mut allowance = Allowance::new(path, file.file_size());
    let mut root = Arrays::open(path, file.root(), "", &mut allowance)?;
    if root.datasets.is_empty() {
        let episodes = minari::episodes(&root.groups);
        if !episodes.is_empty() {
            return minari::read_minari(path, &file.root(), &episodes, allowance, names);
        }
    }
    arrays::read_table(&mut root, names)
}
