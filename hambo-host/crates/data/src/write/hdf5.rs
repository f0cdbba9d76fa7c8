//! Writing logs as HDF5 in D4RL's layout.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write;

use hdf5_pure::{
    DatasetBuilder, EnumTypeBuilder, Error, FileBuilder, make_f32_type, make_f64_type,
    make_i8_type, make_i64_type,
};

use super::arrays::{Array, Kind, arrays};
use super::hdf5_plain::beginning;
use crate::error::DataError;
use crate::table::Table;

/// Bytes of a compressed chunk, about; what h5py aims at, too.
const CHUNK: u64 = 256 << 10;
/// Rows of a chunk, at most: from 65,536 on the writer spends four bytes on a length where HDF5 2.0
/// insists on three.
const CHUNK_ROWS: u64 = 1 << 15;
/// Sensor data gain little from more.
const LEVEL: u32 = 4;

/// Writes one array per part.
pub(super) fn write_hdf5(out: &mut File, table: &Table, compress: bool) -> Result<(), DataError> {
    let mut parts = arrays(table);
    if compress {
        let mut builder = FileBuilder::new();
        for (array, bytes) in parts {
            add(builder.create_dataset(array.name), &array, bytes, true)?;
        }
        return finish(builder, out);
    }
    // Straight from memory.
    parts.sort_by_key(|(array, _)| array.name);
    let (arrays, bytes): (Vec<Array>, Vec<Cow<'_, [u8]>>) = parts.into_iter().unzip();
    let begun = out.write_all(&beginning(&arrays));
    let written = begun.and_then(|()| bytes.iter().try_for_each(|bytes| out.write_all(bytes)));
    written.map_err(|error| unwritable(&Error::Io(error)))
}

/// Adds an array; flags in the form that h5py reads as `bool`.
pub(super) fn add(
    dataset: &mut DatasetBuilder,
    array: &Array,
    bytes: Cow<'_, [u8]>,
    compress: bool,
) -> Result<(), DataError> {
    let kind = match array.kind {
        Kind::Single => make_f32_type(),
        Kind::Double => make_f64_type(),
        Kind::Integer => make_i64_type(),
        Kind::Flag => EnumTypeBuilder::with_base(make_i8_type())
            .value("FALSE", 0)
            .value("TRUE", 1)
            .build()
            .map_err(|error| unwritable(&Error::Format(error)))?,
    };
    dataset.with_shape(&array.shape);
    dataset.with_raw_data(kind, bytes.into_owned(), array.shape.iter().product());
    let numbers = matches!(array.kind, Kind::Single | Kind::Double);
    if let Some(rows) = array.shape.first().copied()
        && (compress && numbers && rows > 0)
    {
        let row_bytes = array.bytes() / rows;
        let mut chunk = array.shape.clone();
        chunk[0] = (CHUNK / row_bytes).clamp(1, rows.min(CHUNK_ROWS));
        dataset
            .with_chunks(&chunk)
            .with_shuffle()
            .with_deflate(LEVEL);
    }
    Ok(())
}

/// Writes the file.
pub(super) fn finish(builder: FileBuilder, out: &mut File) -> Result<(), DataError> {
    builder.finish_to(out).map_err(|error| unwritable(&error))
}

fn unwritable(error: &Error) -> DataError {
    DataError::Unfit {
        place: "the HDF5 file".to_owned(),
        problem: format!("it cannot be written: {error}"),
        help: "check the folder, its permissions and the space left",
    }
}
