//! NumPy arrays in ZIP archives whose claims need not be true.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// An array whose header says this of its type and shape.
pub fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// An array of f32.
pub fn f32s(shape: &str, numbers: &[f32]) -> Vec<u8> {
    let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy("<f4", shape, &data)
}

/// An entry of an archive, and what is claimed of it.
#[derive(Clone)]
pub struct Entry {
    pub name: String,
    pub method: u16,
    pub flags: u16,
    pub stored: Vec<u8>,
    pub size: u32,
    pub crc: u32,
}

/// A stored entry, with claims that are true.
pub fn entry(name: &str, bytes: &[u8]) -> Entry {
    let mut crc = Crc::new();
    crc.update(bytes);
    Entry {
        name: name.to_owned(),
        method: 0,
        flags: 0,
        size: bytes.len() as u32,
        crc: crc.sum(),
        stored: bytes.to_vec(),
    }
}

impl Entry {
    pub fn deflated(self) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&self.stored).unwrap();
        Self {
            method: 8,
            stored: encoder.finish().unwrap(),
            ..self
        }
    }
}

pub fn zip(entries: &[Entry]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        // From the version needed to the length of the extra field.
        let mut fields = [20, entry.flags, entry.method, 0, 0]
            .map(u16::to_le_bytes)
            .concat();
        let sizes = [entry.crc, entry.stored.len() as u32, entry.size];
        fields.extend(sizes.map(u32::to_le_bytes).concat());
        fields.extend([entry.name.len() as u16, 0].map(u16::to_le_bytes).concat());
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend((bytes.len() as u32).to_le_bytes());
        directory.extend(entry.name.as_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(fields);
        bytes.extend(entry.name.as_bytes());
        bytes.extend(&entry.stored);
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
