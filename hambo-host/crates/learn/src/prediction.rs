//! The core's predictions for the rows of a log.

use hambo_core::model::{Model, Prediction};
use hambo_core::numeric::Slices;

use hambo_data::Log;
use hambo_task::task::ModelView;

/// Rows predicted side by side.
const LANES: usize = 16;

/// What a model says about s′ of each row, row-major, one column for each state that it moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions {
    /// s + mu.
    pub mean: Vec<f32>,
    /// sigma_e.
    pub epistemic_std: Vec<f32>,
    /// sigma_a.
    pub aleatoric_std: Vec<f32>,
}

/// Predicts every row, in the states that the model moves.
#[must_use]
pub fn predict(model: &Model<'_>, log: &Log, view: &ModelView) -> Predictions {
    let rows: Vec<_> = log.rows().collect();
    let mut scratch = vec![[0.0; LANES]; model.dynamics.scratch_rows().unwrap_or(0)];
    let mut features = vec![[0.0; LANES]; view.features.len()];
    let mut action = vec![[0.0; LANES]; log.action_dimension()];
    let mut mean = vec![[0.0; LANES]; view.moved.len()];
    let (mut epistemic_std, mut aleatoric_std) = (mean.clone(), mean.clone());
    let mut seen = Vec::new();
    let mut predictions = Predictions::default();
    for group in rows.chunks(LANES) {
        seen.clear();
        view.see_all(group.iter().map(|row| row.state), &mut seen);
        let seen = seen.chunks_exact(view.features.len().max(1));
        for (lane, (row, seen)) in group.iter().zip(seen).enumerate() {
            set_lane(&mut features, lane, seen);
            set_lane(&mut action, lane, row.action);
        }
        let mut prediction = Prediction {
            mean: &mut mean,
            epistemic_std: &mut epistemic_std,
            aleatoric_std: &mut aleatoric_std,
        };
        model.dynamics.predict(
            &features,
            &action,
            &mut scratch,
            &mut prediction,
            &Slices::default(),
        );
        for (lane, row) in group.iter().enumerate() {
            let moved = view.of_state(row.state);
            let next = moved.iter().zip(&mean).map(|(s, delta)| s + delta[lane]);
            predictions.mean.extend(next);
            predictions
                .epistemic_std
                .extend(epistemic_std.iter().map(|std| std[lane]));
            predictions
                .aleatoric_std
                .extend(aleatoric_std.iter().map(|std| std[lane]));
        }
    }
    predictions
}

fn set_lane(rows: &mut [[f32; LANES]], lane: usize, values: &[f32]) {
    for (row, value) in rows.iter_mut().zip(values) {
        row[lane] = *value;
    }
}
