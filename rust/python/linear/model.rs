//! The model that an estimator holds: what it has learnt, shown as arrays; of planes, learnt from in place.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyAttributeError, PyKeyError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::rule::{PyPass, PyRule, vector_of, weights_of};
use super::views::{c_ordered, clean, floats, frozen, table, view};
use crate::base::{Grow, choice, collected, filled};
use crate::error;
use crate::online::{self, Form, Hyperplanes, Kind, LEARNERS, Memory, Part, Share, Strengths};
use crate::python::arrays_by_name::Named;
use crate::python::border::{
    Signals, Source, call, copied, counters, filled_by, get, numbers, shape, to_array, to_vector, written,
};
use crate::python::start::PyRun;
use crate::rows::{Arranged, Labels, Matrix};

/// Products of a value and a weight in a pass that holds the interpreter and does not ask for signals.
const SHORT: usize = 1 << 12;

/// What a learner has learnt, and the only one that writes to it.
#[pyclass(name = "Model", frozen, mapping, module = "perceptron_rs._core")]
pub struct PyModel {
    /// Held in `locked` alone.
    inner: Mutex<Inner>,
}

/// Columns, and the numbers of weights in them.
type Used<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<f64>>);

/// Calls `work` on rows and what predicts; on few of them holding the interpreter.
fn over_answer<R: Send>(
    rows: &Bound<'_, PyAny>,
    model: &online::Model,
    work: impl FnOnce(&dyn Matrix, Arranged, &[f64], &Signals) -> error::Result<R> + Send,
) -> PyResult<R> {
    let (py, rows) = (rows.py(), Source::of(rows)?);
    let is_long = rows.size(py)?.0.saturating_mul(model.shape()[0]) > SHORT;
    Signals::ask(py, false, |signals| {
        rows.read(py, is_long, |rows| {
            model.with_answer(rows, signals, |rows, coef, intercept| work(rows, coef, intercept, signals))
        })
    })
}

#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly all models are of planes")]
enum Content {
    Planes(online::Model),
    Arrays(Named),
}

impl Content {
    fn planes(&mut self) -> PyResult<&mut online::Model> {
        match self {
            Self::Planes(model) => Ok(model),
            Self::Arrays(_) => Err(no_planes()),
        }
    }
}

#[derive(Clone)]
struct Inner {
    content: Content,
    /// What the last pass did, if the model has learnt in one.
    last_pass: Option<PyPass>,
}

/// Learners of which no pass learns in place.
const OF_ARRAYS: [&str; 5] = ["budget", "chain", "kernel", "network", "structured"];

impl PyModel {
    pub fn of(model: online::Model) -> Self {
        Self { inner: Mutex::new(Inner { content: Content::Planes(model), last_pass: None }) }
    }

    pub fn of_arrays(arrays: Named) -> Self {
        Self { inner: Mutex::new(Inner { content: Content::Arrays(arrays), last_pass: None }) }
    }

