//! From a file's rows to transitions: (s, a, r, s′), with s′ from the next row
//! where the file has none, inside an episode only.

use super::{DataError, Log, Origin, Table, Transition};

/// The log of a table.
///
/// # Errors
/// If a number is not finite, a file does not say where its episodes end, or no transition is
/// left.
pub fn transitions(table: &Table) -> Result<Log, DataError> {
    table.check_finite()?;
    table.check_ends()?;
    let mut rows = Vec::with_capacity(table.rows());
    let (states, actions) = (table.states.columns(), table.actions.columns());
    let mut log = Log::new(states, actions);
    let mut state = vec![0.0; states];
    let mut action = vec![0.0; actions];
    let mut next_state = vec![0.0; states];
    let mut episode = 0;
    for row in 0..table.rows() {
        let goes_on = table.goes_on(row);
        let known = match &table.next_states {
            Some(next_states) => {
                next_states.copy_row(row, &mut next_state);
                true
            }
            None if goes_on => {
                table.states.copy_row(row + 1, &mut next_state);
                true
            }
            None => false,
        };
        if known {
            table.states.copy_row(row, &mut state);
            table.actions.copy_row(row, &mut action);
            let rewards = table.rewards.as_ref();
            let transition = Transition {
                state: &state,
                action: &action,
                next_state: &next_state,
                reward: rewards.map_or(0.0, |rewards| rewards.at(row, 0) as f32),
                episode,
            };
            log.push(transition).map_err(|problem| DataError::Row {
                file: table.file.display().to_string(),
                problem,
            })?;
            rows.push(row as u32);
        }
        episode += u32::from(!goes_on);
    }
    if log.is_empty() {
        let file = table.file.display().to_string();
        let help = match (table.rows(), &table.next_states) {
            (0, _) => "the file has no row",
            (_, Some(_)) => "the file has a header and no row",
            (_, None) => "without next states an episode needs at least two rows",
        };
        return Err(DataError::Empty { file, help });
    }
    log.set_origin(Origin {
        rows: Some(rows),
        ..table.origin.clone()
    });
    Ok(log)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::{Block, ColumnNames, Numbers, Origin};
    use super::*;

    #[test]
    fn the_shift_never_crosses_an_end() {
        let column = |numbers: &[f32]| Block::new(1, Numbers::Single(numbers.to_vec()));
        let mut table = Table {
            file: PathBuf::from("t"),
            names: ColumnNames::numbered(1, 1),
            roles_known: true,
            states: column(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
            actions: column(&[0.0; 6]),
            next_states: None,
            rewards: Some(column(&[0.5; 6])),
            terminals: Some(vec![false, true, false, false, false, false]),
            timeouts: Some(vec![false, false, false, true, false, false]),
            episodes: None,
            gaps: None,
            origin: Origin::default(),
        };
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
