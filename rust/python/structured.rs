//! Sequences, and the update for any other structure.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::online::{get, set_array};
use super::rows::{shape, with_rows};
use super::signals::Signals;
use crate::arith::environment::Standard;
use crate::error::probe_memory;
use crate::structured::{self, Chain, Limits, Mending, Schedule, Sequences, State, Weights, chain, general};

/// The arrays of `Weights`, each name followed by `suffix`.
fn weights(state: &Bound<'_, PyDict>, suffix: &str) -> PyResult<Weights> {
    let labels = get(&format!("start{suffix}"), state)?.len()?;
    let matrix = |name: &str| -> PyResult<Vec<f64>> {
        let name = format!("{name}{suffix}");
        let array: PyReadonlyArray2<f64> = get(&name, state)?.extract()?;
        if name.starts_with("pair") && array.shape()[1] != labels * labels
            || !name.starts_with("pair") && array.shape()[1] != labels
        {
            return Err(PyValueError::new_err(format!(
                "{name} must have a column for each label (pair: for each two), got shape {:?}",
                array.shape()
            )));
        }
        probe_memory(array.len().checked_mul(8))?;
        Ok(array.as_array().iter().copied().collect())
    };
    let vector = |name: &str| -> PyResult<Vec<f64>> {
        let array: PyReadonlyArray1<f64> = get(&format!("{name}{suffix}"), state)?.extract()?;
        Ok(array.as_array().iter().copied().collect())
    };
    let with_pair = state.contains(format!("pair{suffix}"))?;
    Ok(Weights {
        emission: matrix("emission")?,
        transition: matrix("transition")?,
        start: vector("start")?,
        end: vector("end")?,
        pair: with_pair.then(|| matrix("pair")).transpose()?,
    })
}

fn set_weights(out: &Bound<'_, PyDict>, weights: &Weights, suffix: &str) -> PyResult<()> {
    let labels = weights.labels();
    let columns = weights.emission.len() / labels.max(1);
    let set = |name: &str, values: &[f64], shape| set_array(out, &format!("{name}{suffix}"), values, shape);
    set("emission", &weights.emission, Some([columns, labels]))?;
    set("transition", &weights.transition, Some([labels, labels]))?;
    set("start", &weights.start, None)?;
    set("end", &weights.end, None)?;
    match &weights.pair {
        Some(pair) => set("pair", pair, Some([columns, labels * labels])),
        None => Ok(()),
    }
}

fn state_of(state: &Bound<'_, PyDict>) -> PyResult<State> {
    let seen: PyReadonlyArray1<i64> = get("seen", state)?.extract()?;
    match seen.as_slice()? {
        &[seen] if seen >= 0 => {
            Ok(State { weights: weights(state, "")?, sums: weights(state, "_u")?, seen: seen as u64 })
        }
        other => {
            Err(PyValueError::new_err(format!("seen must hold one number of at least 0, got {other:?}")))
        }
    }
}

fn parse_update(update: &str) -> PyResult<Mending> {
    match update {
        "full" => Ok(Mending::Full),
        "early" => Ok(Mending::Early),
        "max_violation" => Ok(Mending::MaxViolation),
        _ => Err(PyValueError::new_err(format!(
            "update must be \"full\", \"early\" or \"max_violation\", got {update:?}"
        ))),
    }
}

/// Learn from sequences until an epoch is clean; `state` is not modified.
#[pyfunction]
#[pyo3(signature = (rows, labels, lengths, *, state, eta0, seed, first_epoch, max_iter, beam=None,
                    update="full", chosen=None))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
