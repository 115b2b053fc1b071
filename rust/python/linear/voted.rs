//! The weight vectors of a voted perceptron: all of them vote, or some are made again.

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::online::voted::{Log, Sums, replay as replayed};
use crate::online::{self, VoteVectors};
use crate::python::border::arrays::{array, get, numbers, set_array, standing, written};
use crate::python::border::call::{call_on, call_on_both};
use crate::python::border::choices::parse_tie;
use crate::python::border::rows::shape;

/// The votes (n, K) of all weight vectors for every row.
#[pyfunction]
#[pyo3(signature = (rows, stored_rows, state, *, tie, threads))]
pub fn votes<'py>(
    rows: &Bound<'py, PyAny>,
    stored_rows: &Bound<'py, PyAny>,
    state: &Bound<'py, PyDict>,
    tie: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let (py, tie) = (rows.py(), parse_tie(tie)?);
    let ((n, _), (stored, columns)) = (shape(rows)?, shape(stored_rows)?);
    let (start, row) = (array::<i64>("log_start", state)?, array::<i64>("log_row", state)?);
    let (step, bias) = (array::<f64>("log_step", state)?, array::<f64>("log_bias", state)?);
    let counts = array::<i64>("log_count", state)?;
    let log = Log::new(start.as_slice()?, row.as_slice()?, step.as_slice()?, bias.as_slice()?, stored)?;
    let coef: PyReadonlyArray2<f64> = get("coef", state)?.extract()?;
    let coef = standing(&coef, log.planes(), columns)?;
    let intercept = numbers("intercept", state, log.planes(), None)?;
    let counts = counts.as_slice()?;
    written(py, [n, log.planes()], |out| {
        call_on_both(rows, stored_rows, |rows, stored, signals| {
            let vectors = VoteVectors { stored, log, coef: &coef, intercept: &intercept, counts, tie };
            online::votes(rows, &vectors, threads, signals, out)
        })
    })
}

/// The state after the first `upto[k]` mistakes of each plane.
#[pyfunction]
#[pyo3(signature = (stored_rows, state, *, upto))]
pub fn replay<'py>(
    stored_rows: &Bound<'py, PyAny>,
    state: &Bound<'py, PyDict>,
    upto: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = stored_rows.py();
    let (stored, columns) = shape(stored_rows)?;
    let (start, row) = (array::<i64>("log_start", state)?, array::<i64>("log_row", state)?);
    let (step, bias) = (array::<f64>("log_step", state)?, array::<f64>("log_bias", state)?);
    let t = array::<i64>("log_t", state)?;
    let log = Log::new(start.as_slice()?, row.as_slice()?, step.as_slice()?, bias.as_slice()?, stored)?;
    let (planes, t, upto) = (log.planes(), t.as_slice()?, upto.as_slice()?);
    let sums = Sums {
        coef: numbers("coef", state, planes, Some(columns))?,
        intercept: numbers("intercept", state, planes, None)?,
        coef_u: numbers("coef_u", state, planes, Some(columns))?,
        intercept_u: numbers("intercept_u", state, planes, None)?,
    };
    let sums = call_on(stored_rows, |stored, signals| replayed(stored, &log, (t, upto), sums, signals))?;
    let out = PyDict::new(py);
    let shape = Some([planes, columns]);
    set_array(&out, "coef", &sums.coef, shape)?;
    set_array(&out, "intercept", &sums.intercept, None)?;
    set_array(&out, "coef_u", &sums.coef_u, shape)?;
    set_array(&out, "intercept_u", &sums.intercept_u, None)?;
    Ok(out)
}
