//! Multilayer perceptrons.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::border::arrays::{copied, new_array, to_matrix, to_vector};
use super::border::rows::{shape, with_rows};
use super::border::signals::Signals;
use crate::arith::neuron::Activation;
use crate::error::probe_memory;
use crate::memory::collected;
use crate::mlp::{self, Layer, Network, Schedule};

type Matrices<'py> = Vec<PyReadonlyArray2<'py, f64>>;
type Vectors<'py> = Vec<PyReadonlyArray1<'py, f64>>;
type Arrays<'py> = (Vec<Bound<'py, PyArray2<f64>>>, Vec<Bound<'py, PyArray1<f64>>>);

fn parse(activation: &str) -> PyResult<Activation> {
    match activation {
        "logistic" => Ok(Activation::Logistic),
        "relu" => Ok(Activation::Relu),
        "tanh" => Ok(Activation::Tanh),
        _ => Err(PyValueError::new_err(format!(
            "activation must be 'logistic', 'relu' or 'tanh', got '{activation}'"
        ))),
    }
}

fn network(columns: usize, coefs: &Matrices, intercepts: &Vectors, activation: &str) -> PyResult<Network> {
    let activation = parse(activation)?;
    let (weights, vectors) = (coefs.len(), intercepts.len());
    if weights == 0 || weights != vectors {
        return Err(PyValueError::new_err(format!(
            "coefs and intercepts must have one array for each layer, got {weights} and {vectors}"
        )));
    }
    let (mut layers, mut before) = (Vec::new(), columns);
    for (number, (coef, intercept)) in coefs.iter().zip(intercepts).enumerate() {
        let (neurons, got) = (intercept.len(), coef.shape());
        if got != [neurons, before] || neurons == 0 {
            return Err(PyValueError::new_err(format!(
                "coefs[{number}] must have the shape ({neurons}, {before}) with at least one row, got ({}, {})",
                got[0], got[1]
            )));
        }
        probe_memory(coef.len().checked_mul(8))?;
        // Rule 4: no weight is -0.0.
        let coef = collected(coef.as_array().iter().map(|w| w + 0.0))?;
        let intercept = collected(intercept.as_array().iter().map(|b| b + 0.0))?;
        layers.push(Layer { coef, intercept });
        before = neurons;
    }
    Ok(Network { layers, activation })
}

fn to_arrays<'py>(py: Python<'py>, network: &Network, columns: usize) -> PyResult<Arrays<'py>> {
    let (mut coefs, mut intercepts, mut before) = (Vec::new(), Vec::new(), columns);
    for Layer { coef, intercept } in &network.layers {
        coefs.push(to_matrix(py, coef, [intercept.len(), before])?);
        intercepts.push(to_vector(py, intercept)?);
        before = intercept.len();
    }
    Ok((coefs, intercepts))
}

/// Random weights and intercepts of each layer.
#[pyfunction]
#[pyo3(signature = (columns, hidden, outputs, *, activation, seed))]
#[allow(clippy::needless_pass_by_value)]
fn mlp_start<'py>(
    py: Python<'py>,
    columns: usize,
    hidden: Vec<usize>,
    outputs: usize,
    activation: &str,
    seed: u64,
) -> PyResult<Arrays<'py>> {
    let sizes: Vec<usize> = std::iter::once(columns).chain(hidden).chain([outputs]).collect();
    to_arrays(py, &Network::start(&sizes, parse(activation)?, seed)?, columns)
}

/// What the output neurons have for every row: activations (n, K), or probabilities.
#[pyfunction]
#[pyo3(signature = (rows, coefs, intercepts, *, activation, probabilities))]
#[allow(clippy::needless_pass_by_value)]
fn mlp_scores<'py>(
    rows: &Bound<'py, PyAny>,
    coefs: Matrices<'py>,
    intercepts: Vectors<'py>,
    activation: &str,
    probabilities: bool,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (n, columns) = shape(rows)?;
    let network = network(columns, &coefs, &intercepts, activation)?;
    let out = new_array(rows.py(), [n, network.outputs()])?;
    {
        let mut out = out.readwrite();
        let out = out.as_slice_mut()?;
        let signals = Signals::new();
        let done = with_rows(rows, |rows| network.scores(rows, probabilities, &signals, out))?;
        signals.settle(done, rows.py(), false)?;
    }
    Ok(out)
}

/// Runs epochs until the loss no longer improves.
#[pyfunction]
#[pyo3(signature = (
    rows, labels, *, coefs, intercepts, activation, rate, alpha, batch_size, seed, first_epoch, max_iter, tol,
    n_iter_no_change,
))]
#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]
fn mlp_fit<'py>(
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    coefs: Matrices<'py>,
    intercepts: Vectors<'py>,
    activation: &str,
    rate: f64,
    alpha: f64,
    batch_size: usize,
    seed: Option<u64>,
    first_epoch: u64,
    max_iter: u64,
    tol: Option<f64>,
    n_iter_no_change: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let py = rows.py();
    let (_, columns) = shape(rows)?;
    let mut network = network(columns, &coefs, &intercepts, activation)?;
    let labels = copied(&labels)?;
    let schedule = Schedule { rate, alpha, batch_size, seed, first_epoch, max_iter, tol, n_iter_no_change };
    let signals = Signals::new();
    let done = with_rows(rows, |rows| mlp::fit(rows, &labels, &mut network, &schedule, &signals))?;
    let report = signals.settle(done, py, false)?;
    let (coefs, intercepts) = to_arrays(py, &network, columns)?;
    let answer = PyDict::new(py);
    answer.set_item("coefs", coefs)?;
    answer.set_item("intercepts", intercepts)?;
    answer.set_item("losses", to_vector(py, &report.losses)?)?;
    answer.set_item("mistakes", to_vector(py, &report.mistakes)?)?;
    answer.set_item("stopped", report.stopped.name())?;
    Ok(answer)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(mlp_start, m)?)?;
    m.add_function(wrap_pyfunction!(mlp_scores, m)?)?;
    m.add_function(wrap_pyfunction!(mlp_fit, m)?)
}
