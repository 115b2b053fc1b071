//! Digests of examples.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};

use super::border::{call, call_on, shape};
use crate::audit;

/// BLAKE3, of bytes and of the entries of rows; keyed, if there is a key.
#[pyclass(module = "perceptron_rs._core")]
pub struct Blake3(blake3::Hasher);

#[pymethods]
impl Blake3 {
    #[new]
    #[pyo3(signature = (key=None))]
    fn new(key: Option<&[u8]>) -> PyResult<Self> {
        let Some(key) = key else { return Ok(Self(blake3::Hasher::new())) };
        let key = key
            .try_into()
            .map_err(|_| PyValueError::new_err(format!("key must have 32 bytes, got {}", key.len())))?;
        Ok(Self(blake3::Hasher::new_keyed(key)))
    }

    /// Another one that has taken in the same.
    fn copy(&self) -> Self {
        Self(self.0.clone())
    }

    fn update(&mut self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        call(py, |signals| audit::add_bytes(data, &mut self.0, signals))
    }

    /// Takes in rows `first..last`.
    fn update_rows(&mut self, rows: &Bound<'_, PyAny>, first: usize, last: usize) -> PyResult<()> {
        let (len, _) = shape(rows)?;
        if first > last || last > len {
            return Err(PyValueError::new_err(format!(
                "first and last must be in order and at most the number of rows, {len}, got {first} and {last}"
            )));
        }
        call_on(rows, |rows, signals| audit::add_rows(rows, first..last, &mut self.0, signals))
    }

    fn digest(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}

/// The digest of each row, 32 bytes, one after another.
#[pyfunction]
pub fn row_digests<'py>(rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let found = call_on(rows, |rows, signals| audit::row_digests(rows, signals))?;
    Ok(PyBytes::new(rows.py(), &found))
}
