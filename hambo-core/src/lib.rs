//! The whole method, once, for host and device.
//!
//! From a dynamics model with honest uncertainty, a controller and a task,
//! [`check::Check`] lets an adversary pick, inside the model's uncertainty,
//! the transitions that hurt the controller most, and gives a lower bound on
//! the controller's return and a [`gate::Verdict`].
//!
//! Whoever writes firmware needs the names at the root of this crate and no
//! more; the crate's README and `examples/own_firmware.rs` show how.
//!
//! Layers look only downward:
//!
//! | folder | what it holds | in the paper |
//! |---|---|---|
//! | [`numeric`] | lanes, dense and triangular kernels, perceptrons, elementary functions, random streams, long work in slices | h_theta |
//! | [`estimate`] | means over trajectories with their sampling margin, the shares of delta | the Monte-Carlo estimate |
//! | [`task`] | horizon, reward and constraints as byte code with derivatives, limits, initial states, known physics, variants, threshold | M, p0, T, r(s, a), c_i; section 4.1 |
//! | [`model`] | network ensembles, Gaussian processes, their derivatives, the confidence set | mu, sigma, beta, tau; equations (4) and (5) |
//! | [`policy`] | controllers and their derivatives | pi |
//! | [`rollout`] | one step, one trajectory, and the adjoint sweep back along it | equation (1) |
//! | [`adversary`] | the searches for the worst eta and the worst members, their two levels and the minimum over them | equation (2), DAinf's quantile |
//! | [`image`] | bytes to a validated model, task, policy and trained adversaries | |
//! | [`gate`] | deploy, reject or abstain, and why; the key to the actuator, in code words; output pin and heartbeat | definition 2.1 |
//! | [`drive`] | the checked controller at work, period by period; the monitor that tells whether the robot is still the one that was modelled | |
//! | [`floor`] | what a robot asks of every bundle | |
//! | [`check`] | all of it, in slices of bounded work | algorithm 1 |
//! | [`link`] | what device and host tell each other | |
//! | `slots` | two places for bundles in flash, written so that power may fail at any moment (feature `embedded-storage`) | |
//! | `update` | what a device does with new bundles that come over the wire (feature `embedded-storage`) | |
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
//! ([`estimate`]), is the lower bound b of definition 2.1; [`gate`] holds
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

// For the exact square root alone, in vectors.
#[cfg(all(feature = "host-simd", not(test)))]
extern crate std;

pub mod adversary;
pub mod check;
pub mod drive;
pub mod estimate;
pub mod example;
pub mod floor;
pub mod gate;
pub mod image;
pub mod link;
pub mod model;
pub mod numeric;
pub mod policy;
pub mod rollout;
#[cfg(feature = "embedded-storage")]
pub mod slots;
pub mod task;
#[cfg(feature = "embedded-storage")]
pub mod update;

pub use check::{Check, Outcome, Progress};
pub use floor::{Admitted, AdmittedFallback, Floor, Shortfall};
pub use gate::{FallbackPermit, Pace, Permit, Pulse, Reason, Verdict};
#[cfg(feature = "embedded-hal")]
pub use gate::{Heartbeat, LineDead, OutputEnable};
pub use image::{Bundle, Image, ImageError};
pub use nalgebra::SVector;
pub use numeric::{CapacityError, ParameterError, Pause, WorkDone};
pub use policy::{Controller, LaneByLane, Policy};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
