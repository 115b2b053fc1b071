//! Where a run begins, whatever its learner: data, state and settings are read once, and the arrays of the
//! data are borrowed during each call.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::arrays_by_name::Named;
use super::border::arrays::to_vector;
use super::border::signals::Signals;
use super::linear::model::PyModel;
use super::mlp::Layers;
use super::run::{PlaneRun, start_linear};
use super::structured::Sequenced;
use crate::error;
use crate::online::Epoch;

/// What runs: planes, a chain or a network.
pub(super) trait EngineRun: Send + Sync {
    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> PyResult<error::Result<Epoch>>;

    fn end(&mut self, py: Python<'_>, decision: usize, signals: &Signals) -> PyResult<error::Result<()>>;

    /// What has been learnt so far.
    fn model(&mut self, py: Python<'_>) -> PyResult<PyModel> {
        model_of_arrays(self, py)
    }

    /// Puts what has been learnt into the model that the run began with; `note` is kept with it.
    fn put(&mut self, _py: Python<'_>, _model: &PyModel, _note: Py<PyAny>) -> PyResult<()> {
        Err(PyValueError::new_err("a model of arrays is not learnt in place; use state"))
    }

    /// Writes a copy of all that has been learnt, where no model of planes says it.
    fn state(&mut self, out: &Bound<'_, PyDict>) -> PyResult<()>;

    /// Writes what the settings track.
    fn tracked(&self, out: &Bound<'_, PyDict>) -> PyResult<()>;
}

/// What a run has learnt so far, by the names of its state.
pub(super) fn model_of_arrays(work: &mut (impl EngineRun + ?Sized), py: Python<'_>) -> PyResult<PyModel> {
    let out = PyDict::new(py);
    work.state(&out)?;
    Ok(PyModel::of_arrays(Named::of_new(out)?))
}

/// A learner at work.
#[pyclass(name = "Run", module = "perceptron_rs._core")]
pub struct PyRun {
    work: Box<dyn EngineRun>,
    keep_on_interrupt: bool,
    model: Py<PyModel>,
}

/// Begin a run of the learner of these settings with what a model has learnt, which is not modified.
#[pyfunction]
fn start(
    data: &Bound<'_, PyAny>,
    model: &Bound<'_, PyModel>,
    settings: &Bound<'_, PyAny>,
) -> PyResult<PyRun> {
    let learner: String = settings.getattr("learner")?.extract()?;
    let keep_on_interrupt = settings.getattr("keep_on_interrupt")?.extract()?;
    let state = || model.get().state(data.py());
    let work: Box<dyn EngineRun> = match &*learner {
        "perceptron" | "averaged" | "pocket" | "voted" => {
            Box::new(start_linear(data, model.get(), settings)?)
        }
        "chain" => Box::new(Sequenced::start(data, &state()?, settings)?),
        "network" => Box::new(Layers::start(data, &state()?, settings)?),
        _ => Box::new(PlaneRun::start(data, &state()?, settings)?),
    };
    Ok(PyRun { work, keep_on_interrupt, model: model.clone().unbind() })
}

#[pymethods]
impl PyRun {
    /// Visit all examples once, in the order of the epoch of this number, for decisions that go on.
    fn epoch<'py>(&mut self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyAny>> {
        static EPOCH: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let signals = Signals::new();
        let done = self.work.epoch(py, number, &signals)?;
        let epoch = signals.settle(done, py, self.keep_on_interrupt)?;
        let mistakes = to_vector(py, &epoch.mistakes)?;
        let losses = to_vector(py, &epoch.losses)?;
        let objectives = to_vector(py, &epoch.objectives)?;
        let class = EPOCH.import(py, "perceptron_rs.settings", "Epoch")?;
        // As `Epoch(...)` does, but without Python code, in which Ctrl-C could be raised: the epoch is
        // learnt.
        py.get_type::<PyTuple>()
            .call_method1("__new__", (class, (mistakes, losses, objectives, epoch.interrupted)))
    }

    /// Say that a decision goes on no more.
    fn end(&mut self, py: Python<'_>, decision: usize) -> PyResult<()> {
        let signals = Signals::new();
        let done = self.work.end(py, decision, &signals)?;
        signals.settle(done, py, false)
    }

    /// Return what has been learnt so far, as a model.
    fn state(&mut self, py: Python<'_>) -> PyResult<PyModel> {
        self.work.model(py)
    }

    /// Put what has been learnt into the model that the run began with, which nobody has changed since; its
    /// `last_pass.note` is `note`. The run is over.
    fn put(&mut self, py: Python<'_>, note: Py<PyAny>) -> PyResult<()> {
        self.work.put(py, self.model.get(), note)
    }

    /// Return what the settings track.
    fn tracked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        self.work.tracked(&out)?;
        Ok(out)
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyRun>()?;
    m.add_function(wrap_pyfunction!(start, m)?)
}
