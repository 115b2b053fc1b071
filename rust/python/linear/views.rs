//! Numbers of a model as arrays that nobody writes to, and such arrays as numbers of a model.

use std::ops::Deref;
use std::sync::Arc;

use numpy::ndarray::{ArrayView2, Dimension, ShapeBuilder};
use numpy::npyffi::flags::{NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE};
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arith::finite::all_finite;
use crate::arith::step::start;
use crate::online::{Shared, Table};
use crate::python::border::arrays::{are_zeros, get, new_array, numbers, to_vector};
use crate::python::border::signals::Signals;

/// The base of an array: it keeps the numbers where they are.
#[pyclass(frozen, module = "perceptron_rs._core")]
struct Held {
    table: Table,
}

/// The same array, which nobody can write to any more.
pub fn frozen<D: Dimension, T: Element>(array: Bound<'_, PyArray<T, D>>) -> Bound<'_, PyArray<T, D>> {
    // SAFETY: the array is new, and nobody else has it.
    unsafe { (*array.as_array_ptr()).fields.flags &= !NPY_ARRAY_WRITEABLE };
    array
}

/// The numbers as an array that nobody writes to.
pub fn view(py: Python<'_>, mut table: Table) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let [planes, columns] = table.shape();
    if planes == 0 || columns == 0 {
        return Ok(frozen(new_array(py, [planes, columns])?));
    }
    let (numbers, stride) = table.numbers()?;
    let numbers = numbers.clone();
    // Of one plane the numbers stand alike in both ways; libraries that hash arrays hash their strides, too.
    let strides = stride.filter(|_| planes > 1).map_or((columns.max(1), 1), |stride| (1, stride));
    let held = Bound::new(py, Held { table })?;
    let seen = ArrayView2::from_shape((planes, columns).strides(strides), &numbers)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: `held` has the numbers, which are not written to while it does, and do not move.
    Ok(frozen(unsafe { PyArray2::borrow_from_array(&seen, held.into_any()) }))
}

pub fn floats<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyArray1<f64>>> {
    Ok(frozen(to_vector(py, values)?))
}

/// The numbers behind an array that a model has given out, if it is all of them.
fn behind(array: &Bound<'_, PyArray2<f64>>) -> Option<Table> {
    let base = array.getattr("base").ok()?;
    let mut table = base.cast::<Held>().ok()?.get().table.clone();
    let same =
        array.data().cast_const() == table.numbers().ok()?.0.as_ptr() && array.shape() == table.shape();
    same.then_some(table)
}

/// Numbers of an array that nobody writes to, such as one of a mapped file.
struct ReadOnly {
    numbers: &'static [f64],
    _array: Py<PyArray2<f64>>,
}

impl Deref for ReadOnly {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        self.numbers
    }
}

impl ReadOnly {
    /// `None`: somebody may write to the array, or it is not in C order.
    fn of(array: &Bound<'_, PyArray2<f64>>) -> Option<Self> {
        // SAFETY: the array is there.
        let flags = unsafe { (*array.as_array_ptr()).fields.flags };
        if flags & NPY_ARRAY_WRITEABLE != 0 || flags & NPY_ARRAY_ALIGNED == 0 || !array.is_c_contiguous() {
            return None;
        }
        // SAFETY: the numbers are aligned and one behind the other; they stay while `_array` does, whose data
        // do not move, and nobody writes to them: NumPy lets only the owner of the memory make it writeable
        // again, as it lets him write behind the back of any borrow.
        let numbers = unsafe { std::slice::from_raw_parts(array.data(), array.len()) };
        Some(Self { numbers, _array: array.clone().unbind() })
    }
}

/// A matrix of a state: where it stands, if nobody writes to it there, else a copy.
pub fn table(name: &str, state: &Bound<'_, PyDict>, shape: [usize; 2]) -> PyResult<Table> {
    let array = get(name, state)?;
    let array = array.cast::<PyArray2<f64>>()?;
    if let Some(table) = behind(array).filter(|table| table.shape() == shape) {
        return Ok(table);
    }
    if array.shape() == shape && are_zeros(&array.try_readonly().map_err(PyErr::from)?) {
        return Ok(Table::zero(shape));
    }
    let negative_zero = |w: &f64| *w == 0.0 && w.is_sign_negative();
    let values = match ReadOnly::of(array) {
        Some(here) if !here.iter().any(negative_zero) => Shared::Foreign(Arc::new(here)),
        _ => {
            let mut values = numbers(name, state, shape[0], Some(shape[1]))?;
            for value in &mut values {
                *value = start(*value);
            }
            values.into()
        }
    };
    let signals = Signals::new();
    let found = Table::of(values, shape, &signals);
    signals.settle(found, state.py(), false)?.ok_or_else(|| match array.shape() {
        got if got != shape => {
            PyValueError::new_err(format!("{name} must have the shape {shape:?}, got {got:?}"))
        }
        _ => PyValueError::new_err(format!("{name} must hold finite numbers")),
    })
}

/// Finite numbers, none of them -0.0.
pub fn clean(name: &str, mut values: Vec<f64>) -> PyResult<Vec<f64>> {
    for value in &mut values {
        *value = start(*value);
    }
    if all_finite(&values) {
        return Ok(values);
    }
    Err(PyValueError::new_err(format!("{name} must hold finite numbers")))
}
