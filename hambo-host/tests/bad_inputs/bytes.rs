//! Bytes of files that someone made to do harm, or that broke on the way.

use hambo_core::image::Part;
use hambo_core::image::container::{HEADER, header};

use crate::archive;

/// `rows` × `columns` of f32 that all differ.
pub fn array(rows: usize, columns: usize) -> Vec<u8> {
    let numbers: Vec<f32> = (0..rows * columns).map(|i| (i as f32).sin()).collect();
    archive::f32s(&format!("({rows}, {columns})"), &numbers)
}

/// A ZIP archive of these entries, deflated. An entry may claim another size than it has.
pub fn zip(entries: &[(&str, &[u8], Option<u32>)]) -> Vec<u8> {
    let entries = entries.iter().map(|(name, data, claim)| {
        let entry = archive::entry(name, data).deflated();
        let size = claim.unwrap_or(entry.size);
        archive::Entry { size, ..entry }
    });
    archive::zip(&entries.collect::<Vec<_>>())
}

/// A protobuf message, field by field.
#[derive(Clone, Default)]
pub struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub fn integer(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    pub fn bytes(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Self {
        self.varint((field << 3) | 2);
        self.varint(bytes.as_ref().len() as u64);
        self.0.extend(bytes.as_ref());
        self
    }

    pub fn part(self, field: u64, part: Self) -> Self {
        self.bytes(field, part.0)
    }
}

/// A float tensor of ONNX called `W`, with its shape and what else `more` says.
pub fn tensor(shape: &[u64], more: impl FnOnce(Message) -> Message) -> Message {
    let shaped = shape
        .iter()
        .fold(Message::default(), |m, size| m.integer(1, *size));
    more(shaped.integer(2, 1).bytes(8, "W"))
}

/// Weights that lie in another file.
pub fn external(shape: &[u64], entries: &[(&str, &str)]) -> Message {
    tensor(shape, |tensor| {
        let named = entries.iter().fold(tensor, |tensor, (key, value)| {
            tensor.part(13, Message::default().bytes(1, key).bytes(2, value))
        });
        named.integer(14, 1)
    })
}

/// An ONNX model: y = operator(x, W) for two states.
pub fn onnx(operator: &str, weights: Message) -> Vec<u8> {
    let value = |name: &str, sizes: &[u64]| {
        let shape = sizes.iter().fold(Message::default(), |shape, size| {
            shape.part(1, Message::default().integer(1, *size))
        });
        let kind = Message::default().integer(1, 1).part(2, shape);
        let kind = Message::default().part(1, kind);
        Message::default().bytes(1, name).part(2, kind)
    };
    let node = Message::default().bytes(1, "x").bytes(1, "W").bytes(2, "y");
    let graph = Message::default()
        .part(1, node.bytes(3, "first").bytes(4, operator))
        .part(5, weights)
        .part(11, value("x", &[1, 2]))
        .part(12, value("y", &[1, 1]));
    let opset = Message::default().integer(2, 17);
    Message::default()
        .integer(1, 8)
        .part(7, graph)
        .part(8, opset)
        .0
}

/// Where a model file's second part begins.
pub fn second_part(model: &[u8]) -> usize {
    let length: [u8; 4] = model[8..12].try_into().unwrap();
    HEADER + u32::from_le_bytes(length) as usize
}

/// The bytes with one of them changed.
pub fn flipped(bytes: &[u8], place: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[place] ^= 0x10;
    bytes
}

/// A part whose checksums are right, whatever it says.
pub fn signed(part: Part, manifest_length: usize, payload: &[u8]) -> Vec<u8> {
    let mut bytes = header(part, manifest_length, payload).unwrap().to_vec();
    bytes.extend(payload);
    bytes
}

/// The model's weights changed to NaN, with checksums that agree.
pub fn not_a_number(model: &[u8]) -> Vec<u8> {
    let start = second_part(model);
    let length: [u8; 4] = model[start + 12..start + 16].try_into().unwrap();
    let length = u32::from_le_bytes(length) as usize;
    let mut payload = model[start + HEADER..].to_vec();
    let arena = length.next_multiple_of(16);
    for number in payload[arena..].chunks_mut(4) {
        number.copy_from_slice(&f32::NAN.to_le_bytes());
    }
    let mut bytes = model[..start].to_vec();
    bytes.extend(signed(Part::Model, length, &payload));
    bytes
}
