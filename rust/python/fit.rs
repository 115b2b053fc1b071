//! A fit: its arguments as a problem and a schedule, its report as a dict.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::arrays::{ages, counters, numbers, pairs, to_matrix};
use super::choices::{parse_check, parse_joint, parse_tie};
use super::memory::{Memory, state_to_python};
use super::rows::{shape, with_rows};
use super::signals::Signals;
use crate::online::{self, Penalty, Problem, Report, Schedule, Shuffle, Snapshot, State};
use crate::rows::Tolerance;

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
            Some(ages(state, planes, columns)?)
        } else {
            None
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

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(fit, m)?)
}