    /// Calls `f` under the lock.
    ///
    /// Nothing of Python runs meanwhile: what it would call, such as a signal handler or a finaliser, may read
    /// this model, and so wait for its own thread. `f` can hold nothing that is bound to the interpreter, as
    /// that is not `Send`; what it replaces it returns, to be dropped when the lock is free.
    fn locked<R>(&self, f: impl FnOnce(&mut Inner) -> R + Send) -> R {
        f(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What has been learnt, for rows of as many columns.
    fn suiting(&self, rows: &Bound<'_, PyAny>) -> PyResult<online::Model> {
        let ((_, columns), model) = (shape(rows)?, self.cloned()?);
        let [_, own] = model.shape();
        if columns != own {
            return Err(PyValueError::new_err(format!("rows must have {own} columns, got {columns}")));
        }
        Ok(model)
    }

    fn content(&self) -> Content {
        self.locked(|inner| inner.content.clone())
    }

    pub fn cloned(&self) -> PyResult<online::Model> {
        Ok(self.content().planes()?.clone())
    }

    /// Whether this is the model of an estimator with these attributes, and nobody has a turn.
    fn is_of(
        &self,
        py: Python<'_>,
        owner: Option<&Py<PyDict>>,
        turns: Option<&Py<PyList>>,
    ) -> PyResult<bool> {
        if turns.is_some_and(|turns| !turns.bind(py).is_empty()) {
            return Ok(false);
        }
        let Some(owner) = owner else { return Ok(true) };
        let Some(learnt) = owner.bind(py).get_item(intern!(py, "_learnt"))? else { return Ok(false) };
        let model = learnt.getattr(intern!(py, "model"))?; // of a dataclass: no code of Python runs
        Ok(model.cast::<Self>().is_ok_and(|model| std::ptr::eq(model.get(), self)))
    }

    /// Weights and intercepts that predict.
    fn answer(&self, py: Python<'_>) -> PyResult<Hyperplanes> {
        let model = self.cloned()?;
        call(py, |signals| model.answer(signals))
    }
}

#[pymethods]
impl PyModel {
    /// Weights of zeros, which take no memory.
    #[new]
    fn new(learner: &str, planes: usize, columns: usize) -> PyResult<Self> {
        let kind = choice("learner", learner, &LEARNERS)?;
        Ok(Self::of(online::Model::zero(kind, [planes, columns])?))
    }

    /// Of the arrays of a state: of copies, but for those that a model has given out.
    #[staticmethod]
    fn from_state(learner: &str, state: &Bound<'_, PyDict>) -> PyResult<Self> {
        if OF_ARRAYS.contains(&learner) {
            return Ok(Self::of_arrays(Named::of(state)?));
        }
        let (kind, array) = (choice("learner", learner, &LEARNERS)?, get("coef", state)?);
        let array = array.cast::<PyUntypedArray>()?;
        let [planes, columns] = *array.shape() else {
            return Err(PyValueError::new_err(format!(
                "coef must have 2 axes, got shape {:?}",
                array.shape()
            )));
        };
        let (shape, py) = ([planes, columns], state.py());
        let vector = |name| clean(py, name, numbers(name, state, [planes])?);
        let sums =
            if kind.has_sums { Some((table("coef_u", state, shape)?, vector("intercept_u")?)) } else { None };
        let (intercept, seen) = (vector("intercept")?, counters(state, planes)?);
        let mut model = online::Model::of(kind, table("coef", state, shape)?, intercept, seen, sums);
        if state.contains("ages")? || state.contains("strengths")? {
            let [eta, l1, l2] = <[f64; 3]>::try_from(vector_of::<f64>(&get("strengths", state)?)?)
                .map_err(|_| PyValueError::new_err("strengths must be eta0, l1 and l2"))?;
            let ages: Vec<i64> = numbers("ages", state, shape)?;
            call(state.py(), |_| model.put_under(Strengths { eta, l1, l2 }, &ages))?;
        }
        // A cold start has none of it.
        if let Some((name, _)) = kind.memory.last()
            && state.contains(name)?
        {
            model = model.with_memory(memory(kind, state, shape)?);
        }
        Ok(Self::of(model))
    }

    /// All that it takes to go on, as arrays that nobody writes to: of all columns, or of some.
    #[pyo3(signature = (columns=None))]
    pub fn state<'py>(
        &self,
        py: Python<'py>,
        columns: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let model = match self.content() {
            Content::Arrays(_) if columns.is_some() => return Err(no_planes()),
            Content::Arrays(arrays) => return arrays.state(py),
            Content::Planes(model) => model,
        };
        let columns = columns.map(|columns| columns_of(columns, model.shape()[1])).transpose()?;
        let (state, pending) = (PyDict::new(py), model.pending());
        for name in model.names() {
            let mut part = match pending {
                Some((coef, _)) if name == "coef" => Part::Weights(coef.clone()),
                _ => part(py, &model, name)?,
            };
            if let (Part::Weights(table), Some(columns)) = (&mut part, &columns) {
                *table = call(py, |signals| table.of_columns(columns, signals))?;
            }
            state.set_item(name, shown(py, part)?)?;
        }
        if let Some((_, Strengths { eta, l1, l2 })) = pending {
            let [planes, all] = model.shape();
            let some = columns.as_deref();
            let shape = [planes, some.map_or(all, <[usize]>::len)];
            let ages = filled_by(py, shape, |out, signals| model.write_ages(some, signals, out))?;
            state.set_item("ages", frozen(ages))?;
            state.set_item("strengths", floats(py, &[eta, l1, l2])?)?;
        }
        Ok(state)
    }

    /// The numbers of the columns in which anything has been learnt; they rise.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let model = self.cloned()?;
        let columns = call(py, |signals| model.columns(signals))?;
        to_vector(py, &collected(columns.into_iter().map(|column| column as i64))?)
    }

