//! One array in NumPy's `.npy` form: a header with the type and the shape,
//! then the numbers.

use std::io::{self, Read, Write};

use super::Numbers;

/// The magic bytes.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";
/// Longer headers belong to types that are refused anyway; NumPy's own limit
/// is 10,000.
const LONGEST_HEADER: usize = 64 << 10;

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    letter: u8,
    pub(super) size: usize,
    big: bool,
}

/// Why an array cannot be read.
pub(super) enum Refusal {
    /// In words.
    Text(String),
    /// The file ends or fails.
    Read(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

fn text<T>(text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Text(text.into()))
}

impl Header {
    /// Reads it; returns its length too.
    pub(super) fn read(source: &mut impl Read) -> Result<(Self, u64), Refusal> {
        let mut start = [0; 8];
        source.read_exact(&mut start)?;
        let Some([major, _]) = start.strip_prefix(MAGIC) else {
            return text("it is not a NumPy array");
        };
        let (length, prefix) = match major {
            1 => {
                let mut length = [0; 2];
                source.read_exact(&mut length)?;
                (usize::from(u16::from_le_bytes(length)), 10)
            }
            2 | 3 => {
                let mut length = [0; 4];
                source.read_exact(&mut length)?;
                (u32::from_le_bytes(length) as usize, 12)
            }
            other => return text(format!("version {other} of .npy is not known")),
        };
        if length > LONGEST_HEADER {
            return text(format!("its header claims {length} bytes"));
        }
        let mut header = vec![0; length];
        source.read_exact(&mut header)?;
        let header = String::from_utf8_lossy(&header);
        Ok((Self::parse(&header)?, prefix + length as u64))
    }

    /// A Python dictionary with three keys.
    fn parse(header: &str) -> Result<Self, Refusal> {
        let value = |key: &str| {
            let (_, rest) = header.split_once(&format!("'{key}':"))?;
            Some(rest.trim_start())
        };
        let (Some(kind), Some(order), Some(shape)) =
            (value("descr"), value("fortran_order"), value("shape"))
        else {
            return text("its header is damaged");
        };
        let kind = match kind
            .strip_prefix('\'')
            .and_then(|kind| kind.split_once('\''))
        {
            Some((kind, _)) => Kind::parse(kind)?,
            None => return text("it has a structured type; give one array per part"),
        };
        let shape = shape
            .strip_prefix('(')
            .and_then(|shape| shape.split_once(')'));
        let Some((shape, _)) = shape else {
            return text("its header is damaged");
        };
        let sizes = shape
            .split(',')
            .map(str::trim)
            .filter(|size| !size.is_empty());
        match sizes.map(str::parse).collect() {
            Ok(shape) => Ok(Self {
                kind,
                fortran_order: order.starts_with("True"),
                shape,
            }),
            Err(_) => text("its header is damaged"),
        }
    }

    /// Letter and size of the elements, if they stand row by row in
    /// little-endian order.
    pub(super) fn plain_type(&self) -> Option<(u8, usize)> {
        let plain = !self.fortran_order && !self.kind.big;
        plain.then_some((self.kind.letter, self.kind.size))
    }

    /// Reads the numbers; the caller has checked that so many may be held.
    pub(super) fn numbers(&self, source: &mut impl Read) -> Result<Numbers, Refusal> {
        let count = self.shape.iter().product::<u64>() as usize;
        let numbers = self.kind.read(source, count)?;
        Ok(match self.shape.as_slice() {
            [rows, columns] if self.fortran_order && *rows > 1 && *columns > 1 => {
                transpose(&numbers, *rows as usize, *columns as usize)
            }
            _ => numbers,
        })
    }
}

impl Kind {
    fn parse(kind: &str) -> Result<Self, Refusal> {
        let bytes = kind.as_bytes();
        let (order, letter, size) = match bytes {
            [order @ (b'<' | b'>' | b'|' | b'='), letter, size @ ..] => (*order, *letter, size),
            [letter, size @ ..] => (b'|', *letter, size),
            [] => return text("its type is empty"),
        };
        let size = std::str::from_utf8(size)
            .ok()
            .and_then(|size| size.parse().ok());
        match (letter, size) {
            (b'f', Some(4 | 8)) | (b'i' | b'u', Some(1 | 2 | 4 | 8)) | (b'b', Some(1)) => {}
            (b'O', _) => {
                return text(
                    "it holds pickled Python objects, which are never loaded; episodes of unequal length must be joined, with `terminals` or `timeouts` at their ends",
                );
            }
            _ => {
                return text(format!(
                    "the type `{kind}` is not one of numbers and booleans"
                ));
            }
        }
        Ok(Self {
            letter,
            size: size.unwrap_or(1),
            big: order == b'>',
        })
    }

