//! Logs with one column per name: what CSV and Parquet share.
//!
//! | column | what |
//! |---|---|
//! | the task's states and actions | s and a, before the transition |
//! | `next.NAME`, for every state or for none | s′; without them the next row of the episode |
//! | `reward` | optional |
//! | `terminal`, `timeout` | optional, 0 or 1: the episode ends after this row |
//! | `episode` | optional: rows with the same number in a row belong together |
//!
//! Without an `episode` column a new episode begins after a terminal, after a
//! timeout, and where a state is not the next state of the row before.

use std::collections::HashMap;

use super::arrays::short_list;
use super::{ColumnNames, DataError};

/// Columns that are neither states nor actions; the last is pandas' index.
const RESERVED: [&str; 5] = [
    "reward",
    "terminal",
    "timeout",
    "episode",
    "__index_level_0__",
];

/// Where a column is.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) index: usize,
}

/// Where all columns are.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) names: ColumnNames,
    pub(super) roles_known: bool,
    pub(super) states: Vec<Column>,
    pub(super) actions: Vec<Column>,
    pub(super) next_states: Option<Vec<Column>>,
    pub(super) reward: Option<Column>,
    pub(super) terminal: Option<Column>,
    pub(super) timeout: Option<Column>,
    pub(super) episode: Option<Column>,
}

impl Columns {
    /// Finds the columns of these states and actions; without names, tells
    /// them apart by their own.
    pub(super) fn find(
        file: &str,
        header: &[String],
        names: Option<&ColumnNames>,
    ) -> Result<Self, DataError> {
        let mut places = HashMap::new();
        for (index, name) in header.iter().enumerate() {
            if places.insert(name.as_str(), index).is_some() {
                return Err(DataError::Twice {
                    file: file.to_owned(),
                    column: name.clone(),
                });
            }
        }
        let find = |name: &str| {
            let index = *places.get(name)?;
            let name = name.to_owned();
            Some(Column { name, index })
        };
        let all = |names: &[String], prefix: &str, help: &'static str| {
            let columns = names.iter().map(|name| {
                let name = format!("{prefix}{name}");
                find(&name).ok_or_else(|| DataError::Column {
                    file: file.to_owned(),
                    column: name,
                    found: short_list(header),
                    help,
                })
            });
            columns.collect::<Result<Vec<_>, _>>()
        };
        let guessed = names.is_none().then(|| guess(header));
        let roles_known = guessed.as_ref().is_none_or(|(_, known)| *known);
        let names = match (names, guessed) {
            (Some(names), _) => names.clone(),
            (None, guessed) => guessed.unwrap_or_default().0,
        };
        let named = "name the columns as the task names its states and actions";
        let complete = "give `next.NAME` for every state, or for none";
        let some_next = header.iter().any(|name| name.starts_with("next."));
        let next_states = some_next.then(|| all(&names.states, "next.", complete));
        Ok(Self {
            states: all(&names.states, "", named)?,
            actions: all(&names.actions, "", named)?,
            next_states: next_states.transpose()?,
            reward: find("reward"),
            terminal: find("terminal"),
            timeout: find("timeout"),
            episode: find("episode"),
            names,
            roles_known,
        })
    }
}

/// States are what has a `next.NAME`, or is called `s0`, `s1`, …; the rest are
/// actions. Where neither helps all columns are states, and that is said.
fn guess(header: &[String]) -> (ColumnNames, bool) {
    let plain = |name: &&String| {
        !name.starts_with("next.") && !RESERVED.contains(&name.as_str()) && !name.is_empty()
    };
    let numbered = |name: &str, letter| {
        let digits = name.strip_prefix(letter).unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let followed = |name: &str| {
        header
            .iter()
            .any(|other| other.strip_prefix("next.") == Some(name))
    };
    let split = |is_state: &dyn Fn(&str) -> bool| {
        let (states, actions) = header
            .iter()
            .filter(plain)
            .cloned()
            .partition(|n| is_state(n));
        ColumnNames { states, actions }
    };
    if header.iter().any(|name| name.starts_with("next.")) {
        return (split(&followed), true);
    }
    let all_numbered = |name: &String| numbered(name, 's') || numbered(name, 'a');
    let names = split(&|name| numbered(name, 's'));
    let known = header.iter().filter(plain).all(all_numbered) && !names.states.is_empty();
    if known {
        return (names, true);
    }
    (split(&|_| true), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(header: &str) -> (String, String, bool) {
        let header: Vec<String> = header.split(',').map(str::to_owned).collect();
        let (names, known) = guess(&header);
        (names.states.join(","), names.actions.join(","), known)
    }

    #[test]
    fn states_have_a_next_or_a_number() {
        let owned = |a: &str, b: &str, known| (a.to_owned(), b.to_owned(), known);
        assert_eq!(names("u,x,next.x,reward"), owned("x", "u", true));
        assert_eq!(names("s0,s1,a0,terminal"), owned("s0,s1", "a0", true));
        assert_eq!(names("x,u,reward"), owned("x,u", "", false));
    }
}
