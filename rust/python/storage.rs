//! The smallest storage of numbers, and checksums of bytes.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::{exceptions::PyTypeError, prelude::*};

use super::border::call;
use crate::arith::storage::{self, Stored};

/// The same numbers, a vector of float64 or float32, in the smallest type that holds all of them to the bit.
#[pyfunction]
pub fn smallest<'py>(py: Python<'py>, values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let found = if let Ok(values) = values.cast::<PyArray1<f64>>() {
        let values = values.try_readonly().map_err(PyErr::from)?;
        let numbers = values.as_slice().map_err(PyErr::from)?;
        call(py, |_| storage::smallest(numbers))?
    } else if let Ok(values) = values.cast::<PyArray1<f32>>() {
        let values = values.try_readonly().map_err(PyErr::from)?;
        let numbers = values.as_slice().map_err(PyErr::from)?;
        call(py, |_| storage::smallest(numbers))?
    } else {
        let dtype = values.getattr("dtype")?;
        return Err(PyTypeError::new_err(format!(
            "values must be a vector of float64 or float32, got {dtype}"
        )));
    };
    Ok(match found {
        None => values.clone(),
        Some(Stored::U8(numbers)) => PyArray1::from_vec(py, numbers).into_any(),
        Some(Stored::I8(numbers)) => PyArray1::from_vec(py, numbers).into_any(),
        Some(Stored::U16(numbers)) => PyArray1::from_vec(py, numbers).into_any(),
        Some(Stored::I16(numbers)) => PyArray1::from_vec(py, numbers).into_any(),
        Some(Stored::F32(numbers)) => PyArray1::from_vec(py, numbers).into_any(),
        Some(Stored::I32(numbers)) => PyArray1::from_vec(py, numbers).into_any(),
    })
}

/// The CRC-32 of bytes behind others, as `zlib.crc32` has it: that takes five times as long.
#[pyfunction]
pub fn crc32(py: Python<'_>, data: PyReadonlyArray1<'_, u8>, before: u32) -> PyResult<u32> {
    let data = data.as_slice().map_err(PyErr::from)?;
    call(py, |_| {
        let mut hasher = crc32fast::Hasher::new_with_initial(before);
        hasher.update(data);
        Ok(hasher.finalize())
    })
}
