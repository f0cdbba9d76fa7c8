//! What the columns of a log are called: states and actions, as the task and the
//! files name them.

/// ColumnNames of states and actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnNames {
    /// In the order of the columns.
    pub states: Vec<String>,
    /// In the order of the columns.
    pub actions: Vec<String>,
}

impl ColumnNames {
    /// `s0`, `s1`, … and `a0`, `a1`, …: for files that have none.
    ///
    /// ```
    /// let names = hambo_task::column_names::ColumnNames::numbered(2, 1);
    /// assert_eq!((names.states[1].as_str(), names.actions[0].as_str()), ("s1", "a0"));
    /// ```
    #[must_use]
    pub fn numbered(states: usize, actions: usize) -> Self {
        let named = |letter: char, count| (0..count).map(|i| format!("{letter}{i}")).collect();
        Self {
            states: named('s', states),
            actions: named('a', actions),
        }
    }
}
