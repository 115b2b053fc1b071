//! Arrays of the state: taken over by name, with their shape checked, and given back.

use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::probe_memory;

/// A float64 array of the state, of that shape; `columns` is `None` for a vector.
pub fn numbers(
    name: &str,
    state: &Bound<'_, PyDict>,
    planes: usize,
    columns: Option<usize>,
) -> PyResult<Vec<f64>> {
    let array = get(name, state)?;
    match columns {
        Some(columns) => matrix(name, &array.extract()?, planes, columns),
        None => vector(name, &array.extract()?, planes),
    }
}

pub fn matrix(
    name: &str,
    array: &PyReadonlyArray2<f64>,
    planes: usize,
    columns: usize,
) -> PyResult<Vec<f64>> {
    check_shape(name, array.shape(), &[planes, columns])?;
    probe_memory(array.len().checked_mul(8))?;
    Ok(array.as_array().iter().copied().collect())
}

pub fn vector(name: &str, array: &PyReadonlyArray1<f64>, planes: usize) -> PyResult<Vec<f64>> {
    check_shape(name, array.shape(), &[planes])?;
    Ok(array.as_array().to_vec())
}

pub fn counters(state: &Bound<'_, PyDict>, planes: usize) -> PyResult<Vec<u64>> {
    let seen: PyReadonlyArray1<i64> = get("seen", state)?.extract()?;
    check_shape("seen", seen.shape(), &[planes])?;
    let count = |&seen: &i64| {
        u64::try_from(seen).map_err(|_| PyValueError::new_err(format!("seen must be at least 0, got {seen}")))
    };
    seen.as_array().iter().map(count).collect()
}

pub fn ages(state: &Bound<'_, PyDict>, planes: usize, columns: usize) -> PyResult<Vec<i64>> {
    let ages: PyReadonlyArray2<i64> = get("ages", state)?.extract()?;
    check_shape("ages", ages.shape(), &[planes, columns])?;
    probe_memory(ages.len().checked_mul(8))?;
    Ok(ages.as_array().iter().copied().collect())
}

fn check_shape(name: &str, got: &[usize], needed: &[usize]) -> PyResult<()> {
    if got == needed {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{name} must have the shape {needed:?} for these rows and planes, got {got:?}"
    )))
}

pub fn get<'py>(name: &str, state: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    state
        .get_item(name)?
        .ok_or_else(|| PyValueError::new_err(format!("state lacks {name:?}, which the learner needs")))
}

/// The weights of the negatives and positives of each plane.
pub fn pairs(class_weight: &PyReadonlyArray2<f64>) -> PyResult<Vec<[f64; 2]>> {
    if class_weight.shape()[1] != 2 {
        let shape = class_weight.shape();
        return Err(PyValueError::new_err(format!("class_weight must have shape (K, 2), got {shape:?}")));
    }
    Ok(class_weight.as_array().rows().into_iter().map(|row| [row[0], row[1]]).collect())
}

/// Up to so many numbers an array is made by the crate, which panics where memory is short.
const SMALL: usize = 1 << 12;

/// A new array of that shape. A large one is made by Python's own call, which raises where memory is
/// short but takes longer than a pass over one example.
pub fn new_array<T: Element>(py: Python<'_>, shape: [usize; 2]) -> PyResult<Bound<'_, PyArray2<T>>> {
    if shape[0].saturating_mul(shape[1]) <= SMALL {
        return Ok(PyArray2::zeros(py, shape, false));
    }
    let array = py.import("numpy")?.call_method1("empty", (shape, T::get_dtype(py)))?;
    Ok(array.cast_into::<PyArray2<T>>()?)
}

pub fn to_matrix<'py, T: Element + Copy>(
    py: Python<'py>,
    values: &[T],
    shape: [usize; 2],
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let array = new_array(py, shape)?;
    array.readwrite().as_slice_mut()?.copy_from_slice(values);
    Ok(array)
}

/// An array of that shape; `None`: a vector.
pub fn set_array<T: Element + Copy>(
    state: &Bound<'_, PyDict>,
    name: &str,
    values: &[T],
    shape: Option<[usize; 2]>,
) -> PyResult<()> {
    match shape {
        Some(shape) => state.set_item(name, to_matrix(state.py(), values, shape)?),
        None => state.set_item(name, PyArray1::from_slice(state.py(), values)),
    }
}
