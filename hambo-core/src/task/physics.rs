//! What is known of the dynamics beside the learned model: states whose next
//! value an expression gives, pairs of states that stay on the unit circle, and
//! the features of the state that the model sees.
//!
//! A known state has no uncertainty, so the adversary has no say in it. It may
//! be a position whose speed is learned, or what a controller remembers: an
//! integral, a filtered signal, the action before this one.
//!
//! One whose expression reads its own learned value is corrected: the model moves
//! it, set, push and noise included, and the expression has the last word. So a
//! wall, a stop or a saturation is one line.

use core::ops::Range;

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::expression::{Comparison, Inputs, MAX_OPS, Op, Program, Variable};
use super::range::{Limits, Wraps};
use crate::numeric::elementary::{clamp, sqrt};

/// The largest number of known states.
pub const MAX_KNOWN: usize = 16;
/// The largest number of features that are no states.
pub const MAX_FEATURES: usize = 32;
/// The largest number of pairs on the unit circle.
pub const MAX_CIRCLES: usize = 8;

/// So far from 1 the square of a length of 1 may be: a few roundings.
const ROUNDING: f32 = 1e-6;

/// What a task says of its dynamics.
///
/// ```
/// use hambo_core::task::{KnownState, ModelInputs, Physics};
/// let mut physics = Physics::learned_alone(3);
/// assert_eq!(physics.moved(3).collect::<Vec<_>>(), [0, 1, 2]);
/// // The second state is slot 4 of the tape.
/// let known = KnownState { state: 1, slot: 4, corrects: false };
/// physics.known.push(known).map_err(|_| "full")?;
/// assert_eq!(physics.moved(3).collect::<Vec<_>>(), [0, 2]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Physics {
    /// What the model sees of the state.
    pub inputs: ModelInputs,
    /// The states that are computed, in this order.
    pub known: Vec<KnownState, MAX_KNOWN>,
    /// Pairs of states that are moved back to the unit circle after every step.
    pub circles: Vec<[u16; 2], MAX_CIRCLES>,
}

/// What the model sees of the state; the action comes after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelInputs {
    /// The first states, this many.
    States(u16),
    /// The slots of functions of the state.
    Features(Vec<u16, MAX_FEATURES>),
}

/// A state whose next value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenState", into = "WrittenState")]
pub struct KnownState {
    /// Which state.
    pub state: u16,
    /// The tape's slot of its next value.
    pub slot: u16,
    /// Whether the value is computed from what the model says of this state.
    pub corrects: bool,
}

/// A known state in bytes: those of a correction have [`CORRECTS`] in the slot, which no tape
/// reaches, so that others keep theirs.
#[derive(Serialize, Deserialize)]
struct WrittenState {
    state: u16,
    slot: u16,
}

/// Above every slot of a tape.
const CORRECTS: u16 = 1 << 15;

impl From<WrittenState> for KnownState {
    fn from(written: WrittenState) -> Self {
        Self {
            state: written.state,
            slot: written.slot & !CORRECTS,
            corrects: written.slot & CORRECTS != 0,
        }
    }
}

impl From<KnownState> for WrittenState {
    fn from(known: KnownState) -> Self {
        let mark = if known.corrects { CORRECTS } else { 0 };
        Self {
            state: known.state,
            slot: known.slot | mark,
        }
    }
}

impl Physics {
    /// Nothing is known: the model sees all states and moves them.
    pub fn learned_alone(states: u16) -> Self {
        Self {
            inputs: ModelInputs::States(states),
            known: Vec::new(),
            circles: Vec::new(),
        }
    }

    /// How many inputs describe the state.
    pub fn features(&self) -> usize {
        match &self.inputs {
            ModelInputs::States(count) => usize::from(*count),
            ModelInputs::Features(slots) => slots.len(),
        }
    }

    /// Whether a state is computed without the model.
    pub fn knows(&self, state: usize) -> bool {
        let mut known = self.known.iter();
        known.any(|known| usize::from(known.state) == state && !known.corrects)
    }

    /// Whether a state is moved by the model and corrected after it.
    pub fn corrects(&self, state: usize) -> bool {
        self.corrected().any(|corrected| corrected == state)
    }

