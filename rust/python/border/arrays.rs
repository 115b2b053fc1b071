//! Arrays of the state: taken over by name, with their shape checked, and given back.

use std::borrow::Cow;
use std::ffi::c_int;

use numpy::ndarray::{Dim, Dimension};
use numpy::npyffi::{PY_ARRAY_API, npy_intp};
use numpy::{
    Element, PyArray, PyArray1, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray, PyReadonlyArray1,
    PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::call::call;
use super::signals::Signals;
use crate::arith::step::start;
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, filled, zeros};
use crate::monitor::{self, Monitor, NUMBERS, pieces};
use crate::rows::Arranged;

/// A float64 array of the state, of that shape; `columns` is `None` for a vector.
pub fn numbers(
    name: &str,
    state: &Bound<'_, PyDict>,
    planes: usize,
    columns: Option<usize>,
) -> PyResult<Vec<f64>> {
    let array = get(name, state)?;
    match columns {
        Some(columns) => {
            let array: PyReadonlyArray2<f64> = array.extract()?;
            check_shape(name, array.shape(), &[planes, columns])?;
            copied(&array)
        }
        None => vector(name, &array.extract()?, planes),
    }
}

/// The same, to be read where it stands if it is in C order.
pub fn borrowed<'a>(
    name: &str,
    array: &'a PyReadonlyArray2<f64>,
    planes: usize,
    columns: usize,
) -> PyResult<Cow<'a, [f64]>> {
    check_shape(name, array.shape(), &[planes, columns])?;
    Ok(match in_c_order(array) {
        Some(values) => Cow::Borrowed(values),
        None => Cow::Owned(copied(array)?),
    })
}

/// Weights (K, d) where they stand, to be read; of zeros that take no memory, as many, on pages that nobody
/// has touched.
pub fn standing<'a>(
    coef: &'a PyReadonlyArray2<f64>,
    planes: usize,
    columns: usize,
) -> PyResult<Cow<'a, [f64]>> {
    if coef.shape() == [planes, columns] && are_zeros(coef) {
        return Ok(zeros(planes.checked_mul(columns).ok_or(Error::Memory)?)?.into());
    }
    borrowed("coef", coef, planes, columns)
}

/// Whether an array repeats one 0, as `zeros` of Python makes it: it takes no memory, and no time to look at.
pub fn are_zeros(array: &PyReadonlyArray2<f64>) -> bool {
    array.strides().iter().all(|&stride| stride == 0) && array.as_array().first() == Some(&0.0)
}

/// Weights (K, d) for scores: in Fortran's order they are read where they stand, too.
pub fn weights<'a>(
    name: &str,
    array: &'a PyReadonlyArray2<f64>,
    planes: usize,
    columns: usize,
) -> PyResult<Arranged<'a>> {
    check_shape(name, array.shape(), &[planes, columns])?;
    Ok(match (array.as_slice(), array.is_c_contiguous()) {
        (Ok(values), true) => values.into(),
        (Ok(values), false) => Arranged::by_column(values, planes),
        (Err(_), _) => copied(array)?.into(),
    })
}

pub fn vector(name: &str, array: &PyReadonlyArray1<f64>, planes: usize) -> PyResult<Vec<f64>> {
    check_shape(name, array.shape(), &[planes])?;
    copied(array)
}

pub fn counters(state: &Bound<'_, PyDict>, planes: usize) -> PyResult<Vec<u64>> {
    let seen: PyReadonlyArray1<i64> = get("seen", state)?.extract()?;
    check_shape("seen", seen.shape(), &[planes])?;
    let count = |&seen: &i64| {
        u64::try_from(seen).map_err(|_| PyValueError::new_err(format!("seen must be at least 0, got {seen}")))
    };
    let mut counts = filled(0, planes)?;
    for (count_here, seen) in counts.iter_mut().zip(seen.as_array()) {
        *count_here = count(seen)?;
    }
    Ok(counts)
}

pub fn ages(state: &Bound<'_, PyDict>, planes: usize, columns: usize) -> PyResult<Vec<i64>> {
    let ages: PyReadonlyArray2<i64> = get("ages", state)?.extract()?;
    check_shape("ages", ages.shape(), &[planes, columns])?;
    copied(&ages)
}

/// The numbers of an array.
pub fn copied<T: Element + Copy, D: Dimension>(array: &PyReadonlyArray<T, D>) -> PyResult<Vec<T>> {
    const APART: usize = 16; // numbers in a row of a cache
    if let Some(values) = in_c_order(array) {
        return call(array.py(), |signals| monitor::copied(values, signals));
    }
    let view = array.as_array();
    call(array.py(), |signals| {
        let (mut numbers, mut values) = (view.iter().copied(), Vec::new());
        for piece in pieces(view.len(), APART, signals) {
            values.try_extend(numbers.by_ref().take(piece?.len()))?;
        }
        Ok(values)
    })
}

/// Numbers to start from: none of them is -0.0 (rule 4).
pub fn started(py: Python<'_>, mut values: Vec<f64>) -> PyResult<Vec<f64>> {
    start_all(py, &mut values)?;
    Ok(values)
}

pub fn start_all(py: Python<'_>, values: &mut [f64]) -> PyResult<()> {
    call(py, |signals| {
        for piece in pieces(values.len(), 1, signals) {
            values[piece?].iter_mut().for_each(|value| *value = start(*value));
        }
        Ok(())
    })
}

