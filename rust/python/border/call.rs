//! Calls of the core: detached from the interpreter, in our floating-point mode, to be ended by Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::{exceptions::PyRuntimeError, prelude::*};

use super::{rows::with_rows, signals::Signals};
use crate::arith::environment::standard;
use crate::base::Result;
use crate::rows::Matrix;

/// What the core has come to, or what it was not called for.
pub type Done<T> = PyResult<Result<T>>;

/// What the core does with the signals that it asks for.
pub fn call<T: Send>(py: Python<'_>, work: impl FnOnce(&Signals) -> Result<T> + Send) -> PyResult<T> {
    Signals::ask(py, false, |signals| caught(py, true, || work(signals)))
}

/// The same with rows of the engine.
pub fn call_on<T: Send>(
    rows: &Bound<'_, PyAny>,
    work: impl FnOnce(&dyn Matrix, &Signals) -> Result<T> + Send,
) -> PyResult<T> {
    Signals::ask(rows.py(), false, |signals| with_rows(rows, |rows| work(rows, signals)))
}

/// The same with two of them.
pub fn call_on_both<T: Send>(
    rows: &Bound<'_, PyAny>,
    others: &Bound<'_, PyAny>,
    work: impl FnOnce(&dyn Matrix, &dyn Matrix, &Signals) -> Result<T> + Send,
) -> PyResult<T> {
    let (py, others) = (rows.py(), others.clone().unbind());
    Signals::ask(py, false, |signals| {
        with_rows(rows, |rows| {
            Python::attach(|py| with_rows(others.bind(py), |others| work(rows, others, signals)))
        })?
    })
}

/// Runs the core. A failed check becomes a `RuntimeError`: its panic would reach Python as an exception that
/// `except Exception` misses. Whose fault it is cannot be known: ours, or of a thread that has written to
/// arrays which are read.
pub fn caught<R: Send>(py: Python<'_>, detached: bool, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let work = || catch_unwind(AssertUnwindSafe(|| standard(work)));
    let done = if detached { py.detach(work) } else { work() };
    done.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        PyRuntimeError::new_err(format!(
            "a check of the core failed ({text}); if no other thread has written to the arrays meanwhile, this \
             is a fault of perceptron_rs: please report it with this message"
        ))
    })
}
