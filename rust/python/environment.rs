//! What tests and the reference need of the machine: the floating-point control register and the
//! instruction sets. Private.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyTuple};

use crate::arith::environment;
use crate::arith::simd::{self, InstructionSet};
use crate::base::choice;

/// Sets the floating-point control register of this thread and returns what it was.
#[pyfunction]
pub fn _swap_float_control(control: u64) -> u64 {
    environment::swap_control(control)
}

/// Takes the standard mode for this thread. False if it was taken before.
#[pyfunction]
pub fn _enter_standard() -> bool {
    environment::enter()
}

/// Gives the caller's mode back to this thread. False if it has it.
#[pyfunction]
pub fn _leave_standard() -> bool {
    environment::leave()
}

/// The standard mode, without warnings of numbers, within a `with`; then the caller's. No signal comes between the
/// steps: code of Python looks for them at each function's beginning, which this has none of.
#[pyclass(name = "_Standard", subclass, module = "perceptron_rs._core")]
pub struct Standard {
    /// What silences warnings.
    silence: Option<Py<PyAny>>,
    has_entered: bool,
}

#[pymethods]
impl Standard {
    #[new]
    fn new() -> Self {
        Self { silence: None, has_entered: false }
    }

    fn __enter__(&mut self, py: Python<'_>) -> PyResult<()> {
        static ERRSTATE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let all = [("all", "ignore")].into_py_dict(py)?;
        let silence = ERRSTATE.import(py, "numpy", "errstate")?.call((), Some(&all))?;
        silence.call_method0(intern!(py, "__enter__"))?;
        (self.silence, self.has_entered) = (Some(silence.unbind()), environment::enter());
        Ok(())
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&mut self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        let _has_left = std::mem::take(&mut self.has_entered) && environment::leave();
        let Some(silence) = self.silence.take() else { return Ok(()) };
        let end = || silence.call_method1(py, intern!(py, "__exit__"), (py.None(), py.None(), py.None()));
        // That is code of Python: after a signal within it once more, which fails if it was done.
        end().map(drop).inspect_err(|_| drop(end()))
    }
}

/// The instruction sets that this machine can run, the best last.
#[pyfunction]
pub fn _instruction_sets() -> Vec<&'static str> {
    InstructionSet::available().into_iter().map(InstructionSet::name).collect()
}

/// Makes every later call use one instruction set; None: the best.
#[pyfunction]
#[pyo3(signature = (name))]
pub fn _force_instruction_set(name: Option<&str>) -> PyResult<()> {
    let sets: Vec<_> = InstructionSet::available().into_iter().map(|set| (set.name(), set)).collect();
    simd::force(name.map(|name| choice("name", name, &sets)).transpose()?);
    Ok(())
}
