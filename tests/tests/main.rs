//! What crosses crates. The tests of one file:
//! `cargo test --release -p hambo-tests --test all exact::`.

mod adjoint;
mod adversary;
#[cfg(feature = "qemu")]
mod as_checked;
#[cfg(feature = "qemu")]
mod attacks;
mod backtest;
mod bent_bundles;
mod calibration;
#[cfg(feature = "qemu")]
mod code_words;
mod common_noise;
#[cfg(feature = "qemu")]
mod device;
#[cfg(feature = "qemu")]
mod drive;
mod ensemble;
mod exact;
mod floor;
mod floor_fields;
mod focus;
mod gaussian_process;
mod glitch_parts;
#[cfg(feature = "qemu")]
mod glitches;
mod gp_likelihood;
mod gp_scikit_learn;
mod gp_subset;
mod gp_theory;
mod image;
mod lanes;
mod learned_adversary;
mod learned_reward;
mod local_width;
mod near_path;
mod outside_the_log;
mod pages;
mod point_safety;
mod policy;
mod policy_image;
mod properties;
mod rare_events;
mod recordings;
mod reinforcement;
mod requirements;
mod sampling;
mod studies;
mod termination;
mod tightness;
mod too_few_rows;
#[cfg(feature = "qemu")]
mod verified;
mod verifiers;
mod walls;
mod walls_attacked;
#[cfg(feature = "qemu")]
mod watchdog;
#[cfg(feature = "qemu")]
mod wire;
mod worst_start;
mod wrapped_angle;
