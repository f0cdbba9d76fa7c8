//! What a model file says about its model, so that a result can be traced.

use serde::{Deserialize, Serialize};

use super::sample::LogSample;
use crate::backtest::verdict::Backtest;
use crate::calibration::LocalRegion;
pub use crate::calibration::outcome::{CalibrationMode, ModelCalibration};
use crate::ensemble::options::EnsembleOptions;
pub use crate::gaussian_process::beta::SetWidth;
use crate::gaussian_process::groups::GroupGrowth;
pub use crate::gaussian_process::marginal_likelihood::search::FittedOutput;
use crate::gaussian_process::subset::Growth;
use crate::gaussian_process::theory::Theory;
use crate::near_path::JudgingRows;
use hambo_task::task::ModelView;

/// How a model came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The version of hambo that trained it.
    pub hambo_version: String,
    /// The seed of the split and the training.
    pub seed: u64,
    /// The log.
    pub data: DataSummary,
    /// A few of its rows.
    pub sample: LogSample,
    /// The rows that judged: a check looks at those near its controller's path.
    pub judging_rows: JudgingRows,
    /// Names of the states.
    pub state_names: Vec<String>,
    /// Names of the actions.
    pub action_names: Vec<String>,
    /// What it sees of a state and which states it moves.
    pub view: ModelView,
    /// Whether the last state is the return so far, learned from the log's rewards.
    pub learned_reward: bool,
    pub training: TrainingSummary,
    /// The total probability of failure that the set was made for. None if its width does not
    /// depend on one: networks, and a beta that was given.
    pub delta: Option<f64>,
    /// What calibration was allowed to do.
    pub calibration_mode: CalibrationMode,
    /// The calibration with its curves.
    pub calibration: ModelCalibration,
    /// Withheld windows replayed over several steps; none if it was left out.
    pub backtest: Option<Backtest>,
}

impl Metadata {
    /// The name of a state that the model moves.
    #[must_use]
    pub fn moved_name(&self, dimension: usize) -> String {
        let place = self.view.moved.get(dimension);
        let name = place.and_then(|place| self.state_names.get(*place));
        name.cloned()
            .unwrap_or_else(|| format!("state {dimension}"))
    }

    /// The name of one of the model's inputs, features first.
    fn input_name(&self, input: usize) -> &str {
        let name = match input.checked_sub(self.view.features.len()) {
            None => self.view.features.get(input),
            Some(action) => self.action_names.get(action),
        };
        name.map_or("an input", String::as_str)
    }

    /// Where the model errs more than it says, a sentence for each region.
    #[must_use]
    pub fn errs_more(&self) -> Vec<String> {
        let sentence = |local: &LocalRegion| {
            let input = self.input_name(local.region.input);
            local.sentence(input, |state| self.moved_name(state))
        };
        self.calibration.regions.iter().map(sentence).collect()
    }
}

/// The log that a model was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataSummary {
    /// SHA-256 of the log's numbers.
    pub hash: [u8; 32],
    /// All rows.
    pub rows: usize,
    /// Rows that were trained on.
    pub training_rows: usize,
    /// Rows that decided when to stop.
    pub validation_rows: usize,
    /// Rows that were withheld for the calibration.
    pub withheld_rows: usize,
    /// Whether they were withheld in whole episodes.
    pub split_by_episodes: bool,
    /// Recordings: different numbers of episodes.
    pub recordings: usize,
    /// Whether its calibration rests on the task's word that nothing changes between recordings,
    /// because there are too few of them to show it.
    pub stationary: bool,
    /// Those of them that judged the calibration and chose nothing: the episodes, or the
    /// stretches of one, by number.
    pub judging: Vec<u32>,
    /// What states leave open of each action, as a share of its range; none if the log is
    /// too short to say.
    pub exploration: Vec<Option<f64>>,
}

/// The training of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TrainingSummary {
    Networks(NetworkSummary),
    GaussianProcess(GaussianProcessSummary),
}

/// The training of networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkSummary {
    pub options: EnsembleOptions,
    /// Mean negative log likelihood of each member on the training rows.
    pub losses: Vec<f32>,
    /// The same on the validation rows after the last step, mean over members.
    pub validation_loss: Option<f32>,
    /// The step whose weights were kept.
    pub best_step: usize,
}

/// The fit of Gaussian processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianProcessSummary {
    /// Rows that the hyperparameters were fitted to.
    pub rows: usize,
    /// Points that the model keeps.
    pub points: usize,
    /// Hyperparameters and how they were found.
    pub outputs: Vec<FittedOutput>,
    /// The growth in uncertainty by keeping fewer points; empty if all are
    /// kept.
    pub growth: Vec<Growth>,
    /// The points that the variance takes together, for each output; empty if
    /// each point is alone.
    pub groups: Vec<GroupGrowth>,
    /// beta, norms, Lipschitz constants.
    pub theory: Theory,
    /// Where the width of the set comes from.
    pub width: SetWidth,
}
