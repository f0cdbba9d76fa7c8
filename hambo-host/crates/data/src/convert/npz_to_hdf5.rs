//! NPZ to HDF5 piece by piece, for arrays whose bytes stay the same.
//!
//! Most logs that are converted are of this kind, and a table in memory costs them more than
//! reading and writing does. Nothing is decided here: what is not plain, or not right, is left to
//! the table, which converts it or says what is wrong with it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use hambo_task::column_names::ColumnNames;
use zip::CompressionMethod;

use crate::error::DataError;
use crate::format::Format;
use crate::read::{Archive, Entry};
use crate::table::all_finite;
use crate::table::keys::{self, Key};
use crate::write::{Array, Kind, beginning, write_beside};

/// Words of eight bytes that are passed on at a time: few enough to stay in the cache between the
/// file that is read and the one that is written.
const PIECE: usize = 1 << 15;
/// Pieces between reading and writing.
const PIECES: usize = 4;

/// What an array of a log holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Vectors,
    Number,
    Flag,
}

/// The arrays in the order of the names that are written.
const PARTS: [(Key, Role); 6] = [
    (keys::ACTIONS, Role::Vectors),
    (keys::NEXT_OBSERVATIONS, Role::Vectors),
    (keys::OBSERVATIONS, Role::Vectors),
    (keys::REWARDS, Role::Number),
    (keys::TERMINALS, Role::Flag),
    (keys::TIMEOUTS, Role::Flag),
];

/// Converts, and returns the count of rows; `None` if the table has to do it.
pub(super) fn convert(input: &Path, names: Option<&ColumnNames>, output: &Path) -> Option<usize> {
    if cfg!(target_endian = "big") || Format::of_file(input).ok()? != Format::Npz {
        return None;
    }
    let mut archive = Archive::open(input).ok()?;
    let parts = parts(&mut archive)?;
    let (keys, arrays): (Vec<&str>, Vec<Array>) = parts.into_iter().unzip();
    let rows = agree(&arrays, names)?;
    let written = write_beside(output, |out| {
        let begun = out.write_all(&beginning(&arrays));
        let passed = begun.and_then(|()| pass(&arrays, &keys, archive, out));
        passed.map_err(DataError::write(output))
    });
    written.ok()?;
    usize::try_from(rows).ok()
}

/// The arrays of a log with their keys.
fn parts(archive: &mut Archive) -> Option<Vec<(&'static str, Array)>> {
    let keys = archive.keys();
    // They are numbered anew, and change the flags.
    if keys::EPISODES.find(&keys).is_some() {
        return None;
    }
    let found = PARTS
        .iter()
        .filter_map(|(key, role)| Some((key.name, role, key.find(&keys)?)));
    found
        .map(|(name, role, key)| Some((key, plain(name, *role, &archive.entry(key).ok()?)?)))
        .collect()
}

/// An array that HDF5 holds with the same bytes; `None` if this one is not.
fn plain(name: &'static str, role: Role, entry: &Entry<'_>) -> Option<Array> {
    if entry.bytes.compression() != CompressionMethod::Stored {
        return None;
    }
    let header = &entry.header;
    let kind = match (role, header.plain_type()?) {
        (Role::Vectors | Role::Number, (b'f', 4)) => Kind::Single,
        (Role::Vectors | Role::Number, (b'f', 8)) => Kind::Double,
        (Role::Flag, (_, 1)) => Kind::Flag,
        _ => return None,
    };
    let shape = match (role, header.shape.as_slice()) {
        (Role::Vectors, [rows]) => vec![*rows, 1],
        (Role::Vectors, [rows, columns]) if *columns > 0 => vec![*rows, *columns],
        (Role::Number | Role::Flag, [rows] | [rows, 1]) => vec![*rows],
        _ => return None,
    };
    let array = Array { name, kind, shape };
    let whole = array.bytes().checked_add(header.length)?;
    (whole == entry.bytes.size()).then_some(array)
}

