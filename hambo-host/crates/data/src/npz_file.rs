//! Logs in NumPy's NPZ, stored or deflated.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::arrays::{self, Array, Source};
use super::limits::Allowance;
use super::npy::{self, Header, Refusal};
use super::zip_file::{self, Entry};
use super::zip_write::ZipWriter;
use super::{Block, ColumnNames, DataError, Numbers, Table};

/// Reads a log from an NPZ archive.
///
/// # Errors
/// If the archive is damaged or a part is missing or unfit.
pub fn read_npz(path: &Path, names: Option<&ColumnNames>) -> Result<Table, DataError> {
    let mut archive = Archive::open(path)?;
    arrays::read_table(&mut archive, names)
}

struct Archive {
    path: PathBuf,
    entries: Vec<Entry>,
    allowance: Allowance,
}

impl Archive {
    fn open(path: &Path) -> Result<Self, DataError> {
        let file = path.display().to_string();
        let read = |source: io::Error| unreadable(&file, source);
        let mut archive = File::open(path).map_err(read)?;
        let length = archive.metadata().map_err(read)?.len();
        let entries = zip_file::entries(&mut archive).map_err(read)?;
        Ok(Self {
            path: path.to_owned(),
            entries,
            allowance: Allowance::new(&file, length),
        })
    }
}

impl Source for Archive {
    fn path(&self) -> &Path {
        &self.path
    }

    fn keys(&self) -> Vec<String> {
        let keys = self.entries.iter().map(Entry::key);
        keys.map(str::to_owned).collect()
    }

    fn array(&mut self, key: &str) -> Result<Array, DataError> {
        let file = self.path.display().to_string();
        let place = format!("`{key}`");
        let refuse = |refusal: Refusal| match refusal {
            Refusal::Text(problem) => DataError::Part {
                file: file.clone(),
                place: place.clone(),
                problem,
                help: "save it as float32, float64, an integer or a boolean array",
            },
            Refusal::Read(error) => DataError::Part {
                file: file.clone(),
                place: place.clone(),
                problem: match error.kind() {
                    io::ErrorKind::UnexpectedEof => "it ends before its numbers do".to_owned(),
                    _ => error.to_string(),
                },
                help: "the file is damaged; write it anew",
            },
        };
        let Some(entry) = self.entries.iter().find(|entry| entry.key() == key) else {
            let found = arrays::short_list(&self.keys());
            let key = key.to_owned();
            return Err(DataError::Key { file, key, found });
        };
        let archive = File::open(&self.path).map_err(|error| refuse(error.into()))?;
        let mut source = entry.open(archive).map_err(|error| refuse(error.into()))?;
        let (header, length) = Header::read(&mut source).map_err(refuse)?;
        let factors = |size: u64| {
            let shape = header.shape.iter().copied();
            shape.chain([size]).collect::<Vec<u64>>()
        };
        let size = header.kind.size as u64;
        // In memory a number takes at least four bytes.
        self.allowance.take(&place, &factors(size.max(4)))?;
        let bytes: u64 = factors(size).iter().product();
        if entry.size != length + bytes {
            let text = format!(
                "its shape {:?} needs {bytes} bytes, it has {}",
                header.shape,
                entry.size.saturating_sub(length)
            );
            return Err(refuse(Refusal::Text(text)));
        }
        let numbers = header.numbers(&mut source).map_err(refuse)?;
        Ok(Array {
            key: key.to_owned(),
            shape: header.shape,
            numbers,
        })
    }
}

fn unreadable(file: &str, error: io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => DataError::Whole {
            file: file.to_owned(),
            problem: error.to_string(),
            help: "the file is damaged; write it anew with numpy.savez or hambo data convert",
        },
        _ => DataError::Read {
            file: file.to_owned(),
            source: error,
        },
    }
}

/// Writes a log as an NPZ archive.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write_npz(out: &mut File, table: &Table, compress: bool) -> io::Result<()> {
    let mut zip = ZipWriter::new(BufWriter::with_capacity(1 << 16, out), compress);
    let rows = table.rows();
    let mut block = |aliases: &[&str], block: &Block, columns: Option<usize>| {
        zip.entry(&entry_name(aliases), |out| {
            let kind = match block.numbers() {
                Numbers::Single(_) => "<f4",
                Numbers::Double(_) => "<f8",
            };
            npy::write_header(&mut &mut *out, kind, rows, columns)?;
            write_numbers(out, block.numbers())
        })
    };
    let width = Some(table.states.columns());
    block(arrays::OBSERVATIONS, &table.states, width)?;
    block(
        arrays::ACTIONS,
        &table.actions,
        Some(table.actions.columns()),
    )?;
    if let Some(next_states) = &table.next_states {
        block(arrays::NEXT_OBSERVATIONS, next_states, width)?;
    }
    if let Some(rewards) = &table.rewards {
        block(arrays::REWARDS, rewards, None)?;
    }
    let flags = [
        (arrays::TERMINALS, &table.terminals),
        (arrays::TIMEOUTS, &table.timeouts),
    ];
    for (aliases, flags) in flags {
        if let Some(flags) = flags {
            zip.entry(&entry_name(aliases), |out| {
                npy::write_header(&mut &mut *out, "|b1", rows, None)?;
                let bytes: Vec<u8> = flags.iter().copied().map(u8::from).collect();
                out.write_all(&bytes)
            })?;
        }
    }
    if let Some(episodes) = &table.episodes {
        zip.entry(&entry_name(arrays::EPISODES), |out| {
            npy::write_header(&mut &mut *out, "<i8", rows, None)?;
            let bytes = episodes
                .iter()
                .flat_map(|episode| (*episode as i64).to_le_bytes());
            out.write_all(&bytes.collect::<Vec<u8>>())
        })?;
    }
    zip.finish()
}

fn entry_name(aliases: &[&str]) -> String {
    format!("{}.npy", aliases.first().copied().unwrap_or_default())
}

/// Little-endian, in pieces.
fn write_numbers(out: &mut dyn Write, numbers: &Numbers) -> io::Result<()> {
    const PIECE: usize = 1 << 14;
    match numbers {
        Numbers::Single(numbers) if cfg!(target_endian = "little") => {
            out.write_all(bytemuck::cast_slice(numbers))
        }
        Numbers::Double(numbers) if cfg!(target_endian = "little") => {
            out.write_all(bytemuck::cast_slice(numbers))
        }
        Numbers::Single(numbers) => numbers.chunks(PIECE).try_for_each(|piece| {
            let bytes: Vec<u8> = piece.iter().flat_map(|x| x.to_le_bytes()).collect();
            out.write_all(&bytes)
        }),
        Numbers::Double(numbers) => numbers.chunks(PIECE).try_for_each(|piece| {
            let bytes: Vec<u8> = piece.iter().flat_map(|x| x.to_le_bytes()).collect();
            out.write_all(&bytes)
        }),
    }
}
