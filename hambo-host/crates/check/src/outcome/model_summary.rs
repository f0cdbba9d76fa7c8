//! What a model file says of the model and its calibration, in the words and numbers of
//! the report.

use serde::{Deserialize, Serialize};

use crate::case::recordings;
use crate::number::Number;
use hambo_learn::backtest::Backtest;
use hambo_learn::calibration::LEAST_SHARE;
use hambo_learn::calibration::{CalibrationMode, CalibrationStatus, CurvePoint, Gate};
use hambo_learn::ensemble::Inference;
use hambo_learn::gaussian_process::ASSUMPTIONS;
use hambo_learn::model_file::{Metadata, NetworkSummary, TrainingSummary};

/// The model, the log behind it, its calibration and its theory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelSummary {
    /// What it is, in words.
    pub description: String,
    /// The version of hambo that trained it.
    pub hambo_version: String,
    /// The seed of the split and the training.
    pub seed: u64,
    /// SHA-256 of the numbers of the log it was trained on.
    pub data_hash: String,
    /// Rows of that log.
    pub rows: usize,
    /// Rows that were trained on.
    pub training_rows: usize,
    /// Rows that decided when to stop.
    pub validation_rows: usize,
    /// Rows that were withheld for the calibration.
    pub withheld_rows: usize,
    pub calibration: CalibrationSummary,
    /// Withheld windows replayed over several steps; none if it was left out.
    #[serde(default)]
    pub backtest: Option<Backtest>,
    /// Names, values and units of the theory's constants; empty for networks.
    pub theory: Vec<[String; 3]>,
    /// What they rest on.
    pub assumptions: Vec<String>,
}

/// The calibration of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationSummary {
    /// Whether to rely on it, in words.
    pub status: String,
    /// Whether to rely on it.
    pub passed: bool,
    /// `widen` or `paper`.
    pub mode: String,
    /// Fraction of withheld rows inside the set alone in every state at once.
    pub joint_coverage: Number,
    /// What the rows that chose nothing say of set and noise.
    pub gate: Gate,
    /// One entry for each state.
    pub states: Vec<StateCalibration>,
    /// States whose noise has something in common, the strongest pair first.
    pub shared_noise: Vec<SharedNoise>,
    /// Where the model errs more than it says, a sentence for each stretch of an input.
    #[serde(default)]
    pub errs_more: Vec<String>,
}

/// Two states whose noise has something in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedNoise {
    /// The states.
    pub states: [String; 2],
    pub correlation: Number,
}

/// The calibration of one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateCalibration {
    /// The state.
    pub name: String,
    /// Minimiser of the calibration error, tau*.
    pub best_scale: Number,
    /// tau in use.
    pub scale: Number,
    /// The scale of the noise.
    pub noise_scale: Number,
    pub beta: Number,
    /// Calibration error at scale 1 and at the scale in use.
    pub errors: [Number; 2],
    /// Fraction of rows in the set in use.
    pub coverage: Number,
    /// The same with the noise, as both are simulated.
    pub simulated_coverage: Number,
    /// Fraction of rows in the scaled 90 % interval.
    pub coverage_90: Number,
    /// Claimed and observed shares at scale 1.
    pub before: Vec<[Number; 2]>,
    /// The same at the scale in use.
    pub after: Vec<[Number; 2]>,
}

impl ModelSummary {
    /// Of a model file.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let (description, theory, assumptions) = match &metadata.training {
            TrainingSummary::Networks(networks) => (describe(networks), Vec::new(), Vec::new()),
            TrainingSummary::GaussianProcess(processes) => {
                let rows = processes.theory.rows(None);
                let rows = rows.into_iter();
                let general = |text: &&&str| !text.starts_with("for C_n");
                let assumptions = ASSUMPTIONS.iter().filter(general);
                (
                    format!(
                        "Gaussian processes on {} of {} rows",
                        processes.points, processes.rows
                    ),
                    rows.map(|row| [row.name, row.value, row.unit.to_owned()])
                        .collect(),
                    assumptions.map(|text| (*text).to_owned()).collect(),
                )
            }
        };
        let data = &metadata.data;
        Self {
            description,
            hambo_version: metadata.hambo_version.clone(),
            seed: metadata.seed,
            data_hash: hexadecimal(&data.hash),
            rows: data.rows,
            training_rows: data.training_rows,
            validation_rows: data.validation_rows,
            withheld_rows: data.withheld_rows,
            calibration: calibration_summary(metadata),
            backtest: metadata.backtest.clone(),
            theory,
            assumptions,
        }
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn describe(networks: &NetworkSummary) -> String {
    let members = networks.losses.len();
    let options = &networks.options;
    let widths: Vec<String> = options.hidden.iter().map(usize::to_string).collect();
    let inference = match options.inference {
        Inference::Ensemble => "deep ensemble",
        Inference::Svgd(_) => "SVGD",
    };
    format!(
        "{members} networks of {} units, {inference}",
        widths.join(" × ")
    )
}

