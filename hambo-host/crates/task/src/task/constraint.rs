//! A task's constraints with their names, and the words for what must hold.

use hambo_core::task::{Constraint, ConstraintKind};

use super::checker::Checker;
use super::error::TaskError;
use super::raw::RawConstraint;
use crate::expression::compiler::Compiler;
use hambo_core::task::MAX_CONSTRAINTS;

/// A constraint of a task file.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedConstraint {
    /// What the task calls it.
    pub name: String,
    /// What must hold.
    pub constraint: Constraint,
}

/// The kinds as a task file writes them.
const KINDS: [(&str, ConstraintKind); 4] = [
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

impl Checker<'_> {
    pub(super) fn constraints(
        &self,
        raw: Vec<RawConstraint>,
        compiler: &mut Compiler<'_>,
    ) -> Result<Vec<NamedConstraint>, TaskError> {
        if raw.len() > MAX_CONSTRAINTS {
            let problem = format!("is there {} times", raw.len());
            let help = format!("give at most {MAX_CONSTRAINTS}; min(a, b) joins two");
            // The first that is too many.
            let part = format!("constraint[{MAX_CONSTRAINTS}]");
            return self.fail_at(&part, "constraint", problem, help);
        }
        let mut constraints: Vec<NamedConstraint> = Vec::new();
        for (index, constraint) in raw.into_iter().enumerate() {
            let key = format!("constraint[{index}].name");
            let name = self.present(&key, constraint.name, "name every constraint")?;
            if name.trim().is_empty() {
                return self.fail(&key, "is empty", "name every constraint");
            }
            if constraints.iter().any(|other| other.name == name) {
                let problem = format!("is `{name}` a second time");
                return self.fail(&key, problem, "give every constraint a name of its own");
            }
            let key = format!("constraint[{index}].expr");
            let help =
                "write for example expr = \"abs(x) <= 7\", or \"7 - abs(x)\", which must be >= 0";
            let expression = self.present(&key, constraint.expr, help)?;
            let slot = self.compiled(&key, compiler.add_margin(&expression))?;
            let kind = self.constraint_kind(index, constraint.kind)?;
            let probability = constraint.probability;
            if let Some(share) = probability.filter(|share| !(*share > 0.0 && *share < 1.0)) {
                let key = format!("constraint[{index}].probability");
                let help = "give the share of trajectories that must keep it, such as 0.99, \
                            or leave it out";
                return self.fail(&key, format!("is {share}, not between 0 and 1"), help);
            }
            let constraint = Constraint {
                slot,
                kind,
                probability,
            };
            constraints.push(NamedConstraint { name, constraint });
        }
        Ok(constraints)
    }

    fn constraint_kind(
        &self,
        index: usize,
        word: Option<String>,
    ) -> Result<ConstraintKind, TaskError> {
        let Some(word) = word else {
            return Ok(ConstraintKind::Mean);
        };
        let known = KINDS.iter().find(|(name, _)| *name == word);
        match known {
            Some((_, kind)) => Ok(*kind),
            None => {
                let key = format!("constraint[{index}].kind");
                let problem = format!("is \"{}\"", word.escape_debug());
                let help = "choose \"mean\" (on average over the steps), \"always\" (at every \
                            step), \"finally\" (at the last) or \"eventually\" (at one or more)";
                self.fail(&key, problem, help)
            }
        }
    }
}
