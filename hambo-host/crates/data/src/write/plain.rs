//! Tables that are no logs, as Parquet: columns of words and numbers, any of which may be missing.

use std::path::Path;

use crate::error::DataError;

/// A column under its name.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainColumn {
    /// The name.
    pub name: &'static str,
    /// A value for every row.
    pub values: PlainValues,
}

/// The values of a column; `None` where a row has none.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainValues {
    /// Words.
    Text(Vec<Option<String>>),
    /// Integers.
    Whole(Vec<Option<i64>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Yes or no.
    Flag(Vec<Option<bool>>),
}

/// Writes the columns, whole or not at all. Equal columns give equal bytes.
///
/// # Errors
/// If the file cannot be written, or this program was built without Parquet.
pub fn write_plain_parquet(path: &Path, columns: &[PlainColumn]) -> Result<(), DataError> {
    #[cfg(feature = "parquet")]
    return super::output::write_beside(path, |out| {
        plain_parquet::write(out, columns).map_err(|error| DataError::Unfit {
            place: path.display().to_string(),
            problem: format!("it cannot be written: {error}"),
            help: "check the folder, its permissions and the space left",
        })
    });
    #[cfg(not(feature = "parquet"))]
    {
        let _ = columns;
        Err(crate::format::Format::Parquet.left_out(path))
    }
}

#[cfg(feature = "parquet")]
mod plain_parquet {
    use std::fs::File;
    use std::sync::Arc;

    use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
    use parquet::errors::ParquetError;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
    use parquet::schema::types::Type;

    use super::{PlainColumn, PlainValues};

    pub(super) fn write(out: &mut File, columns: &[PlainColumn]) -> Result<(), ParquetError> {
        let fields = columns.iter().map(|column| {
            let (physical, logical) = match column.values {
                PlainValues::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                PlainValues::Whole(_) => (Physical::INT64, None),
                PlainValues::Number(_) => (Physical::DOUBLE, None),
                PlainValues::Flag(_) => (Physical::BOOLEAN, None),
            };
            let field = Type::primitive_type_builder(column.name, physical)
                .with_logical_type(logical)
                .with_repetition(Repetition::OPTIONAL)
                .build()?;
            Ok(Arc::new(field))
        });
        let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
        let schema = Type::group_type_builder("table")
            .with_fields(fields)
            .build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_created_by(concat!("hambo ", env!("CARGO_PKG_VERSION")).to_owned());
        let properties = Arc::new(properties.build());
        let mut writer = SerializedFileWriter::new(out, Arc::new(schema), properties)?;
        let mut group = writer.next_row_group()?;
        for column in columns {
            if let Some(mut writer) = group.next_column()? {
                write_column(&mut writer, &column.values)?;
                writer.close()?;
            }
        }
        group.close()?;
        writer.close()?;
        Ok(())
    }

    fn write_column(
        writer: &mut SerializedColumnWriter<'_>,
        values: &PlainValues,
    ) -> Result<(), ParquetError> {
        match values {
            PlainValues::Text(words) => {
                let bytes = |word: &String| ByteArray::from(word.as_bytes().to_vec());
                let words = words.iter().map(|word| word.as_ref().map(bytes));
                write_values::<ByteArrayType>(writer, words)
            }
            PlainValues::Whole(numbers) => {
                write_values::<Int64Type>(writer, numbers.iter().copied())
            }
            PlainValues::Number(numbers) => {
                write_values::<DoubleType>(writer, numbers.iter().copied())
            }
            PlainValues::Flag(flags) => write_values::<BoolType>(writer, flags.iter().copied()),
        }
    }

    /// A level of 1 says that a row has a value, 0 that it has none.
    fn write_values<T: DataType>(
        writer: &mut SerializedColumnWriter<'_>,
        values: impl Iterator<Item = Option<T::T>>,
    ) -> Result<(), ParquetError> {
        let (mut levels, mut held) = (Vec::new(), Vec::new());
        for value in values {
            levels.push(i16::from(value.is_some()));
            held.extend(value);
        }
        let writer = writer.typed::<T>();
        writer.write_batch(&held, Some(&levels), None)?;
        Ok(())
    }
}