    /// The states that are corrected, in the order in which they are computed.
    pub fn corrected(&self) -> impl Iterator<Item = usize> + '_ {
        let known = self.known.iter().filter(|known| known.corrects);
        known.map(|known| usize::from(known.state))
    }

    /// Whether a state is one of a pair on the unit circle.
    pub fn on_circle(&self, state: usize) -> bool {
        let mut states = self.circles.iter().flatten();
        states.any(|on_circle| usize::from(*on_circle) == state)
    }

    /// Those of `states` states that the model moves, in the order of its outputs.
    pub fn moved(&self, states: usize) -> impl Iterator<Item = usize> + '_ {
        (0..states).filter(|state| !self.knows(*state))
    }

    /// How many states the model moves.
    pub(crate) fn moved_count(&self, states: usize) -> usize {
        let known = self.known.iter().filter(|known| !known.corrects);
        states.saturating_sub(known.count())
    }

    /// The ops that the features need.
    pub(crate) fn feature_ops(&self) -> Range<usize> {
        let slots = match &self.inputs {
            ModelInputs::States(_) => &[],
            ModelInputs::Features(slots) => slots.as_slice(),
        };
        0..end(slots.iter().copied())
    }

    /// The ops that features and known states need.
    pub(crate) fn known_ops(&self) -> Range<usize> {
        let known = end(self.known.iter().map(|known| known.slot));
        0..known.max(self.feature_ops().end)
    }

    /// What the model sees of `state`: rows of the state itself, or `rows` after
    /// the features are computed there. With the lanes in which all numbers on the
    /// way were finite.
    pub fn see<'r, const B: usize>(
        &self,
        program: &Program,
        state: &'r [[f32; B]],
        values: &mut [[f32; B]],
        rows: &'r mut [[f32; B]],
    ) -> (&'r [[f32; B]], [bool; B]) {
        let ModelInputs::Features(slots) = &self.inputs else {
            return (self.seen(state, rows), [true; B]);
        };
        let inputs = Inputs {
            state,
            action: &[],
            next: &[],
            step: 0.0,
        };
        let finite = program.evaluate_ops(self.feature_ops(), Comparison::Exact, inputs, values);
        for (row, slot) in rows.iter_mut().zip(slots) {
            *row = values
                .get(usize::from(*slot))
                .copied()
                .unwrap_or([f32::NAN; B]);
        }
        (rows, finite)
    }

    /// What [`Self::see`] returned, without computing it again.
    pub(crate) fn seen<'r, const B: usize>(
        &self,
        state: &'r [[f32; B]],
        rows: &'r [[f32; B]],
    ) -> &'r [[f32; B]] {
        match &self.inputs {
            ModelInputs::States(count) => state.get(..usize::from(*count)).unwrap_or_default(),
            ModelInputs::Features(_) => rows,
        }
    }

    /// Computes the known states of `next` one after the other from s and a and the
    /// others, each in its interval and within its limits, for the next may read it.
    /// What is corrected holds the model's value until its turn comes.
    /// `values` hold the features' slots already. Returns the lanes in which all
    /// numbers on the way were finite.
    pub fn compute_known<const B: usize>(
        &self,
        program: &Program,
        (wraps, limits): (&Wraps<'_>, &Limits<'_>),
        (state, action): (&[[f32; B]], &[[f32; B]]),
        step: f32,
        next: &mut [[f32; B]],
        values: &mut [[f32; B]],
    ) -> [bool; B] {
        let range = (wraps, limits);
        self.compute_known_from(0, program, range, (state, action), step, next, values)
    }

    /// The same for the states from `first` on; known ones before it were measured and
    /// stay as they are.
    #[expect(
        clippy::too_many_arguments,
        reason = "those of `compute_known` and one more"
    )]
    pub(crate) fn compute_known_from<const B: usize>(
        &self,
        first: usize,
        program: &Program,
        (wraps, limits): (&Wraps<'_>, &Limits<'_>),
        (state, action): (&[[f32; B]], &[[f32; B]]),
        step: f32,
        next: &mut [[f32; B]],
        values: &mut [[f32; B]],
    ) -> [bool; B] {
        let mut done = self.feature_ops().end;
        let mut finite = [true; B];
        for known in &self.known {
            let inputs = Inputs {
                state,
                action,
                next: &*next,
                step,
            };
            let end = usize::from(known.slot).saturating_add(1).max(done);
            let good = program.evaluate_ops(done..end, Comparison::Exact, inputs, values);
            done = end;
            let place = usize::from(known.state);
            if place < first {
                continue;
            }
            let value = values.get(usize::from(known.slot));
            let (Some(row), Some(value)) = (next.get_mut(place), value) else {
                return [false; B];
            };
            *row = *value;
            wraps.wrap_row(place, row);
            if let (Some(low), Some(high)) = (limits.low.get(place), limits.high.get(place)) {
                for x in row.iter_mut() {
                    *x = clamp(*x, *low, *high);
                }
            }
            for (finite, good) in finite.iter_mut().zip(good) {
                *finite &= good;
            }
        }
        finite
    }

    /// Corrects one state of `next`, which holds what the model or a log says of it; the others
    /// were measured and stay as they are. `values` hold the features' slots already. Returns
    /// the lanes in which all numbers on the way were finite; none if the state is not corrected.
    pub fn correct<const B: usize>(
        &self,
        place: usize,
        program: &Program,
        (wraps, limits): (&Wraps<'_>, &Limits<'_>),
        (state, action): (&[[f32; B]], &[[f32; B]]),
        next: &mut [[f32; B]],
        values: &mut [[f32; B]],
    ) -> [bool; B] {
        let mut known = self.known.iter();
        let Some(known) = known.find(|one| one.corrects && usize::from(one.state) == place) else {
            return [false; B];
        };
        let into_range = |row: &mut [f32; B]| {
            wraps.wrap_row(place, row);
            if let (Some(low), Some(high)) = (limits.low.get(place), limits.high.get(place)) {
                *row = row.map(|x| clamp(x, *low, *high));
            }
        };
        if let Some(row) = next.get_mut(place) {
            into_range(row);
        }
        let inputs = Inputs {
            state,
            action,
            next: &*next,
            // No correction reads the step.
            step: 0.0,
        };
        let slot = usize::from(known.slot);
        let ops = self.feature_ops().end..slot.saturating_add(1);
        let finite = program.evaluate_ops(ops, Comparison::Exact, inputs, values);
        let (Some(row), Some(value)) = (next.get_mut(place), values.get(slot)) else {
            return [false; B];
        };
        *row = *value;
        into_range(row);
        finite
    }

    /// Moves every pair to the unit circle along its own direction. One that is there
    /// already keeps its bits; a pair at the origin has no direction and becomes NaN.
    pub(crate) fn keep_on_circles<const B: usize>(&self, states: &mut [[f32; B]]) {
        for pair in &self.circles {
            let Ok([c, s]) = states.get_disjoint_mut(pair.map(usize::from)) else {
                continue;
            };
            for (c, s) in c.iter_mut().zip(s) {
                let square = *c * *c + *s * *s;
                if !(1.0 - ROUNDING..=1.0 + ROUNDING).contains(&square) {
                    let radius = sqrt(square);
                    (*c, *s) = (*c / radius, *s / radius);
                }
            }
        }
    }

    /// The derivative of [`Self::keep_on_circles`], transposed: what points away
    /// from the centre does not get through. `states` are those before.
    pub(crate) fn circles_back<const B: usize>(
        &self,
        states: &[[f32; B]],
        cotangent: &mut [[f32; B]],
    ) {
        for pair in &self.circles {
            let pair = pair.map(usize::from);
            let [Some(c), Some(s)] = pair.map(|state| states.get(state)) else {
                continue;
            };
            let Ok([c_cotangent, s_cotangent]) = cotangent.get_disjoint_mut(pair) else {
                continue;
            };
            let cotangents = c_cotangent.iter_mut().zip(s_cotangent);
            for ((c, s), (by_c, by_s)) in c.iter().zip(s).zip(cotangents) {
                let radius = sqrt(*c * *c + *s * *s);
                let (c, s) = (*c / radius, *s / radius);
                // Along the circle, a turn by one radian.
                let turn = (c * *by_s - s * *by_c) / radius;
                (*by_c, *by_s) = (-s * turn, c * turn);
            }
        }
    }

    /// Whether all places exist, features read states alone, a known state reads the next
    /// value of a known one only after it was computed, and what is corrected, and nothing
    /// else, reads its own learned value.
    pub(crate) fn is_sound(&self, program: &Program, states: usize) -> bool {
        let exists = |state: u16| usize::from(state) < states;
        let repeated = |place: usize, state: u16| {
            let mut before = self.known.iter().take(place);
            before.any(|known| known.state == state)
        };
        let mut known = self.known.iter().enumerate();
        let known =
            known.all(|(place, known)| exists(known.state) && !repeated(place, known.state));
        let corrections = self.known.iter().all(|known| {
            let reads = |variable| reads(program.ops(), known.slot, variable);
            // Measured transitions do not say at which step they were.
            let own = reads(Variable::Learned(known.state));
            own == known.corrects && !(own && reads(Variable::Step))
        });
        let mut circles = self.circles.iter().enumerate();
        let circles = circles.all(|(place, pair)| {
            let [c, s] = *pair;
            let mut earlier = self.circles.iter().take(place);
            let free = c != s && !earlier.any(|other| other.contains(&c) || other.contains(&s));
            let is_known = |state: u16| self.known.iter().any(|known| known.state == state);
            let learned = |state: u16| exists(state) && !is_known(state);
            free && learned(c) && learned(s)
        });
        let features = self.features();
        let inputs = features > 0
            && match &self.inputs {
                ModelInputs::States(_) => features <= states,
                ModelInputs::Features(_) => true,
            };
        let ops = program.ops();
        let read = ops.iter().enumerate().all(|(slot, op)| match op {
            Op::Variable(variable) => self.may_read(slot, *variable),
            _ => true,
        });
        known && corrections && circles && inputs && self.known_ops().end <= ops.len() && read
    }

    fn may_read(&self, slot: usize, variable: Variable) -> bool {
        if self.feature_ops().contains(&slot) {
            return matches!(variable, Variable::State(_));
        }
        // The first known state for which this op is needed.
        let mut known = self.known.iter();
        let needed = known.position(|known| usize::from(known.slot) >= slot);
        let place = |state: u16| self.known.iter().position(|known| known.state == state);
        match variable {
            Variable::Next(next) => match (needed, place(next)) {
                (Some(needed), Some(computed)) => computed < needed,
                _ => true,
            },
            // When its turn comes, and not after it.
            Variable::Learned(learned) => needed.is_some() && needed == place(learned),
            _ => true,
        }
    }
}