/// The numbers where they stand, if that is in C order: `as_slice` also takes Fortran's.
fn in_c_order<'a, T: Element, D: Dimension>(array: &'a PyReadonlyArray<T, D>) -> Option<&'a [T]> {
    array.as_slice().ok().filter(|_| array.is_c_contiguous())
}

pub(super) fn check_shape(name: &str, got: &[usize], needed: &[usize]) -> PyResult<()> {
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

/// The same as a vector, read where it stands.
pub fn array<'py, T: Element>(name: &str, state: &Bound<'py, PyDict>) -> PyResult<PyReadonlyArray1<'py, T>> {
    get(name, state)?.extract()
}

/// The weights of the negatives and positives of each plane.
pub fn pairs(class_weight: &PyReadonlyArray2<f64>) -> PyResult<Vec<[f64; 2]>> {
    if class_weight.shape()[1] != 2 {
        let shape = class_weight.shape();
        return Err(PyValueError::new_err(format!("class_weight must have shape (K, 2), got {shape:?}")));
    }
    let rows = class_weight.as_array();
    Ok(collected(rows.rows().into_iter().map(|row| [row[0], row[1]]))?)
}

/// A new array of that shape, all zeros. Where memory is short `NumPy` raises, while the calls of the crate
/// panic.
pub fn new_array<T: Element, const N: usize>(
    py: Python<'_>,
    shape: [usize; N],
) -> PyResult<Bound<'_, PyArray<T, Dim<[usize; N]>>>>
where
    Dim<[usize; N]>: Dimension,
{
    let mut dims = [0; N];
    for (dim, len) in dims.iter_mut().zip(shape) {
        *dim = npy_intp::try_from(len)?;
    }
    // SAFETY: `dims` are N numbers. The call takes over the reference to the type, and returns a reference
    // that is ours, or null with an exception set.
    let array = unsafe {
        let of_type = T::get_dtype(py).into_dtype_ptr();
        let array = PY_ARRAY_API.PyArray_Zeros(py, N as c_int, dims.as_mut_ptr(), of_type, 0);
        Bound::from_owned_ptr_or_err(py, array)?
    };
    Ok(array.cast_into()?)
}

/// The same with numbers that are written into it.
pub fn written<T: Element, const N: usize>(
    py: Python<'_>,
    shape: [usize; N],
    write: impl FnOnce(&mut [T]) -> PyResult<()>,
) -> PyResult<Bound<'_, PyArray<T, Dim<[usize; N]>>>>
where
    Dim<[usize; N]>: Dimension,
{
    let array = new_array(py, shape)?;
    write(array.readwrite().as_slice_mut()?)?;
    Ok(array)
}

/// The same with the numbers that the core writes.
pub fn filled_by<T: Element, const N: usize>(
    py: Python<'_>,
    shape: [usize; N],
    write: impl FnOnce(&mut [T], &Signals) -> Result<()> + Send,
) -> PyResult<Bound<'_, PyArray<T, Dim<[usize; N]>>>>
where
    Dim<[usize; N]>: Dimension,
{
    written(py, shape, |out| call(py, |signals| write(out, signals)))
}

/// A new array of that shape with the numbers of some pieces, one behind the other.
pub fn joined<'py, T: Element + Copy, const N: usize>(
    py: Python<'py>,
    pieces: &[impl AsRef<[T]> + Sync],
    shape: [usize; N],
) -> PyResult<Bound<'py, PyArray<T, Dim<[usize; N]>>>>
where
    Dim<[usize; N]>: Dimension,
{
    filled_by(py, shape, |mut rest, signals| {
        pieces.iter().flat_map(|piece| piece.as_ref().chunks(NUMBERS)).try_for_each(|piece| {
            let here;
            (here, rest) = std::mem::take(&mut rest).split_at_mut(piece.len());
            here.copy_from_slice(piece);
            signals.pause()
        })
    })
}

/// No Python code runs meanwhile, no matter how many they are.
pub fn to_vector<'py, T: Element + Copy>(py: Python<'py>, values: &[T]) -> PyResult<Bound<'py, PyArray1<T>>> {
    to_array(py, values, [values.len()])
}

pub fn to_array<'py, T: Element + Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    shape: [usize; N],
) -> PyResult<Bound<'py, PyArray<T, Dim<[usize; N]>>>>
where
    Dim<[usize; N]>: Dimension,
{
    written(py, shape, |out| {
        out.copy_from_slice(values);
        Ok(())
    })
}

/// An array of that shape; `None`: a vector.
pub fn set_array<T: Element + Copy>(
    state: &Bound<'_, PyDict>,
    name: &str,
    values: &[T],
    shape: Option<[usize; 2]>,
) -> PyResult<()> {
    set_joined(state, name, &[Cow::Borrowed(values)], shape)
}

/// The same of pieces.
pub fn set_joined<T: Element + Copy>(
    state: &Bound<'_, PyDict>,
    name: &str,
    pieces: &[Cow<[T]>],
    shape: Option<[usize; 2]>,
) -> PyResult<()> {
    let len = pieces.iter().map(|piece| piece.len()).sum();
    match shape {
        Some(shape) => state.set_item(name, joined(state.py(), pieces, shape)?),
        None => state.set_item(name, joined(state.py(), pieces, [len])?),
    }
}
