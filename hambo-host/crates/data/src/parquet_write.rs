//! Writing logs as Parquet, one column per name.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, DoubleType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::{Block, DataError, Numbers, Table};

/// Rows of a group; a column of it is held once more while it is written.
const GROUP: usize = 1 << 17;

/// One column: its name and where it comes from.
struct Column<'a> {
    name: String,
    part: Part<'a>,
}

enum Part<'a> {
    Numbers(&'a Block, usize),
    Flags(&'a [bool]),
    Integers(&'a [f64]),
}

/// Writes the file: snappy, or zstd for a smaller one.
pub(super) fn write_parquet(
    out: &mut File,
    table: &Table,
    compress: bool,
) -> Result<(), DataError> {
    write(out, table, compress).map_err(|error| DataError::Whole {
        file: "the Parquet file".to_owned(),
        problem: format!("it cannot be written: {error}"),
        help: "check the folder, its permissions and the space left",
    })
}

fn columns(table: &Table) -> Vec<Column<'_>> {
    let mut columns = Vec::new();
    let mut block = |names: &[String], prefix: &str, block| {
        columns.extend(names.iter().enumerate().map(|(index, name)| Column {
            name: format!("{prefix}{name}"),
            part: Part::Numbers(block, index),
        }));
    };
    block(&table.names.states, "", &table.states);
    block(&table.names.actions, "", &table.actions);
    if let Some(next_states) = &table.next_states {
        block(&table.names.states, "next.", next_states);
    }
    if let Some(rewards) = &table.rewards {
        block(&["reward".to_owned()], "", rewards);
    }
    let flags = [("terminal", &table.terminals), ("timeout", &table.timeouts)];
    for (name, flags) in flags {
        columns.extend(flags.as_ref().map(|flags| Column {
            name: name.to_owned(),
            part: Part::Flags(flags),
        }));
    }
    columns.extend(table.episodes.as_ref().map(|episodes| Column {
        name: "episode".to_owned(),
        part: Part::Integers(episodes),
    }));
    columns
}

fn write(out: &mut File, table: &Table, compress: bool) -> Result<(), ParquetError> {
    let columns = columns(table);
    let fields = columns.iter().map(|column| {
        let physical = match &column.part {
            Part::Numbers(block, _) => match block.numbers() {
                Numbers::Single(_) => Physical::FLOAT,
                Numbers::Double(_) => Physical::DOUBLE,
            },
            Part::Flags(_) => Physical::BOOLEAN,
            Part::Integers(_) => Physical::INT64,
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::REQUIRED)
            .build()?;
        Ok(Arc::new(field))
    });
    let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
    let schema = Type::group_type_builder("log")
        .with_fields(fields)
        .build()?;
    let compression = match compress {
        true => Compression::ZSTD(ZstdLevel::try_new(3)?),
        false => Compression::SNAPPY,
    };
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(false)
        .set_created_by(concat!("hambo ", env!("CARGO_PKG_VERSION")).to_owned());
    let properties = Arc::new(properties.build());
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), properties)?;
    for start in (0..table.rows()).step_by(GROUP) {
        let end = table.rows().min(start + GROUP);
        let mut group = writer.next_row_group()?;
        for column in &columns {
            if let Some(mut writer) = group.next_column()? {
                write_column(&mut writer, &column.part, start, end)?;
                writer.close()?;
            }
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    part: &Part<'_>,
    start: usize,
    end: usize,
) -> Result<(), ParquetError> {
    match part {
        Part::Numbers(block, column) => {
            let width = block.columns();
            match block.numbers() {
                Numbers::Single(numbers) => {
                    let numbers = numbers.get(start * width..end * width).unwrap_or_default();
                    let numbers = numbers.iter().skip(*column).step_by(width);
                    let values: Vec<f32> = numbers.copied().collect();
                    writer
                        .typed::<FloatType>()
                        .write_batch(&values, None, None)?;
                }
                Numbers::Double(numbers) => {
                    let numbers = numbers.get(start * width..end * width).unwrap_or_default();
                    let numbers = numbers.iter().skip(*column).step_by(width);
                    let values: Vec<f64> = numbers.copied().collect();
                    writer
                        .typed::<DoubleType>()
                        .write_batch(&values, None, None)?;
                }
            }
        }
        Part::Flags(flags) => {
            let values = flags.get(start..end).unwrap_or_default();
            writer.typed::<BoolType>().write_batch(values, None, None)?;
        }
        Part::Integers(numbers) => {
            let numbers = numbers.get(start..end).unwrap_or_default();
            let values: Vec<i64> = numbers.iter().map(|number| *number as i64).collect();
            writer
                .typed::<Int64Type>()
                .write_batch(&values, None, None)?;
        }
    }
    Ok(())
}
