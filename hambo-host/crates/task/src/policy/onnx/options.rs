//! What a reader of ONNX files is told, and what it gives.

use crate::policy::host_policy::PerceptronPolicy;

/// The largest model file.
pub(super) const MOST_BYTES: u64 = 64 << 20;
/// The property that says how chance enters.
pub(super) const HEAD_PROPERTY: &str = "hambo.head";

/// How chance enters an action, as a file or its user says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chance {
    /// Not at all: a log_std is passed over.
    Deterministic,
    /// mean + std · noise.
    Gaussian,
    /// tanh(mean + std · noise), where the mean is before the graph's tanh, if any.
    TanhGaussian,
}

impl Chance {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Gaussian => "gaussian",
            Self::TanhGaussian => "tanh_gaussian",
        }
    }
}

/// What a graph does not say itself.
///
/// The network sees (state − mean) / std, and the action is
/// scale · head(outputs) + offset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OnnxOptions {
    /// Subtracted from the state; one per state.
    pub observation_mean: Option<Vec<f32>>,
    /// The state is divided by it; one per state, above 0.
    pub observation_std: Option<Vec<f32>>,
    /// Factor of each action.
    pub action_scale: Option<Vec<f32>>,
    /// Added to each action at last.
    pub action_offset: Option<Vec<f32>>,
    /// Whether a tanh follows the graph's action, before the scaling.
    pub squash: bool,
    /// How chance enters; by default as the graph and its property `hambo.head` say.
    pub chance: Option<Chance>,
}

/// What an ONNX file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxPolicy {
    /// The controller.
    pub policy: PerceptronPolicy,
    /// Keys and values of the model, in the file's order.
    pub metadata: Vec<(String, String)>,
}
