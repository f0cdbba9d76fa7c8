//! What a log looks like: sizes, columns, and what is odd about it.

use std::fmt::Write as _;

use serde::Serialize;

use super::ends::JUMP;
use super::{Block, StateAction, Table, explorations_of, wrap_line};
use hambo_task::task::Wrap;

/// Bars of a histogram.
const BARS: usize = 16;

/// One column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// `state`, `action` or `reward`.
    pub role: &'static str,
    /// The least finite number; all of these are NaN (null) if there is none.
    pub min: f64,
    /// Of the finite numbers.
    pub mean: f64,
    /// Of the finite numbers, divided by n.
    pub std: f64,
    /// The largest finite number.
    pub max: f64,
    /// How many are NaN or infinite.
    pub not_finite: usize,
    /// Counts in equal parts from min to max.
    pub histogram: Vec<usize>,
}

/// A log at a glance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Rows in the file.
    pub rows: usize,
    /// Rows whose next state is known.
    pub transitions: usize,
    /// Whether the file has next states, or they come from the next row.
    pub next_states: bool,
    /// How many episodes.
    pub episodes: usize,
    /// Rows of the shortest one.
    pub shortest: usize,
    /// Rows of the mean one.
    pub mean_length: f64,
    /// Rows of the longest one.
    pub longest: usize,
    /// Rows that are terminal; none if the file does not say.
    pub terminals: Option<usize>,
    /// Rows that are a timeout; none if the file does not say.
    pub timeouts: Option<usize>,
    /// Every column of states, actions and rewards.
    pub columns: Vec<ColumnSummary>,
    /// What deserves a look, in words.
    pub odd: Vec<String>,
}

impl Summary {
    /// Looks at a table. `wraps` holds the states of which the task says that they wrap, as
    /// far as there is a task; one entry per state.
    #[must_use]
    pub fn new(table: &Table, wraps: &[Option<Wrap>]) -> Self {
        let lengths = table.episode_lengths();
        let rows = table.rows();
        let cut = if table.next_states.is_some() {
            0
        } else {
            lengths.len()
        };
        let count = |flags: &Option<Vec<bool>>| {
            let flags = flags.as_ref()?.iter();
            Some(flags.filter(|flag| **flag).count())
        };
        let mut columns = Vec::new();
        let reward = ["reward".to_owned()];
        let parts: [(&'static str, Option<&Block>, &[String]); 3] = [
            ("state", Some(&table.states), &table.names.states),
            ("action", Some(&table.actions), &table.names.actions),
            ("reward", table.rewards.as_ref(), &reward),
        ];
        for (role, block, names) in parts {
            if let Some(block) = block {
                let summaries = names.iter().enumerate();
                columns.extend(summaries.map(|(index, name)| column(name, role, block, index)));
            }
        }
        let mut summary = Self {
            rows,
            transitions: rows - cut,
            next_states: table.next_states.is_some(),
            episodes: lengths.len(),
            shortest: lengths.iter().copied().min().unwrap_or(0),
            mean_length: rows as f64 / lengths.len().max(1) as f64,
            longest: lengths.iter().copied().max().unwrap_or(0),
            terminals: count(&table.terminals),
            timeouts: count(&table.timeouts),
            columns,
            odd: Vec::new(),
        };
        summary.odd = odd(table, &summary, wraps);
        summary
    }

    /// For a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let flags = |name: &str, count: Option<usize>| match count {
            Some(count) => format!("{count} {name}"),
            None => format!("{name} not given"),
        };
        let next = match self.next_states {
            true => "given",
            false => "from the next row of the episode",
        };
        let _ = writeln!(
            text,
            "{} rows, {} transitions (next states {next})\n{} episodes of {} to {} rows, {:.1} on average; {}, {}\n",
            self.rows,
            self.transitions,
            self.episodes,
            self.shortest,
            self.longest,
            self.mean_length,
            flags("terminals", self.terminals),
            flags("timeouts", self.timeouts),
        );
        let names = self
            .columns
            .iter()
            .map(|column| column.name.chars().count());
        let width = names.max().unwrap_or(0).max(6);
        let _ = writeln!(
            text,
            "{:<width$}  {:<6} {:>11} {:>11} {:>11} {:>11} {:>9}  histogram",
            "column", "role", "min", "mean", "std", "max", "NaN/inf"
        );
        for column in &self.columns {
            let _ = writeln!(
                text,
                "{:<width$}  {:<6} {:>11} {:>11} {:>11} {:>11} {:>9}  {}",
                column.name,
                column.role,
                short(column.min),
                short(column.mean),
                short(column.std),
                short(column.max),
                column.not_finite,
                bars(&column.histogram),
            );
        }
        if !self.odd.is_empty() {
            text.push_str("\nodd:\n");
            for line in &self.odd {
                let _ = writeln!(text, "- {line}");
            }
        }
        text
    }
}

fn short(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || (1e-3..1e5).contains(&size) {
        format!("{number:.4}")
    } else {
        format!("{number:.3e}")
    }
}

fn bars(counts: &[usize]) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    // Something is never drawn as nothing.
    let level = |count: usize| (count * 8).div_ceil(most).min(8);
    let blocks = counts.iter().map(|count| BLOCKS.get(level(*count)));
    blocks.flatten().collect()
}

