//! The bindings: names, arrays, errors. They borrow, detach and return; nothing is computed here.

mod arrays;
mod attributes;
mod budget;
mod choices;
mod environment;
mod errors;
mod kernel;
mod margin;
mod memory;
mod mlp;
mod one_pass;
mod online;
mod rows;
mod run;
mod settings;
mod signals;
mod start;
mod structured;
mod text;
mod voted;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("ARITHMETIC_VERSION", crate::ARITHMETIC_VERSION)?;
    environment::register(m)?;
    rows::register(m)?;
    start::register(m)?;
    mlp::register(m)?;
    kernel::register(m)?;
    margin::register(m)?;
    online::register(m)?;
    structured::register(m)?;
    one_pass::register(m)?;
    text::register(m)?;
    voted::register(m)
}
