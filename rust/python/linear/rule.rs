//! A pass of a model: what the parameters say of it, its labels and weights, and what it did.

use std::{borrow::Cow, sync::Arc};

use numpy::{
    Element, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::base::{collected, filled, gathered};
use crate::online::{Passed, Settings};
use crate::python::border::{joined, to_array};
use crate::python::settings;
use crate::rows::Layout;
use crate::threads::of_planes;

/// Labels that are looked up between two looks at signals.
const OFTEN: usize = 1 << 16;

/// What parameters say of a pass, read once for many passes.
#[pyclass(name = "Rule", frozen, module = "perceptron_rs._core")]
pub struct PyRule {
    pub settings: Settings,
    /// The kind of type of the classes.
    kind: u8,
    /// The index of each class by its label: `None` if Python cannot look them up.
    numbers: Option<Py<PyDict>>,
    /// The same of integers, which rise.
    whole: Option<Vec<(i64, u32)>>,
}

#[pymethods]
impl PyRule {
    #[new]
    fn new(settings: Bound<'_, PyAny>, classes: Bound<'_, PyAny>) -> PyResult<Self> {
        let array = classes.cast::<PyUntypedArray>()?;
        let mut whole = match vector_of::<i64>(&classes) {
            Ok(labels) => {
                Some(collected(labels.into_iter().enumerate().map(|(number, label)| (label, number as u32)))?)
            }
            Err(_) => None,
        };
        if let Some(whole) = &mut whole {
            whole.sort_unstable();
        }
        let labels = array.call_method0("tolist")?.cast_into::<PyList>()?;
        let numbers = PyDict::new(array.py());
        let filled =
            labels.iter().enumerate().try_for_each(|(number, label)| numbers.set_item(label, number));
        let numbers = filled.is_ok().then(|| numbers.unbind());
        Ok(Self { settings: settings::linear(&settings)?, kind: array.dtype().kind(), numbers, whole })
    }
}

impl PyRule {
    /// Index of each label among the classes; both hold the same kind of labels.
    pub fn labels(&self, y: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let unknown = || PyValueError::new_err("y holds a label that is not in classes_");
        if let (Some(classes), Ok(_)) = (&self.whole, y.cast::<PyArray1<i64>>()) {
            let y = vector_of::<i64>(y)?;
            let mut labels = filled(0, y.len())?;
            for (place, label) in labels.iter_mut().zip(y) {
                let found = classes.binary_search_by_key(&label, |(class, _)| *class);
                *place = classes[found.map_err(|_| unknown())?].1;
            }
            return Ok(labels);
        }
        let (py, y) = (y.py(), y.cast::<PyUntypedArray>()?);
        let (1, Some(numbers), true) = (y.ndim(), &self.numbers, self.kind == y.dtype().kind()) else {
            return Err(PyTypeError::new_err("y must be a vector of the kind of labels that classes_ has"));
        };
        let (numbers, y) = (numbers.bind(py), y.call_method0("tolist")?.cast_into::<PyList>()?);
        let mut labels = filled(0, y.len())?;
        for (i, (place, label)) in labels.iter_mut().zip(&y).enumerate() {
            if i % OFTEN == OFTEN - 1 {
                py.check_signals()?;
            }
            *place = numbers.get_item(label)?.ok_or_else(unknown)?.extract()?;
        }
        Ok(labels)
    }

    /// The settings of a pass of so many products.
    pub fn settings_for(&self, products: usize, sparse: bool, track_activations: bool) -> Cow<'_, Settings> {
        let given = &self.settings;
        if !track_activations && given.threads == 1 {
            return Cow::Borrowed(given);
        }
        let layout = if sparse { Layout::ByColumn } else { Layout::ByPlane };
        let threads = of_planes(given.threads, products, given.planes(), layout);
        Cow::Owned(Settings { track_activations, threads, ..given.clone() })
    }
}

/// What the caller keeps of a pass: copies of it are made where no code of Python may run.
pub type Note = Option<Arc<Py<PyAny>>>;

/// What a pass did, as an estimator tells it.
#[pyclass(name = "Pass", frozen, module = "perceptron_rs._core")]
#[derive(Clone)]
pub struct PyPass {
    passed: Arc<Passed>,
    planes: usize,
    note: Note,
}

impl PyPass {
    pub fn of(passed: Passed, planes: usize, note: &Note) -> Self {
        Self { passed: Arc::new(passed), planes, note: note.clone() }
    }
}

#[pymethods]
impl PyPass {
    #[getter]
    fn note(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.note.as_ref().map(|note| note.clone_ref(py))
    }

    #[getter]
    fn mistakes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        to_array(py, &self.passed.mistakes, [1, self.passed.mistakes.len()])
    }

    #[getter]
    fn n_mistakes(&self) -> i64 {
        self.passed.mistakes.iter().sum()
    }

    #[getter]
    fn mistakes_per_example<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<i64>>>> {
        let width = self.passed.mistakes.len();
        let counts = self.passed.mistakes_per_example.as_ref();
        counts.map(|counts| joined(py, &[counts], [counts.len() / width, width])).transpose()
    }

    #[getter]
    fn activations<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let (values, width) = (&self.passed.activations, self.planes);
        (!values.is_empty()).then(|| joined(py, &[values], [values.len() / width, width])).transpose()
    }
}

pub fn vector_of<T: Element + Copy>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    /// To borrow an array takes as long as to read so many numbers one by one.
    const FEW: usize = 8;
    let array = array.cast::<PyArray1<T>>()?;
    if array.len() <= FEW {
        return Ok(gathered((0..array.len()).filter_map(|i| array.get_owned(i)))?);
    }
    let array = array.try_readonly().map_err(PyErr::from)?;
    Ok(collected(array.as_array().iter().copied())?)
}

pub fn weights_of(array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    if array.cast::<PyArray1<f64>>().is_ok() {
        return vector_of(array);
    }
    // To ask NumPy takes as long as a third of a pass.
    if array.cast::<PyArray1<f32>>().is_ok() {
        return Ok(collected(vector_of::<f32>(array)?.into_iter().map(f64::from))?);
    }
    if array.cast::<PyArray1<i64>>().is_ok() {
        return Ok(collected(vector_of::<i64>(array)?.into_iter().map(|weight| weight as f64))?);
    }
    // `astype` would let other threads learn meanwhile.
    let list = array.cast::<PyUntypedArray>()?.call_method0("tolist")?.cast_into::<PyList>()?;
    let mut weights = filled(0.0, list.len())?;
    for (to, weight) in weights.iter_mut().zip(&list) {
        *to = weight.extract()?;
    }
    Ok(weights)
}
