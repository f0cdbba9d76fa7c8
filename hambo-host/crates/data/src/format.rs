//! Which kind of file it is: by its first bytes; the name only decides where they do not.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::DataError;

/// A kind of file that holds a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a header.
    Csv,
    /// NumPy's archive of arrays.
    Npz,
    /// HDF5: D4RL's arrays or Minari's episodes.
    Hdf5,
    /// Parquet, one column per name.
    Parquet,
}

impl Format {
    /// By the end of a name, for a file to write.
    ///
    /// ```
    /// use hambo_data::Format;
    /// assert_eq!(Format::of_name("runs/hopper.H5".as_ref()), Some(Format::Hdf5));
    /// assert_eq!(Format::of_name("hopper.pkl".as_ref()), None);
    /// ```
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "csv" | "tsv" | "txt" => Some(Self::Csv),
            "npz" => Some(Self::Npz),
            "hdf5" | "h5" | "hdf" | "he5" => Some(Self::Hdf5),
            "parquet" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// In one word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Npz => "NPZ",
            Self::Hdf5 => "HDF5",
            Self::Parquet => "Parquet",
        }
    }

    /// The error of a file in a format that this build lacks.
    #[cfg(not(all(feature = "hdf5", feature = "parquet")))]
    pub(crate) fn left_out(self, path: &Path) -> DataError {
        let (name, feature) = (self.name(), self.name().to_ascii_lowercase());
        let problem = format!("this hambo was built without {name} (cargo feature `{feature}`)");
        let help =
            "`cargo build --release` builds it with every format; or convert the log to CSV or NPZ";
        DataError::whole(path, problem, help)
    }

    /// By what is in a file.
    ///
    /// # Errors
    /// If it cannot be read, is a folder, or is none of these.
    pub fn of_file(path: &Path) -> Result<Self, DataError> {
        let unfit = |problem: &str, help| Err(DataError::whole(path, problem, help));
        if path.is_dir() {
            let help = "give the files in it; of a Minari dataset that is data/main_data.hdf5";
            return unfit("this is a folder", help);
        }
        // A pipe may never end, or never begin.
        if path.exists() && !path.is_file() {
            return unfit("this is not a plain file", "write the log to a file first");
        }
        let start = start_of(path).map_err(DataError::read(path))?;
        if let Some(format) = by_content(&start) {
            return Ok(format);
        }
        if start.starts_with(b"\x93NUMPY") {
            let help = "put observations, actions, … into one file with numpy.savez";
            return unfit("this is one array, not a log", help);
        }
        if start.starts_with(b"\x1f\x8b") {
            return unfit("this is a gzip file", "unpack it first: gunzip FILE");
        }
        if start.starts_with(b"\x80") {
            let help = "pickles run code and are never loaded; save the arrays with numpy.savez";
            return unfit("this looks like a Python pickle", help);
        }
        let is_text = |byte: &u8| *byte >= b' ' || byte.is_ascii_whitespace();
        match Self::of_name(path) {
            Some(Self::Csv) | None if start.is_empty() => {
                unfit("the file is empty", "write the log anew")
            }
            Some(Self::Csv) if !start.contains(&0) => Ok(Self::Csv),
            None if start.iter().all(is_text) => Ok(Self::Csv),
            Some(format) => unfit(
                &format!("its first bytes are not those of {} data", format.name()),
                "the file is damaged or has a wrong name; give CSV with a header, NPZ, HDF5 or Parquet",
            ),
            None => unfit(
                "a log of this kind is not known",
                "give CSV with a header, NPZ, HDF5 or Parquet",
            ),
        }
    }
}

fn start_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(8192).read_to_end(&mut start)?;
    Ok(start)
}

fn by_content(start: &[u8]) -> Option<Format> {
    const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
    // A user block may come first.
    let places = [0, 512, 1024, 2048, 4096];
    let at = |place: usize| start.get(place..).unwrap_or_default();
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        Some(Format::Npz)
    } else if start.starts_with(b"PAR1") {
        Some(Format::Parquet)
    } else if places.iter().any(|place| at(*place).starts_with(HDF5)) {
        Some(Format::Hdf5)
    } else {
        None
    }
}
