//! The search over member sequences (HAMBO-DA1): greedy by adjoint value,
//! refined by coordinate descent.
//!
//! After every improvement the adjoint sweep says which member promises most
//! at each step. Then, until the next improvement: all promising steps at
//! once, some of them, one by one, and at last every step and member in turn,
//! and stretches of one member. The sequences stand in [`MemberRows`].

use super::hash;
use super::start::Start;
use crate::numeric::random::Stream;
use crate::policy::Policy;
use crate::rollout::{Buffers, MemberRows, Returns, Rollout};
use crate::task::FoundChoices;

/// Where the search on one lane stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    AllAtOnce,
    SomeAtOnce,
    OneByOne,
    InTurn,
}

#[derive(Clone, Debug)]
pub(super) struct SequenceSearch<const B: usize> {
    stage: [Stage; B],
    /// Counts steps and members in turn.
    cursor: [u32; B],
    /// Trials since the last improvement.
    trial: [u32; B],
    /// That of the trajectory and the start: what is random differs on each.
    places: [u32; B],
}

/// Trials of some promising steps at once: a half, a quarter, an eighth, twice.
const SOME: u32 = 6;

/// Trials until single promising steps have had their turn.
const SINGLE: u32 = 16;

impl<const B: usize> SequenceSearch<B> {
    /// Nothing tried yet. `places` are those of the trajectories and starts.
    pub fn new(places: [u32; B]) -> Self {
        Self {
            stage: [Stage::AllAtOnce; B],
            cursor: [0; B],
            trial: [0; B],
            places,
        }
    }

    /// Every lane starts with one member for the whole trajectory, with all in
    /// turn, or with a sequence that was found elsewhere.
    pub fn begin(
        starts: &[Start; B],
        found: Option<&FoundChoices<'_>>,
        members: usize,
        rows: &mut MemberRows<'_, B>,
    ) {
        for (step, chosen) in rows.chosen.iter_mut().enumerate() {
            *chosen = starts.map(|start| match start {
                Start::Member(member) => member as u16,
                Start::Found(sequence) => {
                    found.map_or(0.0, |found| found.at(sequence, step)) as u16
                }
                Start::Turns(doublings) => {
                    let turn = step.checked_shr(doublings as u32).unwrap_or(0);
                    turn.checked_rem(members).unwrap_or(0) as u16
                }
                Start::Constant(_) | Start::Network => 0,
            });
        }
        for (worst, chosen) in rows.worst.iter_mut().zip(rows.chosen.iter()) {
            *worst = *chosen;
        }
    }

    /// Keeps or takes back the sequences on trial and puts the next ones
    /// there. `improved` marks the lanes whose last sweep was the worst so far.
    pub fn propose<P: Policy>(
        &mut self,
        rollout: &Rollout<'_, P>,
        streams: &[Stream; B],
        returns: &Returns<B>,
        improved: &[bool; B],
        softness: f32,
        buffers: &mut Buffers<'_, B>,
    ) {
        keep_improved(improved, &mut buffers.members);
        if improved.contains(&true) {
            rollout.member_gains(streams, returns, softness, improved, buffers);
        }
        if buffers.slices.next().is_none() {
            return;
        }
        let members = rollout.model.dynamics.members();
        self.change(improved, members, &mut buffers.members);
    }

