//! Reading Minari's layout: a group `episode_0`, `episode_1`, … each, whose `observations` have one
//! row more than its `actions`: the last one is where the last action led.

use std::iter::repeat_n;
use std::path::Path;

use hambo_task::column_names::ColumnNames;
use hdf5_pure::Group;

use super::arrays::{self, Array, Source};
use super::hdf5_arrays::{Arrays, damaged};
use super::limits::Allowance;
use crate::error::DataError;
use crate::table::keys;
use crate::table::{Block, Table};

/// The episodes among these groups, by number.
pub(super) fn episodes(groups: &[String]) -> Vec<(u64, String)> {
    let number = |name: &String| name.strip_prefix("episode_")?.parse().ok();
    let mut episodes: Vec<(u64, String)> = groups
        .iter()
        .filter_map(|name| Some((number(name)?, name.clone())))
        .collect();
    episodes.sort();
    episodes
}

/// Reads all episodes, of which there is at least one, into one table.
pub(super) fn read_minari(
    path: &Path,
    root: &Group,
    episodes: &[(u64, String)],
    mut allowance: Allowance,
    names: Option<&ColumnNames>,
) -> Result<Table, DataError> {
    let mut all: Option<Table> = None;
    for (number, name) in episodes {
        let group = root.group(name).map_err(|error| damaged(path, &error))?;
        let prefix = format!("{name}/");
        let mut arrays = Arrays::open(path, group, &prefix, &mut allowance)?;
        let episode = read_episode(path, &mut arrays, &prefix, *number)?;
        match &mut all {
            Some(all) => append(all, episode, &prefix)?,
            None => all = Some(episode),
        }
    }
    let table = all.ok_or_else(|| DataError::empty(path, "the file has no episode"))?;
    arrays::named(table, names)
}

fn unfit(path: &Path, place: String, problem: String, help: &'static str) -> DataError {
    DataError::part(path, format!("`{place}`"), problem, help)
}

/// One episode as a table of its own.
fn read_episode(
    path: &Path,
    arrays: &mut Arrays<'_>,
    prefix: &str,
    number: u64,
) -> Result<Table, DataError> {
    const HELP: &str = "write the episode anew";
    let states = arrays.require(keys::OBSERVATIONS)?.into_matrix(path)?;
    let actions = arrays.require(keys::ACTIONS)?.into_matrix(path)?;
    let steps = actions.rows();
    if states.rows() != steps + 1 {
        let problem = format!(
            "{} rows for {steps} actions; an episode needs one observation more than actions",
            states.rows()
        );
        return Err(unfit(path, format!("{prefix}observations"), problem, HELP));
    }
    let one_each = |array: Array| match array.numbers.len() {
        found if found == steps => Ok(Block::new(1, array.numbers)),
        found => {
            let problem = format!("{found} numbers for {steps} actions");
            Err(unfit(path, array.key, problem, HELP))
        }
    };
    let flags = |array: Option<Array>| match array {
        Some(array) => {
            let key = array.key.clone();
            arrays::flags(path, &key, &one_each(array)?)
        }
        None => Ok(vec![false; steps]),
    };
    let mut table = Table::new(path, states.slice(0..steps), actions);
    table.next_states = Some(states.slice(1..steps + 1));
    table.rewards = arrays.find(keys::REWARDS)?.map(one_each).transpose()?;
    table.terminals = Some(flags(arrays.find(keys::TERMINALS)?)?);
    table.timeouts = Some(flags(arrays.find(keys::TIMEOUTS)?)?);
    table.episodes = Some(repeat_n(number as f64, steps).collect());
    Ok(table)
}

/// Adds an episode; rewards are left out unless every episode has them.
fn append(all: &mut Table, episode: Table, prefix: &str) -> Result<(), DataError> {
    let widths = [
        (
            "observations",
            episode.states.columns(),
            all.states.columns(),
        ),
        ("actions", episode.actions.columns(), all.actions.columns()),
    ];
    for (key, found, width) in widths {
        if found != width {
            let problem = format!("{found} numbers a row, the episodes before have {width}");
            let help = "keep one space for all episodes";
            return Err(unfit(&all.file, format!("{prefix}{key}"), problem, help));
        }
    }
    all.states.append(episode.states);
    all.actions.append(episode.actions);
    if let (Some(all), Some(more)) = (&mut all.next_states, episode.next_states) {
        all.append(more);
    }
    all.rewards = all
        .rewards
        .take()
        .zip(episode.rewards)
        .map(|(mut all, more)| {
            all.append(more);
            all
        });
    if let (Some(all), Some(more)) = (&mut all.terminals, episode.terminals) {
        all.extend(more);
    }
    if let (Some(all), Some(more)) = (&mut all.timeouts, episode.timeouts) {
        all.extend(more);
    }
    if let (Some(all), Some(more)) = (&mut all.episodes, episode.episodes) {
        all.extend(more);
    }
    Ok(())
}
