//! A log as arrays: what NPZ and HDF5 share.

use std::borrow::Cow;

use crate::table::keys;
use crate::table::{Block, Numbers, Table};

/// The type of an element, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// f32.
    Single,
    /// f64.
    Double,
    /// i64.
    Integer,
    /// 0 or 1 in a byte.
    Flag,
}

impl Kind {
    /// Bytes of an element.
    pub(super) fn size(self) -> u64 {
        match self {
            Self::Single => 4,
            Self::Double | Self::Integer => 8,
            Self::Flag => 1,
        }
    }
}

/// Name, type and shape of an array; its bytes are kept apart.
pub(crate) struct Array {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) shape: Vec<u64>,
}

impl Array {
    /// What its numbers take in the file; no file is as long as `u64::MAX`.
    pub(crate) fn bytes(&self) -> u64 {
        let sizes = self.shape.iter().copied();
        sizes.fold(self.kind.size(), u64::saturating_mul)
    }

    /// Rows of numbers.
    pub(super) fn matrix<'a>(name: &'static str, block: &'a Block) -> (Self, Cow<'a, [u8]>) {
        let (mut array, bytes) = Self::vector(name, block);
        array.shape.push(block.columns() as u64);
        (array, bytes)
    }

    /// One number a row.
    pub(super) fn vector<'a>(name: &'static str, block: &'a Block) -> (Self, Cow<'a, [u8]>) {
        let kind = match block.numbers() {
            Numbers::Single(_) => Kind::Single,
            Numbers::Double(_) => Kind::Double,
        };
        let shape = vec![block.rows() as u64];
        (Self { name, kind, shape }, block.numbers().little_endian())
    }

    pub(super) fn flags<'a>(name: &'static str, flags: &[bool]) -> (Self, Cow<'a, [u8]>) {
        let (kind, shape) = (Kind::Flag, vec![flags.len() as u64]);
        let bytes = flags.iter().copied().map(u8::from).collect();
        (Self { name, kind, shape }, bytes)
    }
}

/// The arrays of a table with their bytes.
pub(super) fn arrays(table: &Table) -> Vec<(Array, Cow<'_, [u8]>)> {
    let mut arrays = vec![
        Array::matrix(keys::OBSERVATIONS.name, &table.states),
        Array::matrix(keys::ACTIONS.name, &table.actions),
    ];
    let next_states = table.next_states.iter();
    arrays.extend(next_states.map(|block| Array::matrix(keys::NEXT_OBSERVATIONS.name, block)));
    let rewards = table.rewards.iter();
    arrays.extend(rewards.map(|block| Array::vector(keys::REWARDS.name, block)));
    let terminals = table.terminals.iter();
    arrays.extend(terminals.map(|flags| Array::flags(keys::TERMINALS.name, flags)));
    let timeouts = table.timeouts.iter();
    arrays.extend(timeouts.map(|flags| Array::flags(keys::TIMEOUTS.name, flags)));
    arrays.extend(table.episodes.iter().map(|episodes| {
        let array = Array {
            name: keys::EPISODES.name,
            kind: Kind::Integer,
            shape: vec![episodes.len() as u64],
        };
        let numbers = episodes.iter().map(|episode| *episode as i64);
        (array, numbers.flat_map(i64::to_le_bytes).collect())
    }));
    arrays
}
