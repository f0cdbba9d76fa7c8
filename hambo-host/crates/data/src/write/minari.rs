//! Writing Minari's layout: one group per episode, whose observations have one row more than its
//! actions.

use std::fs::File;

use hdf5_pure::{AttrValue, FileBuilder};

use super::arrays::Array;
use super::hdf5::{add, finish};
use crate::error::DataError;
use crate::table::{Block, Table};

/// Writes one group per episode.
///
/// # Errors
/// If a next state is not the state of the row after it, which this layout cannot say.
pub(super) fn write_minari(out: &mut File, table: &Table, compress: bool) -> Result<(), DataError> {
    let mut builder = FileBuilder::new();
    let (mut number, mut steps, mut start) = (0_i64, 0, 0);
    for length in table.episode_lengths() {
        // Without next states the last row leads nowhere.
        let count = length - usize::from(table.next_states.is_none());
        let rows = start..start + count;
        start += length;
        if count == 0 {
            continue;
        }
        let states = observations(table, rows.start, count)?;
        let (actions, rewards) = (
            table.actions.slice(rows.clone()),
            table
                .rewards
                .as_ref()
                .map(|rewards| rewards.slice(rows.clone())),
        );
        let flags = |flags: &Option<Vec<bool>>| {
            let flags = flags.as_ref().and_then(|flags| flags.get(rows.clone()));
            flags.map_or(vec![false; count], <[bool]>::to_vec)
        };
        let (terminals, mut timeouts) = (flags(&table.terminals), flags(&table.timeouts));
        // A group ends an episode, and says why.
        if let (Some(timeout), Some(false)) = (timeouts.last_mut(), terminals.last()) {
            *timeout = true;
        }
        let mut parts = vec![
            Array::matrix("observations", &states),
            Array::matrix("actions", &actions),
        ];
        parts.extend(
            rewards
                .iter()
                .map(|rewards| Array::vector("rewards", rewards)),
        );
        parts.push(Array::flags("terminations", &terminals));
        parts.push(Array::flags("truncations", &timeouts));
        let mut group = builder.create_group(&format!("episode_{number}"));
        for (array, bytes) in parts {
            add(group.create_dataset(array.name), &array, bytes, compress)?;
        }
        group.set_attr("id", AttrValue::I64(number));
        group.set_attr("total_steps", AttrValue::I64(count as i64));
        builder.add_group(group.finish());
        number += 1;
        steps += count;
    }
    if number == 0 {
        let help = "without next states an episode needs at least two rows";
        return Err(DataError::empty(&table.file, help));
    }
    builder.set_attr("total_episodes", AttrValue::I64(number));
    builder.set_attr("total_steps", AttrValue::I64(steps as i64));
    finish(builder, out)
}

/// The states of an episode and, as one row more, where the last one led.
fn observations(table: &Table, start: usize, count: usize) -> Result<Block, DataError> {
    let Some(next_states) = &table.next_states else {
        return Ok(table.states.slice(start..start + count + 1));
    };
    let last = start + count - 1;
    let apart = (start..last).find(|row| !next_states.same_row(*row, &table.states, row + 1));
    if let Some(row) = apart {
        let problem = "its next state is not the state of the row after it, in the same episode; Minari's layout cannot hold that";
        let (place, help) = (
            format!("row {}", row + 1),
            "write D4RL's layout: --layout d4rl",
        );
        return Err(DataError::part(&table.file, place, problem, help));
    }
    let mut all = table.states.slice(start..last + 1);
    all.append(next_states.slice(last..last + 1));
    Ok(all)
}
