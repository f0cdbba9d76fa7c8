//! The whole method, once, for host and device.
//!
//! From a dynamics model with honest uncertainty, a controller and a task,
//! [`check::Check`] lets an adversary pick, inside the model's uncertainty,
//! the transitions that hurt the controller most, and gives a lower bound on
//! the controller's return and a [`verdict::Verdict`].
//!
//! Layers look only downward:
//!
//! | module | what it holds | in the paper |
//! |---|---|---|
//! | [`arithmetic`] | lanes, the dense and triangular kernels, elementary functions, random streams | |
//! | [`expression`] | reward, termination and constraints as byte code with derivatives | r(s, a) |
//! | [`network`] | multilayer perceptrons and their derivatives | h_theta |
//! | [`model`] | network ensembles, Gaussian processes, their derivatives, the confidence set | mu, sigma, beta, tau |
//! | [`policy`] | controllers and their derivatives | pi |
//! | [`variant`] | CA, DA1, DAinf and the neutral estimates | section 4.1 |
//! | [`adversary`] | constants, the schedules of the searches, trained networks | eta |
//! | [`task`] | horizon, limits, initial states, thresholds | M, p0, T |
//! | [`rollout`] | one step, one trajectory, and the adjoint sweep back along it | equation (2) |
//! | [`estimate`] | means over trajectories with their sampling margin | the Monte-Carlo estimate |
//! | [`verdict`] | deploy, reject or abstain, and why | definition 2.1 |
//! | [`image`] | bytes to a validated model, task, policy and trained adversaries | |
//! | [`check`] | all of it, in slices of bounded work | algorithm 1 |
//!
//! Nothing here allocates, panics or uses `unsafe`; every buffer is lent by
//! the caller. Results have the same bits on x86-64 and on a Cortex-M4F: all
//! arithmetic is `f32`, sums have one order, nothing is fused, and every
//! elementary function comes from `libm`.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod adversary;
pub mod arithmetic;
pub mod check;
pub mod estimate;
pub mod example;
pub mod expression;
pub mod image;
pub mod model;
pub mod network;
pub mod policy;
pub mod rollout;
pub mod task;
pub mod variant;
pub mod verdict;
