//! What the arrays of a log are called in NPZ and HDF5, as D4RL and Minari name them.
//!
//! | key | shape | what |
//! |---|---|---|
//! | `observations`, `actions` | rows × dimension | s and a, in the task's order |
//! | `next_observations` | rows × ds | optional: s′ |
//! | `rewards` | rows | optional |
//! | `terminals` or `terminations`, `timeouts` or `truncations` | rows | optional, 0 or 1 in any type |
//! | `episodes` | rows | optional: the episode's number |

/// The keys of one part: the one that is written, and others that are read.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    alias: Option<&'static str>,
}

impl Key {
    const fn new(name: &'static str) -> Self {
        Self { name, alias: None }
    }

    const fn or(name: &'static str, alias: &'static str) -> Self {
        Self {
            name,
            alias: Some(alias),
        }
    }

    /// The first of its names that is among these.
    pub(crate) fn find(self, keys: &[String]) -> Option<&'static str> {
        let mut names = [Some(self.name), self.alias].into_iter().flatten();
        names.find(|name| keys.iter().any(|key| key == name))
    }
}

pub(crate) const OBSERVATIONS: Key = Key::new("observations");
pub(crate) const ACTIONS: Key = Key::new("actions");
pub(crate) const NEXT_OBSERVATIONS: Key = Key::new("next_observations");
pub(crate) const REWARDS: Key = Key::new("rewards");
pub(crate) const TERMINALS: Key = Key::or("terminals", "terminations");
pub(crate) const TIMEOUTS: Key = Key::or("timeouts", "truncations");
pub(crate) const EPISODES: Key = Key::new("episodes");
