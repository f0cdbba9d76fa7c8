//! From a file's rows to transitions: (s, a, r, s′), with s′ from the next row where the file has
//! none, inside an episode only.

use super::rows::{Log, Transition};
use crate::error::DataError;
use crate::table::{Origin, Table};

/// The log of a table.
///
/// # Errors
/// If a number is not finite, a file does not say where its episodes end, or no transition is left.
pub fn transitions(table: &Table) -> Result<Log, DataError> {
    table.check_finite()?;
    table.check_ends()?;
    let mut rows = Vec::with_capacity(table.rows());
    let mut log = Log::new(table.states.columns(), table.actions.columns());
    let mut episode = 0;
    for row in 0..table.rows() {
        if let Some((next_states, next)) = table.next_of(row) {
            let rewards = table.rewards.as_ref();
            let transition = Transition {
                state: &table.states.row(row),
                action: &table.actions.row(row),
                next_state: &next_states.row(next),
                reward: rewards.map_or(0.0, |rewards| rewards.at(row, 0) as f32),
                episode,
            };
            log.push(transition).map_err(DataError::row(&table.file))?;
            rows.push(row as u32);
        }
        episode += u32::from(!table.goes_on(row));
    }
    if log.is_empty() {
        let help = match (table.rows(), &table.next_states) {
            (0, _) => "the file has no row",
            (_, Some(_)) => "the file has a header and no row",
            (_, None) => "without next states an episode needs at least two rows",
        };
        return Err(DataError::empty(&table.file, help));
    }
    log.set_origin(Origin {
        rows: Some(rows),
        ..table.origin.clone()
    });
    Ok(log)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::table::{Block, Numbers};

    #[test]
    fn the_shift_never_crosses_an_end() {
        let column = |numbers: &[f32]| Block::new(1, Numbers::Single(numbers.to_vec()));
        let states = column(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let mut table = Table::new(Path::new("t"), states, column(&[0.0; 6]));
        table.rewards = Some(column(&[0.5; 6]));
        table.terminals = Some(vec![false, true, false, false, false, false]);
        table.timeouts = Some(vec![false, false, false, true, false, false]);
        let pairs = |table: &Table| -> Vec<(f32, f32, u32)> {
            let log = transitions(table).unwrap();
            let rows = log.rows();
            rows.map(|row| (row.state[0], row.next_state[0], row.episode))
                .collect()
        };
        assert_eq!(pairs(&table), [(0.0, 1.0, 0), (2.0, 3.0, 1), (4.0, 5.0, 2)]);
        table.timeouts = None;
        table.terminals = None;
        assert_eq!(pairs(&table).len(), 5);
        table.states = column(&[1.0]);
        let error = transitions(&table).unwrap_err().to_string();
        assert!(error.contains("no transition"), "{error}");
    }
}
