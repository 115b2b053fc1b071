//! What tests and the reference need of the machine: the floating-point control register and the
//! instruction sets. Private.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arith::environment;
use crate::arith::simd::{self, InstructionSet};

/// Sets the floating-point control register of this thread and returns what it was.
#[pyfunction]
fn _swap_float_control(control: u64) -> u64 {
    environment::swap_control(control)
}

/// Takes the standard mode for this thread. False if it was taken before.
#[pyfunction]
fn _enter_standard() -> bool {
    environment::enter()
}

/// Gives the caller's mode back to this thread. False if it has it.
#[pyfunction]
fn _leave_standard() -> bool {
    environment::leave()
}

/// The instruction sets that this machine can run, the best last.
#[pyfunction]
fn _instruction_sets() -> Vec<&'static str> {
    names()
}

fn names() -> Vec<&'static str> {
    InstructionSet::available().into_iter().map(InstructionSet::name).collect()
}

/// Makes every later call use one instruction set; None: the best.
#[pyfunction]
#[pyo3(signature = (name))]
fn _force_instruction_set(name: Option<&str>) -> PyResult<()> {
    let Some(name) = name else {
        simd::force(None);
        return Ok(());
    };
    let sets = InstructionSet::available();
    let Some(set) = sets.into_iter().find(|set| set.name() == name) else {
        return Err(PyValueError::new_err(format!("name must be one of {:?}, got {name:?}", names())));
    };
    simd::force(Some(set));
    Ok(())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("_STANDARD_FLOAT_CONTROL", environment::STANDARD)?;
    m.add_function(wrap_pyfunction!(_swap_float_control, m)?)?;
    m.add_function(wrap_pyfunction!(_enter_standard, m)?)?;
    m.add_function(wrap_pyfunction!(_leave_standard, m)?)?;
    m.add_function(wrap_pyfunction!(_instruction_sets, m)?)?;
    m.add_function(wrap_pyfunction!(_force_instruction_set, m)?)
}
