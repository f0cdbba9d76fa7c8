//! Logs with one column per name: what CSV and Parquet share.
//!
//! A task's states and actions are columns of the same name, or of a name that becomes theirs once
//! it is made of letters, digits and `_`. [`column_roles`](super::column_roles) says what other
//! columns mean. Columns that mean nothing are passed over.

use std::collections::HashMap;
use std::path::Path;

use hambo_task::column_names::ColumnNames;

use super::column_roles::{Kind, NextName, Role, identifier, kind, role};
use crate::error::{DataError, short_list};

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
    pub(super) terminal: Vec<Column>,
    pub(super) timeout: Vec<Column>,
    pub(super) episode: Vec<Column>,
    pub(super) clock: Vec<Column>,
    /// Numbers of rows that may begin again with an episode.
    pub(super) index: Vec<Column>,
}

impl Columns {
    /// Finds the columns of these states and actions; without names, tells them apart by their own.
    pub(super) fn find(
        file: &Path,
        header: &[String],
        names: Option<&ColumnNames>,
    ) -> Result<Self, DataError> {
        let lookup = Lookup::new(file, header)?;
        let guessed = names.is_none().then(|| guess(header));
        let roles_known = guessed.as_ref().is_none_or(|(_, known)| *known);
        let names = match (names, guessed) {
            (Some(names), _) => names.clone(),
            (None, guessed) => guessed.unwrap_or_default().0,
        };
        let named = "name the columns as the task names its states and actions";
        let states = lookup.all(&names.states, named)?;
        let actions = lookup.all(&names.actions, named)?;
        let next_states = NextName::of(header).map(|way| {
            let next: Vec<String> = states.iter().map(|one| way.name(&one.name)).collect();
            // What is not there for any of them means something else.
            if next.iter().all(|name| lookup.get(name).is_none()) {
                return Ok(None);
            }
            let complete = "give `next.NAME` for every state, or for none";
            lookup.all(&next, complete).map(Some)
        });
        let next_states = next_states.transpose()?.flatten();
        let mut taken: Vec<usize> = Vec::new();
        let parts = [Some(&states), Some(&actions), next_states.as_ref()];
        for column in parts.into_iter().flatten().flatten() {
            taken.push(column.index);
        }
        let of = |wanted: Role| -> Vec<Column> {
            let columns = header.iter().enumerate();
            let columns = columns
                .filter(|(index, name)| !taken.contains(index) && role(name) == Some(wanted));
            columns
                .map(|(index, name)| Column {
                    name: name.clone(),
                    index,
                })
                .collect()
        };
        Ok(Self {
            reward: of(Role::Reward).into_iter().next(),
            terminal: of(Role::Terminal),
            timeout: of(Role::Timeout),
            episode: of(Role::Episode),
            clock: of(Role::Clock),
            index: of(Role::Index),
            names,
            roles_known,
            states,
            actions,
            next_states,
        })
    }
}

/// The columns of a header by name.
struct Lookup<'a> {
    file: &'a Path,
    header: &'a [String],
    exact: HashMap<&'a str, usize>,
    /// By what a task would call them; `None` where two would be called the same.
    plain: HashMap<String, Option<usize>>,
}

impl<'a> Lookup<'a> {
    fn new(file: &'a Path, header: &'a [String]) -> Result<Self, DataError> {
        let mut exact = HashMap::new();
        let mut plain: HashMap<String, Option<usize>> = HashMap::new();
        for (index, name) in header.iter().enumerate() {
            if exact.insert(name.as_str(), index).is_some() {
                let problem = format!("there are two columns `{name}`");
                return Err(DataError::whole(
                    file,
                    problem,
                    "remove or rename one of them",
                ));
            }
            let place = plain.entry(identifier(name));
            place
                .and_modify(|place| *place = None)
                .or_insert(Some(index));
        }
        Ok(Self {
            file,
            header,
            exact,
            plain,
        })
    }

    fn get(&self, name: &str) -> Option<Column> {
        let exact = self.exact.get(name).copied();
        let index = exact.or_else(|| self.plain.get(name).copied().flatten())?;
        let name = self.header.get(index)?.clone();
        Some(Column { name, index })
    }

    fn all(&self, names: &[String], help: &'static str) -> Result<Vec<Column>, DataError> {
        let columns = names.iter().map(|name| {
            self.get(name).ok_or_else(|| {
                let found = short_list(self.header);
                let problem = format!("the column `{name}` is missing; the header has: {found}");
                DataError::whole(self.file, problem, help)
            })
        });
        columns.collect()
    }
}