/// The count of rows, if all arrays have as many and fit each other and the names.
fn agree(arrays: &[Array], names: Option<&ColumnNames>) -> Option<u64> {
    let shape = |key: Key| {
        let array = arrays.iter().find(|array| array.name == key.name)?;
        Some(array.shape.as_slice())
    };
    let (states, actions) = (shape(keys::OBSERVATIONS)?, shape(keys::ACTIONS)?);
    let next_states = shape(keys::NEXT_OBSERVATIONS);
    let rows = *states.first()?;
    let fits = |shape: &[u64], names: &[String]| shape.last() == Some(&(names.len() as u64));
    let agree = rows > 0
        && arrays
            .iter()
            .all(|array| array.shape.first() == Some(&rows))
        && next_states.is_none_or(|next_states| next_states == states)
        && names.is_none_or(|names| fits(states, &names.states) && fits(actions, &names.actions));
    agree.then_some(rows)
}

/// Some numbers, and the count of bytes that are filled.
type Piece = (Vec<u64>, usize);

/// Passes all numbers on: one thread reads and checks, the other writes. When one of them fails its
/// ends of the channels go, and with them the other.
fn pass(arrays: &[Array], keys: &[&str], archive: Archive, out: &mut File) -> io::Result<()> {
    let (full, to_write) = sync_channel(PIECES);
    let (empty, to_fill) = sync_channel(PIECES);
    for _ in 0..PIECES {
        // There is room for all of them.
        let _ = empty.send(vec![0; PIECE]);
    }
    thread::scope(|scope| {
        let reading = scope.spawn(move || {
            let (mut archive, mut parts) = (archive, arrays.iter().zip(keys));
            parts.try_for_each(|(array, key)| {
                read(array, archive.entry(key)?.bytes, &to_fill, &full)
            })
        });
        let written = write(out, to_write, empty);
        let read = reading.join();
        written.and(read.unwrap_or(Err(io::ErrorKind::Other.into())))
    })
}

fn read(
    array: &Array,
    mut source: impl Read,
    to_fill: &Receiver<Vec<u64>>,
    full: &SyncSender<Piece>,
) -> io::Result<()> {
    let stopped = || io::Error::from(io::ErrorKind::BrokenPipe);
    let mut left = array.bytes();
    while left > 0 {
        let mut words = to_fill.recv().map_err(|_| stopped())?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        let length = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        let (bytes, _) = bytes.split_at_mut(length);
        source.read_exact(bytes)?;
        if !sound(array.kind, bytes) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        left -= length as u64;
        full.send((words, length)).map_err(|_| stopped())?;
    }
    // The checksum is compared at the end.
    source.read(&mut [0]).map(|_| ())
}

fn write(out: &mut File, to_write: Receiver<Piece>, empty: SyncSender<Vec<u64>>) -> io::Result<()> {
    for (words, length) in to_write {
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        out.write_all(bytes.get(..length).unwrap_or_default())?;
        // The reader is gone when it has read all.
        let _ = empty.send(words);
    }
    Ok(())
}

