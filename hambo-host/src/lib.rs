//! What needs an operating system: data, training, calibration, pictures and
//! the device link. The mathematics of the check is [`hambo_core`]'s alone.
//!
//! | module | what it holds |
//! |---|---|
//! | [`task_file`], [`expression`] | tasks in TOML, expressions compiled to the core's byte code |
//! | [`place`] | places in files that a user wrote, for errors |
//! | [`task_draft`] | a first task from a log, a task held against its log |
//! | [`learned_reward`] | the logged reward as one more output of the model |
//! | [`policy_file`] | controllers in TOML or ONNX, linear or as networks |
//! | [`data`] | logged transitions |
//! | [`environment`] | systems whose true return is known |
//! | [`training`], [`calibration`], [`fit`] | from a log to a calibrated model |
//! | [`gaussian_process`] | the exact posterior in f64, and what the core needs of it |
//! | [`reinforcement`] | soft actor-critic and double DQN: worst cases, and controllers for true systems |
//! | [`prediction`], [`check`], [`findings`], [`trajectory`] | the core's predictions, verdicts, worst cases and paths |
//! | [`model_file`], [`image_file`] | model files and device images |
//! | [`device`] | the firmware under QEMU |
//! | [`figure`], [`demo`] | pictures, and the whole story in one command |
//! | [`report`] | a finished check as a file, and one page about it |
//! | [`mod@bench`] | speed, as ratios to peers |

pub mod adversary;
pub mod bench;
pub mod calibration;
pub mod case;
pub mod check;
pub mod checkpoint;
pub mod data;
pub mod demo;
pub mod device;
pub mod environment;
mod error;
pub mod expression;
pub mod figure;
pub mod files;
pub mod findings;
pub mod fit;
pub mod gaussian_process;
pub mod hallucination;
pub mod image_file;
pub mod improve;
pub mod learned_reward;
pub mod model_file;
mod neighbours;
pub mod place;
pub mod policy_file;
pub mod prediction;
pub mod random;
pub mod reinforcement;
pub mod report;
pub mod task_draft;
pub mod task_file;
pub mod training;
pub mod trajectory;

pub use error::Error;
