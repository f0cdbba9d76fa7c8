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
    ensure_states_agree(task, view, log, |_| true)?;
    let circles = circle_residuals(view, log);
    if let Some(found) = circles.iter().find(|found| found.too_large) {
        return Err(FitError::Circle {
            place: log.place(found.row),
            state: name(found).unwrap_or_default(),
            length: found.logged,
        }
        .into());
    }
    ensure_told(task, view, log)
}

/// Ensures that a line of `[known]` that corrects what the model says leaves every logged value as
/// it is: a wall that the log goes through hides what the model does there.
///
/// # Errors
/// Names the row that disagrees most.
pub fn ensure_corrections_agree(task: &TaskFile, log: &Log) -> Result<(), Error> {
    let view = task.model_view();
    ensure_states_agree(task, &view, log, |state| view.physics.corrects(state))
}

/// Ensures that the log agrees with what the task says of the states that are `asked` for.
fn ensure_states_agree(
    task: &TaskFile,
    view: &ModelView,
    log: &Log,
    asked: impl Fn(usize) -> bool,
) -> Result<(), Error> {
    let known = known_residuals(view, log)?;
    let mut asked = known.iter().filter(|found| asked(found.state));
    let Some(found) = asked.find(|found| found.too_large) else {
        return Ok(());
    };
    Err(FitError::Known {
        place: log.place(found.row),
        state: task
            .state_names
            .get(found.state)
            .cloned()
            .unwrap_or_default(),
        computed: found.computed,
        logged: found.logged,
        share: found.share,
    }
    .into())
}

/// Ensures that rows are left to learn from where states are corrected: of each of them, and of all
/// together, which is where the model's region lies.
pub(super) fn ensure_told(task: &TaskFile, view: &ModelView, log: &Log) -> Result<(), Error> {
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
    let left = (0..log.len()).filter(|row| told.tells_all(*row)).count();
    if left < MINIMUM_ROWS && left < log.len() {
        return Err(FitError::AllHeld {
            left,
            rows: log.len(),
            needed: MINIMUM_ROWS,
        }
        .into());
    }
    Ok(())
}
