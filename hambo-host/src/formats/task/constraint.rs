//! A task's constraints with their names, and the words for what must hold.

use hambo_core::constraint::{Constraint, ConstraintKind};

/// A constraint of a task file.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedConstraint {
    /// What the task calls it.
    pub name: String,
    /// What must hold.
    pub constraint: Constraint,
}

/// The kinds as a task file writes them.
pub(super) const KINDS: [(&str, ConstraintKind); 4] = [
    ("mean", ConstraintKind::Mean),
    ("always", ConstraintKind::Always),
    ("finally", ConstraintKind::Finally),
    ("eventually", ConstraintKind::Eventually),
];

/// A kind as a task file writes it.
#[must_use]
pub fn kind_name(kind: ConstraintKind) -> &'static str {
    let named = KINDS.iter().find(|(_, other)| *other == kind);
    named.map_or("", |(name, _)| name)
}
