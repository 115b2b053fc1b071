//! A run of a learner whose examples are judged by planes, linear or in dual form.

use std::borrow::Cow;

use numpy::PyArrayMethods;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::border::arrays::{counters, numbers, set_array, set_joined};
use super::border::choices::parse_check;
use super::border::rows::{entries, over_own_columns, shape, with_rows};
use super::border::signals::Signals;
use super::budget::{read_sets, write_sets};
use super::kernel::AskedRows;
use super::linear::model::PyModel;
use super::settings::{Data, InDualForm, Linear, OnBudget};
use super::start::{EngineRun, model_of_arrays};
use crate::error;
use crate::kernel::{Budgeted, Dual, Kernel, RowSource};
use crate::memory::{boxed, collected, filled};
use crate::online::perceptron::Perceptron;
use crate::online::pocket::Pocket;
use crate::online::voted::Voted;
use crate::online::{self, Epoch, Learner, Numbers, Prechecked, Problem, Settings, State};
use crate::rows::{Chosen, Examples, Labels};

pub(super) struct PlaneRun {
    data: Data,
    view: View,
    settings: Settings,
    found: Prechecked,
    keep_on_interrupt: bool,
    learner: Box<dyn Learner>,
    core: online::Run,
    /// Of a linear learner.
    home: Option<Home>,
}

/// As what the core sees the rows, with what it keeps of them between epochs.
enum View {
    /// As they are.
    Rows,
    Dual {
        dual: Dual,
        ask: Option<Py<PyAny>>,
    },
    Budget {
        budgeted: Budgeted,
        stored_rows: Py<PyAny>,
        width: usize,
    },
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
        let sample_weight = data.sample_weight.as_ref().map(|weights| weights.bind(py).try_readonly());
        let sample_weight = sample_weight.transpose()?;
        let sample_weight = sample_weight.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let rows = data.rows.bind(py);
        data.labels.lend(py, |labels| match self {
            Self::Rows => with_rows(rows, |rows| f(rows, labels, sample_weight)),
            Self::Dual { dual, ask } => with_rows(rows, |rows| {
                let asked = ask.as_ref().map(|ask| AskedRows { ask, signals, keep_on_interrupt });
                let source = asked.as_ref().map(|asked| asked as &dyn RowSource);
                f(&dual.rows(rows, source, signals), labels, sample_weight)
            }),
            Self::Budget { budgeted, stored_rows, .. } => with_rows(rows, |rows| {
                Python::attach(|py| {
                    with_rows(stored_rows.bind(py), |stored| {
                        f(&budgeted.rows(rows, stored, signals), labels, sample_weight)
                    })
                })
            })?,
        })
    }
}

/// Where a run puts what it has learnt.
pub(super) struct Home {
    model: online::Model,
    chosen: Option<Chosen>,
    /// What was learnt, once no decision goes on.
    last: Option<online::Model>,
}

