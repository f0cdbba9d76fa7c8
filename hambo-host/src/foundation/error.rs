//! What can go wrong on the host, gathered for the command.

use hambo_core::expression::ProgramError;
use hambo_core::image::{ImageError, Problem};
use hambo_core::rollout::CapacityError;

use crate::learn::model_file::{part_name, problem_words};

/// Any error of the library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A task file.
    #[error(transparent)]
    Task(#[from] crate::formats::task::TaskError),
    /// A policy file.
    #[error(transparent)]
    Policy(#[from] crate::formats::policy::PolicyError),
    /// A log.
    #[error("the log: {0}")]
    Log(#[from] crate::formats::log::LogError),
    /// A data file.
    #[error(transparent)]
    Data(#[from] crate::formats::log::DataError),
    /// Training.
    #[error("training: {0}")]
    Training(#[from] crate::learn::training::TrainingError),
    /// Reinforcement learning.
    #[error("learning: {0}")]
    Reinforcement(#[from] crate::reinforcement::ReinforcementError),
    /// A Gaussian process.
    #[error("the Gaussian process: {0}")]
    GaussianProcess(#[from] crate::learn::gaussian_process::GaussianProcessError),
    /// Calibration.
    #[error("calibration: {0}")]
    Calibration(#[from] crate::learn::calibration::CalibrationError),
    /// A model file.
    #[error(transparent)]
    ModelFile(#[from] crate::learn::model_file::ModelFileError),
    /// A part that cannot be written.
    #[error(transparent)]
    Encode(#[from] crate::formats::image::EncodeError),
    /// A picture.
    #[error(transparent)]
    Figure(#[from] crate::present::figure::FigureError),
    /// The device.
    #[error("the device: {0}")]
    Device(#[from] crate::device::DeviceError),
    /// A bench.
    #[error(transparent)]
    Bench(#[from] crate::command::bench::BenchError),
    /// A file; the message names it.
    #[error("{0}")]
    File(#[from] std::io::Error),
    /// An image that the core refuses.
    #[error("the image's {} part: {}; export it again", part_name(&.0.part), problem_words(&.0.problem))]
    Image(ImageError),
    /// A part that the core refuses.
    #[error("a part of the image: {}; export it again", problem_words(.0))]
    Part(Problem),
    /// A reward program that the core refuses.
    #[error("the task's expressions: {0}\nhelp: correct them; hambo task check shows where")]
    Program(#[from] ProgramError),
    /// A task that is too large.
    #[error("the task needs {} rows of memory, {} are there\nhelp: shorten the horizon or shrink the model", .0.needed, .0.available)]
    Capacity(CapacityError),
    /// Nothing is left to train on.
    #[error(
        "the log has {rows} transitions, of which {left} are left for training: at least {needed} are needed\nhelp: log more, or withhold less"
    )]
    TooFewRows {
        /// In the log.
        rows: usize,
        /// After the split.
        left: usize,
        /// At least.
        needed: usize,
    },
    /// A column that never changes.
    #[error(
        "the log: {what} is always {value}: nothing can be learnt of it\nhelp: take it out of the task, or log more; for networks --allow-constant keeps it"
    )]
    ConstantColumn {
        /// The column.
        what: String,
        /// Its value.
        value: f32,
    },
    /// Options that contradict each other.
    #[error("{0}")]
    Usage(String),
    /// A log of another system than the task's.
    #[error(
        "the log's rows have {found} {part} numbers, the task names {expected}; choose the task of this log"
    )]
    Dimensions {
        /// `state` or `action`.
        part: &'static str,
        /// In the log.
        found: usize,
        /// In the task.
        expected: usize,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// Host and device disagree: the worst that can happen.
    #[error(
        "{policy}: host and device disagree: {host:08x} and {device:08x}; do not trust either and report this"
    )]
    Parity {
        /// The controller.
        policy: String,
        /// Bits of the host's bound.
        host: u32,
        /// Bits of the device's bound.
        device: u32,
    },
    /// A controller that cannot be made.
    #[error("the waypoint {0} is not a finite number; give one that is")]
    Waypoint(f32),
}

impl From<ImageError> for Error {
    fn from(error: ImageError) -> Self {
        Self::Image(error)
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Part(problem)
    }
}

impl From<CapacityError> for Error {
    fn from(error: CapacityError) -> Self {
        Self::Capacity(error)
    }
}
