//! What needs an operating system: data, training, calibration, pictures and the device link.

pub mod calibration;
pub mod device;
pub mod expression;
pub mod figure;
pub mod task_file;
pub mod training;
