//! The whole method, once, for host and device.
//!
//! From a dynamics model with honest uncertainty, a controller and a task,
//! [`check::Check`] lets an adversary pick, inside the model's uncertainty,
//! the transitions that hurt the controller most, and gives a lower bound on
//! the controller's return and a [`verdict::Verdict`].
//!
//! Whoever writes firmware needs the names at the root of this crate and no
//! more; the crate's README and `examples/own_firmware.rs` show how.
//!
//! Layers look only downward:
//!
//! | module | what it holds | in the paper |
//! |---|---|---|
//! | `parameter` | which parameter of a constructor is wrong | |
//! | [`pause`] | long work in slices, and whether there is to be another | |
//! | [`arithmetic`] | lanes, the dense and triangular kernels, elementary functions, random streams | |
//! | [`estimate`] | means over trajectories with their sampling margin, the shares of delta | the Monte-Carlo estimate |
//! | [`expression`] | reward, termination and constraints as byte code with derivatives | r(s, a) |
//! | [`constraint`] | when in time a constraint must hold, and how often | c_i |
//! | [`network`] | multilayer perceptrons and their derivatives | h_theta |
//! | [`model`] | network ensembles, Gaussian processes, their derivatives, the confidence set | mu, sigma, beta, tau; equations (4) and (5) |
//! | [`limits`] | lower and upper ends of states and actions | |
//! | [`wrap`] | states that come back after a period, such as angles | |
//! | [`physics`] | states that are computed, pairs on the unit circle, what the model sees of the state | |
//! | [`variant`] | CA, DA1, DAinf and the neutral estimates | section 4.1 |
//! | [`policy`] | controllers and their derivatives, trained adversaries | pi, eta(s, a) |
//! | [`task`] | horizon, limits, initial states, thresholds | M, p0, T |
//! | [`rollout`] | one step, one trajectory, and the adjoint sweep back along it | equation (1) |
//! | [`adversary`] | the searches for the worst eta and the worst members, their two levels and the minimum over them | equation (2), DAinf's quantile |
//! | `permit` | the key to the actuator, in code words | |
//! | `work_done` | proofs that work went on, for a watchdog | |
//! | [`verdict`] | deploy, reject or abstain, and why | definition 2.1 |
//! | [`image`] | bytes to a validated model, task, policy and trained adversaries | |
//! | `checksum` | one number for what rests in memory | |
//! | [`check`] | all of it, in slices of bounded work | algorithm 1 |
//! | [`monitor`] | whether the robot that drives is still the one that was modelled | |
//! | [`floor`] | what a robot asks of every bundle | |
//! | [`drive`] | the checked controller at work, period by period, under the monitor | |
//! | [`frame`] | messages between zero bytes, with a checksum | |
//! | [`device_link`] | what a device tells its host | |
//! | [`drive_link`] | what a device that drives and a host that plays the robot tell each other | |
//! | `output_enable` | the pin that a permit raises (feature `embedded-hal`) | |
//! | `heartbeat` | the same line as edges, which end with loop or monitor | |
//! | [`example`] | the robot of the examples | |
//!
//! # From the paper to the code
//!
//! The model says where s′ may lie: mu(s, a) ± beta · tau · sigma_e(s, a), a
//! box that is assumed to hold the truth with probability 1 − delta / 2
//! ([`model`]). Equation
//! (1) lets an adversary eta in [−1, 1]^ds pick the point of that box at every
//! step ([`rollout`]), and equation (2) takes the worst eta ([`adversary`]).
//! Its return, averaged over trajectories and less a margin for their number
//! ([`estimate`]), is the lower bound b of definition 2.1; [`verdict`] holds
//! it against the task's threshold.
//!
//! ```
//! use hambo_core::{Check, Progress};
//!
//! // A point on a line; the controller pulls it to the origin.
//! let image = hambo_core::example::image()?;
//! // All the memory that the check needs, for four lanes.
//! let mut rows = [[0.0; 4]; 128];
//! let mut check = Check::new(&image, &mut rows).map_err(|_| "too few rows")?;
//! // In slices, so that a control loop can run in between.
//! let outcome = loop {
//!     if let Progress::Finished(outcome) = check.advance(10) {
//!         break outcome;
//!     }
//! };
//! // The mean gives -1.328; the worst that the model allows is -1.61.
//! assert!((outcome.neutral + 1.328).abs() < 1e-3);
//! assert!((outcome.bound + 1.61).abs() < 1e-3);
//! // The task asks for -2.
//! assert_eq!(outcome.verdict.name(), "deploy");
//! # Ok::<(), &str>(())
//! ```
//!
//! Nothing here allocates, panics or uses `unsafe`; every buffer is lent by
//! the caller. Results have the same bits on x86-64 and on a Cortex-M4F: all
//! arithmetic is `f32`, sums have one order, nothing is fused, and every
//! elementary function comes from `libm`.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod adversary;
pub mod arithmetic;
pub mod check;
mod checksum;
pub mod constraint;
pub mod device_link;
pub mod drive;
pub mod drive_link;
pub mod estimate;
pub mod example;
pub mod expression;
pub mod floor;
pub mod frame;
#[cfg(feature = "embedded-hal")]
mod heartbeat;
pub mod image;
pub mod limits;
pub mod model;
pub mod monitor;
pub mod network;
#[cfg(feature = "embedded-hal")]
mod output_enable;
mod parameter;
pub mod pause;
mod permit;
pub mod physics;
pub mod policy;
pub mod rollout;
pub mod task;
pub mod variant;
pub mod verdict;
mod work_done;
pub mod wrap;

pub use check::{CapacityError, Check, Outcome, Progress};
pub use floor::{Floor, Shortfall};
#[cfg(feature = "embedded-hal")]
pub use heartbeat::{Heartbeat, LineDead, Pulse};
pub use image::{Bundle, Image, ImageError};
pub use nalgebra::SVector;
#[cfg(feature = "embedded-hal")]
pub use output_enable::OutputEnable;
pub use parameter::ParameterError;
pub use pause::Pause;
pub use permit::Permit;
pub use policy::{Controller, LaneByLane, Policy};
pub use verdict::{Reason, Verdict};
pub use work_done::{SliceProofs, WorkDone};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
