//! The bindings: names, arrays, errors. They borrow, detach and return; nothing is computed here.

mod audit;
mod border;
mod budget;
mod environment;
mod kernel;
mod linear;
mod margin;
mod mlp;
mod run;
mod settings;
mod start;
mod storage;
mod structured;
mod text;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("ARITHMETIC_VERSION", crate::ARITHMETIC_VERSION)?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    environment::register(m)?;
    border::rows::register(m)?;
    audit::register(m)?;
    start::register(m)?;
    linear::register(m)?;
    kernel::register(m)?;
    structured::register(m)?;
    mlp::register(m)?;
    margin::register(m)?;
    storage::register(m)?;
    text::register(m)
}
