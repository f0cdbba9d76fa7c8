//! Bytes of files that someone made to do harm, or that broke on the way.

use std::io::Write as _;

use flate2::{Compression, Crc, write::DeflateEncoder};
use hambo_core::image::Part;
use hambo_core::image::container::{HEADER, header};

/// A NumPy array whose header says this of its type and shape.
pub fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

/// `rows` × `columns` of f32 that all differ.
pub fn array(rows: usize, columns: usize) -> Vec<u8> {
    let numbers = (0..rows * columns).flat_map(|i| (i as f32).sin().to_le_bytes());
    npy(
        "<f4",
        &format!("({rows}, {columns})"),
        &numbers.collect::<Vec<u8>>(),
    )
}

/// A ZIP archive of these entries, deflated. An entry may claim another size than it has.
pub fn zip(entries: &[(&str, &[u8], Option<u32>)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, data, claim) in entries {
        let mut crc = Crc::new();
        crc.update(data);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(data).unwrap();
        let packed = encoder.finish().unwrap();
        // From the version needed to the length of the extra field.
        let mut fields = [20_u16, 0, 8, 0, 0].map(u16::to_le_bytes).concat();
        let size = claim.unwrap_or(data.len() as u32);
        fields.extend(
            [crc.sum(), packed.len() as u32, size]
                .map(u32::to_le_bytes)
                .concat(),
        );
        fields.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend((bytes.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(fields);
        bytes.extend(name.as_bytes());
        bytes.extend(packed);
    }
    let (start, count) = (bytes.len() as u32, entries.len() as u16);
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count; 2].map(u16::to_le_bytes).concat());
    bytes.extend(
        [directory.len() as u32, start]
            .map(u32::to_le_bytes)
            .concat(),
    );
    bytes.extend([0; 2]);
    bytes
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
