//! Numbers of small arrays, read where they stand: to borrow these takes longer than to read them.

use numpy::ndarray::Dimension;
use numpy::{
    Element, PyArray, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::error::Result;
use crate::memory::{collected, filled};

/// The numbers of a matrix where they stand.
///
/// # Safety
/// Nothing may write to the array, and no Python code may run, while they are read.
pub unsafe fn matrix<'a>(
    array: &'a Bound<'_, PyArray2<f64>>,
    planes: usize,
    columns: usize,
) -> PyResult<&'a [f64]> {
    if array.shape() != [planes, columns] || !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("an array has another shape or order than one_pass takes"));
    }
    // SAFETY: the caller promises it.
    Ok(unsafe { array.as_slice() }?)
}

pub fn vector<T: Element + Copy>(array: &Bound<'_, PyAny>, planes: usize) -> PyResult<Vec<T>> {
    mapped(array, planes, |value: T| value)
}

/// Numbers of at least 0.
pub fn counts(array: &Bound<'_, PyAny>, planes: usize) -> PyResult<Vec<u64>> {
    let counts = mapped(array, planes, |count: i64| count as u64)?;
    if counts.iter().any(|&count| i64::try_from(count).is_err()) {
        return Err(PyTypeError::new_err("a counter is below 0"));
    }
    Ok(counts)
}

fn mapped<T: Element + Copy, U>(
    array: &Bound<'_, PyAny>,
    planes: usize,
    f: impl Fn(T) -> U,
) -> PyResult<Vec<U>> {
    let array = array.cast::<PyArray1<T>>()?;
    if array.shape() != [planes] {
        return Err(PyTypeError::new_err("an array has another shape than one_pass takes"));
    }
    with_slice(array, |values| collected(values.iter().map(|&value| f(value))))
}

/// Calls `f` on the numbers of an array.
pub fn with_slice<T: Element, D: Dimension, R>(
    array: &Bound<'_, PyArray<T, D>>,
    f: impl FnOnce(&[T]) -> Result<R>,
) -> PyResult<R> {
    // SAFETY: as in `PyArrayMethods::to_vec`: no reference outlives this call, in which no Python code runs.
    Ok(f(unsafe { array.as_slice() }?)?)
}

/// Index of each label among the classes; both hold the same kind of labels.
pub fn labels(classes: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let unknown = || PyTypeError::new_err("y holds a label that is not in classes_");
    if let (Ok(classes), Ok(y)) = (classes.cast::<PyArray1<i64>>(), y.cast::<PyArray1<i64>>()) {
        // SAFETY: no Python code runs while they are read.
        let (classes, y) = unsafe { (classes.as_slice()?, y.as_slice()?) };
        let mut labels = filled(0, y.len())?;
        for (place, label) in labels.iter_mut().zip(y) {
            *place = classes.iter().position(|class| class == label).ok_or_else(unknown)? as u32;
        }
        return Ok(labels);
    }
    let (classes, y) = (classes.cast::<PyUntypedArray>()?, y.cast::<PyUntypedArray>()?);
    if y.ndim() != 1 || classes.dtype().kind() != y.dtype().kind() {
        return Err(unknown());
    }
    let classes = classes.call_method0("tolist")?.cast_into::<PyList>()?;
    let y = y.call_method0("tolist")?.cast_into::<PyList>()?;
    let mut labels = filled(0, y.len())?;
    for (place, label) in labels.iter_mut().zip(&y) {
        *place = classes.index(label)? as u32;
    }
    Ok(labels)
}
