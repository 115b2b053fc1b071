//! A run of a kernel perceptron: a linear one in dual form.

use std::borrow::Cow;

use pyo3::{prelude::*, types::PyDict};

use super::border::{
    Done, Signals, call, call_on, call_on_both, counters, numbers, set_joined, set_vector, shape, with_rows,
};
use super::budget::{read_sets, write_sets};
use super::kernel::AskedRows;
use super::linear::run::write_tracked;
use super::settings::{self, Data, attr};
use super::start::EngineRun;
use crate::base::{boxed, collected, filled};
use crate::error;
use crate::kernel::{Budgeted, Dual, Kernel, RowSource};
use crate::online::perceptron::Perceptron;
use crate::online::voted::Voted;
use crate::online::{self, Epoch, EpochPart, Given, Learner, Numbers, Prechecked, Problem, Settings, State};
use crate::rows::{Examples, Labels, Table};

pub(super) struct KernelRun {
    data: Data,
    view: View,
    settings: Settings,
    found: Prechecked,
    keep_on_interrupt: bool,
    learner: Box<dyn Learner>,
    core: online::Run,
}

/// As what the core sees the rows, with what it keeps of them between epochs.
enum View {
    Dual { dual: Dual, ask: Option<Py<PyAny>> },
    Budget { budgeted: Budgeted, stored_rows: Py<PyAny>, width: usize },
}

impl View {
    /// Calls `f` on the examples, their labels and weights, detached from the interpreter.
    fn lend<R: Send>(
        &self,
        data: &Data,
        py: Python<'_>,
        (signals, keep_on_interrupt): (&Signals, bool),
        f: impl FnOnce(&dyn Examples, Labels<'_>, Option<&[f64]>) -> R + Send,
    ) -> PyResult<R> {
        match self {
            Self::Dual { dual, ask } => data.lend(py, |Given { rows, labels, sample_weight }| {
                let asked = ask.as_ref().map(|ask| AskedRows { ask, signals, keep_on_interrupt });
                let source = asked.as_ref().map(|asked| asked as &dyn RowSource);
                f(&dual.rows(rows, source, signals), labels, sample_weight)
            }),
            Self::Budget { budgeted, stored_rows, .. } => {
                data.lend(py, |Given { rows, labels, sample_weight }| {
                    Python::attach(|py| {
                        with_rows(stored_rows.bind(py), |stored| {
                            f(&budgeted.rows(rows, stored, signals), labels, sample_weight)
                        })
                    })
                })?
            }
        }
    }
}

/// The examples, the first state, the learner and the settings of a run.
type Start = (View, State, Box<dyn Learner>, Settings);

fn start_kernel(
    py: Python<'_>,
    data: &Data,
    state: &Bound<'_, PyDict>,
    given: &Bound<'_, PyAny>,
    mut settings: Settings,
) -> PyResult<Start> {
    let (planes, (n, _)) = (settings.planes(), shape(data.rows.bind(py))?);
    let begin = State {
        coef: Table::new(numbers("sums", state, [planes, n])?, [planes, n])?,
        intercept: numbers("intercept", state, [planes])?,
        seen: counters(state, planes)?,
        ..State::default()
    };
    let norms = numbers("norm", state, [planes])?;
    // All planes share the rows of the Gram matrix; these are shared out over threads.
    let threads = std::mem::replace(&mut settings.threads, 1);
    let (kernel, cache) = (settings::kernel(&attr!(given, "kernel"))?, attr!(given, "cache_bytes"));
    let ask: Option<Py<PyAny>> = attr!(given, "ask");
    let has_source = ask.is_some();
    let dual = call_on(data.rows.bind(py), |rows, signals| {
        Dual::new(rows, kernel, has_source, &norms, cache, threads, signals)
    })?;
    Ok((View::Dual { dual, ask }, begin, boxed(Voted::new(planes)?)?, settings))
}

fn start_budget(
    py: Python<'_>,
    data: &Data,
    state: &Bound<'_, PyDict>,
    given: &Bound<'_, PyAny>,
    mut settings: Settings,
) -> PyResult<Start> {
    let planes = settings.planes();
    let kernel = settings::kernel(&attr!(given, "kernel"))?;
    let budget = settings::budget(given, settings.eta)?;
    let Some(stored_rows) = data.stored_rows.as_ref().map(|rows| rows.clone_ref(py)) else {
        return Err(pyo3::exceptions::PyValueError::new_err(
            "stored_rows must be rows for a learner on a budget, got None",
        ));
    };
    let ((n, _), (m, _)) = (shape(data.rows.bind(py))?, shape(stored_rows.bind(py))?);
    let width = if settings.joint.is_some() { planes } else { 1 };
    let known = if kernel == Kernel::Precomputed { n } else { m };
    let sets = read_sets(state, &budget, settings.decisions(), width, known)?;
    let begin = State {
        coef: Table::zero([planes, 0]),
        intercept: filled(0.0, planes)?,
        seen: counters(state, planes)?,
        ..State::default()
    };
    let threads = std::mem::replace(&mut settings.threads, 1);
    let budgeted = call_on_both(data.rows.bind(py), stored_rows.bind(py), |rows, stored, signals| {
        Budgeted::new(rows, stored, kernel, sets, budget, width, threads, signals)
    })?;
    Ok((View::Budget { budgeted, stored_rows, width }, begin, Box::new(Perceptron), settings))
}

impl KernelRun {
    pub fn start(
        data: &Bound<'_, PyAny>,
        state: &Bound<'_, PyDict>,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (py, data, keep_on_interrupt) = (data.py(), data.extract()?, attr!(given, "keep_on_interrupt"));
        let settings = settings::linear(given)?;
        let start = if attr!(given, "learner", String) == "kernel" { start_kernel } else { start_budget };
        let (view, begin, mut learner, settings) = start(py, &data, state, given, settings)?;
        let (core, found) = Signals::ask(py, false, |signals| {
            view.lend(&data, py, (signals, false), |examples, labels, sample_weight| {
                let problem = Problem::new(examples, labels, sample_weight, &settings)?;
                Ok((online::Run::start(&problem, begin, &mut *learner, signals)?, problem.found()))
            })
        })?;
        Ok(Self { data, view, settings, found, keep_on_interrupt, learner, core })
    }