fn column(name: &str, role: &'static str, block: &Block, index: usize) -> ColumnSummary {
    let numbers = || {
        let all = (0..block.rows()).map(|row| block.at(row, index));
        all.filter(|number| number.is_finite())
    };
    // Welford's recurrence: no loss where the mean is large.
    let (mut count, mut mean, mut squares) = (0_usize, 0.0, 0.0);
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    for number in numbers() {
        count += 1;
        let step = number - mean;
        mean += step / count as f64;
        squares += step * (number - mean);
        min = min.min(number);
        max = max.max(number);
    }
    let known = |number: f64| if count > 0 { number } else { f64::NAN };
    let mut histogram = vec![0; BARS];
    let scale = BARS as f64 / (max - min);
    for number in numbers() {
        let bar = ((number - min) * scale) as usize;
        if let Some(bar) = histogram.get_mut(bar.min(BARS - 1)) {
            *bar += 1;
        }
    }
    ColumnSummary {
        name: name.to_owned(),
        role,
        min: known(min),
        mean: known(mean),
        std: known((squares / count.max(1) as f64).sqrt()),
        max: known(max),
        not_finite: block.rows() - count,
        histogram,
    }
}

/// What deserves a look.
fn odd(table: &Table, summary: &Summary, wraps: &[Option<Wrap>]) -> Vec<String> {
    let mut odd = Vec::new();
    if table.rows() == 0 {
        odd.push("there is no row".to_owned());
        return odd;
    }
    if !table.roles_known {
        odd.push(
            "nothing tells states from actions, so all columns count as states: give --task TASK"
                .to_owned(),
        );
    }
    for column in &summary.columns {
        if column.not_finite > 0 {
            odd.push(format!(
                "`{}`: {} numbers are NaN or infinite",
                column.name, column.not_finite
            ));
        }
        if column.min == column.max && table.rows() > 1 {
            odd.push(format!("`{}` is always {}", column.name, column.min));
        }
    }
    let mut hints = table.wrap_hints();
    let declared = table.names.states.iter().zip(wraps);
    let declared: Vec<&String> = declared
        .filter_map(|(name, wrap)| wrap.map(|_| name))
        .collect();
    hints.retain(|hint| !declared.contains(&&hint.name));
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
        && summary.terminals.unwrap_or(0) == 0
        && summary.timeouts.unwrap_or(0) == 0;
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
    let single = table
        .episode_lengths()
        .iter()
        .filter(|length| **length == 1)
        .count();
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::{ColumnNames, Numbers, Origin};
    use super::*;

    fn table(states: Vec<f64>) -> Table {
        let rows = states.len();
        Table {
            file: PathBuf::from("t"),
            names: ColumnNames::numbered(1, 1),
            roles_known: true,
            states: Block::new(1, Numbers::Double(states)),
            actions: Block::new(1, Numbers::Single((0..rows).map(|x| x as f32).collect())),
            next_states: None,
            rewards: None,
            terminals: None,
            timeouts: None,
            episodes: None,
            gaps: None,
            origin: Origin::default(),
        }
    }

    #[test]
    fn a_column_by_hand() {
        let summary = Summary::new(&table(vec![1.0, 2.0, f64::NAN, 3.0, 6.0]), &[]);
        let column = &summary.columns[0];
        assert_eq!((column.min, column.mean, column.max), (1.0, 3.0, 6.0));
        assert!((column.std - 3.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(column.not_finite, 1);
        assert_eq!(column.histogram.iter().sum::<usize>(), 4);
        assert_eq!((column.histogram[0], column.histogram[15]), (1, 1));
        assert_eq!(
            (summary.rows, summary.transitions, summary.episodes),
            (5, 4, 1)
        );
        assert!(
            summary.odd.iter().any(|odd| odd.contains("NaN")),
            "{:?}",
            summary.odd
        );
    }

    #[test]
    fn what_is_odd_is_said() {
        let says = |table: &Table, words: &str| {
            let odd = Summary::new(table, &[]).odd;
            odd.iter().any(|line| line.contains(words))
        };
        let walk: Vec<f64> = (0..200).map(|step| f64::from(step) * 0.1).collect();
        let calm = table(walk.clone());
        let mut jumping = calm.clone();
        let jumps = walk.iter().map(|x| if *x > 9.95 { x + 500.0 } else { *x });
        jumping.states = Block::new(1, Numbers::Double(jumps.collect()));
        assert!(says(&jumping, "the first after row 100"));
        assert!(!says(&calm, "times the mean step"));
        let mut constant = table(vec![2.0; 4]);
        assert!(says(&constant, "`s0` is always 2"));
        assert!(!says(&constant, "repeat"));
        constant.actions = Block::new(1, Numbers::Single(vec![0.0, 1.0, 1.0, 1.0]));
        assert!(says(&constant, "2 rows repeat"));
        constant.next_states = Some(Block::new(1, Numbers::Double(vec![2.0, 3.0, 2.0, 2.0])));
        constant.episodes = Some(vec![0.0; 4]);
        assert!(says(&constant, "in 1 rows, the first is row 2"));
    }

    #[test]
    fn an_angle_that_wraps_is_named_with_its_line() {
        let turn = |row: i32| (0.1 * f64::from(row) + 3.0).rem_euclid(std::f64::consts::TAU);
        let turning = table((0..200).map(turn).collect());
        let said = |wraps: &[Option<Wrap>]| {
            let odd = Summary::new(&turning, wraps).odd;
            odd.into_iter().find(|line| line.contains("wraps"))
        };
        let line = said(&[]).unwrap_or_default();
        assert!(
            line.contains("`s0` jumps by about 2 pi in 3 of 199 steps"),
            "{line}"
        );
        assert!(
            line.ends_with("wrap = [{ name = \"s0\", low = 0 }]"),
            "{line}"
        );
        assert_eq!(said(&[Some(Wrap::RADIANS)]), None);
    }

    #[test]
    fn little_is_drawn_and_nothing_is_not() {
        assert_eq!(bars(&[0, 1, 50, 100]), " ▁▄█");
    }
}
