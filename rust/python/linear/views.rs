//! Numbers of a model as arrays that nobody writes to, and such arrays as numbers of a model.

use numpy::ndarray::{ArrayView2, Dimension, ShapeBuilder};
use numpy::npyffi::flags::NPY_ARRAY_WRITEABLE;
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use crate::arith::finite::all_finite;
use crate::python::border::{are_zeros, call, get, new_array, numbers, started, to_vector};
use crate::rows::{Layout, Table};

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
    table.place()?;
    let Some(numbers) = table.share().cloned() else { return Ok(frozen(new_array(py, [planes, columns])?)) };
    // Of one plane the numbers stand alike in both ways; libraries that hash arrays hash their strides, too.
    let strides = if planes == 1 { (columns, 1) } else { table.steps().into() };
    let held = Bound::new(py, Held { table })?;
    let seen = ArrayView2::from_shape((planes, columns).strides(strides), &numbers)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: `held` has the numbers, which are not written to while it does, and do not move.
    Ok(frozen(unsafe { PyArray2::borrow_from_array(&seen, held.into_any()) }))
}

/// The same in C order, as files, digests and other libraries want it.
pub fn c_ordered(py: Python<'_>, mut table: Table) -> PyResult<Bound<'_, PyArray2<f64>>> {
    call(py, |signals| table.stand(Layout::ByPlane, signals))?;
    view(py, table)
}

pub fn floats<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyArray1<f64>>> {
    Ok(frozen(to_vector(py, values)?))
}

/// The numbers behind an array that a model has given out, if it is all of them.
fn behind(array: &Bound<'_, PyArray2<f64>>) -> Option<Table> {
    let base = array.getattr("base").ok()?;
    let mut table = base.cast::<Held>().ok()?.get().table.clone();
    let same = array.data().cast_const() == table.share()?.as_ptr() && array.shape() == table.shape();
    same.then_some(table)
}

/// A matrix of a state: where it stands, if a model has given it out, else a copy, for others may write to it:
/// what says that an array is read-only says nothing of its memory.
pub fn table(name: &str, state: &Bound<'_, PyDict>, shape: [usize; 2]) -> PyResult<Table> {
    let array = get(name, state)?;
    let array = array.cast::<PyArray2<f64>>()?;
    if let Some(table) = behind(array).filter(|table| table.shape() == shape) {
        return Ok(table);
    }
    if array.shape() == shape && are_zeros(&array.try_readonly().map_err(PyErr::from)?) {
        return Ok(Table::zero(shape));
    }
    let values = started(state.py(), numbers(name, state, [shape[0], shape[1]])?)?;
    let found = call(state.py(), |signals| Table::of(values.into(), shape, signals))?;
    found.ok_or_else(|| not_finite(name))
}

/// Finite numbers, none of them -0.0.
pub fn clean(py: Python<'_>, name: &str, values: Vec<f64>) -> PyResult<Vec<f64>> {
    let values = started(py, values)?;
    if all_finite(&values) { Ok(values) } else { Err(not_finite(name)) }
}

fn not_finite(name: &str) -> PyErr {
    PyValueError::new_err(format!("{name} must hold finite numbers"))
}
