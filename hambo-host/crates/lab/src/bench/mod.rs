//! Speed, as ratios to peers that run in turn with us.
//!
//! Times on a machine that does other work mean little; the ratio of two
//! short runs, one right after the other, repeated, means more. So a peer is a
//! Python process that stays alive and runs when asked.

mod cholesky;
mod contest;
mod peer;
mod rollout;
mod run;
mod soft_actor_critic;
mod table;
mod training_step;

pub use peer::BenchError;
pub use run::{BenchOptions, run};
pub use table::{BenchRow, json, table};
