//! Multilayer perceptrons.

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use super::border::{
    Done, Signals, call, call_on, copied, get, set_matrix, set_vector, shape, started, weights, with_rows,
    written,
};
use super::settings::attr;
use super::start::EngineRun;
use crate::arith::neuron::Activation;
use crate::base::choice;
use crate::mlp::{self, Layer, LayerView, Network};
use crate::online::Epoch;
use crate::rows::Matrix;

/// Weights and intercepts of a layer.
type LayerArrays<'py> = (PyReadonlyArray2<'py, f64>, Vec<f64>);

/// The layers of a state: `coef_0` (neurons, columns), `intercept_0` (neurons,), `coef_1`, ...
fn layers<'py>(state: &Bound<'py, PyDict>, columns: usize) -> PyResult<Vec<LayerArrays<'py>>> {
    let (mut layers, mut before) = (Vec::new(), columns);
    while layers.is_empty() || state.contains(format!("coef_{}", layers.len()))? {
        let number = layers.len();
        let coef: PyReadonlyArray2<f64> = get(&format!("coef_{number}"), state)?.extract()?;
        let intercept: PyReadonlyArray1<f64> = get(&format!("intercept_{number}"), state)?.extract()?;
        let (neurons, got) = (intercept.len(), coef.shape());
        if got != [neurons, before] || neurons == 0 {
            return Err(PyValueError::new_err(format!(
                "coef_{number} must have the shape ({neurons}, {before}) with at least one row, got ({}, {})",
                got[0], got[1]
            )));
        }
        let intercept = started(state.py(), copied(&intercept)?)?;
        layers.push((coef, intercept));
        before = neurons;
    }
    Ok(layers)
}

fn network(state: &Bound<'_, PyDict>, columns: usize, activation: &str) -> PyResult<Network> {
    let mut found = Vec::new();
    for (coef, intercept) in layers(state, columns)? {
        let coef = started(state.py(), copied(&coef)?)?;
        found.push(Layer { coef, intercept });
    }
    Ok(Network { layers: found, activation: choice("activation", activation, &Activation::ALL)? })
}

fn write_network(out: &Bound<'_, PyDict>, network: &Network) -> PyResult<()> {
    for (number, Layer { coef, intercept }) in network.layers.iter().enumerate() {
        let neurons = intercept.len();
        set_matrix(out, &format!("coef_{number}"), coef, [neurons, coef.len() / neurons])?;
        set_vector(out, &format!("intercept_{number}"), intercept)?;
    }
    Ok(())
}

/// Random weights and intercepts of each layer.
#[pyfunction]
#[pyo3(signature = (columns, hidden, outputs, *, activation, seed))]
pub fn mlp_start<'py>(
    py: Python<'py>,
    columns: usize,
    hidden: Vec<usize>,
    outputs: usize,
    activation: &str,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let sizes: Vec<usize> = std::iter::once(columns).chain(hidden).chain([outputs]).collect();
    let (out, activation) = (PyDict::new(py), choice("activation", activation, &Activation::ALL)?);
    write_network(&out, &call(py, |signals| Network::start(&sizes, activation, seed, signals))?)?;
    Ok(out)
}

/// What the output neurons have for every row: activations (n, K), or probabilities.
#[pyfunction]
#[pyo3(signature = (rows, state, *, activation, probabilities, threads))]
pub fn mlp_scores<'py>(
    rows: &Bound<'py, PyAny>,
    state: &Bound<'py, PyDict>,
    activation: &str,
    probabilities: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (n, columns) = shape(rows)?;
    let (layers, activation) = (layers(state, columns)?, choice("activation", activation, &Activation::ALL)?);
    let (mut views, mut before) = (Vec::new(), columns);
    for (coef, intercept) in &layers {
        views.push(LayerView { coef: weights("coef", coef, intercept.len(), before)?, intercept });
        before = intercept.len();
    }
    written(rows.py(), [n, before], |out| {
        call_on(rows, |rows, signals| {
            mlp::scores(rows, views, activation, probabilities, threads, signals, out)
        })
    })
}

/// A run of a network on its rows.
pub(super) struct Layers {
    rows: Py<PyAny>,
    run: mlp::NetworkRun,
}

impl Layers {
    pub fn start(
        data: &Bound<'_, PyAny>,
        state: &Bound<'_, PyDict>,
        settings: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let rows: Py<PyAny> = attr!(data, "rows");
        let network = network(state, shape(rows.bind(data.py()))?.1, &attr!(settings, "activation", String))?;
        let labels = copied(&attr!(data, "labels", PyReadonlyArray1<'_, u32>))?;
        let weights: Option<PyReadonlyArray1<'_, f64>> = attr!(data, "sample_weight");
        let weights = weights.map(|weights| copied(&weights)).transpose()?;
        let settings = mlp::NetworkSettings {
            rate: attr!(settings, "rate"),
            alpha: attr!(settings, "alpha"),
            batch_size: attr!(settings, "batch_size"),
            seed: attr!(settings, "seed"),
        };
        let start = |rows: &dyn Matrix| mlp::NetworkRun::start(rows, labels, weights, network, settings);
        let run = with_rows(rows.bind(data.py()), start)??;
        Ok(Self { rows, run })
    }
}

impl EngineRun for Layers {
    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> Done<Epoch> {
        let Self { rows, run } = self;
        with_rows(rows.bind(py), |rows| run.epoch(rows, number, signals))
    }

    fn state(&mut self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        write_network(out, self.run.network())
    }
}
