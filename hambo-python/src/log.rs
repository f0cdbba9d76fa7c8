//! A log for a task: of files, or of arrays that Python holds.

use std::path::{Path, PathBuf};

use hambo_data::{HeldArray, HeldNumbers, read_held_task_log, read_task_logs};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::error::raised;
use crate::task::Task;

/// The rows that a model is fitted to.
#[pyclass(frozen, module = "hambo")]
pub(crate) struct Log {
    pub(crate) log: hambo_data::Log,
    pub(crate) files: Vec<PathBuf>,
}

/// A column of Python: read where it lies if it is of floats in C order.
#[derive(FromPyObject)]
enum Column<'py> {
    Single(PyReadonlyArrayDyn<'py, f32>),
    Double(PyReadonlyArrayDyn<'py, f64>),
    Words(Vec<String>),
}

impl Column<'_> {
    fn held(&self) -> PyResult<(&[usize], HeldNumbers<'_>)> {
        Ok(match self {
            Self::Single(array) => (array.shape(), HeldNumbers::Single(array.as_slice()?)),
            Self::Double(array) => (array.shape(), HeldNumbers::Double(array.as_slice()?)),
            Self::Words(words) => (&[], HeldNumbers::Words(words.clone())),
        })
    }
}

#[pymethods]
impl Log {
    /// Reads files of any kinds; no episode runs across files.
    #[staticmethod]
    fn from_files(py: Python<'_>, task: &Task, files: Vec<PathBuf>) -> PyResult<Self> {
        let log = py.detach(|| read_task_logs(&files, &task.file));
        let log = log.map_err(raised)?;
        Ok(Self { log, files })
    }

    /// Takes arrays by their names.
    #[staticmethod]
    fn from_arrays(task: &Task, arrays: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let columns = arrays
            .iter()
            .map(|(_, array)| array.extract::<Column<'_>>());
        let columns: Vec<Column<'_>> = columns.collect::<PyResult<_>>()?;
        let held = arrays.iter().zip(&columns).map(|((name, _), column)| {
            let (shape, numbers) = column.held()?;
            let shape = match &numbers {
                HeldNumbers::Words(words) => vec![words.len() as u64],
                _ => shape.iter().map(|size| *size as u64).collect(),
            };
            Ok(HeldArray {
                name: name.clone(),
                shape,
                numbers,
            })
        });
        let held: Vec<HeldArray<'_>> = held.collect::<PyResult<_>>()?;
        let log = read_held_task_log(Path::new("data"), &held, &task.file).map_err(raised)?;
        let files = Vec::new();
        Ok(Self { log, files })
    }

    fn __len__(&self) -> usize {
        self.log.len()
    }
}
