//! The keys of a task file as they are written. Missing ones are found by
//! [`Checker`](super::checker::Checker), for better errors.

use serde::Deserialize;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub name: Option<String>,
    pub horizon: Option<f64>,
    pub delta: Option<f32>,
    pub discount: Option<f32>,
    pub threshold: Option<f32>,
    pub distribution_free: Option<bool>,
    pub time_step: Option<f64>,
    pub stationary: Option<bool>,
    pub state: Option<RawStates>,
    pub action: Option<RawActions>,
    pub reward: Option<RawReward>,
    pub termination: Option<RawExpression>,
    pub power_off: Option<RawExpression>,
    #[serde(default)]
    pub constraint: Vec<RawConstraint>,
    pub known: Option<toml::Table>,
    pub model: Option<RawModel>,
    pub initial: Option<RawInitial>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStates {
    pub names: Option<Vec<String>>,
    pub low: Option<Vec<f32>>,
    pub high: Option<Vec<f32>>,
    pub wrap: Option<Vec<toml::Value>>,
    pub circle: Option<Vec<Vec<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawModel {
    pub inputs: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawActions {
    pub names: Option<Vec<String>>,
    pub low: Option<Vec<f32>>,
    pub high: Option<Vec<f32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawReward {
    pub expr: Option<String>,
    pub learned: Option<bool>,
    pub low: Option<f32>,
    pub high: Option<f32>,
    pub return_low: Option<f32>,
    pub return_high: Option<f32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExpression {
    pub expr: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawConstraint {
    pub name: Option<String>,
    pub expr: Option<String>,
    pub kind: Option<String>,
    pub probability: Option<f32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawInitial {
    pub kind: Option<String>,
    pub value: Option<Vec<f32>>,
    pub low: Option<Vec<f32>>,
    pub high: Option<Vec<f32>>,
    pub mean: Option<Vec<f32>>,
    pub std: Option<Vec<f32>>,
    pub always: Option<bool>,
}