fn sequence_fit<'py>(
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    lengths: PyReadonlyArray1<'py, i64>,
    state: &Bound<'py, PyDict>,
    eta0: f64,
    seed: Option<u64>,
    first_epoch: u64,
    max_iter: u64,
    beam: Option<usize>,
    update: &str,
    chosen: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = rows.py();
    let (n, _) = shape(rows)?;
    let sequences = Sequences::new(lengths.as_slice()?, n)?;
    let start = state_of(state)?;
    let mending = parse_update(update)?;
    let labels = labels.as_slice()?;
    let schedule = Schedule { seed, first_epoch, max_iter };
    let chosen = chosen.as_ref().map(|chosen| chosen.as_slice()).transpose()?;
    let signals = Signals::new(None, false);
    let done = with_rows(rows, |rows| {
        let mut chain = Chain::new(rows, labels, &sequences, eta0, beam, mending)?;
        if let Some(chosen) = chosen {
            chain = chain.only(chosen)?;
        }
        structured::fit(&chain, &schedule, start, &signals)
    })?;
    let (learnt, report) = signals.settle(done, py, false)?;
    let state = PyDict::new(py);
    set_weights(&state, &learnt.weights, "")?;
    set_weights(&state, &learnt.sums, "_u")?;
    state.set_item("seen", PyArray1::from_slice(py, &[learnt.seen as i64]))?;
    let out = PyDict::new(py);
    out.set_item("state", state)?;
    out.set_item("sequence_errors", PyArray1::from_slice(py, &report.sequence_errors))?;
    out.set_item("token_errors", PyArray1::from_slice(py, &report.token_errors))?;
    out.set_item("stopped", report.stopped.name())?;
    Ok(out)
}

/// Averaged weights of a state.
#[pyfunction]
fn sequence_average<'py>(state: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let state_read = state_of(state)?;
    let averages = state.py().detach(|| {
        let _standard = Standard::enter();
        chain::averages(&state_read)
    });
    let out = PyDict::new(state.py());
    set_weights(&out, &averages, "")?;
    Ok(out)
}

type Decoded<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// The best labels of every row, and the score of every sequence.
#[pyfunction]
#[pyo3(signature = (rows, lengths, *, weights, threads, beam=None, allowed=None, forbidden=None))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
fn sequence_decode<'py>(
    rows: &Bound<'py, PyAny>,
    lengths: PyReadonlyArray1<'py, i64>,
    weights: &Bound<'py, PyDict>,
    threads: usize,
    beam: Option<usize>,
    allowed: Option<PyReadonlyArray2<'py, bool>>,
    forbidden: Option<PyReadonlyArray2<'py, bool>>,
) -> PyResult<Decoded<'py>> {
    let py = rows.py();
    let (n, _) = shape(rows)?;
    let sequences = Sequences::new(lengths.as_slice()?, n)?;
    let weights = self::weights(weights, "")?;
    let labels = weights.labels();
    for (name, given, needed) in
        [("allowed", &allowed, [n, labels]), ("forbidden", &forbidden, [labels, labels])]
    {
        if let Some(given) = given
            && given.shape() != needed
        {
            return Err(PyValueError::new_err(format!(
                "{name} must have the shape {needed:?}, got {:?}",
                given.shape()
            )));
        }
    }
    let allowed = allowed.as_ref().map(|given| given.as_slice()).transpose()?;
    let forbidden = forbidden.as_ref().map(|given| given.as_slice()).transpose()?;
    let limits = Limits { beam, allowed, forbidden };
    let (path, scores) =
        with_rows(rows, |rows| structured::decode(rows, &sequences, &weights, limits, threads))??;
    Ok((PyArray1::from_vec(py, path), PyArray1::from_vec(py, scores)))
}

type PyFeatures<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);

/// Learn from one wrong answer: changes `w` and `u`.
#[pyfunction]
#[pyo3(signature = (w, u, truth, answer, *, step, t))]
#[allow(clippy::needless_pass_by_value)]
fn structured_update<'py>(
    mut w: PyReadwriteArray1<'py, f64>,
    mut u: PyReadwriteArray1<'py, f64>,
    truth: PyFeatures<'py>,
    answer: PyFeatures<'py>,
    step: f64,
    t: u64,
) -> PyResult<()> {
    let _standard = Standard::enter();
    let truth = (truth.0.as_slice()?, truth.1.as_slice()?);
    let answer = (answer.0.as_slice()?, answer.1.as_slice()?);
    Ok(general::mend(w.as_slice_mut()?, u.as_slice_mut()?, (truth, answer), step, t)?)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(sequence_fit, m)?)?;
    m.add_function(wrap_pyfunction!(sequence_average, m)?)?;
    m.add_function(wrap_pyfunction!(sequence_decode, m)?)?;
    m.add_function(wrap_pyfunction!(structured_update, m)?)
}