    /// The columns in which weights of that name, or those that predict, have anything, and their numbers.
    fn used<'py>(&self, py: Python<'py>, name: Option<&str>) -> PyResult<Used<'py>> {
        let part = match name {
            None => Part::Weights(self.answer(py)?.0),
            Some(name) => part(py, &self.cloned()?, name)?,
        };
        let Part::Weights(table) = part else { return Err(no_planes()) };
        let (columns, few) = call(py, |signals| {
            let columns = table.weighted_columns(signals)?;
            let few = table.of_columns(&columns, signals)?;
            Ok((columns, few))
        })?;
        let few = view(py, few)?;
        Ok((to_vector(py, &collected(columns.into_iter().map(|column| column as i64))?)?, few))
    }

    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match self.content() {
            Content::Planes(model) => PyList::new(py, model.names()),
            Content::Arrays(arrays) => Ok(arrays.names(py)),
        }
    }

    fn __contains__(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.keys(py)?.contains(name)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.content() {
            Content::Planes(model) => shown(py, part(py, &model, name)?),
            Content::Arrays(arrays) => arrays.get(py, name),
        }
    }

    /// Weights that predict.
    #[getter]
    fn coef<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        view(py, self.answer(py)?.0)
    }

    /// Intercepts that predict.
    #[getter]
    fn intercept<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        floats(py, &self.answer(py)?.1)
    }

    /// What the last pass did; `None`: the model comes from a run, or from a state.
    #[getter]
    fn last_pass(&self) -> Option<PyPass> {
        self.locked(|inner| inner.last_pass.clone())
    }

    #[getter]
    fn shape(&self) -> PyResult<(usize, usize)> {
        let [planes, columns] = self.cloned()?.shape();
        Ok((planes, columns))
    }

    #[getter]
    fn is_zero(&self, py: Python<'_>) -> PyResult<bool> {
        match self.content() {
            Content::Planes(model) => Ok(model.is_zero()),
            Content::Arrays(arrays) => arrays.is_zero(py),
        }
    }

    /// The same, which learns on its own from here on; without `last_pass`, it is None. Arrays by name never change.
    #[pyo3(signature = (*, last_pass=true))]
    fn copy(slf: &Bound<'_, Self>, last_pass: bool) -> PyResult<Py<Self>> {
        let mut inner = slf.get().locked(|inner| inner.clone());
        if let Content::Arrays(_) = inner.content {
            return Ok(slf.clone().unbind());
        }
        inner.last_pass = inner.last_pass.filter(|_| last_pass);
        Py::new(slf.py(), Self { inner: Mutex::new(inner) })
    }

    /// Take over some planes of another one of the same run. False: its learner keeps more than their numbers.
    fn take_planes(&self, py: Python<'_>, other: &Self, planes: Vec<usize>) -> PyResult<bool> {
        let Content::Planes(other) = other.content() else { return Ok(false) };
        call(py, |_| {
            self.locked(|inner| match &mut inner.content {
                Content::Planes(own) => own.take_planes(&other, &planes, &()),
                Content::Arrays(_) => Ok(false),
            })
        })
    }

    /// The same among all columns: its own are those of a packed state; None: a penalty is pending.
    fn spread(&self, columns: &Bound<'_, PyAny>, n_columns: usize) -> PyResult<Option<Self>> {
        let Content::Planes(model) = self.content() else { return Ok(None) };
        let (py, columns) = (columns.py(), columns_of(columns, n_columns)?);
        Ok(call(py, |signals| model.spread(&columns, n_columns, signals))?.map(Self::of))
    }

    /// What runs that began with it have led to, mixed by weights of their decisions, and how many examples each
    /// has visited, (P, K). None: a number is not finite.
    fn mixed<'py>(
        &self,
        py: Python<'py>,
        runs: Vec<Bound<'py, PyRun>>,
        k: Vec<PyReadonlyArray1<'py, i64>>,
    ) -> PyResult<(Option<Self>, Bound<'py, PyArray2<i64>>)> {
        if runs.len() != k.len() {
            return Err(PyValueError::new_err(format!("k must have {} arrays, got {}", runs.len(), k.len())));
        }
        let (model, mut shares, mut visits) = (self.cloned()?, Vec::new(), Vec::new());
        for (run, k) in runs.iter().zip(k) {
            let learnt = run.try_borrow_mut()?.work.finish(py)?;
            visits.try_extend(learnt.visits(&model))?;
            shares.try_push(Share { learnt, k: copied(&k)? })?;
        }
        let mixed = call(py, |signals| model.mixed(&shares, signals))?.map(Self::of);
        Ok((mixed, to_array(py, &visits, [shares.len(), model.seen().len()])?))
    }

    /// Activations (n, K) under what predicts.
    #[pyo3(signature = (rows, *, threads))]
    fn scores<'py>(&self, rows: &Bound<'py, PyAny>, threads: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.suiting(rows)?;
        written(rows.py(), [shape(rows)?.0, model.shape()[0]], |out| {
            over_answer(rows, &model, |rows, coef, intercept, signals| {
                online::scores(rows, coef, intercept, threads, signals, out)
            })
        })
    }

    /// Of each row, the plane with the first largest of these; None if not all are finite.
    #[pyo3(signature = (rows, *, threads))]
    fn first_largest<'py>(
        &self,
        rows: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        let model = self.suiting(rows)?;
        let mut out = filled(0, shape(rows)?.0)?;
        let finite = over_answer(rows, &model, |rows, coef, intercept, signals| {
            online::first_largest(rows, coef, intercept, threads, signals, &mut out)
        })?;
        if finite { Ok(Some(to_vector(rows.py(), &out)?)) } else { Ok(None) }
    }

    /// Learn from the rows in their order: see `perceptron_rs.engines.Model`. After an error or Ctrl-C nothing has
    /// changed.
    #[pyo3(signature = (rule, rows, y, sample_weight=None, owner=None, turns=None, *, encoded=false,
                        track_activations=false, note=None))]
    fn learn(
        &self,
        rule: &Bound<'_, PyRule>,
        rows: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
        owner: Option<Py<PyDict>>,
        turns: Option<Py<PyList>>,
        encoded: bool,
        track_activations: bool,
        note: Option<Py<PyAny>>,
    ) -> PyResult<bool> {
        let (py, given) = (rows.py(), Source::given(rows)?);
        let rows = given.as_ref().map_or_else(|| Source::of(rows), Ok)?;
        let (rule, planes) = (rule.get(), rule.get().settings.planes());
        let (entries, len) = rows.size(py)?;
        let products = entries.saturating_add(len).saturating_mul(planes);
        let long = products > SHORT;
        if long && turns.is_some() {
            return Ok(false);
        }
        let (labels, width) = if encoded { encoded_labels(y)? } else { (rule.labels(y)?, None) };
        let labels_of = |words| width.map_or(Labels::Classes(words), |width| Labels::Sets(words, width));
        let weights = sample_weight.map(weights_of).transpose()?;
        let settings = rule.settings_for(products, rows.is_sparse(), track_activations);
        let note = note.map(Arc::new);
        let is_current = |py: Python<'_>| self.is_of(py, owner.as_ref(), turns.as_ref());
        if long {
            py.check_signals()?;
            if !is_current(py)? {
                return Ok(false);
            }
        }
        let learn = |rows: &dyn Matrix| {
            // No code of Python runs from here on.
            if !long && !Python::attach(is_current)? {
                return Ok(None);
            }
            self.locked(|inner| {
                let model = inner.content.planes()?;
                if long && !model.learns_in_place(rows, &settings) {
                    return Ok(None);
                }
                let passed = model.learn(rows, labels_of(&labels), weights.as_deref(), &settings, &())?;
                PyResult::Ok(Some(inner.last_pass.replace(PyPass::of(passed, planes, &note))))
            })
        };
        let has_learnt = rows.read(py, long, learn)??.is_some();
        if !long {
            return Ok(has_learnt);
        }
        if has_learnt {
            return is_current(py);
        }
        let model = self.cloned()?;
        let mut learnt = Signals::ask(py, false, |signals| {
            rows.read(py, true, |rows| {
                model.learnt(rows, labels_of(&labels), weights.as_deref(), &settings, signals)
            })
        })?;
        let last_pass = PyPass::of(learnt.passed(), planes, &note);
        drop((model, labels, weights)); // which takes its time, too
        py.check_signals()?; // for the last time: from here on the pass counts
        if !is_current(py)? {
            return Ok(false);
        }
        let _replaced = self.locked(|inner| {
            inner.content.planes()?.put_in(learnt, &())?;
            PyResult::Ok(inner.last_pass.replace(last_pass.clone()))
        })?;
        Ok(true)
    }
}