/// A run of a linear learner.
pub(super) fn start_linear(
    data: &Bound<'_, PyAny>,
    model: &PyModel,
    settings: &Bound<'_, PyAny>,
) -> PyResult<PlaneRun> {
    let (py, mut data, given) = (data.py(), data.extract::<Data>()?, settings.extract::<Linear>()?);
    let (mut settings, check) = (given.settings()?, parse_check(&given.check)?);
    let (mut model, is_pocket) = (model.cloned(py)?, given.learner == "pocket");
    let (n, columns) = shape(data.rows.bind(py))?;
    if model.shape() != [settings.planes(), columns] {
        let needed = [settings.planes(), columns];
        let text =
            format!("coef must have the shape {needed:?} for these rows and planes, got {:?}", model.shape());
        return Err(PyValueError::new_err(text));
    }
    // Of a pocket all weights count: a vector of zeros gets all examples wrong.
    let weighted = if is_pocket {
        let signals = Signals::new();
        let columns = model.weighted_columns(&signals);
        signals.settle(columns, py, false)?
    } else {
        Vec::new()
    };
    let (view, mut chosen) = (View::Rows, None);
    if (is_pocket || model.is_local_in_epochs(&settings, n))
        && let Some((rows, places)) = over_own_columns(data.rows.bind(py), &weighted)?
    {
        (data.rows, chosen) = (rows, Some(places));
    }
    let (entries, sparse) = entries(data.rows.bind(py))?;
    settings.threads = online::worthwhile(settings.threads, entries.saturating_mul(settings.planes()));
    if sparse && !is_pocket {
        settings.threads = online::sharing(settings.threads, settings.planes());
    }
    let signals = Signals::new();
    let done = view.lend(&data, py, (&signals, false), |examples, labels, sample_weight| {
        let problem = Problem::new(examples, labels, sample_weight, &settings)?;
        let mut taken = model.take(&settings, chosen.as_ref(), &signals)?;
        let mut learner: Box<dyn Learner> = match &*given.learner {
            "pocket" => {
                boxed(Pocket::new(check, given.average, settings.fit_intercept, &taken.state, &signals)?)?
            }
            "voted" => boxed(Voted::new(settings.planes())?)?,
            _ => taken.learner()?,
        };
        let core = online::Run::start(&problem, taken.state, &mut *learner, &signals)?;
        Ok((core, learner, problem.found()))
    })?;
    if is_pocket && chosen.is_some() {
        model.clear();
    }
    let (core, learner, found) = signals.settle(done, py, false)?;
    let keep_on_interrupt = given.keep_on_interrupt;
    Ok(PlaneRun {
        data,
        view,
        settings,
        found,
        keep_on_interrupt,
        learner,
        core,
        home: Some(Home { model, chosen, last: None }),
    })
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
    let given: InDualForm = given.extract()?;
    let begin = State {
        coef: numbers("sums", state, planes, Some(n))?,
        intercept: numbers("intercept", state, planes, None)?,
        seen: counters(state, planes)?,
        ages: None,
    };
    let norms = numbers("norm", state, planes, None)?;
    // All planes share the rows of the Gram matrix; these are shared out over threads.
    let threads = std::mem::replace(&mut settings.threads, 1);
    let (kernel, cache, has_source) = (given.kernel()?, given.cache_bytes, given.ask.is_some());
    let signals = Signals::new();
    let dual = with_rows(data.rows.bind(py), |rows| {
        Dual::new(rows, kernel, has_source, &norms, cache, threads, &signals)
    })?;
    let dual = signals.settle(dual, py, false)?;
    Ok((View::Dual { dual, ask: given.ask }, begin, boxed(Voted::new(planes)?)?, settings))
}

fn start_budget(
    py: Python<'_>,
    data: &Data,
    state: &Bound<'_, PyDict>,
    given: &Bound<'_, PyAny>,
    mut settings: Settings,
) -> PyResult<Start> {
    let planes = settings.planes();
    let given: OnBudget = given.extract()?;
    let (kernel, budget) = (given.kernel()?, given.budget(settings.eta)?);
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
        coef: Vec::new(),
        intercept: filled(0.0, planes)?,
        seen: counters(state, planes)?,
        ages: None,
    };
    let threads = std::mem::replace(&mut settings.threads, 1);
    let signals = Signals::new();
    let budgeted = with_rows(data.rows.bind(py), |rows| {
        Python::attach(|py| {
            with_rows(stored_rows.bind(py), |stored| {
                Budgeted::new(rows, stored, kernel, sets, budget, width, threads, &signals)
            })
        })
    })??;
    let budgeted = signals.settle(budgeted, py, false)?;
    Ok((View::Budget { budgeted, stored_rows, width }, begin, Box::new(Perceptron), settings))
}

impl PlaneRun {
    pub fn start(
        data: &Bound<'_, PyAny>,
        state: &Bound<'_, PyDict>,
        settings: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (py, data, given) = (data.py(), data.extract()?, settings.extract::<Linear>()?);
        let keep_on_interrupt = given.keep_on_interrupt;
        let start = match &*given.learner {
            "kernel" => start_kernel(py, &data, state, settings, given.settings()?)?,
            _ => start_budget(py, &data, state, settings, given.settings()?)?,
        };
        let (view, begin, mut learner, settings) = start;
        let signals = Signals::new();
        let done = view.lend(&data, py, (&signals, false), |examples, labels, sample_weight| {
            let problem = Problem::new(examples, labels, sample_weight, &settings)?;
            Ok((online::Run::start(&problem, begin, &mut *learner, &signals)?, problem.found()))
        })?;
        let (core, found) = signals.settle(done, py, false)?;
        Ok(Self { data, view, settings, found, keep_on_interrupt, learner, core, home: None })
    }

    /// Calls `f` on the run, its problem and its learner.
    fn with_problem<R: Send>(
        &mut self,
        py: Python<'_>,
        signals: &Signals,
        f: impl FnOnce(&mut online::Run, &Problem, &mut dyn Learner) -> error::Result<R> + Send,
    ) -> PyResult<error::Result<R>> {
        let Self { data, view, settings, found, keep_on_interrupt, learner, core, .. } = self;
        view.lend(data, py, (signals, *keep_on_interrupt), |examples, labels, sample_weight| {
            let problem = Problem::again(examples, labels, sample_weight, settings, *found);
            f(core, &problem, &mut **learner)
        })
    }
}

