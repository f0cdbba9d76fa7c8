//! Arrays that Python holds, as columns of a log.

use hambo_data::{HeldArray, HeldNumbers};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// A column of Python: read where it lies if it is of floats in C order.
#[derive(FromPyObject)]
enum Column<'py> {
    Single(PyReadonlyArrayDyn<'py, f32>),
    Double(PyReadonlyArrayDyn<'py, f64>),
    Words(Vec<String>),
}

/// Arrays of Python by their names, and what is read of them.
pub(crate) struct Columns<'py> {
    names: Vec<String>,
    columns: Vec<Column<'py>>,
}

impl<'py> Columns<'py> {
    pub(crate) fn of(arrays: &[(String, Bound<'py, PyAny>)]) -> PyResult<Self> {
        let columns = arrays.iter().map(|(_, array)| array.extract());
        Ok(Self {
            names: arrays.iter().map(|(name, _)| name.clone()).collect(),
            columns: columns.collect::<PyResult<_>>()?,
        })
    }

    /// They, where they lie.
    pub(crate) fn held(&self) -> PyResult<Vec<HeldArray<'_>>> {
        let each = self.names.iter().zip(&self.columns);
        let each = each.map(|(name, column)| {
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
        each.collect()
    }
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