    /// Changes the sequences for the next trial.
    fn change(&mut self, improved: &[bool; B], members: usize, rows: &mut MemberRows<'_, B>) {
        let lanes = self.stage.iter_mut().zip(self.cursor.iter_mut());
        let lanes = lanes.zip(self.trial.iter_mut().zip(&self.places));
        for (lane, (((stage, cursor), (trial, place)), improved)) in lanes.zip(improved).enumerate()
        {
            *trial = if *improved {
                0
            } else {
                trial.saturating_add(1)
            };
            *stage = match (*stage, *improved) {
                (_, true) => Stage::AllAtOnce,
                (Stage::AllAtOnce, false) => Stage::SomeAtOnce,
                (Stage::SomeAtOnce, false) if *trial > SOME => Stage::OneByOne,
                (Stage::OneByOne, false) if *trial > SINGLE => Stage::InTurn,
                (later, false) => later,
            };
            if *stage == Stage::AllAtOnce && !take_some(rows, lane, |_| true) {
                *stage = Stage::InTurn;
            }
            if *stage == Stage::SomeAtOnce {
                // One in two, four, eight: of a jump that is too far, a part.
                let one_in = 2_u32.checked_shl(trial.saturating_sub(1) % 3).unwrap_or(2);
                let place = [*place, *trial, *cursor];
                take_some(rows, lane, |step| {
                    let [place, trial, cursor] = place;
                    hash::below([place, trial, step, cursor], one_in) == 0
                });
            }
            if *stage == Stage::OneByOne && !take_best(rows, lane) {
                *stage = Stage::InTurn;
            }
            if *stage == Stage::InTurn && *trial & 1 == 0 {
                take_next(rows, lane, members, cursor);
            } else if *stage == Stage::InTurn {
                take_stretch(rows, lane, members, [*place, *trial, *cursor]);
            }
        }
    }
}

