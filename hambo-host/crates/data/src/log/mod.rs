//! Transitions that models are fitted to, and what a task makes of them: states that wrap, states
//! that the task computes, the return so far, a part that is withheld.

mod episodes;
mod follows;
mod known_states;
mod learned_reward;
mod memory;
mod rows;
mod split;
mod starts;
mod transitions;
mod wrapped;

pub use follows::follows;
pub(crate) use follows::goes_on;
pub(crate) use known_states::KnownStates;
pub(crate) use learned_reward::ensure_rewards;
pub use learned_reward::with_return_so_far;
pub(crate) use memory::Memory;
pub use memory::with_memory;
pub use rows::{Log, Transition};
pub use split::{LogPart, MINIMUM_RECORDINGS, Split};
pub use starts::distinct_states;
pub use transitions::transitions;
pub use wrapped::{next_to_states, wrapped};
