//! A run of a linear learner.

use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use super::model::PyModel;
use crate::base::choice;
use crate::online::{Epoch, EpochPart, LEARNERS, Learnt, ModelRun, Passed, Settings};
use crate::python::border::{Done, Signals, call};
use crate::python::settings::{self, Data, attr};
use crate::python::start::EngineRun;

pub struct LinearRun {
    data: Data,
    run: ModelRun,
    /// What was tracked until the end, by name.
    tracked: Option<Py<PyDict>>,
}

impl LinearRun {
    pub fn start(data: &Bound<'_, PyAny>, model: &PyModel, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (py, data, learner) = (data.py(), data.extract::<Data>()?, attr!(given, "learner", String));
        let (settings, model) = (settings::linear(given)?, model.cloned()?);
        if !std::ptr::eq(choice("learner", &learner, &LEARNERS)?, model.kind()) {
            let text = format!("learner must be that of the model, got '{learner}'");
            return Err(PyValueError::new_err(text));
        }
        let run = Signals::ask(py, false, |signals| {
            data.lend(py, |given| ModelRun::start(model, given, settings, signals))
        })?;
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

    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> Done<Epoch> {
        self.data.lend(py, |given| self.run.epoch(given, number, signals))
    }

    fn part(&mut self, py: Python<'_>, number: u64, losses: &[f64], signals: &Signals) -> Done<EpochPart> {
        self.data.lend(py, |given| self.run.part(given, number, losses, signals))
    }

    fn end(&mut self, py: Python<'_>, decision: usize, signals: &Signals) -> Done<()> {
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
