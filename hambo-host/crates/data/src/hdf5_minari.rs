//! Minari's layout: a group `episode_0`, `episode_1`, … each, whose
//! `observations` have one row more than its `actions`: the last one is where
//! the last action led.

use std::fs::File;
use std::path::Path;

use hdf5_pure::{AttrValue, FileBuilder, Group};

use super::arrays::{self, Array, Source};
use super::hdf5_file::{Arrays, damaged};
use super::hdf5_write::{add_block, add_flags, finish};
use super::limits::Allowance;
use super::{Block, ColumnNames, DataError, Numbers, Origin, Table};

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

/// Reads all episodes into one table.
pub(super) fn read_minari(
    path: &Path,
    root: &Group,
    episodes: &[(u64, String)],
    mut allowance: Allowance,
    names: Option<&ColumnNames>,
) -> Result<Table, DataError> {
    let mut parts = Parts::default();
    for (number, name) in episodes {
        let group = root.group(name);
        let group = group.map_err(|error| damaged(&path.display().to_string(), &error))?;
        let prefix = format!("{name}/");
        let mut arrays = Arrays::open(path, group, &prefix, &mut allowance)?;
        parts.read(&mut arrays, &prefix, *number)?;
    }
    let table = Table {
        file: path.to_owned(),
        names: ColumnNames::numbered(parts.state_width, parts.action_width),
        roles_known: true,
        states: Block::new(parts.state_width, parts.states.numbers()),
        actions: Block::new(parts.action_width, parts.actions.numbers()),
        next_states: Some(Block::new(parts.state_width, parts.next_states.numbers())),
        rewards: parts
            .all_rewarded
            .then(|| Block::new(1, parts.rewards.numbers())),
        terminals: Some(parts.terminals),
        timeouts: Some(parts.timeouts),
        episodes: Some(parts.episodes),
        gaps: None,
        origin: Origin::default(),
    };
    arrays::named(table, names)
}

/// Numbers that widen when the first f64 comes.
#[derive(Default)]
struct Growing {
    single: Vec<f32>,
    double: Vec<f64>,
}

impl Growing {
    fn extend(&mut self, numbers: &Numbers, range: std::ops::Range<usize>) {
        match numbers {
            Numbers::Single(numbers) if self.double.is_empty() => {
                self.single.extend(numbers.get(range).unwrap_or_default());
            }
            _ => {
                let wide = self.single.drain(..).map(f64::from);
                self.double.extend(wide);
                self.double.extend(range.map(|index| numbers.at(index)));
            }
        }
    }

    fn numbers(self) -> Numbers {
        if self.double.is_empty() {
            Numbers::Single(self.single)
        } else {
            Numbers::Double(self.double)
        }
    }
}

struct Parts {
    state_width: usize,
    action_width: usize,
    states: Growing,
    actions: Growing,
    next_states: Growing,
    rewards: Growing,
    all_rewarded: bool,
    terminals: Vec<bool>,
    timeouts: Vec<bool>,
    episodes: Vec<f64>,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            state_width: 0,
            action_width: 0,
            states: Growing::default(),
            actions: Growing::default(),
            next_states: Growing::default(),
            rewards: Growing::default(),
            all_rewarded: true,
            terminals: Vec::new(),
            timeouts: Vec::new(),
            episodes: Vec::new(),
        }
    }
}

impl Parts {
    fn read(
        &mut self,
        arrays: &mut Arrays<'_>,
        prefix: &str,
        number: u64,
    ) -> Result<(), DataError> {
        let path = arrays.path().to_owned();
        let part = |key: &str, problem: String, help| DataError::Part {
            file: path.display().to_string(),
            place: format!("`{prefix}{key}`"),
            problem,
            help,
        };
        let (_, states) = arrays::matrix(&path, arrays.require(arrays::OBSERVATIONS)?)?;
        let (_, actions) = arrays::matrix(&path, arrays.require(arrays::ACTIONS)?)?;
        let steps = actions.rows();
        if states.rows() != steps + 1 {
            let problem = format!(
                "{} rows for {steps} actions; an episode needs one observation more than actions",
                states.rows()
            );
            return Err(part("observations", problem, "write the episode anew"));
        }
        let first = self.state_width == 0;
        let widths = [
            ("observations", states.columns(), &mut self.state_width),
            ("actions", actions.columns(), &mut self.action_width),
        ];
        for (key, found, width) in widths {
            if first {
                *width = found;
            } else if *width != found {
                let problem = format!("{found} numbers a row, the episodes before have {width}");
                return Err(part(key, problem, "keep one space for all episodes"));
            }
        }
        let cells = steps * states.columns();
        self.states.extend(states.numbers(), 0..cells);
        let next = states.columns()..cells + states.columns();
        self.next_states.extend(states.numbers(), next);
        self.actions
            .extend(actions.numbers(), 0..steps * actions.columns());
        let one_each = |array: Array| match array.numbers.len() {
            found if found == steps => Ok(Block::new(1, array.numbers)),
            found => {
                let problem = format!("{found} numbers for {steps} actions");
                let key = array.key.trim_start_matches(prefix).to_owned();
                Err(part(&key, problem, "write the episode anew"))
            }
        };
        match arrays.find(arrays::REWARDS)? {
            Some(array) => self.rewards.extend(one_each(array)?.numbers(), 0..steps),
            None => self.all_rewarded = false,
        }
        let pairs = [
            (&["terminations", "terminals"], &mut self.terminals),
            (&["truncations", "timeouts"], &mut self.timeouts),
        ];
        for (aliases, all) in pairs {
            match arrays.find(aliases)? {
                Some(array) => {
                    let key = array.key.clone();
                    all.extend(arrays::flags(&path, &key, &one_each(array)?)?);
                }
                None => all.extend(std::iter::repeat_n(false, steps)),
            }
        }
        self.episodes
            .extend(std::iter::repeat_n(number as f64, steps));
        Ok(())
    }
}

