//! From a log to a calibrated model.

pub mod calibration;
pub mod ensemble;
pub mod fit;
pub mod gaussian_process;
pub mod learned_reward;
pub mod model_file;
pub mod prediction;
