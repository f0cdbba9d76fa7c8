//! What a task asks, as hashes of its expressions and numbers.
//!
//! An expression is hashed as it is evaluated, operands first, whatever its slots on the
//! tape are called and whatever else is on the tape. The smoothing of comparisons is left
//! out: it helps a search and changes no value.

use heapless::Vec;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::part::Question;
use crate::task::expression::{MAX_OPS, Op, Program};
use crate::task::{Constraint, InitialKind, Task};

/// Longer than any op in postcard.
const OP_BYTES: usize = 32;
/// The number of a slot that has none yet.
const UNSEEN: u16 = u16::MAX;

/// What a task asks. `None` if its tape is longer than any tape.
pub fn question(task: &Task<'_>) -> Option<Question> {
    let program = &task.program;
    let mut reward = Sha256::new();
    reward.update(task.discount.to_bits().to_le_bytes());
    add_expression(&mut reward, program, task.reward)?;
    let mut termination = Sha256::new();
    if let Some(slot) = task.termination {
        add_expression(&mut termination, program, slot)?;
    }
    let mut power_off = Sha256::new();
    if let Some(slot) = task.power_off {
        add_expression(&mut power_off, program, slot)?;
    }
    let mut known = Sha256::new();
    for state in &task.physics.known {
        known.update(state.state.to_le_bytes());
        add_expression(&mut known, program, state.slot)?;
    }
    for place in task.physics.circles.iter().flatten() {
        known.update(place.to_le_bytes());
    }
    let mut state_limits = Sha256::new();
    let (limits, wraps) = (&task.state_limits, &task.wraps);
    for numbers in [limits.low, limits.high, wraps.low, wraps.period] {
        add_numbers(&mut state_limits, numbers);
    }
    let mut action_limits = Sha256::new();
    for numbers in [task.action_limits.low, task.action_limits.high] {
        add_numbers(&mut action_limits, numbers);
    }
    let mut initial = Sha256::new();
    add_value(&mut initial, &task.initial.kind)?;
    if !matches!(task.initial.kind, InitialKind::Logged | InitialKind::Worst) {
        add_numbers(&mut initial, task.initial.first);
        add_numbers(&mut initial, task.initial.second);
    }
    Some(Question {
        reward: reward.finalize().into(),
        termination: termination.finalize().into(),
        power_off: power_off.finalize().into(),
        known: known.finalize().into(),
        state_limits: state_limits.finalize().into(),
        action_limits: action_limits.finalize().into(),
        initial: initial.finalize().into(),
    })
}

/// What a constraint asks: its margin, when it must hold and how often.
pub fn constraint_identity(task: &Task<'_>, constraint: &Constraint) -> Option<[u8; 32]> {
    let mut hash = Sha256::new();
    add_value(&mut hash, &(constraint.kind, constraint.probability))?;
    add_expression(&mut hash, &task.program, constraint.slot)?;
    Some(hash.finalize().into())
}

/// How many numbers, and their bits.
fn add_numbers(hash: &mut Sha256, numbers: &[f32]) {
    hash.update((numbers.len() as u32).to_le_bytes());
    for number in numbers {
        hash.update(number.to_bits().to_le_bytes());
    }
}

fn add_value(hash: &mut Sha256, value: &impl Serialize) -> Option<()> {
    let mut bytes = [0; OP_BYTES];
    hash.update(postcard::to_slice(value, &mut bytes).ok()?);
    Some(())
}

/// Adds the ops that a slot needs, operands before what reads them, numbered in the
/// order in which they are added.
fn add_expression(hash: &mut Sha256, program: &Program, root: u16) -> Option<()> {
    let ops = program.ops();
    let mut numbers = [UNSEEN; MAX_OPS];
    let mut next = 0_u16;
    // Slots whose operands are being added. An operand lies before its reader, so that
    // no slot is on the list twice.
    let mut open: Vec<u16, MAX_OPS> = Vec::new();
    open.push(root).ok()?;
    while let Some(slot) = open.last().copied() {
        let op = ops.get(usize::from(slot))?;
        let mut missing = None;
        for operand in op.operands() {
            if *numbers.get(usize::from(operand))? == UNSEEN {
                missing = Some(operand);
                break;
            }
        }
        if let Some(operand) = missing {
            open.push(operand).ok()?;
            continue;
        }
        let number = numbers.get_mut(usize::from(slot))?;
        if *number == UNSEEN {
            *number = next;
            next = next.checked_add(1)?;
            add_op(hash, op, &numbers)?;
        }
        open.pop();
    }
    Some(())
}

/// Adds the kind of an op, its number or variable, and the numbers of its operands.
fn add_op(hash: &mut Sha256, op: &Op, numbers: &[u16]) -> Option<()> {
    let mut bytes = [0; OP_BYTES];
    let bytes = postcard::to_slice(op, &mut bytes).ok()?;
    match op {
        Op::Constant(_) | Op::Variable(_) => hash.update(&*bytes),
        // The kind comes first; slots and smoothing come after it.
        _ => hash.update(bytes.get(..1)?),
    }
    for operand in op.operands() {
        hash.update(numbers.get(usize::from(operand))?.to_le_bytes());
    }
    Some(())
}
