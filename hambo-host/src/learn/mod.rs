//! From a log to a calibrated model.

pub mod calibration;
pub mod fit;
pub mod gaussian_process;
pub mod model_file;
pub mod prediction;
pub mod training;
