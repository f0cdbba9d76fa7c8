//! What a cell finds. No time, no machine: a cell that is worked off again gives the same bytes.

use hambo_check::CheckResult;
use hambo_check::number::Number;
use serde::{Deserialize, Serialize};

/// The row of a cell: where it stands in the sweep, and what was found there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its number.
    pub cell: usize,
    /// The model's name in the plan.
    pub model: String,
    /// The seed of log, fit and check.
    pub seed: u64,
    /// Episodes of the log.
    pub episodes: u32,
    /// The controller and the horizon of a check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Asked>,
    /// What was found.
    pub found: Found,
}

/// Of whom a check was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The controller's name.
    pub policy: String,
    /// Steps of a trajectory.
    pub horizon: u32,
}

/// What a cell finds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// A model.
    Fitted(Fitted),
    /// A verdict.
    Checked(Box<Checked>),
    /// Why it is neither, in the command's sentences.
    Failed(String),
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// Rows of its log.
    pub rows: usize,
    /// Whether its calibration passed.
    pub calibrated: bool,
    /// SHA-256 of its file.
    pub sha256: String,
}

/// A finished check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// `deploy`, `reject` or `abstain`; none without a threshold.
    pub verdict: Option<String>,
    /// The lower bound of the return.
    pub bound: Number,
    /// Its bits as an f32.
    pub bound_bits: String,
    /// Mean propagation of the return.
    pub neutral: Number,
    /// What the bound had to reach.
    pub threshold: Option<Number>,
    /// The bound may fail with this probability.
    pub delta: Number,
    /// Rows of the log behind the model.
    pub rows: usize,
    /// Whether the model's calibration passed.
    pub calibrated: bool,
    /// Why it is not `deploy`, in sentences.
    pub reasons: Vec<String>,
    /// One number for all estimates, bit for bit.
    pub digest: String,
}

impl Checked {
    /// What a sweep keeps of a check, by a model that is described.
    #[must_use]
    pub fn of(result: &CheckResult, (rows, calibrated): (usize, bool)) -> Self {
        let decision = &result.decision;
        Self {
            verdict: decision.verdict.map(|verdict| verdict.name().to_owned()),
            bound: decision.bound,
            bound_bits: decision.bound_bits.clone(),
            neutral: decision.neutral,
            threshold: decision.threshold,
            delta: result.setting.delta,
            rows,
            calibrated,
            reasons: decision.reasons.clone(),
            digest: result.evidence.digest.clone(),
        }
    }
}

impl Row {
    /// One line of JSON.
    ///
    /// # Errors
    /// None that a row could cause.
    pub fn text(&self) -> std::io::Result<String> {
        let mut text = serde_json::to_string(self).map_err(std::io::Error::other)?;
        text.push('\n');
        Ok(text)
    }
}
