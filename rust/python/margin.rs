//! Margins: borrow, detach, return.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyDict};

use super::border::{Vector, call_on};
use crate::base::{choice, collected};
use crate::margin::{self as core, Bias, Goal, Options, Solver};

fn row_numbers<'py>(py: Python<'py>, numbers: &[u32]) -> PyResult<Vector<'py, i64>> {
    Ok(PyArray1::from_vec(py, collected(numbers.iter().map(|&number| i64::from(number)))?))
}

/// The plane of largest margin, and an interval that contains that margin.
#[pyfunction]
#[pyo3(signature = (rows, labels, *, bias, tol, max_steps, solver, goal, threads))]
pub fn separate<'py>(
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    bias: &str,
    tol: f64,
    max_steps: u64,
    solver: &str,
    goal: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let py = rows.py();
    let biases = [("free", Bias::Free), ("augmented", Bias::Augmented), ("none", Bias::None)];
    let solvers = [("auto", Solver::Auto), ("wolfe", Solver::Wolfe), ("descent", Solver::Descent)];
    let goals = [("margin", Goal::Margin), ("separable", Goal::Separable)];
    let options = Options {
        bias: choice("bias", bias, &biases)?,
        tol,
        max_steps,
        solver: choice("solver", solver, &solvers)?,
        goal: choice("goal", goal, &goals)?,
        threads,
    };
    let labels = labels.as_slice()?;
    let found = call_on(rows, |rows, signals| core::separate(rows, labels, &options, signals))?;
    let out = PyDict::new(py);
    out.set_item("status", found.status)?;
    out.set_item("lower", found.lower)?;
    out.set_item("upper", found.upper)?;
    out.set_item("coef", PyArray1::from_vec(py, found.coef))?;
    out.set_item("intercept", found.intercept)?;
    out.set_item("support", row_numbers(py, &found.support)?)?;
    out.set_item("dual_weights", PyArray1::from_vec(py, found.dual_weights))?;
    out.set_item("radius", found.radius)?;
    out.set_item("proof", found.proof)?;
    out.set_item("solver", found.solver)?;
    let work = PyDict::new(py);
    for (name, count) in found.work {
        work.set_item(name, count)?;
    }
    out.set_item("work", work)?;
    Ok(out)
}

type Ends<'py> = (f64, f64, Vector<'py, i64>);

/// An interval that contains the margin of a plane, and the rows that are not on their side.
#[pyfunction]
#[pyo3(signature = (rows, labels, coef, intercept, *, normalize, threads))]
pub fn margin<'py>(
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    coef: PyReadonlyArray1<'py, f64>,
    intercept: Option<f64>,
    normalize: bool,
    threads: usize,
) -> PyResult<Ends<'py>> {
    let (labels, coef) = (labels.as_slice()?, coef.as_slice()?);
    let (lower, upper, offending) = call_on(rows, |rows, signals| {
        core::margin(rows, labels, coef, intercept, normalize, threads, signals)
    })?;
    Ok((lower, upper, row_numbers(rows.py(), &offending)?))
}