/// Whether a slot depends on a variable.
fn reads(ops: &[Op], slot: u16, variable: Variable) -> bool {
    let mut depends = [false; MAX_OPS];
    for (place, op) in ops.iter().enumerate() {
        let mut operands = op.operands();
        let inherited = operands.any(|operand| depends.get(usize::from(operand)) == Some(&true));
        if let Some(own) = depends.get_mut(place) {
            *own = inherited || *op == Op::Variable(variable);
        }
    }
    depends.get(usize::from(slot)) == Some(&true)
}

/// One after the last of some slots.
fn end(slots: impl Iterator<Item = u16>) -> usize {
    slots.fold(0, |end, slot| end.max(usize::from(slot).saturating_add(1)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn known(state: u16, slot: u16) -> KnownState {
        KnownState {
            state,
            slot,
            corrects: false,
        }
    }

    #[test]
    fn a_pair_comes_back_to_the_circle_and_only_turns_get_through() {
        let mut physics = Physics::learned_alone(3);
        physics.circles.push([2, 0]).unwrap();
        let mut states = [[0.6, 3.0], [7.0, 7.0], [0.8, 4.0]];
        physics.keep_on_circles(&mut states);
        for (state, wanted) in states.iter().zip([0.6, 7.0, 0.8]) {
            assert!(state.iter().all(|x| (*x - wanted).abs() < 1e-6));
        }
        // Against differences, in the lane whose radius is 5.
        let raw = [[3.0_f32], [7.0], [4.0]];
        let value = |raw: [[f32; 1]; 3]| {
            let mut states = raw;
            physics.keep_on_circles(&mut states);
            2.0 * states[0][0] + 5.0 * states[1][0] - 0.5 * states[2][0]
        };
        let mut cotangent = [[2.0], [5.0], [-0.5]];
        physics.circles_back(&raw, &mut cotangent);
        for (state, cotangent) in cotangent.iter().enumerate() {
            let mut up = raw;
            let mut down = raw;
            up[state][0] += 0.05;
            down[state][0] -= 0.05;
            let slope = (value(up) - value(down)) / 0.1;
            assert!((slope - cotangent[0]).abs() < 1e-3, "{state}: {slope}");
        }
        // On the circle already: nothing changes any more.
        let once = states;
        physics.keep_on_circles(&mut states);
        assert_eq!(states, once);
        // No direction, no place.
        let mut origin = [[0.0], [1.0], [0.0]];
        physics.keep_on_circles(&mut origin);
        assert!(origin[0][0].is_nan() && origin[2][0].is_nan());
    }

    #[test]
    fn places_that_do_not_exist_or_come_twice_are_refused() {
        let ops = [
            Op::Variable(Variable::State(0)),
            Op::Variable(Variable::Action(0)),
        ];
        let program = Program::new(&ops, 2, 1).unwrap();
        let sound = |change: &dyn Fn(&mut Physics)| {
            let mut physics = Physics::learned_alone(2);
            change(&mut physics);
            physics.is_sound(&program, 2)
        };
        assert!(sound(&|_| ()));
        assert!(sound(&|p| p.known.push(known(1, 1)).unwrap()));
        assert!(!sound(&|p| p.known.push(known(2, 1)).unwrap()));
        assert!(!sound(&|p| p.known.push(known(1, 2)).unwrap()));
        assert!(!sound(&|p| p.known.extend([known(1, 0), known(1, 1)])));
        assert!(sound(&|p| p.circles.push([0, 1]).unwrap()));
        assert!(!sound(&|p| p.circles.push([1, 1]).unwrap()));
        assert!(!sound(&|p| p.circles.push([0, 2]).unwrap()));
        assert!(!sound(&|p| {
            p.circles.push([0, 1]).unwrap();
            p.known.push(known(1, 1)).unwrap();
        }));
        let features = |slots: &[u16]| ModelInputs::Features(Vec::from_slice(slots).unwrap());
        assert!(sound(&|p| p.inputs = features(&[0])));
        // A feature does not read the action.
        assert!(!sound(&|p| p.inputs = features(&[1])));
        assert!(!sound(&|p| p.inputs = features(&[])));
        assert!(!sound(&|p| p.inputs = ModelInputs::States(3)));
        assert!(!sound(&|p| p.inputs = ModelInputs::States(0)));
    }

    #[test]
    fn a_known_state_reads_what_was_computed_before_it() {
        // Slot 0 reads the next value of state 0, slot 1 that of state 1.
        let ops = [
            Op::Variable(Variable::Next(0)),
            Op::Variable(Variable::Next(1)),
        ];
        let program = Program::new(&ops, 3, 1).unwrap();
        let sound = |states: &[KnownState]| {
            let mut physics = Physics::learned_alone(3);
            physics.known.extend(states.iter().copied());
            physics.is_sound(&program, 3)
        };
        // Learned states may be read at any time.
        assert!(sound(&[known(2, 1)]));
        assert!(sound(&[known(1, 0), known(2, 1)]));
        // Itself, and one that comes later.
        assert!(!sound(&[known(1, 1)]));
        assert!(!sound(&[known(0, 0)]));
        assert!(!sound(&[known(2, 1), known(1, 0)]));
    }

    #[test]
    fn a_correction_reads_its_own_learned_value_and_no_other_does() {
        let corrects = |state, slot| KnownState {
            corrects: true,
            ..known(state, slot)
        };
        // Slot 1: the learned value of state 1; slot 3: that plus the step; slot 4: s0.
        let ops = [
            Op::Variable(Variable::Next(0)),
            Op::Variable(Variable::Learned(1)),
            Op::Variable(Variable::Step),
            Op::Add(1, 2),
            Op::Variable(Variable::State(0)),
        ];
        let program = Program::new(&ops, 3, 1).unwrap();
        let sound = |states: &[KnownState]| {
            let mut physics = Physics::learned_alone(3);
            physics.known.extend(states.iter().copied());
            physics.is_sound(&program, 3)
        };
        assert!(sound(&[corrects(1, 1)]));
        // Said of itself, or not.
        assert!(!sound(&[known(1, 1)]) && !sound(&[corrects(1, 4)]));
        // Of another state, after its turn, or with nobody who corrects.
        assert!(!sound(&[corrects(2, 1)]) && !sound(&[]));
        assert!(!sound(&[known(0, 0), corrects(1, 1), known(2, 1)]));
        // Of the step.
        assert!(!sound(&[corrects(1, 3)]));
    }

    #[test]
    fn a_correction_is_moved_by_the_model_and_written_in_the_bytes_of_others() {
        let mut physics = Physics::learned_alone(3);
        physics.known.push(known(0, 2)).unwrap();
        let correction = KnownState {
            state: 1,
            slot: 3,
            corrects: true,
        };
        physics.known.push(correction).unwrap();
        assert!(physics.knows(0) && !physics.knows(1) && physics.corrects(1));
        assert_eq!(physics.moved(3).collect::<std::vec::Vec<_>>(), [1, 2]);
        assert_eq!(physics.moved_count(3), 2);
        let mut buffer = [0; 32];
        let bytes = postcard::to_slice(&physics, &mut buffer).unwrap();
        // The inputs, two known states of which the second is marked, no circle.
        assert_eq!(bytes, [0, 3, 2, 0, 2, 1, 0x83, 0x80, 0x02, 0]);
        assert_eq!(postcard::from_bytes(bytes), Ok(physics));
    }
}
