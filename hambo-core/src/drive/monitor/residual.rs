//! How far a measured next state lies from the predicted one, in units of what
//! set and noise allow.

use super::observation::Measured;
use crate::model::{Model, Prediction};
use crate::numeric::elementary::{clamp, maximum};
use crate::task::{Task, wrap};

/// The largest over the states that the model moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Residual {
    /// In radii: beta · tau · sigma_e + z · sigma_a is one.
    pub radii: f32,
    /// The state.
    pub state: u8,
}

/// What the task's corrections make of the next state.
pub(super) struct Correction<'r> {
    pub state: &'r [[f32; 1]],
    pub action: &'r [[f32; 1]],
    /// What was measured of the next state.
    pub measured: &'r [f32],
    /// Rows to work in: of the next state, and of the tape with the features' values.
    pub next: &'r mut [[f32; 1]],
    pub values: &'r mut [[f32; 1]],
}

impl Correction<'_> {
    /// Of one state with this value, beside what was measured of the others. None if it is
    /// not finite.
    fn of(&mut self, task: &Task<'_>, place: usize, value: f32) -> Option<f32> {
        for (row, number) in self.next.iter_mut().zip(self.measured) {
            *row = [*number];
        }
        *self.next.get_mut(place)? = [value];
        let range = (&task.wraps, &task.state_limits);
        let seen = (self.state, self.action);
        let (program, physics) = (&task.program, &task.physics);
        let [finite] = physics.correct(place, program, range, seen, self.next, self.values);
        let [corrected] = *self.next.get(place)?;
        (finite && corrected.is_finite()).then_some(corrected)
    }
}

impl Residual {
    pub const UNKNOWN: Self = Self {
        radii: f32::NAN,
        state: 0,
    };

    /// None if a number is not finite. Where a correction makes the same of the measured as of
    /// the predicted value, as at a wall, the measured one is held against that.
    pub fn of(
        (model, task): (&Model<'_>, &Task<'_>),
        measured: &Measured<'_>,
        prediction: &Prediction<'_, 1>,
        noise_width: f32,
        correction: &mut Correction<'_>,
    ) -> Option<Self> {
        let mut largest = Self {
            radii: 0.0,
            state: 0,
        };
        let stds = prediction
            .epistemic_std
            .iter()
            .zip(prediction.aleatoric_std.iter());
        let moments = prediction.mean.iter().zip(stds);
        let rows = moments.zip(model.confidence.radii());
        let places = task.physics.moved(task.state_dimension());
        let rows = places.zip(rows).enumerate();
        for (moved, (place, (([mean], ([epistemic], [aleatoric])), set))) in rows {
            let radius = set * *epistemic + noise_width * *aleatoric;
            // The mean of ordinary noise is not 0 where rare events pull the model's mean.
            let mean = *mean + model.noise.extremes.centre(moved) * *aleatoric;
            let predicted = *measured.state.get(place)? + mean;
            let next = *measured.next_state.get(place)?;
            if !(predicted.is_finite() && radius.is_finite()) {
                return None;
            }
            let mut wanted = predicted;
            if task.physics.corrects(place) {
                let corrected = correction.of(task, place, predicted)?;
                if correction.of(task, place, next)? == corrected {
                    wanted = corrected;
                }
            }
            let radii = in_radii(distance(task, place, next, wanted), radius);
            // Written so that a NaN is the largest.
            let smaller = radii <= largest.radii;
            if !smaller {
                largest = Self {
                    radii,
                    state: u8::try_from(place).unwrap_or(u8::MAX),
                };
            }
        }
        Some(largest)
    }
}

/// How far the next state lies from the predicted one, the short way round where it
/// wraps. At a limit the prediction may lie beyond it, for rollouts stop there too.
fn distance(task: &Task<'_>, place: usize, next: f32, predicted: f32) -> f32 {
    let wraps = &task.wraps;
    let difference = match wraps.period.get(place) {
        Some(period) if *period > 0.0 => {
            return wrap(next - predicted, -0.5 * *period, *period).abs();
        }
        _ => next - predicted,
    };
    let limits = &task.state_limits;
    let (Some(low), Some(high)) = (limits.low.get(place), limits.high.get(place)) else {
        return difference.abs();
    };
    let next = clamp(next, *low, *high);
    if next >= *high {
        maximum(next - predicted, 0.0)
    } else if next <= *low {
        maximum(predicted - next, 0.0)
    } else {
        difference.abs()
    }
}

fn in_radii(distance: f32, radius: f32) -> f32 {
    if distance == 0.0 {
        0.0
    } else {
        distance / radius
    }
}
