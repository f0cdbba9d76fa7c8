//! What a bound assumes, in one line.

use hambo_core::check::Estimate;
use hambo_core::task::ModelInputs;

use super::margin_advice::sampling;
use super::system::System;
use hambo_learn::gaussian_process::SetWidth;
use hambo_learn::model_file::{Metadata, TrainingSummary};
use hambo_task::task::TaskFile;

/// Where the model's confidence set comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOrigin {
    /// The spread of networks, calibrated on withheld rows.
    Networks,
    /// A Gaussian process, calibrated on withheld rows.
    CalibratedProcess,
    /// A Gaussian process whose norm the user states.
    StatedNorm,
    /// A Gaussian process whose norm is estimated.
    EstimatedNorm,
}

impl SetOrigin {
    /// That of a model.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        match &metadata.training {
            TrainingSummary::Networks(_) => Self::Networks,
            TrainingSummary::GaussianProcess(fit) if fit.width == SetWidth::Calibrated => {
                Self::CalibratedProcess
            }
            TrainingSummary::GaussianProcess(fit) if fit.theory.norm_is_estimated => {
                Self::EstimatedNorm
            }
            TrainingSummary::GaussianProcess(_) => Self::StatedNorm,
        }
    }
}

/// The line that stands with a verdict.
pub(crate) fn assumption(
    origin: SetOrigin,
    estimates: &[Estimate],
    task: &TaskFile,
    system: &System<'_>,
) -> String {
    let set = match origin {
        SetOrigin::Networks => {
            "the set around the networks holds the true dynamics wherever the controller goes \
             (tested on withheld rows, not proved)"
        }
        SetOrigin::CalibratedProcess => {
            "the calibrated set around the Gaussian process holds the true dynamics wherever the \
             controller goes (tested on withheld rows, not proved)"
        }
        SetOrigin::StatedNorm => {
            "the true dynamics have the stated norm in the kernel\u{2019}s space"
        }
        SetOrigin::EstimatedNorm => {
            "the true dynamics have at most the estimated norm in the kernel\u{2019}s space (neither \
             proved nor tested)"
        }
    };
    let sampling = sampling(estimates, task, system);
    let known = task.known.iter().filter(|line| line.initial.is_none());
    let mut known: Vec<&str> = known.map(|line| line.state.as_str()).collect();
    let circles = task.circle_names();
    known.extend(circles.iter().flatten().map(String::as_str));
    let known = if known.is_empty() {
        String::new()
    } else {
        format!(
            "; what the task says of {} holds exactly, also where the log does not go",
            known.join(", ")
        )
    };
    let inputs = match &task.physics.inputs {
        ModelInputs::States(_) => String::new(),
        ModelInputs::Features(_) => format!(
            "; the dynamics depend on the state through {} alone",
            task.features.join(", ")
        ),
    };
    let stationary = if task.stationary {
        "; nothing of the system changes between recordings (the task says so)"
    } else {
        ""
    };
    format!(
        "the bound assumes: {set}{known}{inputs}{stationary}; the system is the one that was logged (a weaker actuator or a \
         disturbance that the log never met cannot be seen in it); noise is independent from step \
         to step{sampling}"
    )
}
