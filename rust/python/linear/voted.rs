//! The weight vectors of a voted perceptron: all of them vote, or some are made again.

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::{prelude::*, types::PyDict};

use crate::base::choice;
use crate::online::voted::{Log, Sums, replay as replayed};
use crate::online::{self, VoteVectors};
use crate::python::border::{
    call_on, call_on_both, get, numbers, set_matrix, set_vector, shape, slices, standing, written,
};
use crate::rows::Tie;

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
    let (py, tie) = (rows.py(), choice("tie", tie, &Tie::ALL)?);
    let ((n, _), (stored, columns)) = (shape(rows)?, shape(stored_rows)?);
    slices!(state, log_start: i64, log_row: i64, log_step: f64, log_bias: f64, log_count: i64);
    let log = Log::new(log_start, log_row, log_step, log_bias, stored)?;
    let coef: PyReadonlyArray2<f64> = get("coef", state)?.extract()?;
    let coef = standing(&coef, log.planes(), columns)?;
    let intercept = numbers("intercept", state, [log.planes()])?;
    written(py, [n, log.planes()], |out| {
        call_on_both(rows, stored_rows, |rows, stored, signals| {
            let vectors =
                VoteVectors { stored, log, coef: &coef, intercept: &intercept, counts: log_count, tie };
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
    slices!(state, log_start: i64, log_row: i64, log_step: f64, log_bias: f64, log_t: i64);
    let log = Log::new(log_start, log_row, log_step, log_bias, stored)?;
    let (planes, upto) = (log.planes(), upto.as_slice()?);
    let sums = Sums {
        coef: numbers("coef", state, [planes, columns])?,
        intercept: numbers("intercept", state, [planes])?,
        coef_u: numbers("coef_u", state, [planes, columns])?,
        intercept_u: numbers("intercept_u", state, [planes])?,
    };
    let sums = call_on(stored_rows, |stored, signals| replayed(stored, &log, (log_t, upto), sums, signals))?;
    let out = PyDict::new(py);
    set_matrix(&out, "coef", &sums.coef, [planes, columns])?;
    set_vector(&out, "intercept", &sums.intercept)?;
    set_matrix(&out, "coef_u", &sums.coef_u, [planes, columns])?;
    set_vector(&out, "intercept_u", &sums.intercept_u)?;
    Ok(out)
}