impl EngineRun for PlaneRun {
    fn model(&mut self, py: Python<'_>) -> PyResult<PyModel> {
        let Self { home: Some(home), core, learner, settings, .. } = self else {
            return model_of_arrays(self, py);
        };
        if let Some(model) = &home.last {
            return Ok(PyModel::of(model.clone()));
        }
        let (mut model, signals, ended) = (home.model.clone(), Signals::new(), core.has_ended());
        let done = py.detach(|| {
            let state = core.state(&signals)?;
            // The last time nothing need stay here.
            let sums = if ended { learner.take_sums() } else { learner.sums(&signals)? };
            let is_averaged = sums.is_some();
            model.put(state, sums, settings, home.chosen.as_ref(), &signals)?;
            if is_averaged { Ok(()) } else { model.remember(&**learner, home.chosen.as_ref(), &signals) }
        });
        if ended && done.is_ok() {
            home.last = Some(model.clone());
        }
        signals.settle(done, py, false)?;
        Ok(PyModel::of(model))
    }

    fn put(&mut self, py: Python<'_>, model: &PyModel, note: Py<PyAny>) -> PyResult<()> {
        let Self { home: Some(home), core, learner, settings, .. } = self else {
            return Err(PyValueError::new_err("a model of arrays is not learnt in place; use state"));
        };
        let signals = Signals::new();
        let done = py.detach(|| Ok((core.state(&signals)?, learner.sums(&signals)?)));
        let (state, sums) = signals.settle(done, py, false)?;
        home.model = online::Model::zero([0, 0], false)?; // now the numbers are the model's alone
        model.put(py, note, |model| model.put(state, sums, settings, home.chosen.as_ref(), &()))
    }

    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> PyResult<error::Result<Epoch>> {
        self.with_problem(py, signals, |run, problem, learner| run.epoch(problem, learner, number, signals))
    }

    fn end(&mut self, py: Python<'_>, decision: usize, signals: &Signals) -> PyResult<error::Result<()>> {
        self.with_problem(py, signals, |run, problem, learner| run.end(problem, learner, decision, signals))
    }

    fn state(&mut self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        let (py, core) = (out.py(), &self.core);
        let signals = Signals::new();
        let done = core.counters(&signals);
        let State { intercept, seen, .. } = signals.settle(done, py, false)?;
        set_array(out, "seen", &collected(seen.iter().map(|&seen| seen as i64))?, None)?;
        match &mut self.view {
            View::Rows => return Ok(()), // its model says all
            View::Dual { dual, .. } => {
                let norms = dual.norms();
                let last = collected(norms.iter().map(|norms| norms[norms.len() - 1]))?;
                let log = collected(norms.iter().map(|norms| Cow::Borrowed(&norms[1..])))?;
                set_array(out, "intercept", &intercept, None)?;
                set_array(out, "norm", &last, None)?;
                set_joined(out, "log_norm", &log, None)?;
            }
            View::Budget { budgeted, width, .. } => write_sets(out, &budgeted.sets()?, *width)?,
        }
        write_memory(out, &*self.learner)
    }

    fn tracked(&self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        if self.settings.track_mistakes {
            let signals = Signals::new();
            let counts = self.core.mistakes_per_example(&signals);
            let (counts, decisions) = (signals.settle(counts, out.py(), false)?, self.settings.decisions());
            set_array(out, "mistakes_per_example", &counts, Some([counts.len() / decisions, decisions]))?;
        }
        if self.settings.track_activations {
            let signals = Signals::new();
            let activations = self.core.activations(&signals);
            let (activations, planes) =
                (signals.settle(activations, out.py(), false)?, self.settings.planes());
            set_array(out, "activations", &activations, Some([activations.len() / planes, planes]))?;
        }
        Ok(())
    }
}

/// The log of a kernel learner, by the names of the protocol.
fn write_memory(state: &Bound<'_, PyDict>, learner: &dyn Learner) -> PyResult<()> {
    for (name, values) in learner.memory()? {
        match values {
            Numbers::Floats(pieces) => set_joined(state, name, &pieces, None)?,
            Numbers::Integers(pieces) => set_joined(state, name, &pieces, None)?,
        }
    }
    Ok(())
}
