//! The claim tested on the log itself: several steps at once, without a simulator.
//!
//! The logged actions of a window of withheld rows are replayed through the model from the
//! window's first state. Two questions to every window:
//!
//! - **path:** does the logged path stay in the tube, which reaches from the least to the
//!   greatest value of each state over adversary and noise ([`tube`])?
//! - **return:** does the window's logged return lie above the delta-quantile of its
//!   adversarial returns?
//!
//! A right model answers yes to each with probability 1 − delta or more. The windows of one
//! episode count as far as they differ, and the answers for all lengths are taken together
//! ([`verdict`]). A model that passes may still be wrong where nothing was logged.

mod replay;
mod simulate;
mod tube;
mod verdict;
mod window;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use hambo_core::image::Image;

use crate::replay_image::image_without_controller;
use hambo_base::Error;
use hambo_base::meter::Meter;
use hambo_base::observer::Observer;
use hambo_core::task::{Allocation, Effort};
use hambo_data::LogPart;
use hambo_task::task::TaskFile;
use simulate::Simulation;
pub use verdict::{Answer, LengthResult, Verdict};
use verdict::{Question, judge};
use window::{Window, choose};

/// How a model is tested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BacktestOptions {
    /// The share of windows that may leave the tube, or fall below the quantile.
    pub delta: f32,
    /// The most windows of all lengths together.
    pub windows: usize,
    /// Seed of the noise.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Backtest {
    /// The share of windows that was allowed to fail.
    pub delta: f32,
    /// Episodes, or stretches of one, that the windows come from.
    pub episodes: usize,
    /// The answers by the windows' length, shortest first.
    pub lengths: Vec<LengthResult>,
    /// All of them taken together.
    pub verdict: Verdict,
}

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
    let effort = Effort {
        trajectories: simulate::trajectories(options.delta),
        searched: 0,
        iterations: 0,
        seed: options.seed,
        allocation: Allocation::Even,
    };
    let bytes = image_without_controller(task, model_part, effort)?;
    let image = Image::parse(bytes.as_bytes())?;
    let windows = choose(
        rows,
        &task.wraps,
        image.task().horizon as usize,
        options.windows,
    );
    let simulation = Simulation {
        image: &image,
        wraps: &task.wraps,
        delta: options.delta,
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
