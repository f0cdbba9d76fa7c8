//! The trajectories behind a bound as arrays of NumPy.

use hambo_check::trace::Trace;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// States, actions, rewards and returns: trajectories × steps × dimensions. A trajectory that
/// ended before the longest is filled up with NaN.
pub(crate) fn arrays<'py>(
    py: Python<'py>,
    traces: &[Trace],
    (states, actions): (usize, usize),
) -> PyResult<Bound<'py, PyDict>> {
    let steps = traces.iter().map(|one| one.actions.len()).max();
    let (count, steps) = (traces.len(), steps.unwrap_or(0));
    let found = PyDict::new(py);
    let filled = |rows: fn(&Trace) -> &Vec<Vec<f32>>, length: usize, width: usize| {
        let mut numbers = vec![f32::NAN; count * length * width];
        let blocks = numbers.chunks_exact_mut((length * width).max(1));
        for (block, trace) in blocks.zip(traces) {
            for (cell, number) in block.iter_mut().zip(rows(trace).iter().flatten()) {
                *cell = *number;
            }
        }
        PyArray1::from_vec(py, numbers).reshape([count, length, width])
    };
    found.set_item("states", filled(|one| &one.states, steps + 1, states)?)?;
    found.set_item("actions", filled(|one| &one.actions, steps, actions)?)?;
    let mut rewards = vec![f32::NAN; count * steps];
    for (row, trace) in rewards.chunks_exact_mut(steps.max(1)).zip(traces) {
        for (cell, reward) in row.iter_mut().zip(&trace.rewards) {
            *cell = *reward;
        }
    }
    let rewards = PyArray1::from_vec(py, rewards).reshape([count, steps])?;
    found.set_item("rewards", rewards)?;
    let returns = traces.iter().map(|one| one.value).collect();
    found.set_item("returns", PyArray1::from_vec(py, returns))?;
    Ok(found)
}
