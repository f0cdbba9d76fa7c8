//! The search over member sequences (HAMBO-DA1): greedy by adjoint value,
//! refined by coordinate descent.
//!
//! After every improvement the adjoint sweep says which member promises most
//! at each step. Then, until the next improvement: all promising steps at
//! once, the promising steps one by one, and at last every step and member in
//! turn. The sequences stand in [`MemberRows`].

use super::start::Start;
use crate::arithmetic::random::Stream;
use crate::policy::{FoundChoices, Policy};
use crate::rollout::{Buffers, MemberRows, Returns, Rollout};

/// Where the search on one lane stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    AllAtOnce,
    OneByOne,
    InTurn,
}

/// The search on `B` lanes.
#[derive(Clone, Debug)]
pub(super) struct SequenceSearch<const B: usize> {
    least: [f32; B],
    stage: [Stage; B],
    /// Counts steps and members in turn.
    cursor: [u32; B],
}

impl<const B: usize> SequenceSearch<B> {
    /// Nothing tried yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            least: [f32::INFINITY; B],
            stage: [Stage::AllAtOnce; B],
            cursor: [0; B],
        }
    }

    /// Every lane starts with one member for the whole trajectory, or with a
    /// sequence that was found elsewhere.
    pub fn begin(
        starts: &[Start; B],
        found: Option<&FoundChoices<'_>>,
        rows: &mut MemberRows<'_, B>,
    ) {
        for (step, chosen) in rows.chosen.iter_mut().enumerate() {
            *chosen = starts.map(|start| match start {
                Start::Member(member) => member as u16,
                Start::Found(sequence) => {
                    found.map_or(0.0, |found| found.at(sequence, step)) as u16
                }
                Start::Constant(_) | Start::Network => 0,
            });
        }
        for (worst, chosen) in rows.worst.iter_mut().zip(rows.chosen.iter()) {
            *worst = *chosen;
        }
    }

    /// Judges the sequences on trial and puts the next ones there.
    pub fn propose<P: Policy>(
        &mut self,
        rollout: &Rollout<'_, P>,
        streams: &[Stream; B],
        returns: &Returns<B>,
        softness: f32,
        buffers: &mut Buffers<'_, B>,
    ) {
        let improved = self.judge(&returns.value, &mut buffers.members);
        if improved.contains(&true) {
            rollout.member_gains(streams, returns, softness, &improved, buffers);
        }
        let members = rollout.model.dynamics.members();
        self.change(&improved, members, &mut buffers.members);
    }

    /// Keeps the trials that are better and takes back the others. Returns
    /// the lanes that improved.
    fn judge(&mut self, values: &[f32; B], rows: &mut MemberRows<'_, B>) -> [bool; B] {
        let mut improved = [false; B];
        let lanes = improved.iter_mut().zip(self.least.iter_mut());
        for ((improved, least), value) in lanes.zip(values) {
            if *value < *least {
                *least = *value;
                *improved = true;
            }
        }
        for (chosen, worst) in rows.chosen.iter_mut().zip(rows.worst.iter_mut()) {
            for ((chosen, worst), improved) in chosen.iter_mut().zip(worst).zip(&improved) {
                if *improved {
                    *worst = *chosen;
                } else {
                    *chosen = *worst;
                }
            }
        }
        improved
    }

    /// Changes the sequences for the next trial.
    fn change(&mut self, improved: &[bool; B], members: usize, rows: &mut MemberRows<'_, B>) {
        let lanes = self.stage.iter_mut().zip(self.cursor.iter_mut());
        for (lane, ((stage, cursor), improved)) in lanes.zip(improved).enumerate() {
            *stage = match (*stage, *improved) {
                (_, true) => Stage::AllAtOnce,
                (Stage::AllAtOnce, false) => Stage::OneByOne,
                (later, false) => later,
            };
            if *stage == Stage::AllAtOnce && !take_all(rows, lane) {
                *stage = Stage::InTurn;
            }
            if *stage == Stage::OneByOne && !take_best(rows, lane) {
                *stage = Stage::InTurn;
            }
            if *stage == Stage::InTurn {
                take_next(rows, lane, members, cursor);
            }
        }
    }
}

/// Chosen member, proposed member and gain of a lane, step by step.
fn steps<'r, const B: usize>(
    rows: &'r mut MemberRows<'_, B>,
    lane: usize,
) -> impl Iterator<Item = (&'r mut u16, u16, &'r mut f32)> {
    let chosen = rows.chosen.iter_mut();
    let steps = chosen.zip(rows.proposed.iter()).zip(rows.gain.iter_mut());
    steps.filter_map(move |((chosen, proposed), gain)| {
        Some((
            chosen.get_mut(lane)?,
            *proposed.get(lane)?,
            gain.get_mut(lane)?,
        ))
    })
}

/// Every promising proposal; false if there is none.
fn take_all<const B: usize>(rows: &mut MemberRows<'_, B>, lane: usize) -> bool {
    let mut any = false;
    for (chosen, proposed, gain) in steps(rows, lane) {
        if *gain < 0.0 {
            *chosen = proposed;
            any = true;
        }
    }
    any
}

/// The most promising proposal that is left; false if there is none.
fn take_best<const B: usize>(rows: &mut MemberRows<'_, B>, lane: usize) -> bool {
    let all = steps(rows, lane);
    let best = all.reduce(|best, other| if *other.2 < *best.2 { other } else { best });
    match best {
        Some((chosen, proposed, gain)) if *gain < 0.0 => {
            *chosen = proposed;
            *gain = 0.0;
            true
        }
        _ => false,
    }
}

/// The next step and member in turn that is a change.
fn take_next<const B: usize>(
    rows: &mut MemberRows<'_, B>,
    lane: usize,
    members: usize,
    cursor: &mut u32,
) {
    let (members, count) = (members as u32, rows.chosen.len() as u32);
    for _ in 0..members {
        let step = cursor
            .checked_div(members)
            .and_then(|step| step.checked_rem(count));
        let member = cursor.checked_rem(members).unwrap_or(0) as u16;
        *cursor = cursor.wrapping_add(1);
        let step = step.and_then(|step| rows.chosen.get_mut(step as usize));
        if let Some(chosen) = step.and_then(|step| step.get_mut(lane))
            && *chosen != member
        {
            *chosen = member;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promising_members_go_on_trial_and_are_taken_back_if_they_are_no_worse() {
        // One lane and two steps; member 0 all the way to begin with.
        let mut rows = MemberRows {
            chosen: &mut [[9]; 2],
            worst: &mut [[9]; 2],
            proposed: &mut [[0], [1]],
            gain: &mut [[0.0], [-0.5]],
        };
        let mut search = SequenceSearch::<1>::new();
        SequenceSearch::begin(&[Start::Member(0)], None, &mut rows);
        assert_eq!(search.judge(&[-1.0], &mut rows), [true]);
        // The adjoint promises that member 1 costs 0.5 more at the second step.
        search.change(&[true], 2, &mut rows);
        assert_eq!(rows.chosen, [[0], [1]]);
        assert_eq!(search.judge(&[-0.9], &mut rows), [false]);
        assert_eq!(rows.chosen, [[0], [0]]);
    }
}
