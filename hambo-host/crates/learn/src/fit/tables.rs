//! A log as the tables that training takes.

use crate::ensemble::training_set::TrainingSet;
use crate::gaussian_process::posterior::Observations;
use hambo_data::{Log, Told};
use hambo_task::task::ModelView;

/// What the model sees of each row and the action, and the targets s′ − s of the states that it
/// moves, row-major; not a number where a row says nothing of one.
pub struct Tables {
    inputs: Vec<f32>,
    targets: Vec<f32>,
    input_columns: usize,
    target_columns: usize,
}

impl Tables {
    pub fn new(log: &Log, view: &ModelView) -> Self {
        let told = Told::of(log, view);
        let targets = log.rows().enumerate().flat_map(|(number, row)| {
            let moved = view.moved.iter().enumerate();
            let differences = moved.filter_map(|(column, place)| {
                let (next, state) = (row.next_state.get(*place)?, row.state.get(*place)?);
                let tells = told.tells(number, column);
                Some(if tells { next - state } else { f32::NAN })
            });
            differences.collect::<Vec<f32>>()
        });
        Self {
            inputs: inputs(log, view),
            targets: targets.collect(),
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
        }
    }

    /// For Gaussian processes.
    pub(super) fn wide(&self) -> WideTables {
        let wide = |table: &[f32]| table.iter().map(|x| f64::from(*x)).collect();
        WideTables {
            inputs: wide(&self.inputs),
            targets: wide(&self.targets),
            input_columns: self.input_columns,
            target_columns: self.target_columns,
        }
    }
}

/// The same in f64.
pub(super) struct WideTables {
    pub(super) inputs: Vec<f64>,
    targets: Vec<f64>,
    input_columns: usize,
    target_columns: usize,
}

impl WideTables {
    pub(super) fn observations(&self) -> Observations<'_> {
        Observations {
            inputs: &self.inputs,
            input_columns: self.input_columns,
            targets: &self.targets,
            target_columns: self.target_columns,
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
