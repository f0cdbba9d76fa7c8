//! D4RL's arrays as plain HDF5: all that precedes the numbers.
//!
//! The `hdf5-pure` crate takes a copy of all data before it writes; for uncompressed arrays that
//! costs as much as the writing. So the oldest layout of all (superblock 0, one symbol-table group,
//! contiguous arrays), which every HDF5 library reads, is made here; the numbers follow as they
//! are.

use super::arrays::{Array, Kind};

/// No address.
const NOWHERE: u64 = u64::MAX;
/// Half of what a symbol-table node holds; at most eight arrays here.
const LEAF: u16 = 4;
/// Half of what a B-tree node holds.
const INTERNAL: u16 = 16;

const SUPERBLOCK: u64 = 96;
const ROOT_HEADER: u64 = 16 + 24;
const TREE: u64 = 24 + (4 * INTERNAL as u64 + 1) * 8;
const SYMBOLS: u64 = 8 + 2 * LEAF as u64 * 40;
const HEAP: u64 = 32;

/// The message of a datatype.
fn datatype(kind: Kind) -> Vec<u8> {
    let integer = |size: u32, bits: u16| {
        let mut bytes = vec![0x10, 0x08, 0, 0];
        bytes.extend(size.to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(bits.to_le_bytes());
        bytes
    };
    match kind {
        Kind::Single => vec![
            0x11, 0x20, 31, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0,
        ],
        Kind::Double => vec![
            0x11, 0x20, 63, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0,
        ],
        Kind::Integer => integer(8, 64),
        Kind::Flag => {
            let mut bytes = vec![0x18, 2, 0, 0, 1, 0, 0, 0];
            bytes.extend(integer(1, 8));
            bytes.extend(b"FALSE\0\0\0TRUE\0\0\0\0");
            bytes.extend([0, 1]);
            bytes
        }
    }
}

/// A message of an object header, padded to eight bytes.
fn message(kind: u16, mut body: Vec<u8>) -> Vec<u8> {
    body.resize(body.len().next_multiple_of(8), 0);
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend((body.len() as u16).to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(body);
    bytes
}

fn object_header(messages: &[Vec<u8>]) -> Vec<u8> {
    let body = messages.concat();
    let mut bytes = vec![1, 0];
    bytes.extend((messages.len() as u16).to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(body);
    bytes
}

fn dataset_header(array: &Array, address: u64) -> Vec<u8> {
    let mut space = vec![1, array.shape.len() as u8, 0, 0, 0, 0, 0, 0];
    space.extend(array.shape.iter().flat_map(|size| size.to_le_bytes()));
    let mut layout = vec![3, 1];
    layout.extend(address.to_le_bytes());
    layout.extend(array.bytes().to_le_bytes());
    object_header(&[
        message(0x01, space),
        message(0x03, datatype(array.kind)),
        message(0x05, vec![2, 2, 2, 0]),
        message(0x08, layout),
    ])
}

/// The beginning of the file; the arrays' bytes follow it in the same order. The arrays are in the
/// order of their names, at most eight, and not empty.
pub(crate) fn beginning(arrays: &[Array]) -> Vec<u8> {
    let mut names = vec![0; 8];
    let mut name_offsets = Vec::new();
    for array in arrays {
        name_offsets.push(names.len() as u64);
        names.extend(array.name.as_bytes());
        names.push(0);
        names.resize(names.len().next_multiple_of(8), 0);
    }
    let root = SUPERBLOCK;
    let tree = root + ROOT_HEADER;
    let symbols = tree + TREE;
    let heap = symbols + SYMBOLS;
    let first_header = heap + HEAP + names.len() as u64;
    let header_length = |array: &Array| dataset_header(array, 0).len() as u64;
    let data = first_header + arrays.iter().map(header_length).sum::<u64>();
    let mut end = data;
    let mut header_address = first_header;
    let (mut header_addresses, mut headers) = (Vec::new(), Vec::new());
    for array in arrays {
        let header = dataset_header(array, end);
        header_addresses.push(header_address);
        header_address += header.len() as u64;
        headers.extend(header);
        end += array.bytes();
    }

    let mut file = b"\x89HDF\r\n\x1a\n".to_vec();
    file.extend([0, 0, 0, 0, 0, 8, 8, 0]);
    file.extend(LEAF.to_le_bytes());
    file.extend(INTERNAL.to_le_bytes());
    file.extend([0; 4]);
    for address in [0, NOWHERE, end, NOWHERE, 0, root] {
        file.extend(address.to_le_bytes());
    }
    file.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(tree.to_le_bytes());
    file.extend(heap.to_le_bytes());

    let table = [tree.to_le_bytes(), heap.to_le_bytes()].concat();
    file.extend(object_header(&[message(0x11, table)]));

    file.extend(b"TREE\0\0\x01\0");
    let last_name = name_offsets.last().copied().unwrap_or(0);
    for number in [NOWHERE, NOWHERE, 0, symbols, last_name] {
        file.extend(number.to_le_bytes());
    }
    file.resize(symbols as usize, 0);

    file.extend(b"SNOD\x01\0");
    file.extend((arrays.len() as u16).to_le_bytes());
    for (name, header) in name_offsets.iter().zip(&header_addresses) {
        file.extend(name.to_le_bytes());
        file.extend(header.to_le_bytes());
        file.extend([0; 24]);
    }
    file.resize(heap as usize, 0);

    file.extend(b"HEAP\0\0\0\0");
    for number in [names.len() as u64, 1, heap + HEAP] {
        file.extend(number.to_le_bytes());
    }
    file.extend(names);
    file.extend(headers);
    file
}
