//! The kernel perceptron: arrays in, arrays out.

use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};

use super::arrays::{counters, get, new_array, numbers, pairs, to_matrix};
use super::choices::{parse_joint, parse_tie};
use super::fit::describe;
use super::memory::state_to_python;
use super::rows::{shape, with_rows};
use super::signals::Signals;
use crate::arith::environment::foreign;
use crate::kernel::{self, Answer, Dual, Kernel, Source, Vectors};
use crate::online::voted::{Log, Voted};
use crate::online::{self, Problem, Schedule, Shuffle, Snapshot, State};
use crate::rows::Tolerance;

/// The kernel of a `KernelSpec`.
pub(super) fn parse(spec: &Bound<'_, PyAny>) -> PyResult<Kernel> {
    let name: String = spec.getattr("name")?.extract()?;
    let gamma = spec.getattr("gamma")?.extract()?;
    let coef0 = spec.getattr("coef0")?.extract()?;
    let degree = spec.getattr("degree")?.extract()?;
    Ok(Kernel::new(&name, gamma, coef0, degree)?)
}

/// A function of Python that gives rows of the Gram matrix.
struct Asked<'a> {
    ask: Py<PyAny>,
    signals: &'a Signals,
    keep_on_interrupt: bool,
}

impl Asked<'_> {
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

impl Source for Asked<'_> {
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

pub(super) fn array<'py, T: numpy::Element>(
    name: &str,
    state: &Bound<'py, PyDict>,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    get(name, state)?.extract()
}

/// Run epochs of the kernel perceptron until every plane has stopped; `state` is not modified.
#[pyfunction]
#[pyo3(signature = (rows, labels, sample_weight, *, kernel, cache_bytes, state, positive, class_weight, eta0,
                    tie, fit_intercept, seed, first_epoch, max_iter, tol, n_iter_no_change, track_mistakes,
                    threads, margin=0.0, added_feature=0.0, max_mistakes_per_example=None, joint=None,
                    record=false, on_epoch=None, keep_on_interrupt=false, ask=None))]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)] // one per parameter of the protocol
#[allow(clippy::needless_pass_by_value)]
fn kernel_fit<'py>(
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    kernel: &Bound<'py, PyAny>,
    cache_bytes: usize,
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
    record: bool,
    on_epoch: Option<Py<PyAny>>,
    keep_on_interrupt: bool,
    ask: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = rows.py();
    let (kernel, tie) = (parse(kernel)?, parse_tie(tie)?);
    let (planes, (n, _)) = (positive.as_slice()?.len(), shape(rows)?);
    let start = State {
        coef: numbers("sums", state, planes, Some(n))?,
        intercept: numbers("intercept", state, planes, None)?,
        seen: counters(state, planes)?,
        ages: None,
    };
    let norms = numbers("norm", state, planes, None)?;
    let (labels, positive, class_weight) = (labels.as_slice()?, positive.as_slice()?, pairs(&class_weight)?);
    let sample_weight = sample_weight.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let schedule = Schedule {
        shuffle: seed.map(|seed| Shuffle { seed }),
        first_epoch,
        max_iter,
        tol,
        n_iter_no_change,
        track_mistakes,
        threads: 1, // all planes share the rows of the Gram matrix; these are shared out over threads
        keep_on_interrupt,
        settle: true,
        record,
    };
    let tolerance = Tolerance { margin, added_feature, max_mistakes: max_mistakes_per_example };
    let joint = joint.map(parse_joint).transpose()?;
    let signals = Signals::new(on_epoch, false);
    let mut learner = Voted::new(planes);
    let mut grown = Vec::new();
    let done = with_rows(rows, |rows| {
        let asked = ask.map(|ask| Asked { ask, signals: &signals, keep_on_interrupt });
        let source = asked.as_ref().map(|asked| asked as &dyn Source);
        let dual = Dual::new(rows, kernel, source, &norms, cache_bytes, threads)?;
        let mut problem =
            Problem::new(&dual, labels, sample_weight, positive, &class_weight, eta0, tie, fit_intercept)?
                .tolerant(tolerance)?;
        if let Some(spread) = joint {
            problem = problem.joint(spread)?;
        }
        let done = online::fit(&problem, &schedule, start, &mut learner, &signals);
        grown = dual.into_norms();
        done
    })?;
    let (learnt, report) = signals.settle(done, py, keep_on_interrupt)?;
    let state = state_to_python(py, &Snapshot { state: &learnt, learner: &learner })?;
    state.del_item("coef")?;
    let norm: Vec<f64> = grown.iter().map(|norms| norms[norms.len() - 1]).collect();
    let log_norm: Vec<f64> = grown.iter().flat_map(|norms| &norms[1..]).copied().collect();
    state.set_item("norm", PyArray1::from_vec(py, norm))?;
    state.set_item("log_norm", PyArray1::from_vec(py, log_norm))?;
    let activations = record.then(|| to_matrix(py, &report.activations, [n, planes])).transpose()?;
    describe(py, &state, &report, track_mistakes.then_some(n), activations)
}

