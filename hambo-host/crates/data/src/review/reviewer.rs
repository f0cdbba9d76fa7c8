//! A task compared with a log.

use hambo_base::Error;
use hambo_base::one_lane::one_lane;
use hambo_core::task::expression::{Comparison, Inputs, Program, Variable};
use hambo_task::expression::reads;
use hambo_task::task::TaskFile;

use super::finding::{Finding, WorstRow};
use crate::draft::{LoggedRow, LoggedRows};

/// Rows that a finding shows.
const SHOWN: usize = 5;

/// A row that shows a finding, and how far it is off.
pub(super) struct Evidence {
    pub(super) gap: f32,
    pub(super) row: usize,
    pub(super) logged: f32,
    pub(super) task: f32,
}

pub(super) struct Reviewer<'a> {
    pub(super) task: &'a TaskFile,
    /// With the task's own states: wrapped, computed, the return so far.
    pub(super) log: &'a LoggedRows,
    program: Program,
    /// Whether each slot of the tape depends on the next state.
    reads_next: Vec<bool>,
    pub(super) findings: Vec<Finding>,
}

impl<'a> Reviewer<'a> {
    /// # Errors
    /// If the log has other dimensions, or the task's expressions are bad.
    pub(super) fn new(task: &'a TaskFile, log: &'a LoggedRows) -> Result<Self, Error> {
        task.check_dimensions(log.states.len(), log.actions.len())?;
        Ok(Self {
            task,
            log,
            program: task.program()?,
            reads_next: reads(&task.ops, |variable| matches!(variable, Variable::Next(_))),
            findings: Vec::new(),
        })
    }

    /// Task and log contradict each other.
    pub(super) fn problem(
        &mut self,
        key: &str,
        text: String,
        help: &str,
        mut evidence: Vec<Evidence>,
    ) {
        evidence.sort_by(|one, other| other.gap.total_cmp(&one.gap));
        let worst = evidence.into_iter().take(SHOWN).map(|shown| WorstRow {
            row: shown.row,
            place: self.log.origin.place(shown.row),
            logged: shown.logged,
            task: shown.task,
        });
        let worst = worst.collect();
        self.findings.push(Finding {
            problem: true,
            key: key.to_owned(),
            text,
            help: help.to_owned(),
            worst,
        });
    }

    pub(super) fn note(&mut self, key: &str, text: String) {
        self.warning(key, text, "");
    }

    /// What may be right, and must be looked at.
    pub(super) fn warning(&mut self, key: &str, text: String, help: &str) {
        self.findings.push(Finding {
            problem: false,
            key: key.to_owned(),
            text,
            help: help.to_owned(),
            worst: Vec::new(),
        });
    }

    /// Whether an expression depends on the next state.
    pub(super) fn reads_next(&self, slot: u16) -> Option<bool> {
        self.reads_next.get(usize::from(slot)).copied()
    }

    /// The value of an expression in a row; `None` without the next state it needs.
    pub(super) fn value(&self, slot: u16, row: &LoggedRow) -> Option<f32> {
        let next = match &row.next_state {
            Some(next) => next,
            None if self.reads_next(slot)? => return None,
            // Not read, but other expressions of the tape want a number.
            None => &row.state,
        };
        let inputs = Inputs {
            state: one_lane(&row.state),
            action: one_lane(&row.action),
            next: one_lane(next),
            step: row.step as f32,
        };
        let mut values = vec![[f32::NAN]; self.program.len()];
        let program = &self.program;
        let _ = program.evaluate(Comparison::Exact, inputs, &mut values);
        values.get(usize::from(slot)).map(|[value]| *value)
    }
}
