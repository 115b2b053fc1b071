//! The bindings: names, arrays, errors. They borrow, detach and return; nothing is computed here.

use pyo3::prelude::*;

use crate::arith::environment;

#[pyfunction]
fn _swap_float_control(control: u64) -> u64 {
    environment::swap_control(control)
}

#[pymodule(gil_used = false)]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("ARITHMETIC_VERSION", crate::ARITHMETIC_VERSION)?;
    m.add("_STANDARD_FLOAT_CONTROL", environment::STANDARD)?;
    m.add_function(wrap_pyfunction!(_swap_float_control, m)?)?;
    Ok(())
}
