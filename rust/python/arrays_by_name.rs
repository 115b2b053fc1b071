//! Numbers of a model that no pass learns in place: arrays by name, which nobody writes to.

use std::sync::Arc;

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::border::start_all;

/// How names of learnt vectors begin. A log may hold -0.0, and so may rows.
const VECTORS: [&str; 7] = ["coef", "intercept", "emission", "pair", "transition", "start", "end"];

/// Rule 4: no number is -0.0.
fn start(array: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(array) = array.cast::<PyArrayDyn<f64>>() else { return Ok(()) };
    let mut numbers = array.try_readwrite().map_err(PyErr::from)?;
    start_all(array.py(), numbers.as_slice_mut()?)
}

/// What such a learner has learnt. Copies share it: it never changes.
#[derive(Clone)]
pub struct Named(Arc<Py<PyDict>>);

impl Named {
    /// Of copies of the arrays of a state: others may write to these.
    pub fn of(state: &Bound<'_, PyDict>) -> PyResult<Self> {
        let arrays = PyDict::new(state.py());
        for (name, array) in state {
            let name: String = name.extract()?;
            if !array.is_instance_of::<PyUntypedArray>() {
                return Err(PyTypeError::new_err(format!("a state must hold arrays; {name:?} is none")));
            }
            let copy = array.call_method1("copy", ("K",))?;
            if VECTORS.iter().any(|vector| name.starts_with(vector)) {
                start(&copy)?;
            }
            arrays.set_item(name, copy)?;
        }
        Self::of_new(arrays)
    }

    /// Of arrays that nobody else has.
    pub fn of_new(arrays: Bound<'_, PyDict>) -> PyResult<Self> {
        for array in arrays.values() {
            array.call_method1("setflags", (false,))?;
        }
        Ok(Self(Arc::new(arrays.unbind())))
    }

    pub fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.0.bind(py).copy()
    }

    pub fn names<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.0.bind(py).keys()
    }

    pub fn get<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.0.bind(py).get_item(name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// Whether every number is 0.
    pub fn is_zero(&self, py: Python<'_>) -> PyResult<bool> {
        for array in self.0.bind(py).values() {
            if array.call_method0("any")?.is_truthy()? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
