//! Passes that are tried.

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use super::{model::PyModel, run::write_tracked};
use crate::base::{Grow, collected, gathered};
use crate::online::{self, Excerpt};
use crate::python::border::{Signals, call, copied, to_array};
use crate::python::settings::{self, Data, attr};
use crate::python::start::report;

/// A copy of a model on which passes are tried: see `perceptron_rs.mixing.rounds.Drafts`.
#[pyclass(name = "Draft", module = "perceptron_rs._core")]
pub struct PyDraft {
    model: online::Model,
}

#[pymethods]
impl PyDraft {
    #[new]
    fn new(model: &Bound<'_, PyModel>) -> PyResult<Self> {
        let (py, model) = (model.py(), model.get().cloned()?);
        let model = call(py, |signals| model.for_drafts(signals))?;
        let pending = || PyValueError::new_err("model must have no penalty that is pending");
        Ok(Self { model: model.ok_or_else(pending)? })
    }

    fn learn<'py>(
        &mut self,
        data: &Bound<'py, PyAny>,
        settings: &Bound<'py, PyAny>,
        number: u64,
    ) -> PyResult<(Bound<'py, PyAny>, PyExcerpt, Bound<'py, PyDict>)> {
        let (py, data, keep) = (data.py(), data.extract::<Data>()?, attr!(settings, "keep_on_interrupt"));
        let (settings, model) = (settings::linear(settings)?, &mut self.model);
        let done = Signals::ask(py, keep, |signals| {
            data.lend(py, |given| model.drafted(given, &settings, number, signals))
        })?;
        let tracked = PyDict::new(py);
        write_tracked(&tracked, done.passed, &settings)?;
        Ok((report(py, &done.epoch)?, PyExcerpt(done.now), tracked))
    }

    /// What passes that began with it have led to, mixed by weights of their decisions, and how many examples each
    /// has visited, (P, K). None: a number is not finite.
    fn mixed<'py>(
        &self,
        py: Python<'py>,
        passes: Vec<Bound<'py, PyExcerpt>>,
        k: Vec<PyReadonlyArray1<'py, i64>>,
    ) -> PyResult<(Option<PyExcerpt>, Bound<'py, PyArray2<i64>>)> {
        if passes.len() != k.len() {
            let text = format!("k must have {} arrays, got {}", passes.len(), k.len());
            return Err(PyValueError::new_err(text));
        }
        let mut weights = Vec::new();
        for k in &k {
            weights.try_push(copied(k)?)?;
        }
        let passes = collected(passes.iter().zip(&weights).map(|(pass, k)| (&pass.get().0, &k[..])))?;
        let mixed = call(py, |signals| self.model.mixed_drafts(&passes, signals))?;
        let visits = gathered(passes.iter().flat_map(|(pass, _)| self.model.visits(pass)))?;
        Ok((mixed.map(PyExcerpt), to_array(py, &visits, [passes.len(), self.model.seen().len()])?))
    }

    fn put(&mut self, now: &PyExcerpt) -> PyResult<()> {
        Ok(self.model.put_excerpt(&now.0)?)
    }

    fn model(&self) -> PyModel {
        PyModel::of(self.model.clone())
    }
}

/// Numbers that a pass has changed, as they would be, or that are mixed of such.
#[pyclass(name = "Excerpt", module = "perceptron_rs._core", frozen)]
pub struct PyExcerpt(Excerpt);
