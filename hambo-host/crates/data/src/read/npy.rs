//! One array in NumPy's `.npy` form: a header with the type and the shape, then the numbers.
//!
//! By hand: the crate `npyz` takes seconds for a dozen nested braces in a header, and multiplies
//! its sizes unchecked.

use std::io::{self, ErrorKind, Read};

use crate::table::Numbers;

/// Longer headers belong to types that are refused anyway; NumPy's own limit is 10,000.
const LONGEST_HEADER: usize = 64 << 10;
/// Bytes that are decoded at a time; numbers of any size fill them.
const PIECE: usize = 1 << 16;

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    fortran_order: bool,
    pub(crate) shape: Vec<u64>,
    /// Bytes before the first number.
    pub(crate) length: u64,
}

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    letter: u8,
    pub(crate) size: u64,
    big_endian: bool,
}

/// The bytes are not an array.
fn damaged<T>(problem: impl Into<String>) -> io::Result<T> {
    Err(io::Error::new(ErrorKind::InvalidData, problem.into()))
}

/// An array of another type than a log holds.
fn unsupported<T>(problem: impl Into<String>) -> io::Result<T> {
    Err(io::Error::new(ErrorKind::Unsupported, problem.into()))
}

impl Header {
    pub(super) fn read(source: &mut impl Read) -> io::Result<Self> {
        let mut start = [0; 8];
        source.read_exact(&mut start)?;
        let Some([major, _]) = start.strip_prefix(b"\x93NUMPY") else {
            return damaged("it is not a NumPy array");
        };
        let mut length = [0; 4];
        let prefix = match major {
            1 => 2,
            2 | 3 => 4,
            other => return damaged(format!("version {other} of .npy is not known")),
        };
        source.read_exact(length.split_at_mut(prefix).0)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST_HEADER {
            return damaged(format!("its header claims {length} bytes"));
        }
        let mut header = vec![0; length];
        source.read_exact(&mut header)?;
        let length = (start.len() + prefix + length) as u64;
        Self::parse(&String::from_utf8_lossy(&header), length)
    }

    /// A Python dictionary with three keys.
    fn parse(header: &str, length: u64) -> io::Result<Self> {
        let value = |key: &str| {
            let (_, rest) = header.split_once(&format!("'{key}':"))?;
            Some(rest.trim_start())
        };
        let shape = value("shape").and_then(|shape| between(shape, '(', ')'));
        let (Some(kind), Some(order), Some(shape)) =
            (value("descr"), value("fortran_order"), shape)
        else {
            return damaged("its header is damaged");
        };
        let Some(kind) = between(kind, '\'', '\'') else {
            return unsupported("it has a structured type; give one array per part");
        };
        let sizes = shape.split(',').map(str::trim);
        let sizes = sizes.filter(|size| !size.is_empty()).map(str::parse);
        let Ok(shape) = sizes.collect() else {
            return damaged("its header is damaged");
        };
        Ok(Self {
            kind: Kind::parse(kind)?,
            fortran_order: order.starts_with("True"),
            shape,
            length,
        })
    }

    /// Letter and size of the elements, if they stand row by row in little-endian order.
    pub(crate) fn plain_type(&self) -> Option<(u8, u64)> {
        let plain = !self.fortran_order && !self.kind.big_endian;
        plain.then_some((self.kind.letter, self.kind.size))
    }

    /// Reads the numbers; the caller has checked that there is memory for them.
    pub(crate) fn numbers(&self, source: &mut impl Read) -> io::Result<Numbers> {
        let count = self.shape.iter().product::<u64>() as usize;
        let numbers = self.kind.read(source, count)?;
        let [rows, columns] = self.shape[..] else {
            return Ok(numbers);
        };
        let (rows, columns) = (rows as usize, columns as usize);
        Ok(match numbers {
            numbers if !self.fortran_order => numbers,
            Numbers::Single(numbers) => Numbers::Single(transposed(&numbers, rows, columns)),
            Numbers::Double(numbers) => Numbers::Double(transposed(&numbers, rows, columns)),
        })
    }
}

/// The text from `open`, which comes first, to `close`.
fn between(text: &str, open: char, close: char) -> Option<&str> {
    let (inside, _) = text.strip_prefix(open)?.split_once(close)?;
    Some(inside)
}