/// States are what has a next value, or says by its name that it is one (`obs_0`, `s0`), and
/// actions what says so (`action_0`, `a0`); beside only one of these the others are the other.
/// Where nothing helps all columns are states, and that is said.
fn guess(header: &[String]) -> (ColumnNames, bool) {
    let next = NextName::of(header);
    let is_next = |name: &str| next.is_some_and(|way| way.base(name, header).is_some());
    let plain: Vec<&String> = header
        .iter()
        .filter(|name| role(name).is_none() && !is_next(name) && !name.starts_with("next."))
        .collect();
    let split = |is_state: &dyn Fn(&str) -> bool, is_action: &dyn Fn(&str) -> bool| {
        let named = |wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
            let chosen = plain.iter().filter(|name| wanted(name));
            chosen.map(|name| identifier(name)).collect()
        };
        ColumnNames {
            states: named(is_state),
            actions: named(is_action),
        }
    };
    let of = |wanted: Kind| move |name: &str| kind(name) == Some(wanted);
    let has = |wanted: Kind| plain.iter().any(|name| kind(name) == Some(wanted));
    if let Some(way) = next {
        let followed = |name: &str| header.iter().any(|other| *other == way.name(name));
        // Beside named actions the rest is information.
        let names = if has(Kind::Action) {
            split(&followed, &of(Kind::Action))
        } else {
            split(&followed, &|name| !followed(name))
        };
        return (names, true);
    }
    match (has(Kind::State), has(Kind::Action)) {
        (true, true) => (split(&of(Kind::State), &of(Kind::Action)), true),
        (false, true) => {
            let is_action = of(Kind::Action);
            (split(&|name| !is_action(name), &is_action), true)
        }
        _ => (split(&|_| true, &|_| false), false),
    }
}

/// A number for each row: another one wherever a word changes.
pub(super) fn episode_numbers(words: &[String]) -> Vec<f64> {
    let mut numbers: HashMap<&str, f64> = HashMap::new();
    let numbers = words.iter().map(|word| match word.parse::<f64>() {
        Ok(number) if number.is_finite() => number,
        _ => {
            // Below every number that a file would use.
            let next = -1e9 - numbers.len() as f64;
            *numbers.entry(word).or_insert(next)
        }
    });
    numbers.collect()
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

    #[test]
    fn the_columns_of_gymnasium_and_of_bags_are_told_apart() {
        let owned = |a: &str, b: &str, known| (a.to_owned(), b.to_owned(), known);
        assert_eq!(
            names(",obs_0,obs_1,action_0,reward,terminated,truncated,episode,t"),
            owned("obs_0,obs_1", "action_0", true)
        );
        assert_eq!(
            names("obs_0,action,next_obs_0,reward,done,info_l"),
            owned("obs_0", "action", true)
        );
        assert_eq!(
            names("timestamp,x,theta,action,lap"),
            owned("x,theta,lap", "action", true)
        );
        assert_eq!(
            names("time,obs[0],obs[1],action[0],battery"),
            owned("obs_0,obs_1", "action_0", true)
        );
        assert_eq!(
            names("cos,sin,u,next_cos,next_sin"),
            owned("cos_1,sin_1", "u", true)
        );
    }

    #[test]
    fn a_task_finds_its_columns_under_their_own_names() {
        let header = "time,/odom.x,cos,u,next.cos,next./odom.x,t2";
        let header: Vec<String> = header.split(',').map(str::to_owned).collect();
        let names = ColumnNames {
            states: vec!["cos_1".to_owned(), "odom_x".to_owned()],
            actions: vec!["u".to_owned()],
        };
        let found = Columns::find(Path::new("f"), &header, Some(&names)).unwrap();
        let places = |columns: &[Column]| columns.iter().map(|one| one.index).collect::<Vec<_>>();
        assert_eq!(places(&found.states), [2, 1]);
        assert_eq!(places(&found.next_states.unwrap()), [4, 5]);
        assert_eq!(places(&found.clock), [0]);
        // A state that is called like a clock is a state.
        let names = ColumnNames {
            states: vec!["time".to_owned()],
            actions: vec!["u".to_owned()],
        };
        let found = Columns::find(Path::new("f"), &header, Some(&names)).unwrap();
        assert!(found.clock.is_empty() && found.next_states.is_none());
    }
}
