//! The online learners: arrays in, arrays out.

use std::borrow::Cow;

use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::rows::{shape, with_rows};
use super::signals::Signals;
use crate::arith::decay::Decay;
use crate::arith::environment::Standard;
use crate::error::probe_memory;
use crate::online::averaged::{self, Averaged};
use crate::online::perceptron::{self, Perceptron};
use crate::online::pocket::{Check, Pocket};
use crate::online::voted::Voted;
use crate::online::{self, Learner, Numbers, Penalty, Problem, Report, Schedule, Shuffle, Snapshot, State};
use crate::order::shuffle;
use crate::rows::{Spread, Tie, Tolerance};

/// A float64 array of the state, of that shape; `columns` is `None` for a vector.
pub(super) fn numbers(
    name: &str,
    state: &Bound<'_, PyDict>,
    planes: usize,
    columns: Option<usize>,
) -> PyResult<Vec<f64>> {
    let array = get(name, state)?;
    match columns {
        Some(columns) => matrix(name, &array.extract()?, planes, columns),
        None => vector(name, &array.extract()?, planes),
    }
}

fn matrix(name: &str, array: &PyReadonlyArray2<f64>, planes: usize, columns: usize) -> PyResult<Vec<f64>> {
    check_shape(name, array.shape(), &[planes, columns])?;
    probe_memory(array.len().checked_mul(8))?;
    Ok(array.as_array().iter().copied().collect())
}

fn vector(name: &str, array: &PyReadonlyArray1<f64>, planes: usize) -> PyResult<Vec<f64>> {
    check_shape(name, array.shape(), &[planes])?;
    Ok(array.as_array().to_vec())
}

pub(super) fn counters(state: &Bound<'_, PyDict>, planes: usize) -> PyResult<Vec<u64>> {
    let seen: PyReadonlyArray1<i64> = get("seen", state)?.extract()?;
    check_shape("seen", seen.shape(), &[planes])?;
    let count = |&seen: &i64| {
        u64::try_from(seen).map_err(|_| PyValueError::new_err(format!("seen must be at least 0, got {seen}")))
    };
    seen.as_array().iter().map(count).collect()
}

fn ages(state: &Bound<'_, PyDict>, planes: usize, columns: usize) -> PyResult<Vec<i64>> {
    let ages: PyReadonlyArray2<i64> = get("ages", state)?.extract()?;
    check_shape("ages", ages.shape(), &[planes, columns])?;
    probe_memory(ages.len().checked_mul(8))?;
    Ok(ages.as_array().iter().copied().collect())
}

fn check_shape(name: &str, got: &[usize], needed: &[usize]) -> PyResult<()> {
    if got == needed {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{name} must have the shape {needed:?} for these rows and planes, got {got:?}"
    )))
}

pub(super) fn get<'py>(name: &str, state: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    state
        .get_item(name)?
        .ok_or_else(|| PyValueError::new_err(format!("state lacks {name:?}, which the learner needs")))
}

/// A new array of that shape. Made by Python's own call, which raises where memory is short.
pub(super) fn new_array<T: Element>(py: Python<'_>, shape: [usize; 2]) -> PyResult<Bound<'_, PyArray2<T>>> {
    let array = py.import("numpy")?.call_method1("empty", (shape, T::get_dtype(py)))?;
    Ok(array.cast_into::<PyArray2<T>>()?)
}

fn to_matrix<'py, T: Element + Copy>(
    py: Python<'py>,
    values: &[T],
    shape: [usize; 2],
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let array = new_array(py, shape)?;
    array.readwrite().as_slice_mut()?.copy_from_slice(values);
    Ok(array)
}

pub(super) fn parse_tie(tie: &str) -> PyResult<Tie> {
    match tie {
        "mistake" => Ok(Tie::Mistake),
        "positive" => Ok(Tie::Positive),
        _ => Err(PyValueError::new_err(format!("tie must be \"mistake\" or \"positive\", got {tie:?}"))),
    }
}

pub(super) fn parse_joint(joint: &str) -> PyResult<Spread> {
    match joint {
        "max" => Ok(Spread::Max),
        "uniform" => Ok(Spread::Uniform),
        "proportional" => Ok(Spread::Proportional),
        _ => Err(PyValueError::new_err(format!(
            "joint must be \"max\", \"uniform\", \"proportional\" or None, got {joint:?}"
        ))),
    }
}

