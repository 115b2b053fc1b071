//! Where a run begins, whatever its learner: data, state and settings are read once, and the arrays of the
//! data are borrowed during each call.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::arrays_by_name::Named;
use super::border::{Done, Signals, to_vector};
use super::linear::model::PyModel;
use super::linear::run::LinearRun;
use super::mlp::Layers;
use super::run::KernelRun;
use super::settings::attr;
use super::structured::Sequenced;
use crate::base::collected;
use crate::online::{Epoch, EpochPart, Learnt};

/// What runs: planes, a chain or a network.
pub(super) trait EngineRun: Send + Sync {
    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> Done<Epoch>;

    /// Has the run go on with other examples, in an order that is drawn from this seed.
    fn go_on_with(&mut self, _data: &Bound<'_, PyAny>, _seed: Option<u64>) -> PyResult<()> {
        Err(PyValueError::new_err(
            "this learner's run is of the examples that it began with; start another one",
        ))
    }

    /// Runs a part of an epoch, whose other examples come before or after.
    fn part(&mut self, _: Python<'_>, _number: u64, _losses: &[f64], _: &Signals) -> Done<EpochPart> {
        Err(PyValueError::new_err("an epoch has parts only where planes learn; use epoch"))
    }

    fn end(&mut self, _py: Python<'_>, _decision: usize, _signals: &Signals) -> Done<()> {
        Ok(Ok(()))
    }

    /// All that planes have learnt, taken out: nothing else is done with the run afterwards.
    fn finish(&mut self, _py: Python<'_>) -> PyResult<Learnt> {
        Err(PyValueError::new_err("runs must be of planes; mix shares of the others"))
    }

    /// What has been learnt so far.
    fn model(&mut self, py: Python<'_>) -> PyResult<PyModel> {
        let out = PyDict::new(py);
        self.state(&out)?;
        Ok(PyModel::of_arrays(Named::of_new(out)?))
    }

    /// Writes a copy of all that has been learnt, where no model of planes says it.
    fn state(&mut self, _out: &Bound<'_, PyDict>) -> PyResult<()> {
        Ok(())
    }

    /// Writes what the settings track.
    fn tracked(&mut self, _out: &Bound<'_, PyDict>) -> PyResult<()> {
        Ok(())
    }
}

/// A named tuple as its class makes it, but without Python code, in which Ctrl-C could be raised: what it
/// tells of is learnt.
fn named_tuple<'py>(
    class: &Bound<'py, PyType>,
    values: impl IntoPyObject<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    class.py().get_type::<PyTuple>().call_method1("__new__", (class, values))
}

/// What an epoch did, as Python has it.
pub(super) fn report<'py>(py: Python<'py>, epoch: &Epoch) -> PyResult<Bound<'py, PyAny>> {
    static EPOCH: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let mistakes = to_vector(py, &epoch.mistakes)?;
    let losses = to_vector(py, &epoch.losses)?;
    let objectives = to_vector(py, &epoch.objectives)?;
    let class = EPOCH.import(py, "perceptron_rs.settings", "Epoch")?;
    named_tuple(class, (mistakes, losses, objectives, epoch.interrupted))
}

/// A learner at work.
#[pyclass(name = "Run", module = "perceptron_rs._core")]
pub struct PyRun {
    pub(super) work: Box<dyn EngineRun>,
    keep_on_interrupt: bool,
    /// What the last part did.
    #[pyo3(get)]
    last_part: Option<Py<PyAny>>,
}

/// Begin a run of the learner of these settings with what a model has learnt, which is not modified.
#[pyfunction]
pub fn start(
    data: &Bound<'_, PyAny>,
    model: &Bound<'_, PyModel>,
    settings: &Bound<'_, PyAny>,
) -> PyResult<PyRun> {
    let learner = attr!(settings, "learner", String);
    let keep_on_interrupt = attr!(settings, "keep_on_interrupt");
    let state = || model.get().state(data.py(), None);
    let work: Box<dyn EngineRun> = match &*learner {
        "chain" => Box::new(Sequenced::start(data, &state()?, settings)?),
        "network" => Box::new(Layers::start(data, &state()?, settings)?),
        "kernel" | "budget" => Box::new(KernelRun::start(data, &state()?, settings)?),
        _ => Box::new(LinearRun::start(data, model.get(), settings)?),
    };
    Ok(PyRun { work, keep_on_interrupt, last_part: None })
}

#[pymethods]
impl PyRun {
    /// Visit all examples once, in the order of the epoch of this number, for decisions that go on.
    fn epoch<'py>(&mut self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyAny>> {
        let keep = self.keep_on_interrupt;
        report(py, &Signals::ask(py, keep, |signals| self.work.epoch(py, number, signals))?)
    }

    /// Visit examples as `epoch` does, where they are a part of those of the epoch. `losses` are the sums of
    /// the parts before. With `data` the run goes on with these, in an order drawn from `seed`.
    #[pyo3(signature = (number, losses, data=None, seed=None))]
    fn part<'py>(
        &mut self,
        py: Python<'py>,
        number: u64,
        losses: PyReadonlyArray1<'py, f64>,
        data: Option<&Bound<'py, PyAny>>,
        seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static PART: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        if let Some(data) = data {
            self.work.go_on_with(data, seed)?;
        }
        let (keep, losses) = (self.keep_on_interrupt, losses.as_slice()?);
        let part = Signals::ask(py, keep, |signals| self.work.part(py, number, losses, signals))?;
        let mistakes = to_vector(py, &part.mistakes)?;
        let losses = to_vector(py, &part.losses)?;
        let visits = to_vector(py, &collected(part.visits.iter().map(|&visits| visits as i64))?)?;
        let class = PART.import(py, "perceptron_rs.settings", "EpochPart")?;
        let part = named_tuple(class, (mistakes, losses, visits, part.interrupted))?;
        self.last_part = Some(part.clone().unbind());
        Ok(part)
    }

    /// Say that a decision goes on no more.
    fn end(&mut self, py: Python<'_>, decision: usize) -> PyResult<()> {
        Signals::ask(py, false, |signals| self.work.end(py, decision, signals))
    }

    /// Return what has been learnt so far, as a model.
    fn state(&mut self, py: Python<'_>) -> PyResult<PyModel> {
        self.work.model(py)
    }

    /// Return what the settings track.
    fn tracked<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        self.work.tracked(&out)?;
        Ok(out)
    }
}