impl Kind {
    fn parse(kind: &str) -> io::Result<Self> {
        let (order, rest) = match kind.strip_prefix(['<', '>', '|', '=']) {
            Some(rest) => (kind.chars().next(), rest),
            None => (None, kind),
        };
        let mut letters = rest.chars();
        let (letter, size) = (letters.next(), letters.as_str().parse().ok());
        let (letter, size) = match (letter, size) {
            (Some('f'), Some(size @ (4 | 8))) => (b'f', size),
            (Some('i'), Some(size @ (1 | 2 | 4 | 8))) => (b'i', size),
            (Some('u'), Some(size @ (1 | 2 | 4 | 8))) => (b'u', size),
            (Some('b'), Some(size @ 1)) => (b'b', size),
            (Some('O'), _) => {
                return unsupported(
                    "it holds pickled Python objects, which are never loaded; episodes of unequal length must be joined, with `terminals` or `timeouts` at their ends",
                );
            }
            _ => {
                return unsupported(format!(
                    "the type `{kind}` is not one of numbers and booleans"
                ));
            }
        };
        Ok(Self {
            letter,
            size,
            big_endian: order == Some('>'),
        })
    }

    /// Long integers need f64.
    fn read(self, source: &mut impl Read, count: usize) -> io::Result<Numbers> {
        macro_rules! read_as {
            ($number:ty, $width:ident, $wide:ty) => {{
                let from_bytes = if self.big_endian {
                    <$number>::from_be_bytes
                } else {
                    <$number>::from_le_bytes
                };
                let numbers = each(source, count, |bytes| from_bytes(bytes) as $wide)?;
                Ok(Numbers::$width(numbers))
            }};
        }
        match (self.letter, self.size) {
            (b'f', 4) => read_as!(f32, Single, f32),
            (b'f', _) => read_as!(f64, Double, f64),
            (b'i', 1) => read_as!(i8, Single, f32),
            (b'i', 2) => read_as!(i16, Single, f32),
            (b'i', 4) => read_as!(i32, Double, f64),
            (b'i', _) => read_as!(i64, Double, f64),
            (b'u', 2) => read_as!(u16, Single, f32),
            (b'u', 4) => read_as!(u32, Double, f64),
            (b'u', 8) => read_as!(u64, Double, f64),
            _ => read_as!(u8, Single, f32),
        }
    }
}

/// Reads `count` elements of `N` bytes.
fn each<const N: usize, T>(
    source: &mut impl Read,
    count: usize,
    number: impl Fn([u8; N]) -> T,
) -> io::Result<Vec<T>> {
    let mut numbers = Vec::with_capacity(count);
    let mut buffer = vec![0; PIECE.min(count * N)];
    while numbers.len() < count {
        let length = buffer.len().min((count - numbers.len()) * N);
        let (piece, _) = buffer.split_at_mut(length);
        source.read_exact(piece)?;
        let (elements, _) = piece.as_chunks();
        numbers.extend(elements.iter().map(|bytes| number(*bytes)));
    }
    Ok(numbers)
}

/// From columns first to rows first.
fn transposed<T: Copy>(numbers: &[T], rows: usize, columns: usize) -> Vec<T> {
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
    let numbers = places.filter_map(|place| numbers.get(place).copied());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_numpy_is_read() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 17), }\n";
        let mut bytes = [b"\x93NUMPY\x01\x00".as_slice(), &[text.len() as u8, 0]].concat();
        bytes.extend(text.as_bytes());
        let header = Header::read(&mut bytes.as_slice()).unwrap();
        assert_eq!(
            (header.shape.as_slice(), header.length),
            (&[3, 17][..], bytes.len() as u64)
        );
        assert_eq!(header.plain_type(), Some((b'f', 4)));
    }

    #[test]
    fn columns_first_is_turned() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
        let bytes = [0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6];
        let numbers = Header::parse(header, 0)
            .unwrap()
            .numbers(&mut bytes.as_slice());
        let wanted = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(numbers.unwrap(), Numbers::Single(wanted));
    }

    /// More than one piece, and the last one not full.
    #[test]
    fn numbers_of_every_size_are_read() {
        let count = PIECE + 7;
        for (kind, size) in [("<f8", 8), ("|u1", 1), ("<i4", 4), ("<i2", 2)] {
            let header =
                format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},)}}");
            let header = Header::parse(&header, 0).unwrap();
            let bytes = vec![0; count * size];
            assert_eq!(header.numbers(&mut bytes.as_slice()).unwrap().len(), count);
            let cut = header.numbers(&mut &bytes[1..]).unwrap_err();
            assert_eq!(cut.kind(), ErrorKind::UnexpectedEof, "{kind}");
        }
    }

    #[test]
    fn objects_and_strange_types_are_refused() {
        let bracket = "[".repeat(60_000);
        for (kind, words) in [
            ("'|O'", "pickled"),
            ("'<U5'", "<U5"),
            ("'<c8'", "<c8"),
            ("'<f2'", "<f2"),
            ("'é8'", "é8"),
            ("''", "type ``"),
            ("[('x', '<f4')]", "structured"),
            (&bracket, "structured"),
        ] {
            let header = format!("{{'descr': {kind}, 'fortran_order': False, 'shape': (2,), }}");
            let error = Header::parse(&header, 0).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
