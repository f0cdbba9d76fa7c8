//! Reading logs from NumPy's NPZ, stored or deflated.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use hambo_task::column_names::ColumnNames;
use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use super::arrays::{self, Array, Source};
use super::limits::Allowance;
use super::npy::Header;
use crate::error::DataError;
use crate::table::Table;

/// Reads a log from an NPZ archive.
///
/// # Errors
/// If the archive is damaged or a part is missing or unfit.
pub(super) fn read_npz(path: &Path, names: Option<&ColumnNames>) -> Result<Table, DataError> {
    arrays::read_table(&mut Archive::open(path)?, names)
}

/// An archive whose directory was read. Sizes in it are claims.
pub(crate) struct Archive {
    path: PathBuf,
    zip: ZipArchive<BufReader<File>>,
    allowance: Allowance,
}

/// An array of an archive, before its first number.
pub(crate) struct Entry<'a> {
    pub(crate) header: Header,
    /// Its checksum is compared where it ends, so it has to be read to its end.
    pub(crate) bytes: ZipFile<'a, BufReader<File>>,
}

impl Archive {
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).map_err(DataError::read(path))?;
        let length = file.metadata().map_err(DataError::read(path))?.len();
        let zip = ZipArchive::new(BufReader::with_capacity(1 << 16, file));
        let zip = zip.map_err(|error| {
            let problem = format!("the archive has no directory at its end to read: {error}");
            let help = "the file is damaged; write it anew with numpy.savez or hambo data convert";
            DataError::whole(path, problem, help)
        })?;
        Ok(Self {
            path: path.to_owned(),
            zip,
            allowance: Allowance::new(path, length),
        })
    }

    /// The names of its arrays, without `.npy`.
    pub(crate) fn keys(&self) -> Vec<String> {
        let names = self.zip.file_names_raw();
        let names = names.map(|name| name.strip_suffix(b".npy").unwrap_or(name));
        let keys = names.map(|name| String::from_utf8_lossy(name).into_owned());
        keys.collect()
    }

    /// Opens an array and reads its header.
    pub(crate) fn entry(&mut self, key: &str) -> io::Result<Entry<'_>> {
        let index = self.keys().iter().position(|name| name == key);
        let mut bytes = self.zip.by_index(index.ok_or(ErrorKind::NotFound)?)?;
        let header = Header::read(&mut bytes)?;
        Ok(Entry { header, bytes })
    }
}

impl Source for Archive {
    fn path(&self) -> &Path {
        &self.path
    }

    fn keys(&self) -> Vec<String> {
        self.keys()
    }

    fn array(&mut self, key: &str) -> Result<Array, DataError> {
        let (path, place) = (self.path.clone(), format!("`{key}`"));
        let mut allowance = self.allowance.clone();
        let refuse = |error| refused(&path, &place, &error);
        let Entry { header, mut bytes } = self.entry(key).map_err(refuse)?;
        let factors = |size: u64| {
            let shape = header.shape.iter().copied();
            shape.chain([size]).collect::<Vec<u64>>()
        };
        // In memory a number takes at least four bytes.
        allowance.take(&place, &factors(header.kind.size.max(4)))?;
        let needed: u64 = factors(header.kind.size).iter().product();
        let there = bytes.size().saturating_sub(header.length);
        if needed != there {
            let shape = &header.shape;
            let problem = format!("its shape {shape:?} needs {needed} bytes, it has {there}");
            return Err(refuse(io::Error::new(ErrorKind::InvalidData, problem)));
        }
        let numbers = header.numbers(&mut bytes).map_err(refuse)?;
        // The checksum is compared at the end.
        bytes.read(&mut [0]).map_err(refuse)?;
        drop(bytes);
        self.allowance = allowance;
        Ok(Array {
            key: key.to_owned(),
            shape: header.shape,
            numbers,
        })
    }
}

/// An array that cannot be read.
fn refused(file: &Path, place: &str, error: &io::Error) -> DataError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    let problem = match inner {
        Some(ZipError::CompressionMethodNotSupported(number)) => {
            format!("its compression, number {number}, is not known")
        }
        Some(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
            "it is encrypted".to_owned()
        }
        _ if error.kind() == ErrorKind::UnexpectedEof => "it ends before its numbers do".to_owned(),
        _ if error.to_string() == "Invalid checksum" => {
            "its checksum is wrong: the file is damaged".to_owned()
        }
        _ => error.to_string(),
    };
    let help = if error.kind() == ErrorKind::Unsupported && inner.is_none() {
        "save it as float32, float64, an integer or a boolean array"
    } else {
        "the file is damaged; write it anew"
    };
    DataError::part(file, place, problem, help)
}