    /// Calls `f` on the run, its problem and its learner.
    fn with_problem<R: Send>(
        &mut self,
        py: Python<'_>,
        signals: &Signals,
        f: impl FnOnce(&mut online::Run, &Problem, &mut dyn Learner) -> error::Result<R> + Send,
    ) -> Done<R> {
        let Self { data, view, settings, found, keep_on_interrupt, learner, core, .. } = self;
        view.lend(data, py, (signals, *keep_on_interrupt), |examples, labels, sample_weight| {
            let problem = Problem::again(examples, labels, sample_weight, settings, *found);
            f(core, &problem, &mut **learner)
        })
    }
}

impl EngineRun for KernelRun {
    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> Done<Epoch> {
        self.with_problem(py, signals, |run, problem, learner| run.epoch(problem, learner, number, signals))
    }

    fn part(&mut self, py: Python<'_>, number: u64, losses: &[f64], signals: &Signals) -> Done<EpochPart> {
        self.with_problem(py, signals, |run, problem, learner| {
            run.part(problem, learner, number, losses, signals)
        })
    }

    fn end(&mut self, py: Python<'_>, decision: usize, signals: &Signals) -> Done<()> {
        self.with_problem(py, signals, |run, problem, learner| run.end(problem, learner, decision, signals))
    }

    fn state(&mut self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        let (py, core) = (out.py(), &self.core);
        let State { intercept, seen, .. } = call(py, |signals| core.counters(signals))?;
        set_vector(out, "seen", &collected(seen.iter().map(|&seen| seen as i64))?)?;
        match &mut self.view {
            View::Dual { dual, .. } => {
                let norms = dual.norms();
                let last = collected(norms.iter().map(|norms| norms[norms.len() - 1]))?;
                let log = collected(norms.iter().map(|norms| Cow::Borrowed(&norms[1..])))?;
                set_vector(out, "intercept", &intercept)?;
                set_vector(out, "norm", &last)?;
                set_joined(out, "log_norm", &log)?;
            }
            View::Budget { budgeted, width, .. } => write_sets(out, &budgeted.sets()?, *width)?,
        }
        // The log, by the names of the protocol.
        self.learner.memory()?.into_iter().try_for_each(|(name, values)| match values {
            Numbers::Weights(pieces) | Numbers::Floats(pieces) => set_joined(out, name, &pieces),
            Numbers::Integers(pieces) => set_joined(out, name, &pieces),
        })
    }

    fn tracked(&mut self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        let tracked = call(out.py(), |signals| self.core.tracked(&self.settings, signals))?;
        write_tracked(out, tracked, &self.settings)
    }
}
