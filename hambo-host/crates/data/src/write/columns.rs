//! A log as columns with names: what CSV and Parquet share.

use crate::table::{Block, Table};

/// One column: its name and where it comes from.
pub(super) struct Column<'a> {
    pub(super) name: String,
    pub(super) part: Part<'a>,
}

pub(super) enum Part<'a> {
    /// A column of a block.
    Numbers(&'a Block, usize),
    Flags(&'a [bool]),
    /// Whole numbers.
    Integers(&'a [f64]),
}

/// States, actions, `next.NAME`, reward, terminal, timeout and episode, as far as the table has
/// them.
pub(super) fn columns(table: &Table) -> Vec<Column<'_>> {
    let blocks = table.blocks().flat_map(|(names, block)| {
        let columns = names.into_iter().enumerate();
        columns.map(move |(index, name)| (name, Part::Numbers(block, index)))
    });
    let others = [
        ("terminal", table.terminals.as_deref().map(Part::Flags)),
        ("timeout", table.timeouts.as_deref().map(Part::Flags)),
        ("episode", table.episodes.as_deref().map(Part::Integers)),
    ];
    let others = others.into_iter();
    let others = others.filter_map(|(name, part)| Some((name.to_owned(), part?)));
    let columns = blocks.chain(others);
    columns.map(|(name, part)| Column { name, part }).collect()
}
