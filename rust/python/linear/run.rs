//! A run of a linear learner, and the model that it went on from.

use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::model::PyModel;
use crate::error::{self, Error, choice};
use crate::memory::Grow;
use crate::online::{self, Epoch, EpochPart, Given, LEARNERS, Learnt, Passed, Settings, Training};
use crate::python::border::call::call;
use crate::python::border::signals::Signals;
use crate::python::settings::{Data, Linear};
use crate::python::start::EngineRun;

pub struct LinearRun {
    data: Data,
    settings: Settings,
    /// The examples are a part of those that follow.
    in_parts: bool,
    /// What the run went on from; once it has ended, what it has learnt.
    model: online::Model,
    /// `None`: its numbers have been given out, or an error has ended it.
    training: Option<Training>,
    /// No decision goes on, and the model has the numbers.
    has_ended: bool,
    /// What was tracked until then, by name.
    tracked: Option<Py<PyDict>>,
    /// The decisions that have ended.
    ended: Vec<usize>,
}

impl LinearRun {
    pub fn start(data: &Bound<'_, PyAny>, model: &PyModel, settings: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (py, data, given) = (data.py(), data.extract::<Data>()?, settings.extract::<Linear>()?);
        let (settings, model) = (given.settings()?, model.cloned()?);
        if !std::ptr::eq(choice("learner", &given.learner, &LEARNERS)?, model.kind()) {
            let text = format!("learner must be that of the model, got '{}'", given.learner);
            return Err(PyValueError::new_err(text));
        }
        let signals = Signals::new();
        let start = |given: Given| Training::start(&model, given, settings.clone(), false, &signals);
        let training = data.lend(py, start)?;
        let training = Some(signals.settle(training, py, false)?);
        let (in_parts, has_ended, tracked, ended) = (false, false, None, Vec::new());
        Ok(Self { data, settings, in_parts, model, training, has_ended, tracked, ended })
    }

    /// Calls `f` on the training with its examples.
    fn with<R: Send>(
        &mut self,
        py: Python<'_>,
        f: impl FnOnce(&mut Training, Given) -> error::Result<R> + Send,
    ) -> PyResult<error::Result<R>> {
        let training = &mut self.training;
        self.data.lend(py, |given| f(training.as_mut().ok_or_else(is_over)?, given))
    }

    /// What has been learnt so far; or all of it, if nothing is to be learnt afterwards.
    fn learnt(&mut self, py: Python<'_>, finish: bool) -> PyResult<Learnt> {
        call(py, |signals| {
            if !finish {
                return self.training.as_ref().ok_or_else(is_over)?.learnt(signals);
            }
            self.training.take().ok_or_else(is_over)?.finish(signals)
        })
    }
}

fn is_over() -> Error {
    Error::Invalid("a run learns no more once its numbers have been given out, or after an error".into())
}

impl EngineRun for LinearRun {
    fn model(&mut self, py: Python<'_>) -> PyResult<PyModel> {
        if self.has_ended {
            return Ok(PyModel::of(self.model.clone()));
        }
        let has_ended = self.training.as_ref().is_some_and(Training::has_ended);
        let mut learnt = self.learnt(py, has_ended)?;
        if has_ended {
            let tracked = self.tracked.insert(PyDict::new(py).unbind());
            write_tracked(tracked.bind(py), learnt.passed(), &self.settings)?;
            // Where nobody else has its numbers, none is copied.
            call(py, |signals| self.model.put_in(learnt, signals))?;
            self.has_ended = true;
            return Ok(PyModel::of(self.model.clone()));
        }
        let mut model = self.model.clone();
        call(py, |signals| model.put_in(learnt, signals))?;
        Ok(PyModel::of(model))
    }

    fn go_on_with(&mut self, data: &Bound<'_, PyAny>, seed: Option<u64>) -> PyResult<()> {
        let (py, data) = (data.py(), data.extract::<Data>()?);
        let Self { settings, in_parts, model, training, ended, .. } = self;
        if !model.kind().has_parts {
            return Err(PyValueError::new_err("a run of this learner has no parts; start another one"));
        }
        settings.seed = seed;
        if data.rows.is(&self.data.rows) {
            training.as_mut().ok_or_else(is_over)?.set_seed(seed);
            return Ok(());
        }
        // Without a look at signals: from here on the run is of these examples.
        data.lend(py, |given| {
            if training.as_mut().ok_or_else(is_over)?.go_on_with(given, seed, &())? {
                return error::Result::Ok(());
            }
            let learnt = training.take().ok_or_else(is_over)?.finish(&())?;
            model.put_in(learnt, &())?;
            *in_parts = ended.is_empty();
            let training = training.insert(Training::start(model, given, settings.clone(), *in_parts, &())?);
            if training.is_whole() {
                // Or it would learn in a copy.
                *model = online::Model::zero(model.kind(), model.shape())?;
            }
            ended.iter().try_for_each(|decision| training.end(given, *decision, &()))
        })??;
        self.data = data;
        Ok(())
    }

    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> PyResult<error::Result<Epoch>> {
        if self.has_ended {
            return Ok(Epoch::of_none(self.settings.decisions()));
        }
        self.with(py, |training, given| training.epoch(given, number, signals))
    }

    fn part(
        &mut self,
        py: Python<'_>,
        number: u64,
        losses: &[f64],
        signals: &Signals,
    ) -> PyResult<error::Result<EpochPart>> {
        self.with(py, |training, given| training.part(given, number, losses, signals))
    }

    fn end(&mut self, py: Python<'_>, decision: usize, signals: &Signals) -> PyResult<error::Result<()>> {
        if self.has_ended {
            return Ok(Ok(()));
        }
        self.ended.try_push(decision)?;
        self.with(py, |training, given| training.end(given, decision, signals))
    }

    fn tracked(&self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        if let Some(tracked) = &self.tracked {
            return out.update(tracked.bind(out.py()).as_mapping());
        }
        let training = self.training.as_ref().ok_or_else(is_over)?;
        write_tracked(out, call(out.py(), |signals| training.tracked(signals))?, &self.settings)
    }
}

/// Writes what a run has tracked, by the names of the protocol.
pub fn write_tracked(out: &Bound<'_, PyDict>, tracked: Passed, settings: &Settings) -> PyResult<()> {
    fn set<T: Element>(out: &Bound<'_, PyDict>, name: &str, values: Vec<T>, width: usize) -> PyResult<()> {
        let rows = values.len() / width;
        out.set_item(name, PyArray1::from_vec(out.py(), values).reshape([rows, width])?)
    }
    if let Some(counts) = tracked.mistakes_per_example {
        set(out, "mistakes_per_example", counts, settings.decisions())?;
    }
    if settings.track_activations {
        set(out, "activations", tracked.activations, settings.planes())?;
    }
    Ok(())
}