fn parse_check(check: &str, learner: &str) -> PyResult<Check> {
    match check {
        "run" => Ok(Check::Run),
        _ if learner != "pocket" => Err(PyValueError::new_err(format!(
            "check must be \"run\" for the learner {learner:?}, got {check:?}"
        ))),
        "ratchet" => Ok(Check::Ratchet),
        "update" => Ok(Check::Update),
        "epoch" => Ok(Check::Epoch),
        _ => Err(PyValueError::new_err(format!(
            "check must be \"run\", \"ratchet\", \"update\" or \"epoch\", got {check:?}"
        ))),
    }
}

/// What a learner remembers besides the weights.
enum Memory {
    Perceptron(Perceptron),
    Averaged(Averaged),
    Pocket(Pocket),
    Voted(Voted),
}

impl Memory {
    fn read(
        learner: &str,
        state: &Bound<'_, PyDict>,
        (planes, columns): (usize, usize),
        fit_intercept: bool,
        (check, start): (Check, &State),
    ) -> PyResult<Self> {
        match learner {
            "perceptron" => Ok(Self::Perceptron(Perceptron)),
            "averaged" => Ok(Self::Averaged(Averaged {
                coef: numbers("coef_u", state, planes, Some(columns))?,
                intercept: numbers("intercept_u", state, planes, None)?,
                fit_intercept,
            })),
            "pocket" => {
                probe_memory(start.coef.len().checked_mul(16))?;
                Ok(Self::Pocket(Pocket::new(check, fit_intercept, start)))
            }
            "voted" => Ok(Self::Voted(Voted::new(planes))),
            _ => Err(PyValueError::new_err(format!(
                "learner must be \"perceptron\", \"averaged\", \"pocket\" or \"voted\", got {learner:?}"
            ))),
        }
    }

    fn learner(&mut self) -> &mut (dyn Learner + Send) {
        match self {
            Self::Perceptron(learner) => learner,
            Self::Averaged(learner) => learner,
            Self::Pocket(learner) => learner,
            Self::Voted(learner) => learner,
        }
    }
}

/// An array of that shape; `None`: a vector.
pub(super) fn set_array<T: Element + Copy>(
    state: &Bound<'_, PyDict>,
    name: &str,
    values: &[T],
    shape: Option<[usize; 2]>,
) -> PyResult<()> {
    match shape {
        Some(shape) => state.set_item(name, to_matrix(state.py(), values, shape)?),
        None => state.set_item(name, PyArray1::from_slice(state.py(), values)),
    }
}

/// The state and the memory of the learner, by the names of the protocol.
pub fn state_to_python<'py>(py: Python<'py>, learnt: &Snapshot) -> PyResult<Bound<'py, PyDict>> {
    let State { coef, intercept, seen, ages } = learnt.state;
    let planes = intercept.len();
    let seen: Vec<i64> = seen.iter().map(|&seen| seen as i64).collect();
    let state = PyDict::new(py);
    state.set_item("seen", PyArray1::from_slice(py, &seen))?;
    if !ages.is_empty() {
        state.set_item("ages", to_matrix(py, ages, [planes, coef.len() / planes.max(1)])?)?;
    }
    let columns = coef.len() / planes.max(1);
    let floats = |values| Numbers::Floats(Cow::Borrowed(values));
    let numbers = [("coef", floats(coef)), ("intercept", floats(intercept))];
    for (name, values) in numbers.into_iter().chain(learnt.learner.memory()) {
        let shape = name.starts_with("coef").then_some([planes, columns]);
        match values {
            Numbers::Floats(values) => set_array(&state, name, &values, shape)?,
            Numbers::Integers(values) => set_array(&state, name, &values, shape)?,
        }
    }
    Ok(state)
}

/// The class weights (K, 2).
pub(super) fn pairs(class_weight: &PyReadonlyArray2<f64>) -> PyResult<Vec<[f64; 2]>> {
    if class_weight.shape()[1] != 2 {
        let shape = class_weight.shape();
        return Err(PyValueError::new_err(format!("class_weight must have shape (K, 2), got {shape:?}")));
    }
    Ok(class_weight.as_array().rows().into_iter().map(|row| [row[0], row[1]]).collect())
}

/// Run epochs until every plane has stopped; `state` is not modified.
#[pyfunction]
#[pyo3(signature = (rows, labels, sample_weight, *, learner, state, positive, class_weight, eta0, tie,
                    fit_intercept, seed, first_epoch, max_iter, tol, n_iter_no_change, track_mistakes, threads,
                    margin=0.0, added_feature=0.0, max_mistakes_per_example=None, joint=None,
                    penalty=None, settle=true, check="run", record=false,
                    on_epoch=None, with_state=false, keep_on_interrupt=false))]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)] // one per parameter of the protocol
