//! Which values of a tape depend on which inputs.

use hambo_core::task::expression::{Op, Variable};

/// Whether each slot of a tape depends on a variable that `which` names.
pub fn reads(ops: &[Op], which: impl Fn(Variable) -> bool) -> Vec<bool> {
    let mut reads: Vec<bool> = Vec::with_capacity(ops.len());
    for op in ops {
        let own = matches!(op, Op::Variable(variable) if which(*variable));
        let mut operands = op.operands();
        let inherited = operands.any(|slot| reads.get(usize::from(slot)) == Some(&true));
        reads.push(own || inherited);
    }
    reads
}
