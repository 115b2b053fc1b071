//! What needs no run: scores, orders, elementary functions.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arith::elementary::Function;
use crate::base::choice;
use crate::online::{self, perceptron};
use crate::order::{SplitMix64, shuffle};
use crate::python::border::{call, call_on, check_shape, copied, filled_by, shape, weights, written};

/// Activations (n, K) of every row under every plane.
#[pyfunction]
#[pyo3(signature = (rows, coef, intercept, *, threads))]
pub fn scores<'py>(
    rows: &Bound<'py, PyAny>,
    coef: PyReadonlyArray2<'py, f64>,
    intercept: PyReadonlyArray1<'py, f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (n, columns) = shape(rows)?;
    let planes = coef.shape()[0];
    let coef = weights("coef", &coef, planes, columns)?;
    check_shape("intercept", intercept.shape(), &[planes])?;
    let intercept = copied(&intercept)?;
    written(rows.py(), [n, planes], |out| {
        call_on(rows, |rows, signals| online::scores(rows, coef, &intercept, threads, signals, out))
    })
}

/// Visiting order of an epoch.
#[pyfunction]
#[pyo3(signature = (n, *, seed, epoch, partition))]
pub fn permutation(
    py: Python<'_>,
    n: u32,
    seed: u64,
    epoch: u64,
    partition: u64,
) -> PyResult<Bound<'_, PyArray1<u32>>> {
    filled_by(py, [n as usize], |order, signals| {
        order.iter_mut().zip(0..n).for_each(|(place, row)| *place = row);
        shuffle(order, (seed, epoch, partition), signals)
    })
}

/// The first number that the generator of an epoch draws.
#[pyfunction]
pub fn _first_draw(seed: u64, epoch: u64, partition: u64) -> u64 {
    SplitMix64::of_epoch(seed, epoch, partition).draw()
}

/// A function of each number.
#[pyfunction]
#[pyo3(signature = (values, *, function))]
pub fn elementary<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, f64>,
    function: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let chosen = choice("function", function, &Function::ALL)?;
    let values = values.as_array();
    filled_by(py, [values.len()], |out, _| {
        out.iter_mut().zip(values).for_each(|(out, value)| *out = *value);
        chosen.apply(out);
        Ok(())
    })
}

/// Least number of updates in a row on one example after which it is right.
#[pyfunction]
#[pyo3(signature = (x, y, w, b, *, step))]
pub fn updates_until_right<'py>(
    py: Python<'py>,
    x: PyReadonlyArray1<'py, f64>,
    y: i64,
    w: PyReadonlyArray1<'py, f64>,
    b: Option<f64>,
    step: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let (x, w) = (x.as_slice()?, w.as_slice()?);
    let wrong = call(py, |_| perceptron::updates_until_right(x, y == 1, w, b, step))?;
    match wrong {
        None => Ok(0_i64.into_pyobject(py)?.into_any()),
        // A Python int, because the count may exceed every machine integer.
        Some(wrong) => wrong.into_pyobject(py)?.call_method0("__int__")?.add(1),
    }
}
