//! A run of a linear learner.

use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use super::model::PyModel;
use crate::base::choice;
use crate::error;
use crate::online::{Epoch, EpochPart, LEARNERS, Learnt, ModelRun, Passed, Settings};
use crate::python::border::{Signals, call};
use crate::python::settings::{Data, Linear};
use crate::python::start::EngineRun;

pub struct LinearRun {
    data: Data,
    run: ModelRun,
    /// What was tracked until the end, by name.
    tracked: Option<Py<PyDict>>,
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
        let run = data.lend(py, |given| ModelRun::start(model, given, settings, &signals))?;
        let run = signals.settle(run, py, false)?;
        Ok(Self { data, run, tracked: None })
    }
}

impl EngineRun for LinearRun {
    fn model(&mut self, py: Python<'_>) -> PyResult<PyModel> {
        Ok(PyModel::of(call(py, |signals| self.run.model(signals))?))
    }

    fn go_on_with(&mut self, data: &Bound<'_, PyAny>, seed: Option<u64>) -> PyResult<()> {
        let (py, data) = (data.py(), data.extract::<Data>()?);
        if data.rows.is(&self.data.rows) {
            return Ok(self.run.set_seed(seed)?);
        }
        data.lend(py, |given| self.run.go_on_with(given, seed))??;
        self.data = data;
        Ok(())
    }

    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> PyResult<error::Result<Epoch>> {
        self.data.lend(py, |given| self.run.epoch(given, number, signals))
    }

    fn part(
        &mut self,
        py: Python<'_>,
        number: u64,
        losses: &[f64],
        signals: &Signals,
    ) -> PyResult<error::Result<EpochPart>> {
        self.data.lend(py, |given| self.run.part(given, number, losses, signals))
    }

    fn end(&mut self, py: Python<'_>, decision: usize, signals: &Signals) -> PyResult<error::Result<()>> {
        self.data.lend(py, |given| self.run.end(given, decision, signals))
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<Learnt> {
        call(py, |signals| self.run.finish(signals))
    }

    fn tracked(&mut self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        if let Some(tracked) = &self.tracked {
            return out.update(tracked.bind(out.py()).as_mapping());
        }
        let passed = call(out.py(), |signals| self.run.tracked(signals))?;
        write_tracked(out, passed, self.run.settings())?;
        if self.run.has_ended() {
            self.tracked = Some(out.copy()?.unbind());
        }
        Ok(())
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