/// Keeps the trials that are worse for the controller and takes back the
/// others.
fn keep_improved<const B: usize>(improved: &[bool; B], rows: &mut MemberRows<'_, B>) {
    for (chosen, worst) in rows.chosen.iter_mut().zip(rows.worst.iter_mut()) {
        for ((chosen, worst), improved) in chosen.iter_mut().zip(worst).zip(improved) {
            if *improved {
                *worst = *chosen;
            } else {
                *chosen = *worst;
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

/// The promising proposals of the steps that `wanted` names; false if none is
/// promising.
fn take_some<const B: usize>(
    rows: &mut MemberRows<'_, B>,
    lane: usize,
    wanted: impl Fn(u32) -> bool,
) -> bool {
    let mut any = false;
    for (step, (chosen, proposed, gain)) in (0..).zip(steps(rows, lane)) {
        if *gain < 0.0 && wanted(step) {
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

/// One member for some steps in a row: for 1 to 32, anywhere, at random. It
/// moves the moment at which the adversary changes its mind.
fn take_stretch<const B: usize>(
    rows: &mut MemberRows<'_, B>,
    lane: usize,
    members: usize,
    [place, trial, cursor]: [u32; 3],
) {
    let draw = |what: u32, count: u32| hash::below([place, trial, cursor, what], count);
    let member = draw(0, members as u32) as u16;
    let first = draw(1, rows.chosen.len() as u32) as usize;
    let length = 1_usize.checked_shl(draw(2, 6)).unwrap_or(1);
    let stretch = rows.chosen.iter_mut().skip(first).take(length);
    for chosen in stretch.filter_map(|row| row.get_mut(lane)) {
        *chosen = member;
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
        let mut search = SequenceSearch::<1>::new([0]);
        SequenceSearch::begin(&[Start::Member(0)], None, 2, &mut rows);
        keep_improved(&[true], &mut rows);
        // The adjoint promises that member 1 costs 0.5 more at the second step.
        search.change(&[true], 2, &mut rows);
        assert_eq!(rows.chosen, [[0], [1]]);
        keep_improved(&[false], &mut rows);
        assert_eq!(rows.chosen, [[0], [0]]);
    }

    /// One lane, three steps, member 0 all the way; what is proposed and promised.
    fn rows(gain: [f32; 3], test: impl FnOnce(&mut MemberRows<'_, 1>)) {
        test(&mut MemberRows {
            chosen: &mut [[0]; 3],
            worst: &mut [[0]; 3],
            proposed: &mut [[1], [2], [3]],
            gain: &mut gain.map(|gain| [gain]),
        });
    }

    #[test]
    fn only_what_promises_less_is_taken() {
        rows([0.0, -0.5, 0.5], |rows| {
            assert!(take_some(rows, 0, |_| true));
            assert_eq!(rows.chosen, [[0], [2], [0]]);
        });
        rows([0.0, 0.0, 0.5], |rows| {
            assert!(!take_some(rows, 0, |_| true));
            assert_eq!(rows.chosen, [[0]; 3]);
        });
        rows([-1.0, -1.0, -1.0], |rows| {
            assert!(take_some(rows, 0, |step| step == 2));
            assert_eq!(rows.chosen, [[0], [0], [3]]);
            assert!(!take_some(rows, 0, |_| false));
        });
    }

    #[test]
    fn the_best_is_taken_once_and_the_first_of_equals() {
        rows([-0.5, -1.0, -1.0], |rows| {
            for chosen in [[[0], [2], [0]], [[0], [2], [3]], [[1], [2], [3]]] {
                assert!(take_best(rows, 0));
                assert_eq!(rows.chosen, chosen);
            }
            assert!(!take_best(rows, 0));
        });
        rows([0.0, 0.5, 0.0], |rows| {
            assert!(!take_best(rows, 0));
            assert_eq!(rows.chosen, [[0]; 3]);
        });
    }

    #[test]
    fn every_step_and_member_has_its_turn() {
        rows([0.0; 3], |rows| {
            let mut cursor = 0;
            // Member 0 is there already; then 1 of two at each step, and again.
            for chosen in [[[1], [0], [0]], [[1], [1], [0]], [[1], [1], [1]]] {
                take_next(rows, 0, 2, &mut cursor);
                assert_eq!(rows.chosen, chosen);
            }
            take_next(rows, 0, 2, &mut cursor);
            assert_eq!((&*rows.chosen, cursor), (&[[0], [1], [1]][..], 7));
        });
    }

    #[test]
    fn a_stretch_has_one_member_in_a_row() {
        let mut changes = 0;
        for trial in 0..32 {
            rows([0.0; 3], |rows| {
                take_stretch(rows, 0, 2, [5, trial, 0]);
                let draw = |what, count| hash::below([5, trial, 0, what], count) as usize;
                let (first, length) = (draw(1, 3), 1 << draw(2, 6));
                for (step, chosen) in rows.chosen.iter().enumerate() {
                    let inside = (first..first + length).contains(&step);
                    let member = if inside { draw(0, 2) } else { 0 };
                    assert_eq!(usize::from(chosen[0]), member);
                    changes += member;
                }
            });
        }
        assert!(changes > 16, "{changes}");
    }

    #[test]
    fn stages_follow_one_another_until_something_improves() {
        rows([-1.0, -2.0, 0.0], |rows| {
            let mut search = SequenceSearch::<1>::new([9]);
            let mut stages = vec![];
            for trial in 0..20 {
                search.change(&[trial == 0], 2, rows);
                stages.push(search.stage[0]);
                keep_improved(&[false], rows);
            }
            let mut wanted = vec![Stage::AllAtOnce];
            wanted.extend([Stage::SomeAtOnce; 6]);
            // Two steps promise something, and then none does.
            wanted.extend([Stage::OneByOne; 2]);
            wanted.extend([Stage::InTurn; 11]);
            assert_eq!(stages, wanted);
            search.change(&[true], 2, rows);
            // Nothing promises anything any more.
            assert_eq!((search.stage, search.trial), ([Stage::InTurn], [0]));
        });
    }

    #[test]
    fn single_steps_have_their_turn_until_trial_sixteen() {
        let mut rows = MemberRows {
            chosen: &mut [[0]; 12],
            worst: &mut [[0]; 12],
            proposed: &mut [[1]; 12],
            gain: &mut [[-1.0]; 12],
        };
        let mut search = SequenceSearch::<1>::new([9]);
        let mut stages = vec![];
        for trial in 0..18 {
            search.change(&[trial == 0], 2, &mut rows);
            stages.push(search.stage[0]);
            keep_improved(&[false], &mut rows);
        }
        let mut wanted = vec![Stage::AllAtOnce];
        wanted.extend([Stage::SomeAtOnce; 6]);
        wanted.extend([Stage::OneByOne; 10]);
        wanted.push(Stage::InTurn);
        assert_eq!(stages, wanted);
        // An odd trial moves a stretch, an even one the next step in turn.
        assert_eq!(search.cursor, [0]);
        search.change(&[false], 2, &mut rows);
        assert_eq!(search.cursor, [2]);
        assert_eq!(rows.chosen[..2], [[1], [0]]);
    }
}
