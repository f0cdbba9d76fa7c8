//! Writing logs as HDF5 in D4RL's layout.

use std::fs::File;
use std::io::{self, Write};

use hdf5_pure::{
    DatasetBuilder, EnumTypeBuilder, Error, FileBuilder, make_f32_type, make_f64_type,
    make_i8_type, make_i64_type,
};

use super::arrays;
use super::hdf5_plain::{Array, Kind, beginning};
use super::{Block, DataError, Numbers, Table};

/// Bytes of a compressed chunk, about; what h5py aims at, too.
const CHUNK: usize = 256 << 10;
/// Rows of a chunk, at most: from 65,536 on the writer spends four bytes on a
/// length where HDF5 2.0 insists on three.
const CHUNK_ROWS: usize = 1 << 15;
/// Sensor data gain little from more.
const LEVEL: u32 = 4;

/// Writes one array per part.
pub(super) fn write_hdf5(out: &mut File, table: &Table, compress: bool) -> Result<(), DataError> {
    if !compress && cfg!(target_endian = "little") {
        return write_uncompressed(out, table).map_err(|error| unwritable(&Error::Io(error)));
    }
    let mut builder = FileBuilder::new();
    let blocks = [
        (arrays::OBSERVATIONS, Some(&table.states), false),
        (arrays::ACTIONS, Some(&table.actions), false),
        (arrays::NEXT_OBSERVATIONS, table.next_states.as_ref(), false),
        (arrays::REWARDS, table.rewards.as_ref(), true),
    ];
    for (aliases, block, vector) in blocks {
        if let Some(block) = block {
            add_block(
                builder.create_dataset(key(aliases)),
                block,
                vector,
                compress,
            );
        }
    }
    let flags = [
        (arrays::TERMINALS, &table.terminals),
        (arrays::TIMEOUTS, &table.timeouts),
    ];
    for (aliases, flags) in flags {
        if let Some(flags) = flags {
            add_flags(builder.create_dataset(key(aliases)), flags)?;
        }
    }
    if let Some(episodes) = &table.episodes {
        let bytes = episodes
            .iter()
            .flat_map(|episode| (*episode as i64).to_le_bytes());
        let dataset = builder.create_dataset(key(arrays::EPISODES));
        dataset.with_raw_data(make_i64_type(), bytes.collect(), episodes.len() as u64);
    }
    finish(builder, out)
}

/// Straight from memory.
fn write_uncompressed(out: &mut File, table: &Table) -> io::Result<()> {
    let bytes_of = |flags: &Option<Vec<bool>>| -> Option<Vec<u8>> {
        let flags = flags.as_ref()?.iter();
        Some(flags.copied().map(u8::from).collect())
    };
    let (terminals, timeouts) = (bytes_of(&table.terminals), bytes_of(&table.timeouts));
    let episodes: Option<Vec<i64>> = table.episodes.as_ref().map(|episodes| {
        let episodes = episodes.iter();
        episodes.map(|episode| *episode as i64).collect()
    });
    let rows = table.rows() as u64;
    let mut arrays = Vec::new();
    let blocks = [
        (arrays::OBSERVATIONS, Some(&table.states), false),
        (arrays::ACTIONS, Some(&table.actions), false),
        (arrays::NEXT_OBSERVATIONS, table.next_states.as_ref(), false),
        (arrays::REWARDS, table.rewards.as_ref(), true),
    ];
    for (aliases, block, vector) in blocks {
        let Some(block) = block else { continue };
        let (kind, bytes) = match block.numbers() {
            Numbers::Single(numbers) => (Kind::Single, bytemuck::cast_slice(numbers)),
            Numbers::Double(numbers) => (Kind::Double, bytemuck::cast_slice(numbers)),
        };
        let shape = match vector {
            true => vec![rows],
            false => vec![rows, block.columns() as u64],
        };
        let name = key(aliases);
        arrays.push((Array { name, kind, shape }, bytes));
    }
    let vectors = [
        (arrays::TERMINALS, Kind::Flag, terminals.as_deref()),
        (arrays::TIMEOUTS, Kind::Flag, timeouts.as_deref()),
        (
            arrays::EPISODES,
            Kind::Integer,
            episodes.as_deref().map(bytemuck::cast_slice),
        ),
    ];
    for (aliases, kind, bytes) in vectors {
        if let Some(bytes) = bytes {
            let (name, shape) = (key(aliases), vec![rows]);
            arrays.push((Array { name, kind, shape }, bytes));
        }
    }
    arrays.sort_by_key(|(array, _)| array.name);
    let (arrays, numbers): (Vec<Array>, Vec<&[u8]>) = arrays.into_iter().unzip();
    out.write_all(&beginning(&arrays))?;
    numbers.iter().try_for_each(|bytes| out.write_all(bytes))
}

fn key(aliases: &[&'static str]) -> &'static str {
    aliases.first().copied().unwrap_or_default()
}

/// Numbers as rows, or as a vector.
pub(super) fn add_block(dataset: &mut DatasetBuilder, block: &Block, vector: bool, compress: bool) {
    let (rows, columns) = (block.rows(), block.columns());
    let shape = match vector {
        true => vec![rows as u64],
        false => vec![rows as u64, columns as u64],
    };
    dataset.with_shape(&shape);
    let count = (rows * columns) as u64;
    let size = match block.numbers() {
        Numbers::Single(numbers) => {
            dataset.with_raw_data(make_f32_type(), little_endian_single(numbers), count);
            4
        }
        Numbers::Double(numbers) => {
            dataset.with_raw_data(make_f64_type(), little_endian_double(numbers), count);
            8
        }
    };
    if compress && rows > 0 {
        let chunk_rows = (CHUNK / (columns * size)).clamp(1, rows.min(CHUNK_ROWS)) as u64;
        let mut chunk = shape;
        if let Some(first) = chunk.first_mut() {
            *first = chunk_rows;
        }
        dataset
            .with_chunks(&chunk)
            .with_shuffle()
            .with_deflate(LEVEL);
    }
}

fn little_endian_single(numbers: &[f32]) -> Vec<u8> {
    if cfg!(target_endian = "little") {
        return bytemuck::cast_slice(numbers).to_vec();
    }
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn little_endian_double(numbers: &[f64]) -> Vec<u8> {
    if cfg!(target_endian = "little") {
        return bytemuck::cast_slice(numbers).to_vec();
    }
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Flags in the form that h5py reads as `bool`.
pub(super) fn add_flags(dataset: &mut DatasetBuilder, flags: &[bool]) -> Result<(), DataError> {
    let kind = EnumTypeBuilder::with_base(make_i8_type())
        .value("FALSE", 0)
        .value("TRUE", 1)
        .build()
        .map_err(|error| unwritable(&Error::Format(error)))?;
    let bytes = flags.iter().copied().map(u8::from).collect();
    dataset.with_raw_data(kind, bytes, flags.len() as u64);
    Ok(())
}

/// Writes the file.
pub(super) fn finish(builder: FileBuilder, out: &mut File) -> Result<(), DataError> {
    builder.finish_to(out).map_err(|error| unwritable(&error))
}

fn unwritable(error: &Error) -> DataError {
    DataError::Whole {
        file: "the HDF5 file".to_owned(),
        problem: format!("it cannot be written: {error}"),
        help: "check the folder, its permissions and the space left",
    }
}
