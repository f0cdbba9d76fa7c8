//! What the task says of its dynamics must hold in the log: a state that is computed wrongly has
//! no uncertainty that could show it.

use super::error::FitError;
use crate::ensemble::options::MINIMUM_ROWS;
use hambo_base::Error;
use hambo_data::{KnownResidual, Log, Told, circle_residuals, known_residuals};
use hambo_task::task::{ModelView, TaskFile};

/// Ensures that the log agrees with the dynamics that the task states, and says something of every
/// state that is corrected; the error names the row that disagrees most.
pub(super) fn ensure_known_agrees(
    task: &TaskFile,
    view: &ModelView,
    log: &Log,
) -> Result<(), Error> {
    let name = |found: &KnownResidual| task.state_names.get(found.state).cloned();
    let known = known_residuals(view, log)?;
    if let Some(found) = known.iter().find(|found| found.too_large) {
        return Err(FitError::Known {
            place: log.place(found.row),
            state: name(found).unwrap_or_default(),
            computed: found.computed,
            logged: found.logged,
            share: found.share,
        }
        .into());
    }
    let circles = circle_residuals(view, log);
    if let Some(found) = circles.iter().find(|found| found.too_large) {
        return Err(FitError::Circle {
            place: log.place(found.row),
            state: name(found).unwrap_or_default(),
            length: found.logged,
        }
        .into());
    }
    let told = Told::of(log, view);
    for (column, place) in view.moved.iter().enumerate() {
        let left = told.count(log.len(), column);
        if left < MINIMUM_ROWS && left < log.len() {
            return Err(FitError::Held {
                state: task.state_names.get(*place).cloned().unwrap_or_default(),
                left,
                rows: log.len(),
                needed: MINIMUM_ROWS,
            }
            .into());
        }
    }
    Ok(())
}
