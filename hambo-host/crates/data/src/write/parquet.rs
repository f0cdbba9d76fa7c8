//! Writing logs as Parquet, one column per name.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, DataType, DoubleType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::columns::{Part, columns};
use crate::error::DataError;
use crate::table::{Numbers, Table};

/// Rows of a group; a column of it is held once more while it is written.
const GROUP: usize = 1 << 17;

/// Writes the file: snappy, or zstd for a smaller one.
pub(super) fn write_parquet(
    out: &mut File,
    table: &Table,
    compress: bool,
) -> Result<(), DataError> {
    write(out, table, compress).map_err(|error| DataError::Unfit {
        place: "the Parquet file".to_owned(),
        problem: format!("it cannot be written: {error}"),
        help: "check the folder, its permissions and the space left",
    })
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
    let compression = if compress {
        Compression::ZSTD(ZstdLevel::try_new(3)?)
    } else {
        Compression::SNAPPY
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
    let rows = start..end;
    match part {
        Part::Numbers(block, column) => {
            let values = rows.map(|row| block.at(row, *column));
            match block.numbers() {
                Numbers::Single(_) => write_values::<FloatType>(writer, values.map(|x| x as f32)),
                Numbers::Double(_) => write_values::<DoubleType>(writer, values),
            }
        }
        Part::Flags(flags) => {
            let flags = flags.get(rows).unwrap_or_default();
            write_values::<BoolType>(writer, flags.iter().copied())
        }
        Part::Integers(numbers) => {
            let numbers = numbers.get(rows).unwrap_or_default();
            write_values::<Int64Type>(writer, numbers.iter().map(|number| *number as i64))
        }
    }
}

fn write_values<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: impl Iterator<Item = T::T>,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = values.collect();
    writer.typed::<T>().write_batch(&values, None, None)?;
    Ok(())
}
