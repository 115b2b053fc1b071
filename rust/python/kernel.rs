//! The kernel perceptron: arrays in, arrays out.

use numpy::{PyArray2, PyArray3, PyReadonlyArray1};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};

use super::border::{Signals, call_on, call_on_both, shape, slices, written};
use super::settings;
use crate::arith::environment::foreign;
use crate::base::choice;
use crate::kernel::{self, Answer, RowSource, SupportVectors};
use crate::online::voted::Log;
use crate::rows::Tie;

/// A function of Python that gives rows of the Gram matrix.
pub(super) struct AskedRows<'a> {
    pub ask: &'a Py<PyAny>,
    pub signals: &'a Signals,
    pub keep_on_interrupt: bool,
}

impl AskedRows<'_> {
    fn call(&self, number: usize, out: &mut [f64]) -> PyResult<()> {
        let copy = |py: Python<'_>| {
            let answer = self.ask.bind(py).call1((number,))?;
            let values: PyReadonlyArray1<'_, f64> = answer.extract()?;
            let values = values.as_slice()?;
            if values.len() != out.len() {
                let text = format!("ask must return {} numbers, got {}", out.len(), values.len());
                return Err(PyValueError::new_err(text));
            }
            out.copy_from_slice(values);
            Ok(())
        };
        foreign(|| Python::attach(copy))
    }
}

impl RowSource for AskedRows<'_> {
    fn row(&self, number: usize, out: &mut [f64]) -> bool {
        let mut done = self.call(number, out);
        if let Err(error) = &done
            && self.keep_on_interrupt
            && Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py))
        {
            // Ctrl-C while Python computes: the run ends behind this block, where it can be kept.
            let again = self.call(number, out);
            if let Err(interrupt) = std::mem::replace(&mut done, again) {
                self.signals.keep_error(interrupt);
            }
        }
        done.map_err(|error| self.signals.keep_error(error)).is_ok()
    }
}

/// Kernel values (n, m) of every row with every one of the others.
#[pyfunction]
#[pyo3(signature = (rows, others, *, kernel, threads))]
pub fn kernel_matrix<'py>(
    rows: &Bound<'py, PyAny>,
    others: &Bound<'py, PyAny>,
    kernel: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let kernel = settings::kernel(kernel)?;
    written(rows.py(), [shape(rows)?.0, shape(others)?.0], |out| {
        call_on_both(rows, others, |rows, others, signals| {
            kernel::kernel_matrix(rows, others, kernel, threads, signals, out)
        })
    })
}

/// Answers (n, A, K) of the vectors of a log for every row.
#[pyfunction]
#[pyo3(signature = (rows, stored_rows, state, *, kernel, answers, tie, threads))]
pub fn kernel_scores<'py>(
    rows: &Bound<'py, PyAny>,
    stored_rows: &Bound<'py, PyAny>,
    state: &Bound<'py, PyDict>,
    kernel: &Bound<'py, PyAny>,
    answers: Vec<String>,
    tie: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let (py, tie) = (rows.py(), choice("tie", tie, &Tie::ALL)?);
    let kernel = settings::kernel(kernel)?;
    let ((n, _), (stored, _)) = (shape(rows)?, shape(stored_rows)?);
    let answers = answers.iter().map(|name| Answer::new(name)).collect::<Result<Vec<_>, _>>()?;
    slices!(state, log_start: i64, log_row: i64, log_step: f64, log_bias: f64, log_t: i64, log_count: i64);
    slices!(state, log_norm: f64, drawn: i64, intercept: f64, seen: i64);
    let log = Log::new(log_start, log_row, log_step, log_bias, stored)?;
    let (t, counts, norms) = (log_t, log_count, log_norm);
    written(py, [n, answers.len(), log.planes()], |out| {
        call_on_both(rows, stored_rows, |rows, stored, signals| {
            let vectors =
                SupportVectors { stored, kernel, log, t, intercept, seen, counts, tie, norms, drawn };
            kernel::predict(rows, &vectors, &answers, threads, signals, out)
        })
    })
}

/// One divided by the number of columns and the variance of all values.
#[pyfunction]
pub fn scale_gamma(rows: &Bound<'_, PyAny>) -> PyResult<f64> {
    call_on(rows, |rows, signals| kernel::scale_gamma(rows, signals))
}
