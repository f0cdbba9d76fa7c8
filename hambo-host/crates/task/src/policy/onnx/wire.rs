//! Protobuf's wire format, as much of it as ONNX needs, by hand: there are five
//! kinds of fields, and the limits are ours.
//!
//! Nothing is copied and nothing is allocated for a length that the file
//! claims: a field is a part of the bytes that are there.

use super::error::OnnxError;

/// Integers are shapes and axes: more of them are no perceptron's, and a byte of
/// the file would take eight of memory.
const MOST_INTEGERS: usize = 1 << 16;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
    Fixed32([u8; 4]),
}

/// The fields of one message, in the file's order.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    part: &'static str,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// `part` names the message in errors.
    pub fn new(part: &'static str, bytes: &'a [u8]) -> Self {
        Self { part, rest: bytes }
    }

    /// The next field and its number; `None` at the end.
    pub fn next(&mut self) -> Result<Option<(u64, Field<'a>)>, OnnxError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Field::Varint(self.varint()?),
            1 => Field::Fixed64(self.array()?),
            2 => {
                let length = self.varint()?;
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Fixed32(self.array()?),
            kind => return self.damaged(format!("a field of the unknown kind {kind}")),
        };
        match tag >> 3 {
            0 => self.damaged("a field with the number 0"),
            number => Ok(Some((number, value))),
        }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], OnnxError> {
        match self.rest.split_at_checked(length) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => {
                let left = self.rest.len();
                self.damaged(format!("{length} bytes are announced, {left} are left"))
            }
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], OnnxError> {
        let taken = self.take(N)?;
        <[u8; N]>::try_from(taken).or_else(|_| self.damaged("a number is cut off"))
    }

    fn varint(&mut self) -> Result<u64, OnnxError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        self.damaged("a number has more than 64 bits")
    }

    /// An error at this place.
    pub fn damaged<T>(&self, problem: impl Into<String>) -> Result<T, OnnxError> {
        Err(OnnxError::Damaged {
            part: self.part,
            problem: problem.into(),
        })
    }

    /// The bytes of a string or message.
    pub fn bytes(&self, field: Field<'a>) -> Result<&'a [u8], OnnxError> {
        match field {
            Field::Bytes(bytes) => Ok(bytes),
            _ => self.damaged("a number where text or a message belongs"),
        }
    }

    pub fn text(&self, field: Field<'a>) -> Result<&'a str, OnnxError> {
        let bytes = self.bytes(field)?;
        std::str::from_utf8(bytes).or_else(|_| self.damaged("a text that is not UTF-8"))
    }

    pub fn integer(&self, field: Field<'a>) -> Result<i64, OnnxError> {
        match field {
            // Two's complement, as protobuf's int64 is.
            Field::Varint(value) => Ok(value as i64),
            _ => self.damaged("something else where an integer belongs"),
        }
    }

    pub fn float(&self, field: Field<'a>) -> Result<f32, OnnxError> {
        match field {
            Field::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => self.damaged("something else where a 32-bit number belongs"),
        }
    }

    /// Adds the integers of a repeated field, packed or not.
    pub fn integers(&self, field: Field<'a>, to: &mut Vec<i64>) -> Result<(), OnnxError> {
        match field {
            Field::Bytes(bytes) => {
                let mut packed = Fields::new(self.part, bytes);
                while !packed.rest.is_empty() {
                    if to.len() >= MOST_INTEGERS {
                        return self.damaged(format!("more than {MOST_INTEGERS} integers"));
                    }
                    to.push(packed.varint()? as i64);
                }
                Ok(())
            }
            _ => {
                to.push(self.integer(field)?);
                Ok(())
            }
        }
    }

    /// Adds the 32-bit numbers of a repeated field, packed or not.
    pub fn floats(&self, field: Field<'a>, to: &mut Vec<f64>) -> Result<(), OnnxError> {
        match field {
            Field::Bytes(bytes) => {
                let (numbers, rest) = bytes.as_chunks();
                if !rest.is_empty() {
                    return self.damaged("a list of 32-bit numbers is cut off");
                }
                to.extend(
                    numbers
                        .iter()
                        .map(|bytes| f64::from(f32::from_le_bytes(*bytes))),
                );
                Ok(())
            }
            _ => {
                to.push(f64::from(self.float(field)?));
                Ok(())
            }
        }
    }

    /// Adds the 64-bit numbers of a repeated field, packed or not.
    pub fn doubles(&self, field: Field<'a>, to: &mut Vec<f64>) -> Result<(), OnnxError> {
        let bytes = match &field {
            Field::Bytes(bytes) => bytes,
            Field::Fixed64(bytes) => bytes.as_slice(),
            _ => return self.damaged("something else where a 64-bit number belongs"),
        };
        let (numbers, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return self.damaged("a list of 64-bit numbers is cut off");
        }
        to.extend(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)));
        Ok(())
    }
}

/// A message that is being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push(0x80 | (value & 0x7f) as u8);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Adds an integer.
    pub fn integer(mut self, number: u64, value: i64) -> Self {
        self.varint(number << 3);
        self.varint(value as u64);
        self
    }

    /// Adds a 32-bit number; our own files have none outside tensors.
    #[cfg(test)]
    pub fn float(mut self, number: u64, value: f32) -> Self {
        self.varint(number << 3 | 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Adds bytes or a text.
    pub fn bytes(mut self, number: u64, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.varint(number << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// Adds a message.
    pub fn message(self, number: u64, value: Message) -> Self {
        self.bytes(number, value.0)
    }

    /// Adds messages, one field each.
    pub fn messages(self, number: u64, values: impl IntoIterator<Item = Message>) -> Self {
        values
            .into_iter()
            .fold(self, |message, value| message.message(number, value))
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let bytes = Message::default()
            .integer(1, -3)
            .float(2, 0.5)
            .bytes(3, "text")
            .message(1000, Message::default().integer(1, 300))
            .finish();
        let mut fields = Fields::new("test", &bytes);
        let (number, field) = fields.next().unwrap().unwrap();
        assert_eq!((number, fields.integer(field).unwrap()), (1, -3));
        let (number, field) = fields.next().unwrap().unwrap();
        assert_eq!((number, fields.float(field).unwrap()), (2, 0.5));
        let (number, field) = fields.next().unwrap().unwrap();
        assert_eq!((number, fields.text(field).unwrap()), (3, "text"));
        let (number, field) = fields.next().unwrap().unwrap();
        assert_eq!(
            (number, fields.bytes(field).unwrap()),
            (1000, &[8, 0xac, 2][..])
        );
        assert_eq!(fields.next().unwrap(), None);
    }

    #[test]
    fn bad_bytes_are_errors() {
        let cases: [&[u8]; 7] = [
            &[0x08],                                                 // a tag without its value
            &[0x0a, 0x05, 1, 2],                                     // a length beyond the end
            &[0x0b],                                                 // a group
            &[0x00, 0x00],                                           // field 0
            &[0x0d, 1, 2, 3],                                        // half a float
            &[0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2], // 65 bits
            &[0x0a, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], // u64::MAX bytes
        ];
        for bytes in cases {
            assert!(Fields::new("test", bytes).next().is_err(), "{bytes:?}");
        }
    }
}
