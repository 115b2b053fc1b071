//! Digests of examples.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::border::rows::{shape, with_rows};
use crate::audit;

/// BLAKE3, of bytes and of the entries of rows.
#[pyclass(module = "perceptron_rs._core")]
#[derive(Default)]
struct Blake3(blake3::Hasher);

#[pymethods]
impl Blake3 {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// Takes in rows `first..last`.
    fn update_rows(&mut self, rows: &Bound<'_, PyAny>, first: usize, last: usize) -> PyResult<()> {
        let (len, _) = shape(rows)?;
        if first > last || last > len {
            return Err(PyValueError::new_err(format!(
                "first and last must be in order and at most the number of rows, {len}, got {first} and {last}"
            )));
        }
        Ok(with_rows(rows, |rows| audit::add_rows(rows, first..last, &mut self.0))??)
    }

    fn digest(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Blake3>()
}
