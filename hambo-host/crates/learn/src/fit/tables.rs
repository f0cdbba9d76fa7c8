//! A log as the tables that training takes.

use crate::ensemble::training_set::TrainingSet;
use crate::gaussian_process::posterior::Observations;
use hambo_base::Held;
use hambo_data::{Log, Told};
use hambo_task::task::ModelView;

/// What the model sees of each row and the action, and the targets s′ − s of the states that it
/// moves, row-major, with marks where a row says nothing of one.
pub struct Tables {
    inputs: Vec<f32>,
    targets: Vec<f32>,
    told: Told,
    input_columns: usize,
    target_columns: usize,
}

impl Tables {
    pub fn new(log: &Log, view: &ModelView) -> Self {
        let targets = log.rows().flat_map(|row| {
            let moved = view.moved.iter();
            let pairs =
                moved.filter_map(|place| row.next_state.get(*place).zip(row.state.get(*place)));
            let differences = pairs.map(|(next, state)| next - state);
            differences.collect::<Vec<f32>>()
        });
        Self {
            inputs: inputs(log, view),
            targets: targets.collect(),
            told: Told::of(log, view),
            input_columns: view.features.len() + log.action_dimension(),
            target_columns: view.moved.len(),
        }
    }

    /// For networks.
    pub fn training_set(&self) -> TrainingSet<'_> {
        TrainingSet {
            inputs: &self.inputs,
            input_columns: self.input_columns,
            targets: &self.targets,
            target_columns: self.target_columns,
            held: self.told.held(),
        }
    }

    /// For Gaussian processes.
    pub(super) fn wide(&self) -> WideTables<'_> {
        let wide = |table: &[f32]| table.iter().map(|x| f64::from(*x)).collect();
        WideTables {
            inputs: wide(&self.inputs),
            targets: wide(&self.targets),
            held: self.told.held(),
            input_columns: self.input_columns,
            target_columns: self.target_columns,
        }
    }
}

/// The same in f64.
pub(super) struct WideTables<'t> {
    pub(super) inputs: Vec<f64>,
    targets: Vec<f64>,
    held: Held<'t>,
    input_columns: usize,
    target_columns: usize,
}

impl WideTables<'_> {
    pub(super) fn observations(&self) -> Observations<'_> {
        Observations {
            inputs: &self.inputs,
            input_columns: self.input_columns,
            targets: &self.targets,
            target_columns: self.target_columns,
            held: self.held,
        }
    }
}

/// What the model sees of each row, and the action.
pub(crate) fn inputs(log: &Log, view: &ModelView) -> Vec<f32> {
    let mut seen = Vec::new();
    view.see_all(log.rows().map(|row| row.state), &mut seen);
    let seen = seen.chunks_exact(view.features.len().max(1));
    let rows = seen.zip(log.rows());
    rows.flat_map(|(seen, row)| seen.iter().chain(row.action).copied())
        .collect()
}
