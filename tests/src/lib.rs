//! Shared helpers of the cross-crate tests: random models, tasks and
//! policies, and an f64 reference to hold the core against.

pub mod angle;
pub mod exact_minimum;
pub mod fit_and_check;
pub mod fixture;
pub mod gaussian_process;
pub mod glitch;
pub mod one_state;
pub mod pages;
pub mod pid;
pub mod point_robot;
pub mod policy;
pub mod random_physics;
pub mod recording;
pub mod reference;
pub mod signed;
pub mod smooth_data;
pub mod study;
pub mod systems;
pub mod terminating;
pub mod terminating_systems;
pub mod watchdog;
pub mod wire;
