//! The example's system, for tests: a rollout and its rows.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::{Buffers, Rollout};
use crate::example;
use crate::numeric::random::Stream;
use crate::policy::StoredPolicy;
use crate::task::{Objective, Task, Variant};

/// Calls `walk` with a rollout of the example's model and policy under a task, with rows whose
/// initial states are drawn, and with their streams.
pub(crate) fn with_rollout<const B: usize, T>(
    task: &Task<'_>,
    (variant, objective): (Variant, Objective),
    walk: impl FnOnce(&Rollout<'_, StoredPolicy<'_>>, &mut Buffers<'_, B>, &[Stream; B]) -> T,
) -> T {
    let (model, policy) = (example::model().unwrap(), example::policy().unwrap());
    let rollout = Rollout {
        model: &model,
        policy: &policy,
        task,
        variant,
        objective,
    };
    let mut rows = [[0.0; B]; 256];
    let mut buffers = Buffers::carve(&mut rows, &model.dynamics, task, &policy).unwrap();
    let streams = core::array::from_fn(|lane| Stream::new(0, lane as u32));
    rollout.start(&streams, &mut buffers);
    walk(&rollout, &mut buffers, &streams)
}
