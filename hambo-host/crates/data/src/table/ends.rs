//! Where the episodes of a file end, and whether it says so.
//!
//! Rows of two episodes that run together would become a transition that never was, so a file that
//! says nothing of its ends is refused.

use super::origin::{FileRows, Origin};
use super::parts::Table;
use crate::error::DataError;

/// A step this many times the mean one is a jump.
pub(crate) const JUMP: f64 = 50.0;

impl Table {
    /// Notes that all rows come from one file, whether each is a line of it, and what the file
    /// lacks to tell where an episode ends.
    pub(crate) fn set_origin(&mut self, lines: bool) {
        self.origin = Origin {
            files: vec![FileRows {
                file: self.file.clone(),
                rows: self.rows(),
                lines,
                unmarked: self.unmarked(),
            }],
            rows: None,
        };
    }

    /// Why nothing says where an episode ends, if nothing does.
    fn unmarked(&self) -> Option<String> {
        let any = |flags: &Option<Vec<bool>>| {
            let flags = flags.as_ref();
            flags.is_some_and(|flags| flags.contains(&true))
        };
        let known = self.next_states.is_some()
            || self.episodes.is_some()
            || self.timeouts.is_some()
            || any(&self.terminals)
            || self.rows() < 2;
        if known {
            return None;
        }
        // The last row has no successor whatever the clock says.
        let inside = self.rows().saturating_sub(1);
        if let Some(gaps) = &self.gaps {
            if gaps.iter().take(inside).any(|gap| *gap) {
                return None;
            }
            let (row, _) = self.jumps()?;
            return Some(format!(
                "its steps or times go on without a break, and its states jump after row {}",
                row + 1
            ));
        }
        Some(match self.terminals {
            Some(_) => "no row is marked as terminal, and nothing marks time limits".to_owned(),
            None => "it has no column for the episode, its end, or the time".to_owned(),
        })
    }

    /// Refuses a file that does not say where its episodes end.
    ///
    /// # Errors
    /// The message names the file and what would tell.
    pub fn check_ends(&self) -> Result<(), DataError> {
        let mut files = self.origin.files.iter();
        let file = files.find_map(|file| Some((file, file.unmarked.as_ref()?)));
        match file {
            Some((file, why)) => Err(DataError::whole(
                &file.file,
                format!("nothing says where an episode ends: {why}"),
                "add a column `episode`, `truncated` and `terminated`, `t`, or `next.NAME` for every state (arrays: `episodes`, `timeouts`); if each file is one episode, make one log of them: hambo data convert FILE... log.csv --episode-per-file (and --task TASK where no name tells states from actions)",
            )),
            None => Ok(()),
        }
    }

    /// Takes every file for one episode where nothing says otherwise.
    pub fn files_are_episodes(&mut self) {
        for file in &mut self.origin.files {
            file.unmarked = None;
        }
    }

    /// Steps that are far too long, where nothing marks an episode's end: the row of the first, and
    /// their count.
    pub(crate) fn jumps(&self) -> Option<(usize, usize)> {
        let states = &self.states;
        let steps = self.rows().checked_sub(1).filter(|steps| *steps >= 10)?;
        let step =
            |row: usize, column: usize| (states.at(row + 1, column) - states.at(row, column)).abs();
        let means: Vec<f64> = (0..states.columns())
            .map(|column| (0..steps).map(|row| step(row, column)).sum::<f64>() / steps as f64)
            .collect();
        let jumps = (0..steps).filter(|row| {
            let mut means = means.iter().enumerate();
            means.any(|(column, mean)| *mean > 0.0 && step(*row, column) > JUMP * mean)
        });
        let mut jumps = jumps.peekable();
        let first = jumps.peek().copied()?;
        Some((first, jumps.count()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::super::numbers::{Block, Numbers};
    use super::super::parts::counting;
    use super::*;

    #[test]
    fn a_file_that_says_nothing_of_ends_is_refused() {
        let told = |change: &dyn Fn(&mut Table)| {
            let mut table = counting(200);
            change(&mut table);
            table.set_origin(false);
            table.check_ends().map_err(|error| error.to_string())
        };
        let plain = told(&|_| ()).unwrap_err();
        assert!(plain.contains("counting: nothing says where"), "{plain}");
        assert!(plain.contains("--episode-per-file"), "{plain}");
        let terminals = told(&|table| table.terminals = Some(vec![false; 200]));
        assert!(terminals.unwrap_err().contains("no row is marked"));
        // One continuous recording, unless its states jump.
        told(&|table| table.gaps = Some(vec![false; 200])).unwrap();
        let jumping = told(&|table| {
            let states = (0..200).map(|x| x as f32 + if x < 100 { 0.0 } else { 900.0 });
            table.states = Block::new(1, Numbers::Single(states.collect()));
            table.gaps = Some(vec![false; 200]);
        });
        assert!(jumping.unwrap_err().contains("jump after row 100"));
        // Any of these tells.
        told(&|table| table.timeouts = Some(vec![false; 200])).unwrap();
        told(&|table| table.episodes = Some(vec![0.0; 200])).unwrap();
        told(&|table| table.next_states = Some(table.states.clone())).unwrap();
        told(&|table| table.terminals = Some((0..200).map(|row| row == 7).collect())).unwrap();
    }
}
