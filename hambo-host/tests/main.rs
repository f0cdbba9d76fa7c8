//! The `hambo` program from outside. The tests of one file:
//! `cargo test --release -p hambo-host --test program guide::`.

mod advice;
mod archive;
mod bad_inputs;
mod bring_your_own;
mod cli;
mod command;
mod common;
mod data_formats;
mod estimate;
mod examples;
mod guide;
mod learned_reward;
mod python;
mod rank;
mod report;
mod reproduce;
mod sb3_agents;
mod signed;
mod sweep;
mod tables;
mod without_a_log;
