//! A log's episodes, and the log of some of them.

use std::collections::BTreeSet;

use super::rows::Log;
use crate::error::LogError;

impl Log {
    /// The numbers of its episodes, in the order in which they begin.
    ///
    /// ```
    /// # use hambo_data::{Log, Transition};
    /// # let mut log = Log::new(1, 1);
    /// # for episode in [4, 4, 2] {
    /// #     let (state, action) = (&[0.0][..], &[0.0][..]);
    /// #     log.push(Transition { state, action, next_state: state, reward: 0.0, episode })?;
    /// # }
    /// assert_eq!(log.episode_numbers(), [4, 2]);
    /// let part = log.of_episodes(&[4].into())?;
    /// assert_eq!((part.len(), part.episode_numbers()), (2, vec![4]));
    /// # Ok::<(), hambo_data::LogError>(())
    /// ```
    #[must_use]
    pub fn episode_numbers(&self) -> Vec<u32> {
        let mut seen = BTreeSet::new();
        let each = self.rows().map(|row| row.episode);
        each.filter(|episode| seen.insert(*episode)).collect()
    }

    /// The rows of these episodes, in the order of this log.
    ///
    /// # Errors
    /// None that this log's rows could cause: they were accepted before.
    pub fn of_episodes(&self, wanted: &BTreeSet<u32>) -> Result<Self, LogError> {
        let mut part = self.emptied();
        for row in self.rows().filter(|row| wanted.contains(&row.episode)) {
            part.push(row)?;
        }
        Ok(part)
    }
}
