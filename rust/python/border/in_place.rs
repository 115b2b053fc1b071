//! Arrays that are read where they stand while the interpreter is held.
//!
//! That no Python code runs meanwhile is a promise of the interpreter's lock. Where there is none, an array is
//! read in its critical section and is borrowed: code of ours that would write to it gets an error. Code of
//! others that writes, there or while we are detached, is spoken of in [`super::rows`].

use numpy::ndarray::Dimension;
use numpy::{Element, PyArray, PyArrayMethods};
use pyo3::prelude::*;

/// Calls `f` on the numbers of an array. Nothing is borrowed, which for few of them would take longer than
/// to learn from them. No Python code runs in `f`, but to make an error after which they are not read.
#[cfg(not(Py_GIL_DISABLED))]
pub fn read<T: Element, D: Dimension, R>(
    array: &Bound<'_, PyArray<T, D>>,
    f: impl FnOnce(&[T]) -> PyResult<R>,
) -> PyResult<R> {
    // SAFETY: as in `PyArrayMethods::to_vec`: no reference outlives this call, in which this thread has the
    // lock and runs no Python code.
    f(unsafe { array.as_slice() }?)
}

/// Calls `f` on the numbers of an array, which is borrowed meanwhile.
#[cfg(Py_GIL_DISABLED)]
pub fn read<T: Element, D: Dimension, R>(
    array: &Bound<'_, PyArray<T, D>>,
    f: impl FnOnce(&[T]) -> PyResult<R>,
) -> PyResult<R> {
    pyo3::sync::critical_section::with_critical_section(array.as_any(), || {
        let numbers = array.try_readonly().map_err(PyErr::from)?;
        f(numbers.as_slice()?)
    })
}
