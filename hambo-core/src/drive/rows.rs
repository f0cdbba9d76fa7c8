//! The rows that a drive works in, carved out of one lent slice.

use super::error::DriveError;
use super::monitor::Monitor;
use crate::model::Model;
use crate::numeric::CapacityError;
use crate::policy::Policy;
use crate::task::{ModelInputs, Task};

/// How many of the last transitions are kept for the log.
pub const KEPT: usize = 64;

type Rows<'d> = &'d mut [[f32; 1]];

/// What a drive remembers from one period to the next, and scratch.
#[derive(Debug)]
pub(super) struct DriveRows<'d> {
    /// The state of the last period as it was measured, angles in their intervals.
    pub before: Rows<'d>,
    /// That of this period.
    pub now: Rows<'d>,
    /// The last period's as the controller saw it, within the task's limits.
    pub seen: Rows<'d>,
    /// That of this period.
    pub next_seen: Rows<'d>,
    /// What the controller wants.
    pub wanted: Rows<'d>,
    /// What the actuators got, within the task's limits.
    pub action: Rows<'d>,
    /// The chance in a controller that has some.
    pub noise: Rows<'d>,
    pub scratch: Rows<'d>,
    pub features: Rows<'d>,
    pub values: Rows<'d>,
}

pub(super) struct Sizes {
    pub states: usize,
    pub actions: usize,
    scratch: usize,
    features: usize,
    values: usize,
    monitor: usize,
}

impl Sizes {
    /// For a model, a task and the controllers that may drive.
    pub fn of<'p, P: Policy + 'p>(
        model: &Model<'_>,
        task: &Task<'_>,
        policies: impl Iterator<Item = &'p P>,
    ) -> Result<Self, CapacityError> {
        let mut scratch = 0;
        for policy in policies {
            scratch = scratch.max(policy.scratch_rows().ok_or(NO_NUMBER)?);
        }
        Ok(Self {
            states: task.state_dimension(),
            actions: task.action_limits.low.len(),
            scratch,
            features: match &task.physics.inputs {
                ModelInputs::States(_) => 0,
                ModelInputs::Features(slots) => slots.len(),
            },
            values: task.program.len(),
            monitor: Monitor::rows_needed(model, task)?,
        })
    }

    /// Numbers of one transition s, a, s′.
    pub fn width(&self) -> Option<usize> {
        self.states.checked_mul(2)?.checked_add(self.actions)
    }

    fn sum(&self) -> Option<usize> {
        self.states
            .checked_mul(4)?
            .checked_add(self.actions.checked_mul(3)?)?
            .checked_add(self.scratch)?
            .checked_add(self.features)?
            .checked_add(self.values)?
            .checked_add(self.monitor)?
            .checked_add(self.width()?.checked_mul(KEPT)?)
    }

    /// All rows together.
    pub fn rows(&self) -> Result<usize, CapacityError> {
        self.sum().ok_or(NO_NUMBER)
    }
}

const NO_NUMBER: CapacityError = CapacityError {
    needed: usize::MAX,
    available: 0,
};

/// The drive's own rows, the monitor's, and the numbers of the last transitions.
pub(super) fn carve<'d>(
    sizes: &Sizes,
    rows: Rows<'d>,
) -> Result<(DriveRows<'d>, Rows<'d>, &'d mut [f32]), DriveError> {
    let needed = sizes.rows().map_err(DriveError::Capacity)?;
    let short = DriveError::Capacity(CapacityError {
        needed,
        available: rows.len(),
    });
    let mut rest = rows;
    let mut take = |count: usize| {
        let (taken, left) = core::mem::take(&mut rest)
            .split_at_mut_checked(count)
            .ok_or(short)?;
        rest = left;
        taken.fill([0.0]);
        Ok::<_, DriveError>(taken)
    };
    let own = DriveRows {
        before: take(sizes.states)?,
        now: take(sizes.states)?,
        seen: take(sizes.states)?,
        next_seen: take(sizes.states)?,
        wanted: take(sizes.actions)?,
        action: take(sizes.actions)?,
        noise: take(sizes.actions)?,
        scratch: take(sizes.scratch)?,
        features: take(sizes.features)?,
        values: take(sizes.values)?,
    };
    let monitor = take(sizes.monitor)?;
    let kept = sizes.width().and_then(|width| width.checked_mul(KEPT));
    let kept = take(kept.unwrap_or(usize::MAX))?;
    Ok((own, monitor, kept.as_flattened_mut()))
}
