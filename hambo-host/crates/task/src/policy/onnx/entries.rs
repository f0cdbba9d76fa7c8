//! Counts the entries of a file's lists before `prost` reads them: an entry of two bytes
//! takes up to 300 bytes of memory, and `prost` has no limit of its own.

use prost::decode_length_delimiter;

use crate::policy::onnx_error::OnnxError;

/// More nodes, tensors, attributes or names than any perceptron has: in one list, and in all.
const MOST_IN_LIST: usize = 10_000;
const MOST: usize = 1 << 18;
/// Integers are shapes and axes; a packed one takes eight times its byte.
const MOST_INTEGERS: usize = 1 << 16;

pub(super) fn count(model: &[u8]) -> Result<(), OnnxError> {
    count_in("model", model, &mut 0)
}

/// What a field of a message holds, where each of its entries takes memory.
fn part_of(part: &str, number: usize) -> Option<&'static str> {
    Some(match (part, number) {
        ("model", 7) => "graph",
        ("model", 8) => "operator set",
        ("model", 14) | ("tensor", 13) => "metadata",
        ("graph", 1) => "node",
        ("graph", 5) | ("attribute", 5) => "tensor",
        ("graph", 11 | 12) => "value",
        ("node", 1 | 2) => "name",
        ("node", 5) => "attribute",
        ("attribute", 8) | ("tensor", 1 | 5 | 7) => "integers",
        ("value", 2) => "type",
        ("type", 1) => "tensor type",
        ("tensor type", 2) => "shape",
        ("shape", 1) => "dimension",
        _ => return None,
    })
}

fn count_in(part: &'static str, mut bytes: &[u8], all: &mut usize) -> Result<(), OnnxError> {
    let damaged = |problem: String| OnnxError::Damaged { part, problem };
    let too_many = |most: usize, what: &str| Err(damaged(format!("more than {most} {what}")));
    let number = |bytes: &mut &[u8]| {
        decode_length_delimiter(bytes)
            .map_err(|_| damaged("a number is cut off or has more than 64 bits".to_owned()))
    };
    let mut in_list = [0_usize; 16];
    while !bytes.is_empty() {
        let key = number(&mut bytes)?;
        let length = match key & 7 {
            0 => number(&mut bytes).map(|_| 0)?,
            1 => 8,
            2 => number(&mut bytes)?,
            5 => 4,
            kind => return Err(damaged(format!("a field of the unknown kind {kind}"))),
        };
        let Some((field, rest)) = bytes.split_at_checked(length) else {
            let left = bytes.len();
            return Err(damaged(format!(
                "{length} bytes are announced, {left} are left"
            )));
        };
        bytes = rest;
        let Some(inner) = part_of(part, key >> 3) else {
            continue;
        };
        if inner == "integers" {
            if field.iter().filter(|byte| **byte < 0x80).count() > MOST_INTEGERS {
                return too_many(MOST_INTEGERS, "integers");
            }
            continue;
        }
        *all += 1;
        if *all > MOST {
            return too_many(MOST, "entries");
        }
        if let Some(in_list) = in_list.get_mut(key >> 3) {
            *in_list += 1;
            if *in_list > MOST_IN_LIST {
                return too_many(MOST_IN_LIST, "entries in one list");
            }
        }
        if inner != "name" {
            count_in(inner, field, all)?;
        }
    }
    Ok(())
}