    /// Long integers need f64.
    fn read(self, source: &mut impl Read, count: usize) -> Result<Numbers, Refusal> {
        let big = self.big;
        macro_rules! each {
            ($number:ty, $wide:ident, $into:ty) => {{
                let mut numbers: Vec<$into> = Vec::with_capacity(count);
                each_piece(source, count * size_of::<$number>(), |piece| {
                    let (pieces, _) = piece.as_chunks();
                    numbers.extend(pieces.iter().map(|bytes| {
                        let number = match big {
                            true => <$number>::from_be_bytes(*bytes),
                            false => <$number>::from_le_bytes(*bytes),
                        };
                        number as $into
                    }));
                })?;
                Ok(Numbers::$wide(numbers))
            }};
        }
        match (self.letter, self.size) {
            (b'f', 4) => {
                let mut numbers = vec![0.0_f32; count];
                source.read_exact(bytemuck::cast_slice_mut(&mut numbers))?;
                for number in &mut numbers {
                    let bits = number.to_bits();
                    *number = f32::from_bits(if big {
                        u32::from_be(bits)
                    } else {
                        u32::from_le(bits)
                    });
                }
                Ok(Numbers::Single(numbers))
            }
            (b'f', _) => {
                let mut numbers = vec![0.0_f64; count];
                source.read_exact(bytemuck::cast_slice_mut(&mut numbers))?;
                for number in &mut numbers {
                    let bits = number.to_bits();
                    *number = f64::from_bits(if big {
                        u64::from_be(bits)
                    } else {
                        u64::from_le(bits)
                    });
                }
                Ok(Numbers::Double(numbers))
            }
            (b'i', 1) => each!(i8, Single, f32),
            (b'i', 2) => each!(i16, Single, f32),
            (b'i', 4) => each!(i32, Double, f64),
            (b'i', _) => each!(i64, Double, f64),
            (b'u', 2) => each!(u16, Single, f32),
            (b'u', 4) => each!(u32, Double, f64),
            (b'u', 8) => each!(u64, Double, f64),
            _ => each!(u8, Single, f32),
        }
    }
}

/// Reads so many bytes in pieces that hold whole numbers.
fn each_piece(
    source: &mut impl Read,
    bytes: usize,
    mut take: impl FnMut(&[u8]),
) -> Result<(), Refusal> {
    let mut buffer = vec![0; bytes.min(1 << 16)];
    let mut left = bytes;
    while left > 0 {
        let step = left.min(buffer.len());
        let (piece, _) = buffer.split_at_mut(step);
        source.read_exact(piece)?;
        take(piece);
        left -= step;
    }
    Ok(())
}

fn transpose(numbers: &Numbers, rows: usize, columns: usize) -> Numbers {
    fn by_rows<T: Copy>(numbers: &[T], rows: usize, columns: usize) -> Vec<T> {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
        places
            .filter_map(|place| numbers.get(place).copied())
            .collect()
    }
    match numbers {
        Numbers::Single(numbers) => Numbers::Single(by_rows(numbers, rows, columns)),
        Numbers::Double(numbers) => Numbers::Double(by_rows(numbers, rows, columns)),
    }
}

/// Writes a header in NumPy's own form, version 1.0, aligned to 64 bytes.
pub(super) fn write_header(
    out: &mut impl Write,
    kind: &str,
    rows: usize,
    columns: Option<usize>,
) -> io::Result<()> {
    let shape = match columns {
        Some(columns) => format!("({rows}, {columns})"),
        None => format!("({rows},)"),
    };
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let padded = (header.len() + 1 + 10).next_multiple_of(64) - 10;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(padded as u16).to_le_bytes())?;
    writeln!(out, "{header:<width$}", width = padded - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_header_is_read_back() {
        for (columns, shape) in [(Some(17), vec![3, 17]), (None, vec![3])] {
            let mut bytes = Vec::new();
            write_header(&mut bytes, "<f4", 3, columns).unwrap();
            assert_eq!(bytes.len() % 64, 0);
            let Ok((header, length)) = Header::read(&mut bytes.as_slice()) else {
                panic!("not read");
            };
            assert_eq!((header.shape, length), (shape, bytes.len() as u64));
            assert_eq!((header.kind.letter, header.kind.size), (b'f', 4));
        }
    }

    #[test]
    fn columns_first_is_turned() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
        let Ok(header) = Header::parse(header) else {
            panic!("not parsed");
        };
        let bytes = [0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6];
        let Ok(numbers) = header.numbers(&mut bytes.as_slice()) else {
            panic!("not read");
        };
        assert_eq!(numbers, Numbers::Single(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }

    #[test]
    fn objects_and_strange_types_are_refused() {
        for (kind, words) in [
            ("|O", "pickled"),
            ("<U5", "<U5"),
            ("<c8", "<c8"),
            ("<f2", "<f2"),
        ] {
            let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (2,), }}");
            let Err(Refusal::Text(text)) = Header::parse(&header) else {
                panic!("{kind} is taken");
            };
            assert!(text.contains(words), "{text}");
        }
    }
}