/// Kernel values (n, m) of every row with every one of the others.
#[pyfunction]
#[pyo3(signature = (rows, others, *, kernel, threads))]
fn kernel_matrix<'py>(
    rows: &Bound<'py, PyAny>,
    others: &Bound<'py, PyAny>,
    kernel: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let kernel = parse(kernel)?;
    let out = new_array::<f64>(rows.py(), [shape(rows)?.0, shape(others)?.0])?;
    {
        let mut out = out.readwrite();
        let out = out.as_slice_mut()?;
        let others = others.clone().unbind();
        with_rows(rows, |rows| {
            Python::attach(|py| {
                with_rows(others.bind(py), |others| kernel::kernel_matrix(rows, others, kernel, threads, out))
            })
        })???;
    }
    Ok(out)
}

/// Answers (n, A, K) of the vectors of a log for every row.
#[pyfunction]
#[pyo3(signature = (rows, stored_rows, state, *, kernel, answers, threads))]
#[allow(clippy::needless_pass_by_value)]
fn kernel_scores<'py>(
    rows: &Bound<'py, PyAny>,
    stored_rows: &Bound<'py, PyAny>,
    state: &Bound<'py, PyDict>,
    kernel: &Bound<'py, PyAny>,
    answers: Vec<String>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let py = rows.py();
    let kernel = parse(kernel)?;
    let ((n, _), (stored, _)) = (shape(rows)?, shape(stored_rows)?);
    let answers = answers.iter().map(|name| Answer::new(name)).collect::<Result<Vec<_>, _>>()?;
    let (start, row) = (array::<i64>("log_start", state)?, array::<i64>("log_row", state)?);
    let (step, bias) = (array::<f64>("log_step", state)?, array::<f64>("log_bias", state)?);
    let (t, counts) = (array::<i64>("log_t", state)?, array::<i64>("log_count", state)?);
    let (norms, drawn) = (array::<f64>("log_norm", state)?, array::<i64>("drawn", state)?);
    let (intercept, seen) = (array::<f64>("intercept", state)?, array::<i64>("seen", state)?);
    let log = Log::new(start.as_slice()?, row.as_slice()?, step.as_slice()?, bias.as_slice()?, stored)?;
    let (t, counts, norms, drawn) = (t.as_slice()?, counts.as_slice()?, norms.as_slice()?, drawn.as_slice()?);
    let (intercept, seen) = (intercept.as_slice()?, seen.as_slice()?);
    let out = new_array::<f64>(py, [n, answers.len() * log.planes()])?;
    let signals = Signals::new(None, false);
    let done = {
        let mut out = out.readwrite();
        let out = out.as_slice_mut()?;
        let stored_rows = stored_rows.clone().unbind();
        with_rows(rows, |rows| {
            Python::attach(|py| {
                with_rows(stored_rows.bind(py), |stored| {
                    let vectors = Vectors { stored, kernel, log, t, intercept, seen, counts, norms, drawn };
                    kernel::predict(rows, &vectors, &answers, threads, &signals, out)
                })
            })
        })??
    };
    signals.settle(done, py, false)?;
    out.reshape([n, answers.len(), log.planes()])
}

/// One divided by the number of columns and the variance of all values.
#[pyfunction]
fn scale_gamma(rows: &Bound<'_, PyAny>) -> PyResult<f64> {
    with_rows(rows, kernel::scale_gamma)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(kernel_fit, m)?)?;
    m.add_function(wrap_pyfunction!(kernel_scores, m)?)?;
    m.add_function(wrap_pyfunction!(kernel_matrix, m)?)?;
    m.add_function(wrap_pyfunction!(scale_gamma, m)?)
}