/// What is wrong with a calibration, in words; nothing of one that passed.
#[must_use]
pub fn calibration_problem(metadata: &Metadata) -> String {
    let gate = &metadata.calibration.gate;
    match metadata.calibration.status {
        CalibrationStatus::Calibrated => String::new(),
        CalibrationStatus::TooFewRecordings {
            recordings: count,
            needed,
        } => {
            format!(
                "the log has {}, and {needed} are needed to see what changes from one to the next (payload, battery, ground)",
                recordings(count)
            )
        }
        CalibrationStatus::TooFewRows { rows, needed } => {
            format!("{rows} withheld rows, at least {needed} are needed")
        }
        CalibrationStatus::TooFewEpisodes { episodes, needed } => {
            let enough = needed.map_or_else(String::new, |needed| {
                format!("; {needed} withheld episodes like these would be enough")
            });
            let (share, lower) = (100.0 * gate.share, 100.0 * gate.share_lower);
            let upper = 100.0 * gate.episodes_outside_upper;
            let missing = if f64::from(gate.share_lower) < LEAST_SHARE {
                format!("90 % (lower limit {lower:.1} %)")
            } else {
                format!(
                    "whole episodes: up to {upper:.0} % of them may lie mostly outside, and 15 % are allowed"
                )
            };
            format!(
                "set and noise hold {share:.1} % of the withheld rows, but {episodes} episodes are too few to be sure of {missing}{enough}"
            )
        }
        CalibrationStatus::Failed {
            dimension,
            coverage,
        } => format!(
            "set and noise hold only {:.1} % of the withheld rows ({:.1} % in {}), although the set was widened as far as it may be",
            100.0 * gate.share,
            100.0 * coverage,
            metadata.moved_name(dimension)
        ),
        CalibrationStatus::ErrorsStay { length, share } => format!(
            "errors stay from step to step: over {length} steps set and noise explain only {:.1} % of the windows, although the set was widened as far as it may be (a payload or a bias that is constant in an episode, an angle that wraps, a rare disaster)",
            100.0 * share
        ),
    }
}

fn calibration_summary(metadata: &Metadata) -> CalibrationSummary {
    let calibration = &metadata.calibration;
    let status = match calibration.status {
        CalibrationStatus::Calibrated => "Calibrated on withheld rows".to_owned(),
        _ => format!("Not calibrated: {}", calibration_problem(metadata)),
    };
    let curve = |points: &[CurvePoint]| -> Vec<[Number; 2]> {
        let pairs = points.iter();
        pairs
            .map(|point| [point.nominal.into(), point.observed.into()])
            .collect()
    };
    let states = calibration.dimensions.iter().enumerate();
    let states = states.map(|(j, state)| StateCalibration {
        name: metadata.moved_name(j),
        best_scale: state.best_scale.into(),
        scale: state.scale.into(),
        noise_scale: state.noise_scale.into(),
        beta: state.beta.into(),
        errors: [state.error_before.into(), state.error_after.into()],
        coverage: state.epistemic_coverage.into(),
        simulated_coverage: state.simulated_coverage.into(),
        coverage_90: state.coverage_90.into(),
        before: curve(&state.curve_before),
        after: curve(&state.curve_after),
    });
    CalibrationSummary {
        status,
        passed: calibration.status == CalibrationStatus::Calibrated,
        mode: match metadata.calibration_mode {
            CalibrationMode::Widen => "widen".to_owned(),
            CalibrationMode::Paper => "paper".to_owned(),
        },
        joint_coverage: calibration.joint_epistemic_coverage.into(),
        gate: calibration.gate.clone(),
        states: states.collect(),
        shared_noise: (calibration.shared_noise().into_iter())
            .map(|(pair, correlation)| SharedNoise {
                states: pair.map(|state| metadata.moved_name(state)),
                correlation: correlation.into(),
            })
            .collect(),
        errs_more: metadata.errs_more(),
    }
}