/// Writes one group per episode.
///
/// # Errors
/// If a next state is not the state of the row after it, which this layout
/// cannot say.
pub(super) fn write_minari(out: &mut File, table: &Table, compress: bool) -> Result<(), DataError> {
    let mut builder = FileBuilder::new();
    let (mut number, mut steps, mut start) = (0_i64, 0, 0);
    for length in table.episode_lengths() {
        let rows = start..start + length;
        start += length;
        // Without next states the last row leads nowhere.
        let count = match &table.next_states {
            Some(_) => length,
            None => length - 1,
        };
        if count == 0 {
            continue;
        }
        let states = observations(table, rows.start, count)?;
        let mut group = builder.create_group(&format!("episode_{number}"));
        let part = |block: &Block| slice(block, rows.start, count);
        add_block(
            group.create_dataset("observations"),
            &states,
            false,
            compress,
        );
        add_block(
            group.create_dataset("actions"),
            &part(&table.actions),
            false,
            compress,
        );
        if let Some(rewards) = &table.rewards {
            add_block(
                group.create_dataset("rewards"),
                &part(rewards),
                true,
                compress,
            );
        }
        let flag = |flags: &Option<Vec<bool>>| {
            let all = flags
                .as_ref()
                .and_then(|flags| flags.get(rows.start..rows.start + count));
            all.map_or(vec![false; count], <[bool]>::to_vec)
        };
        let (terminals, mut timeouts) = (flag(&table.terminals), flag(&table.timeouts));
        // A group ends an episode, and says why.
        if let (Some(timeout), Some(false)) = (timeouts.last_mut(), terminals.last()) {
            *timeout = true;
        }
        add_flags(group.create_dataset("terminations"), &terminals)?;
        add_flags(group.create_dataset("truncations"), &timeouts)?;
        group.set_attr("id", AttrValue::I64(number));
        group.set_attr("total_steps", AttrValue::I64(count as i64));
        builder.add_group(group.finish());
        number += 1;
        steps += count;
    }
    if number == 0 {
        return Err(DataError::Empty {
            file: table.file.display().to_string(),
            help: "without next states an episode needs at least two rows",
        });
    }
    builder.set_attr("total_episodes", AttrValue::I64(number));
    builder.set_attr("total_steps", AttrValue::I64(steps as i64));
    finish(builder, out)
}

/// So many rows from `start`.
fn slice(block: &Block, start: usize, count: usize) -> Block {
    let columns = block.columns();
    let range = start * columns..(start + count) * columns;
    let numbers = match block.numbers() {
        Numbers::Single(all) => Numbers::Single(all.get(range).unwrap_or_default().to_vec()),
        Numbers::Double(all) => Numbers::Double(all.get(range).unwrap_or_default().to_vec()),
    };
    Block::new(columns, numbers)
}

/// The states of an episode and, as one row more, where the last one led.
fn observations(table: &Table, start: usize, count: usize) -> Result<Block, DataError> {
    let Some(next_states) = &table.next_states else {
        return Ok(slice(&table.states, start, count + 1));
    };
    let last = start + count - 1;
    let apart = (start..last).find(|row| !next_states.same_row(*row, &table.states, row + 1));
    if let Some(row) = apart {
        return Err(DataError::Part {
            file: table.file.display().to_string(),
            place: format!("row {}", row + 1),
            problem: "its next state is not the state of the row after it, in the same episode; Minari's layout cannot hold that".to_owned(),
            help: "write D4RL's layout: --layout d4rl",
        });
    }
    let mut all = Growing::default();
    let columns = table.states.columns();
    all.extend(
        table.states.numbers(),
        start * columns..(last + 1) * columns,
    );
    all.extend(next_states.numbers(), last * columns..(last + 1) * columns);
    Ok(Block::new(columns, all.numbers()))
}
