//! A log as the tables that training takes.

use crate::formats::log::Log;
use crate::learn::ensemble::TrainingSet;
use crate::learn::gaussian_process::Observations;
use crate::learn::learned_reward::UnseenInput;

/// Inputs (s, a), but for one that the model does not see, and targets s′ − s,
/// row-major.
pub(crate) struct Tables {
    inputs: Vec<f32>,
    targets: Vec<f32>,
    input_columns: usize,
    target_columns: usize,
}

impl Tables {
    pub(crate) fn new(log: &Log, unseen: Option<UnseenInput>) -> Self {
        let targets = log.rows().flat_map(|row| {
            let differences = row.next_state.iter().zip(row.state);
            differences.map(|(next, state)| next - state)
        });
        let (inputs, columns) = (inputs(log), log.state_dimension() + log.action_dimension());
        let (inputs, input_columns) = match unseen {
            Some(unseen) => (unseen.removed(&inputs, columns), columns - 1),
            None => (inputs, columns),
        };
        Self {
            inputs,
            targets: targets.collect(),
            input_columns,
            target_columns: log.state_dimension(),
        }
    }

    /// For networks.
    pub(crate) fn training_set(&self) -> TrainingSet<'_> {
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

fn inputs(log: &Log) -> Vec<f32> {
    let rows = log.rows();
    rows.flat_map(|row| row.state.iter().chain(row.action).copied())
        .collect()
}
