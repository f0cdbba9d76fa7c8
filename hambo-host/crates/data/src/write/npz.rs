//! Writing logs as NumPy's NPZ; the same log gives the same bytes.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::arrays::{Array, Kind, arrays};
use crate::table::Table;

/// Sensor data gain little from more.
const LEVEL: i64 = 4;

pub(crate) fn write_npz(out: &mut File, table: &Table, compress: bool) -> io::Result<()> {
    let method = if compress {
        CompressionMethod::Deflated
    } else {
        CompressionMethod::Stored
    };
    let options = SimpleFileOptions::default()
        .compression_method(method)
        .compression_level(compress.then_some(LEVEL))
        .last_modified_time(DateTime::default())
        .large_file(true);
    let mut zip = ZipWriter::new(BufWriter::with_capacity(1 << 16, out));
    for (array, bytes) in arrays(table) {
        zip.start_file(format!("{}.npy", array.name), options)?;
        zip.write_all(header(&array).as_slice())?;
        zip.write_all(&bytes)?;
    }
    zip.finish()?.flush()
}

/// NumPy's own form, version 1.0, aligned to 64 bytes.
fn header(array: &Array) -> Vec<u8> {
    let kind = match array.kind {
        Kind::Single => "<f4",
        Kind::Double => "<f8",
        Kind::Integer => "<i8",
        Kind::Flag => "|b1",
    };
    let shape: String = array.shape.iter().map(|size| format!("{size}, ")).collect();
    let shape = match array.shape.len() {
        1 => shape.trim_end(),
        _ => shape.trim_end_matches(", "),
    };
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    let length = (text.len() + 1 + 10).next_multiple_of(64) - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((length as u16).to_le_bytes());
    header.extend(format!("{text:<width$}\n", width = length - 1).bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_the_one_of_numpy() {
        for (shape, text) in [(vec![3, 17], "(3, 17), }"), (vec![3], "(3,), }")] {
            let kind = Kind::Single;
            let bytes = header(&Array {
                name: "x",
                kind,
                shape,
            });
            assert_eq!((bytes.len() % 64, bytes.last()), (0, Some(&b'\n')));
            assert_eq!(bytes[8..10], [118, 0]);
            let start = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
            let written = String::from_utf8_lossy(&bytes[10..]).into_owned();
            assert_eq!(written.trim_end(), format!("{start}{text}"));
        }
    }
}