#[allow(clippy::needless_pass_by_value)]
fn fit<'py>(
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    learner: &str,
    state: &Bound<'py, PyDict>,
    positive: PyReadonlyArray1<'py, u32>,
    class_weight: PyReadonlyArray2<'py, f64>,
    eta0: f64,
    tie: &str,
    fit_intercept: bool,
    seed: Option<u64>,
    first_epoch: u64,
    max_iter: u64,
    tol: Option<f64>,
    n_iter_no_change: u64,
    track_mistakes: bool,
    threads: usize,
    margin: f64,
    added_feature: f64,
    max_mistakes_per_example: Option<u64>,
    joint: Option<&str>,
    penalty: Option<(f64, f64)>,
    settle: bool,
    check: &str,
    record: bool,
    on_epoch: Option<Py<PyAny>>,
    with_state: bool,
    keep_on_interrupt: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let py = rows.py();
    let tie = parse_tie(tie)?;
    let check = parse_check(check, learner)?;
    let planes = positive.len();
    let (n, columns) = shape(rows)?;
    let start = State {
        coef: numbers("coef", state, planes, Some(columns))?,
        intercept: numbers("intercept", state, planes, None)?,
        seen: counters(state, planes)?,
        ages: if penalty.is_some() || state.contains("ages")? {
            ages(state, planes, columns)?
        } else {
            Vec::new()
        },
    };
    let mut memory = Memory::read(learner, state, (planes, columns), fit_intercept, (check, &start))?;
    let labels = labels.as_slice()?;
    let sample_weight = sample_weight.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let positive = positive.as_slice()?;
    let class_weight = pairs(&class_weight)?;
    let schedule = Schedule {
        shuffle: seed.map(|seed| Shuffle { seed }),
        first_epoch,
        max_iter,
        tol,
        n_iter_no_change,
        track_mistakes,
        threads,
        keep_on_interrupt,
        settle,
        record,
    };
    let tolerance = Tolerance { margin, added_feature, max_mistakes: max_mistakes_per_example };
    let joint = joint.map(parse_joint).transpose()?;
    let signals = Signals::new(on_epoch, with_state);
    let done = with_rows(rows, |rows| {
        let mut problem =
            Problem::new(rows, labels, sample_weight, positive, &class_weight, eta0, tie, fit_intercept)?
                .tolerant(tolerance)?;
        if let Some(spread) = joint {
            problem = problem.joint(spread)?;
        }
        if let Some((l1, l2)) = penalty {
            problem = problem.penalised(Penalty { l1, l2 })?;
        }
        online::fit(&problem, &schedule, start, memory.learner(), &signals)
    })?;
    let (state, report) = signals.settle(done, py, keep_on_interrupt)?;
    let state = state_to_python(py, &Snapshot { state: &state, learner: memory.learner() })?;
    let activations = record.then(|| to_matrix(py, &report.activations, [n, planes])).transpose()?;
    describe(py, &state, &report, track_mistakes.then_some(n), activations)
}

pub(super) fn describe<'py>(
    py: Python<'py>,
    state: &Bound<'py, PyDict>,
    report: &Report,
    tracked: Option<usize>,
    activations: Option<Bound<'py, PyArray2<f64>>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (epochs, decisions) = (report.epochs.len(), report.n_iter.len());
    let mistakes: Vec<i64> = report.epochs.iter().flat_map(|epoch| epoch.mistakes.iter().copied()).collect();
    let losses: Vec<f64> = report.epochs.iter().flat_map(|epoch| epoch.losses.iter().copied()).collect();
    let n_iter: Vec<i64> = report.n_iter.iter().map(|&n| n as i64).collect();
    let out = PyDict::new(py);
    out.set_item("state", state)?;
    out.set_item("mistakes", to_matrix(py, &mistakes, [epochs, decisions])?)?;
    out.set_item("losses", to_matrix(py, &losses, [epochs, decisions])?)?;
    out.set_item("n_iter", PyArray1::from_slice(py, &n_iter))?;
    out.set_item("stopped", PyList::new(py, report.stopped.iter().map(|stopped| stopped.name()))?)?;
    let counts = tracked.map(|n| to_matrix(py, &report.mistakes_per_example, [n, decisions])).transpose()?;
    out.set_item("mistakes_per_example", counts)?;
    out.set_item("activations", activations)?;
    Ok(out)
}