/// Whether a log may hold these numbers.
fn sound(kind: Kind, bytes: &[u8]) -> bool {
    match kind {
        Kind::Single => all_finite(bytemuck::cast_slice(bytes)),
        Kind::Double => {
            let numbers: &[f64] = bytemuck::cast_slice(bytes);
            numbers.iter().all(|x| (*x as f32).is_finite())
        }
        Kind::Flag => bytes.iter().all(|byte| *byte <= 1),
        Kind::Integer => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::table::{Block, Numbers, Table};
    use crate::write::{OutputOptions, write_npz, write_table};

    /// More than one piece, and none that is full at the end.
    const ROWS: usize = 3 * PIECE + 5;

    fn table() -> Table {
        let numbers = |count: usize| (0..count).map(|i| i as f32 * 0.37 - 40.0);
        let single =
            |columns| Block::new(columns, Numbers::Single(numbers(columns * ROWS).collect()));
        let double = numbers(3 * ROWS).map(f64::from).collect();
        let mut table = Table::new(Path::new("counting"), single(3), single(2));
        table.next_states = Some(Block::new(3, Numbers::Double(double)));
        table.rewards = Some(single(1));
        table.timeouts = Some((0..ROWS).map(|row| row % 100 == 99).collect());
        table
    }

    struct Files {
        npz: PathBuf,
        passed: PathBuf,
        by_table: PathBuf,
    }

    impl Files {
        fn new(test: &str) -> Self {
            let name = format!("hambo-npz-to-hdf5-{test}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).unwrap();
            Self {
                npz: folder.join("log.npz"),
                passed: folder.join("passed.hdf5"),
                by_table: folder.join("table.hdf5"),
            }
        }

        fn write(&self, table: &Table, path: &Path, compress: bool) {
            let options = OutputOptions {
                format: Format::of_name(path).unwrap(),
                minari: false,
                compress,
            };
            write_table(path, table, options).unwrap();
        }
    }

    impl Drop for Files {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(self.npz.parent().unwrap());
        }
    }

    #[test]
    fn the_file_is_the_one_that_the_table_writes() {
        let files = Files::new("same");
        let table = table();
        files.write(&table, &files.npz, false);
        files.write(&table, &files.by_table, false);
        for names in [None, Some(&table.names)] {
            assert_eq!(convert(&files.npz, names, &files.passed), Some(ROWS));
            assert!(fs::read(&files.passed).unwrap() == fs::read(&files.by_table).unwrap());
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_table() {
        let files = Files::new("left");
        let refused = |names: Option<&ColumnNames>| {
            assert_eq!(convert(&files.npz, names, &files.passed), None);
            let left: Vec<_> = fs::read_dir(files.npz.parent().unwrap()).unwrap().collect();
            assert_eq!(left.len(), 1, "{left:?}");
        };
        let table = table();
        files.write(&table, &files.npz, true);
        refused(None);
        files.write(&table, &files.npz, false);
        refused(Some(&ColumnNames::numbered(2, 2)));
        let numbered = Table {
            episodes: Some(vec![1.0; ROWS]),
            ..table.clone()
        };
        files.write(&numbered, &files.npz, false);
        refused(None);
    }

    /// Each has its error from the table.
    #[test]
    fn what_is_wrong_is_left_to_the_table() {
        let files = Files::new("wrong");
        files.write(&table(), &files.npz, false);
        let good = fs::read(&files.npz).unwrap();
        let refused = |bytes: &[u8], what: &str| {
            fs::write(&files.npz, bytes).unwrap();
            assert_eq!(convert(&files.npz, None, &files.passed), None, "{what}");
            assert!(!files.passed.exists(), "{what}");
        };
        for cut in [1, 100, good.len() / 2] {
            refused(&good[..good.len() - cut], "cut short");
        }
        let mut damaged = good.clone();
        damaged[good.len() / 2] ^= 1;
        refused(&damaged, "a number that the checksum does not know");

        let mut with_nan = table();
        let mut numbers = vec![0.0; 3 * ROWS];
        numbers[3 * ROWS - 1] = f32::NAN;
        with_nan.states = Block::new(3, Numbers::Single(numbers));
        let mut out = File::create(&files.npz).unwrap();
        write_npz(&mut out, &with_nan, false).unwrap();
        refused(&fs::read(&files.npz).unwrap(), "NaN");
    }

    #[test]
    fn flags_are_0_or_1_and_numbers_finite() {
        assert!(sound(Kind::Flag, &[0, 1, 1]) && !sound(Kind::Flag, &[0, 2]));
        for (number, good) in [(1e30_f64, true), (1e60, false), (f64::NAN, false)] {
            assert_eq!(sound(Kind::Double, bytemuck::bytes_of(&number)), good);
        }
        for (number, good) in [(-1e30_f32, true), (f32::INFINITY, false), (f32::NAN, false)] {
            assert_eq!(sound(Kind::Single, bytemuck::bytes_of(&number)), good);
        }
    }
}
