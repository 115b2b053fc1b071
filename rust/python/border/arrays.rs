//! Arrays of the state: taken over by name, with their shape checked, and given back.

use std::{borrow::Cow, ffi::c_int};

use numpy::ndarray::{Dimension, IntoDimension};
use numpy::npyffi::{PY_ARRAY_API, npy_intp};
use numpy::{
    Element, PyArray, PyArray1, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use super::{call::call, signals::Signals};
use crate::arith::step::start;
use crate::base::{Error, Grow, Monitor, NUMBERS, Result, collected, pieces, tried};
use crate::memory::zeros;
use crate::monitor;
use crate::rows::Arranged;

/// Numbers of the state, of that shape.
pub fn numbers<T: Element + Copy, S: IntoDimension + AsRef<[usize]>>(
    name: &str,
    state: &Bound<'_, PyDict>,
    shape: S,
) -> PyResult<Vec<T>> {
    let array: PyReadonlyArray<T, S::Dim> = get(name, state)?.extract()?;
    check_shape(name, array.shape(), shape.as_ref())?;
    copied(&array)
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
    check_shape("coef", coef.shape(), &[planes, columns])?;
    match in_c_order(coef) {
        Some(values) => Ok(values.into()),
        None => Ok(copied(coef)?.into()),
    }
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

pub fn counters(state: &Bound<'_, PyDict>, planes: usize) -> PyResult<Vec<u64>> {
    let count = |seen: i64| {
        u64::try_from(seen).map_err(|_| Error::Invalid(format!("seen must be at least 0, got {seen}")))
    };
    Ok(tried(numbers("seen", state, [planes])?.into_iter().map(count))?)
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

pub fn check_shape(name: &str, got: &[usize], needed: &[usize]) -> PyResult<()> {
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

/// Vectors of a state, read where they stand, as slices that are called as they are there.
macro_rules! slices {
    ($state:expr, $($name:ident: $T:ty),+) => {
        $(let $name: numpy::PyReadonlyArray1<$T> =
            $crate::python::border::get(stringify!($name), $state)?.extract()?;)+
        $(let $name = $name.as_slice()?;)+
    };
}
pub(in crate::python) use slices;

/// The weights of the negatives and positives of each plane.
pub fn pairs(class_weight: &PyReadonlyArray2<f64>) -> PyResult<Vec<[f64; 2]>> {
    if class_weight.shape()[1] != 2 {
        let shape = class_weight.shape();
        return Err(PyValueError::new_err(format!("class_weight must have shape (K, 2), got {shape:?}")));
    }
    let rows = class_weight.as_array();
    Ok(collected(rows.rows().into_iter().map(|row| [row[0], row[1]]))?)
}

/// A vector that Python has.
pub type Vector<'py, T> = Bound<'py, PyArray1<T>>;

/// An array whose axes are those of a shape.
type ArrayOf<'py, T, S> = Bound<'py, PyArray<T, <S as IntoDimension>::Dim>>;

/// A new array of that shape, all zeros. Where memory is short `NumPy` raises, while the calls of the crate
/// panic.
pub fn new_array<T: Element, S: IntoDimension>(py: Python<'_>, shape: S) -> PyResult<ArrayOf<'_, T, S>> {
    let (mut dims, shape) = ([0; 3], shape.into_dimension()); // no shape has more axes
    for (dim, len) in dims.iter_mut().zip(shape.slice()) {
        *dim = npy_intp::try_from(*len)?;
    }
    let axes = shape.ndim().min(dims.len()) as c_int;
    // SAFETY: `dims` has as many numbers as there are axes. The call takes over the reference to the type, and
    // returns a reference that is ours, or null with an exception set.
    let array = unsafe {
        let of_type = T::get_dtype(py).into_dtype_ptr();
        let array = PY_ARRAY_API.PyArray_Zeros(py, axes, dims.as_mut_ptr(), of_type, 0);
        Bound::from_owned_ptr_or_err(py, array)?
    };
    Ok(array.cast_into()?)
}

/// The same with numbers that are written into it.
pub fn written<T: Element, S: IntoDimension>(
    py: Python<'_>,
    shape: S,
    write: impl FnOnce(&mut [T]) -> PyResult<()>,
) -> PyResult<ArrayOf<'_, T, S>> {
    let array = new_array(py, shape)?;
    write(array.readwrite().as_slice_mut()?)?;
    Ok(array)
}

/// The same with the numbers that the core writes.
pub fn filled_by<T: Element, S: IntoDimension>(
    py: Python<'_>,
    shape: S,
    write: impl FnOnce(&mut [T], &Signals) -> Result<()> + Send,
) -> PyResult<ArrayOf<'_, T, S>> {
    written(py, shape, |out| call(py, |signals| write(out, signals)))
}

/// A new array of that shape with the numbers of some pieces, one behind the other.
pub fn joined<'py, T: Element + Copy, S: IntoDimension>(
    py: Python<'py>,
    pieces: &[impl AsRef<[T]> + Sync],
    shape: S,
) -> PyResult<ArrayOf<'py, T, S>> {
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
pub fn to_vector<'py, T: Element + Copy>(py: Python<'py>, values: &[T]) -> PyResult<Vector<'py, T>> {
    to_array(py, values, [values.len()])
}

pub fn to_array<'py, T: Element + Copy, S: IntoDimension>(
    py: Python<'py>,
    values: &[T],
    shape: S,
) -> PyResult<ArrayOf<'py, T, S>> {
    written(py, shape, |out| {
        out.copy_from_slice(values);
        Ok(())
    })
}

/// A vector among the arrays of a state.
pub fn set_vector<T: Element + Copy>(state: &Bound<'_, PyDict>, name: &str, values: &[T]) -> PyResult<()> {
    set_joined(state, name, &[values])
}

/// The same of pieces.
pub fn set_joined<T: Element + Copy>(
    state: &Bound<'_, PyDict>,
    name: &str,
    pieces: &[impl AsRef<[T]> + Sync],
) -> PyResult<()> {
    let len: usize = pieces.iter().map(|piece| piece.as_ref().len()).sum();
    state.set_item(name, joined(state.py(), pieces, [len])?)
}

/// A matrix among the arrays of a state.
pub fn set_matrix<T: Element + Copy>(
    state: &Bound<'_, PyDict>,
    name: &str,
    values: &[T],
    shape: [usize; 2],
) -> PyResult<()> {
    state.set_item(name, joined(state.py(), &[values], shape)?)
}