/// Activations (n, K) of every row under every plane.
#[pyfunction]
#[pyo3(signature = (rows, coef, intercept, *, threads))]
#[allow(clippy::needless_pass_by_value)]
fn scores<'py>(
    rows: &Bound<'py, PyAny>,
    coef: PyReadonlyArray2<'py, f64>,
    intercept: PyReadonlyArray1<'py, f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (n, columns) = shape(rows)?;
    let planes = coef.shape()[0];
    let coef = matrix("coef", &coef, planes, columns)?;
    let intercept = vector("intercept", &intercept, planes)?;
    let out = new_array(rows.py(), [n, planes])?;
    {
        let mut out = out.readwrite();
        let out = out.as_slice_mut()?;
        with_rows(rows, |rows| online::scores(rows, &coef, &intercept, threads, out))??;
    }
    Ok(out)
}

type Averages<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Averaged (coef, intercept) of a state of the averaged perceptron.
#[pyfunction]
fn average<'py>(state: &Bound<'py, PyDict>) -> PyResult<Averages<'py>> {
    let py = state.py();
    let coef: PyReadonlyArray2<f64> = get("coef", state)?.extract()?;
    let (planes, columns) = (coef.shape()[0], coef.shape()[1]);
    let seen = counters(state, planes)?;
    let w = matrix("coef", &coef, planes, columns)?;
    let u = numbers("coef_u", state, planes, Some(columns))?;
    let b = numbers("intercept", state, planes, None)?;
    let ub = numbers("intercept_u", state, planes, None)?;
    let _standard = Standard::enter();
    let coef = averaged::average(&w, &u, &seen, columns);
    let intercept = averaged::average(&b, &ub, &seen, 1);
    Ok((to_matrix(py, &coef, [planes, columns])?, PyArray1::from_slice(py, &intercept)))
}

/// Weights (K, d) of a state with all pending penalties applied.
#[pyfunction]
#[pyo3(signature = (state, *, eta0, penalty))]
fn settled<'py>(
    state: &Bound<'py, PyDict>,
    eta0: f64,
    penalty: (f64, f64),
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let coef: PyReadonlyArray2<f64> = get("coef", state)?.extract()?;
    let (planes, columns) = (coef.shape()[0], coef.shape()[1]);
    let mut weights = matrix("coef", &coef, planes, columns)?;
    let ages = ages(state, planes, columns)?;
    let _standard = Standard::enter();
    let decay = Decay::new(eta0, penalty.0, penalty.1, 0);
    for (w, &age) in weights.iter_mut().zip(&ages).filter(|(_, age)| **age > 0) {
        *w = decay.settle(*w, age as u64);
    }
    to_matrix(state.py(), &weights, [planes, columns])
}

/// Visiting order of an epoch.
#[pyfunction]
#[pyo3(signature = (n, *, seed, epoch, partition))]
fn permutation(py: Python<'_>, n: u32, seed: u64, epoch: u64, partition: u64) -> Bound<'_, PyArray1<u32>> {
    let order = py.detach(|| {
        let mut order: Vec<u32> = (0..n).collect();
        shuffle(&mut order, seed, epoch, partition);
        order
    });
    PyArray1::from_vec(py, order)
}

/// Least number of updates in a row on one example after which it is right.
#[pyfunction]
#[pyo3(signature = (x, y, w, b, *, step))]
#[allow(clippy::needless_pass_by_value)]
fn updates_until_right<'py>(
    py: Python<'py>,
    x: PyReadonlyArray1<'py, f64>,
    y: i64,
    w: PyReadonlyArray1<'py, f64>,
    b: Option<f64>,
    step: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let wrong = perceptron::updates_until_right(x.as_slice()?, y == 1, w.as_slice()?, b, step)?;
    match wrong {
        None => Ok(0_i64.into_pyobject(py)?.into_any()),
        // A Python int, because the count may exceed every machine integer.
        Some(wrong) => wrong.into_pyobject(py)?.call_method0("__int__")?.add(1),
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(fit, m)?)?;
    m.add_function(wrap_pyfunction!(scores, m)?)?;
    m.add_function(wrap_pyfunction!(average, m)?)?;
    m.add_function(wrap_pyfunction!(settled, m)?)?;
    m.add_function(wrap_pyfunction!(permutation, m)?)?;
    m.add_function(wrap_pyfunction!(updates_until_right, m)?)
}
