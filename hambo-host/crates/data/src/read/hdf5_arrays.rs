//! The arrays of one group of an HDF5 file.

use std::path::{Path, PathBuf};

use hdf5_pure::{DType, Dataset, Error, FormatError, Group};

use super::arrays::{Array, Source};
use super::limits::Allowance;
use crate::error::DataError;
use crate::table::Numbers;

/// Bytes that are decoded at a time.
const WINDOW: u64 = 8 << 20;
/// Filters that the reader undoes: deflate, shuffle, Fletcher's checksum, scale-offset, LZF.
const FILTERS: [u16; 5] = [1, 2, 3, 6, 32_000];
const DAMAGED: &str = "the file is damaged or cut short; write it anew";

/// The file as a whole is unfit.
pub(super) fn damaged(file: &Path, error: &Error) -> DataError {
    DataError::whole(
        file,
        format!("this HDF5 file cannot be read: {error}"),
        DAMAGED,
    )
}

/// The arrays of one group.
pub(super) struct Arrays<'a> {
    path: PathBuf,
    group: Group,
    /// Its name with a slash, for messages; empty for the root.
    prefix: String,
    pub(super) datasets: Vec<String>,
    pub(super) groups: Vec<String>,
    allowance: &'a mut Allowance,
}

impl<'a> Arrays<'a> {
    pub(super) fn open(
        path: &Path,
        group: Group,
        prefix: &str,
        allowance: &'a mut Allowance,
    ) -> Result<Self, DataError> {
        let failed = |error: Error| damaged(path, &error);
        Ok(Self {
            path: path.to_owned(),
            datasets: group.datasets().map_err(failed)?,
            groups: group.groups().map_err(failed)?,
            group,
            prefix: prefix.to_owned(),
            allowance,
        })
    }

    fn place(&self, key: &str) -> String {
        format!("`{}{key}`", self.prefix)
    }

    fn part(&self, key: &str, problem: String, help: &'static str) -> DataError {
        DataError::part(&self.path, self.place(key), problem, help)
    }

    fn unreadable(&self, key: &str, error: &Error) -> DataError {
        let help = match error {
            // HDF5 2.0 with libver="latest".
            Error::Format(FormatError::InvalidLayoutVersion(_)) => {
                "this layout is newer than HDF5 1.14; write the file with libver=\"v114\" or older"
            }
            _ => DAMAGED,
        };
        self.part(key, format!("it cannot be read: {error}"), help)
    }
}

impl Source for Arrays<'_> {
    fn path(&self) -> &Path {
        &self.path
    }

    fn keys(&self) -> Vec<String> {
        let keys = self.datasets.iter().chain(&self.groups);
        keys.cloned().collect()
    }

    fn array(&mut self, key: &str) -> Result<Array, DataError> {
        if self.groups.iter().any(|group| group == key) {
            let text = "it is a group, as of a dictionary or tuple space";
            return Err(self.part(key, text.to_owned(), "flatten the space into one array"));
        }
        let failed = |error: Error| self.unreadable(key, &error);
        let dataset = self.group.dataset(key).map_err(failed)?;
        let mut filters = dataset.filters().into_iter();
        if let Some(id) = filters.find(|id| !FILTERS.contains(id)) {
            let text = format!("it is compressed with {}", filter_name(id));
            let help = "write it with gzip: h5repack -f GZIP=4 IN OUT";
            return Err(self.part(key, text, help));
        }
        let shape = dataset.shape().map_err(failed)?;
        let size = dataset.element_size().map_err(failed)?;
        let kind = dataset.dtype().map_err(failed)?;
        let Some(width) = width(&kind, size) else {
            let text = format!("its type is {kind}, not one of numbers and booleans");
            return Err(self.part(key, text, "save it as float32, float64, an integer or bool"));
        };
        let chunk = dataset.chunk_shape().map_err(failed)?;
        let place = self.place(key);
        let factors = |shape: &[u64], size: u64| {
            let factors = shape.iter().copied().chain([size]);
            factors.collect::<Vec<u64>>()
        };
        if let Some(chunk) = &chunk {
            // A chunk is decoded whole, however few rows there are.
            self.allowance.clone().take(&place, &factors(chunk, size))?;
        }
        self.allowance.take(&place, &factors(&shape, size.max(4)))?;
        // What is not chunked has no chunks; its length is checked by the reader.
        let chunks = dataset.chunks().unwrap_or_default();
        let outside = chunks.iter().any(|chunk| {
            let end = chunk.address.checked_add(chunk.storage_size);
            end.is_none_or(|end| end > self.allowance.file_length())
        });
        if outside {
            let text = "a chunk of it lies outside the file".to_owned();
            return Err(self.part(key, text, DAMAGED));
        }
        let numbers = read_numbers(&dataset, &shape, width, size, chunk.as_deref());
        let numbers = numbers.map_err(|error| self.unreadable(key, &error))?;
        Ok(Array {
            key: format!("{}{key}", self.prefix),
            shape,
            numbers,
        })
    }
}

/// How elements are held.
#[derive(Clone, Copy)]
enum Width {
    Single,
    Double,
    /// An enumeration of one byte, such as h5py's booleans.
    Byte,
}

fn width(kind: &DType, size: u64) -> Option<Width> {
    match kind {
        DType::F32 | DType::I8 | DType::U8 | DType::I16 | DType::U16 => Some(Width::Single),
        DType::F64 | DType::I32 | DType::U32 | DType::I64 | DType::U64 => Some(Width::Double),
        DType::Enum(_) if size == 1 => Some(Width::Byte),
        _ => None,
    }
}

/// Reads rows by the window, whole chunks at a time.
fn read_numbers(
    dataset: &Dataset,
    shape: &[u64],
    width: Width,
    size: u64,
    chunk: Option<&[u64]>,
) -> Result<Numbers, Error> {
    let rows = shape.first().copied().unwrap_or(1);
    let row = shape.iter().skip(1).product::<u64>().saturating_mul(size);
    let chunk_rows = chunk.and_then(|chunk| chunk.first().copied()).unwrap_or(1);
    let step = (WINDOW / row.max(1))
        .max(1)
        .next_multiple_of(chunk_rows.max(1));
    let mut numbers = match width {
        Width::Single | Width::Byte => Numbers::Single(Vec::new()),
        Width::Double => Numbers::Double(Vec::new()),
    };
    let mut start = 0;
    while start < rows {
        match (&mut numbers, width) {
            (Numbers::Double(numbers), _) => numbers.extend(dataset.read_f64_rows(start, step)?),
            (Numbers::Single(numbers), Width::Byte) => {
                let bytes = dataset.read_raw_rows(start, step)?;
                numbers.extend(bytes.into_iter().map(f32::from));
            }
            (Numbers::Single(numbers), _) => numbers.extend(dataset.read_f32_rows(start, step)?),
        }
        start = start.saturating_add(step);
    }
    Ok(numbers)
}

fn filter_name(id: u16) -> String {
    let name = match id {
        4 => "szip",
        5 => "n-bit",
        32_001 => "Blosc",
        32_004 => "LZ4",
        32_008 => "bitshuffle",
        32_013 => "ZFP",
        32_015 => "Zstandard",
        32_026 => "Blosc2",
        _ => "a filter that is not known",
    };
    format!("{name} (filter {id})")
}
