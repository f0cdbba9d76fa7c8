//! From a log to a calibrated model: networks by SVGD, Gaussian processes,
//! and the scale of their uncertainty on withheld rows.
//!
//! Goes in: a task and a log. Comes out: a model file whose model the core
//! reads. May use: `formats` and below.

pub mod backtest;
pub mod calibration;
pub mod delta;
pub mod ensemble;
pub mod fit;
pub mod gaussian_process;
pub mod model_file;
pub mod monitor;
pub mod near_path;
pub mod prediction;
pub mod replay_image;
