//! What is odd about a log, in words.

use hambo_task::task::Wrap;

use super::column::ColumnSummary;
use super::exploration::{StateAction, explorations_of};
use super::wrap_hint::wrap_line;
use crate::table::{Block, JUMP, Table};

/// What deserves a look, given the columns of a table and the states that wrap by the task.
pub(super) fn odd(table: &Table, columns: &[ColumnSummary], wraps: &[Option<Wrap>]) -> Vec<String> {
    if table.rows() == 0 {
        return vec!["there is no row".to_owned()];
    }
    let mut odd = Vec::new();
    if !table.roles_known {
        odd.push(
            "nothing tells states from actions, so all columns count as states: give --task TASK"
                .to_owned(),
        );
    }
    for column in columns {
        let (name, bad) = (&column.name, column.not_finite);
        if bad > 0 {
            odd.push(format!("`{name}`: {bad} numbers are NaN or infinite"));
        }
        if column.min == column.max && table.rows() > 1 {
            odd.push(format!("`{name}` is always {}", column.min));
        }
    }
    let hints = table.wrap_hints(wraps);
    let line = wrap_line(&table.names.states, wraps, &hints);
    for hint in &hints {
        odd.push(format!(
            "{}: if it is one, write into [state] of the task: {line}",
            hint.seen()
        ));
    }
    let duplicates = duplicates(table);
    if duplicates > 0 {
        odd.push(format!(
            "{duplicates} rows repeat an earlier one (state, action and next state)"
        ));
    }
    let unsaid = table.episodes.is_none()
        && table.gaps.is_none()
        && !(0..table.rows()).any(|row| table.flagged(row));
    if unsaid && table.next_states.is_none() {
        odd.push(
            "no terminal, timeout, episode or time: nothing says where an episode ends, and no model is fitted to such a log"
                .to_owned(),
        );
        if let Some((row, count)) = table.jumps() {
            odd.push(format!(
                "{count} steps are more than {JUMP} times the mean step, the first after row {}: episodes seem to run together; mark their ends",
                row + 1
            ));
        }
    }
    if let Some((row, count)) = broken_chains(table) {
        odd.push(format!(
            "in {count} rows, the first is row {}, the next state is not the state of the row after it, in the same episode",
            row + 1
        ));
    }
    if table.roles_known {
        let names = table.names.actions.iter();
        let found = names.zip(explorations_of(state_actions(table)));
        odd.extend(found.filter_map(|(name, found)| found?.warning(name)));
    }
    let lengths = table.episode_lengths();
    let single = lengths.iter().filter(|length| **length == 1).count();
    if single > 0 {
        odd.push(format!("{single} episodes have a single row"));
    }
    odd
}

fn state_actions(table: &Table) -> Vec<StateAction> {
    let of = |block: &Block, row: usize| (0..block.columns()).map(|j| block.at(row, j)).collect();
    let rows = (0..table.rows()).map(|row| StateAction {
        state: of(&table.states, row),
        action: of(&table.actions, row),
    });
    rows.collect()
}

/// Rows that came before, by a hash of 64 bits.
fn duplicates(table: &Table) -> usize {
    let blocks = [
        Some(&table.states),
        Some(&table.actions),
        table.next_states.as_ref(),
    ];
    let mut hashes: Vec<u64> = (0..table.rows())
        .map(|row| {
            let mut hash = 0xcbf2_9ce4_8422_2325_u64;
            for block in blocks.into_iter().flatten() {
                for column in 0..block.columns() {
                    hash ^= block.at(row, column).to_bits();
                    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
                }
            }
            hash
        })
        .collect();
    hashes.sort_unstable();
    hashes
        .windows(2)
        .filter(|pair| pair.first() == pair.last())
        .count()
}

/// Rows that are not followed by their next state inside an episode.
fn broken_chains(table: &Table) -> Option<(usize, usize)> {
    let next_states = table.next_states.as_ref()?;
    table.episodes.as_ref()?;
    let inside = (0..table.rows()).filter(|row| table.goes_on(*row));
    let mut broken = inside
        .filter(|row| !next_states.same_row(*row, &table.states, row + 1))
        .peekable();
    let first = broken.peek().copied()?;
    Some((first, broken.count()))
}