/// Labels as an engine has them: classes, or words of bits, of which each row has so many.
fn encoded_labels(y: &Bound<'_, PyAny>) -> PyResult<(Vec<u32>, Option<usize>)> {
    let Ok(sets) = y.cast::<PyArray2<u32>>() else { return Ok((vector_of(y)?, None)) };
    let sets = sets.try_readonly()?;
    if sets.shape()[1] == 0 {
        return Err(PyValueError::new_err("labels must have a word of bits or more, got none"));
    }
    Ok((collected(sets.as_array().iter().copied())?, Some(sets.shape()[1])))
}

/// What a state says of the memory of a learner.
fn memory(kind: &Kind, state: &Bound<'_, PyDict>, shape: [usize; 2]) -> PyResult<Memory> {
    let mut memory = Memory::default();
    for (name, form) in kind.memory {
        let part = match form {
            Form::Weights => Part::Weights(table(name, state, shape)?),
            Form::Floats => Part::Floats(Arc::new(vector_of(&get(name, state)?)?)),
            Form::Integers => Part::Integers(Arc::new(vector_of(&get(name, state)?)?)),
        };
        memory.parts.try_push((*name, part))?;
    }
    Ok(memory)
}

/// Numbers of planes by name.
fn part(py: Python<'_>, model: &online::Model, name: &str) -> PyResult<Part> {
    let part = call(py, |signals| model.part(name, signals))?;
    part.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}

/// The same as an array that nobody writes to.
fn shown(py: Python<'_>, part: Part) -> PyResult<Bound<'_, PyAny>> {
    Ok(match part {
        Part::Weights(table) => c_ordered(py, table)?.into_any(),
        Part::Floats(values) => floats(py, &values)?.into_any(),
        Part::Integers(values) => frozen(to_vector(py, &values)?).into_any(),
    })
}

/// The numbers of some columns of a model.
fn columns_of(columns: &Bound<'_, PyAny>, all: usize) -> PyResult<Vec<usize>> {
    let found = vector_of::<i64>(columns)?;
    if let Some(column) = found.iter().find(|column| !(0..all as i64).contains(*column)) {
        return Err(PyValueError::new_err(format!(
            "columns must be at least 0 and below {all}, got {column}"
        )));
    }
    Ok(collected(found.into_iter().map(|column| column as usize))?)
}

fn no_planes() -> PyErr {
    PyAttributeError::new_err("a model of this learner has arrays by name alone; ask for its state")
}
