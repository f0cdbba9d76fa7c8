//! The Python module `hambo._hambo`: task, log, model, controller and result as objects over the
//! crates of the host, and the command. What Python's users see stands in `python/hambo`; what
//! is computed stands in the crates.

#![cfg_attr(
    test,
    allow(dead_code, reason = "the module is left out of test programs")
)]

mod columns;
mod error;
mod improved;
mod log;
mod model;
mod observer;
mod policy;
mod ranking;
mod result;
mod task;
mod trajectories;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Exit code of a Rust program that panics.
const PANICKED: u8 = 101;

/// Runs a command line of `hambo`, the program's name first; returns the exit code.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    // As a program that panics; Python would exit with the code of a reject.
    py.detach(|| std::panic::catch_unwind(|| hambo_command::main_of(words)).unwrap_or(PANICKED))
}

// A program of unit tests would need Python to be linked with it.
#[cfg(not(test))]
#[pymodule]
fn _hambo(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<error::Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<task::Task>()?;
    module.add_class::<log::Log>()?;
    module.add_class::<policy::Policy>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<result::CheckResult>()?;
    module.add_class::<ranking::Ranking>()?;
    module.add_class::<improved::Improved>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(model::fit, module)?)?;
    module.add_function(wrap_pyfunction!(result::check, module)?)?;
    module.add_function(wrap_pyfunction!(improved::improve, module)?)?;
    module.add_function(wrap_pyfunction!(ranking::rank, module)?)
}
