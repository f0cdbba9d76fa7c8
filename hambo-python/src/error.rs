//! `hambo.Error`: what the command would have said.

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(
    hambo,
    Error,
    PyException,
    "Input that cannot be used: what is wrong, where, and what to do, as the command says it."
);

/// As Python raises it.
pub(crate) fn raised(error: impl Into<hambo_base::Error>) -> PyErr {
    Error::new_err(error.into().to_string())
}
