//! Replays windows of withheld rows and judges their answers.

use super::outcome::BacktestOptions;
use super::simulate::{self, Simulation};
use super::verdict::Backtest;
use super::verdict::{Question, judge};
use super::window::{Window, choose};
use crate::replay_image::{image_with_controller, image_without_controller};
use hambo_base::Error;
use hambo_base::meter::Meter;
use hambo_base::observer::Observer;
use hambo_core::image::Image;
use hambo_core::task::{Allocation, Effort};
use hambo_data::LogPart;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use rayon::prelude::*;

/// Replays windows of rows that the model was not trained on.
///
/// # Errors
/// If task and model do not fit together or need too much memory, or the observer broke off.
pub fn backtest(
    task: &TaskFile,
    model_part: &[u8],
    rows: &LogPart,
    options: &BacktestOptions,
    observer: &mut dyn Observer,
) -> Result<Backtest, Error> {
    backtest_with(task, model_part, rows, None, options, observer)
}

/// The same in closed loop with the controller that made the log, if one is given: it acts on the
/// model's states, and what was logged beside its actions, such as exploration, is added.
///
/// # Errors
/// As [`backtest`].
pub fn backtest_with(
    task: &TaskFile,
    model_part: &[u8],
    rows: &LogPart,
    behaviour: Option<&HostPolicy>,
    options: &BacktestOptions,
    observer: &mut dyn Observer,
) -> Result<Backtest, Error> {
    let effort = Effort {
        trajectories: simulate::trajectories(options.delta),
        searched: 0,
        iterations: 0,
        seed: options.seed,
        allocation: Allocation::Even,
    };
    let bytes = match behaviour {
        Some(controller) => image_with_controller(task, model_part, controller, effort)?,
        None => image_without_controller(task, model_part, effort)?,
    };
    let image = Image::parse(bytes.as_bytes())?;
    let windows = choose(
        rows,
        &task.wraps,
        image.task().horizon as usize,
        options.windows,
    );
    let view = task.model_view();
    let simulation = Simulation {
        image: &image,
        view: &view,
        wraps: &task.wraps,
        delta: options.delta,
        closed: behaviour.is_some(),
    };
    let numbered: Vec<(u64, Window<'_>)> = (0..).zip(windows).collect();
    let steps = windows_steps(&numbered);
    let meter = Meter::begin(observer, "backtest", steps);
    let answers = numbered.par_iter().map(|(number, window)| {
        let seed = options.seed.wrapping_add(*number);
        let answers = simulation.answers(window, seed)?;
        if meter.add(window.steps() as u64).is_break() {
            return Err(Error::Interrupted);
        }
        Ok((window.steps(), window.group, answers))
    });
    let answers: Vec<Question> = answers.collect::<Result<_, Error>>()?;
    Ok(judge(&answers, options.delta))
}

/// The work of all windows: it grows with their steps.
fn windows_steps(windows: &[(u64, Window<'_>)]) -> u64 {
    windows.iter().map(|(_, one)| one.steps() as u64).sum()
}
