//! `hambo` for those who write Rust: one name for all crates of the host.
//!
//! Each crate stands only on those above it in this table; cargo keeps it so. The mathematics of
//! the check is [`hambo_core`]'s alone.
//!
//! | module | what it holds |
//! |---|---|
//! | [`base`] | errors, files, places in texts, networks |
//! | [`console`] | progress, Ctrl-C and numbers on a terminal |
//! | [`task`] | task files, expressions, controllers, device images |
//! | [`data`] | logs: tables, readers, writers, what a log shows |
//! | [`learn`] | from a log to a calibrated model |
//! | [`check`] | from task, model and controller to a verdict; better controllers from the log alone |
//! | [`report`] | report and figures |
//! | [`sweep`] | many fits and checks: on this machine, on Ray, on Slurm |
//! | [`device`] | the firmware under QEMU |
//! | [`lab`] | systems whose true return is known, the paper's figures, benches, the demo |
//! | [`command`] | the `hambo` command |

#![warn(missing_docs)]

pub use hambo_base as base;
pub use hambo_base::Error;
pub use hambo_check as check;
pub use hambo_command as command;
pub use hambo_console as console;
pub use hambo_core as core;
pub use hambo_data as data;
pub use hambo_device as device;
pub use hambo_lab as lab;
pub use hambo_learn as learn;
pub use hambo_report as report;
pub use hambo_sweep as sweep;
pub use hambo_task as task;
