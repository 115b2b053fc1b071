//! The bindings: names, arrays, errors. They borrow, detach and return; nothing is computed here.

mod arrays;
mod choices;
mod environment;
mod errors;
mod fit;
mod kernel;
mod memory;
mod mlp;
mod online;
mod rows;
mod signals;
mod text;
mod voted;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("ARITHMETIC_VERSION", crate::ARITHMETIC_VERSION)?;
    environment::register(m)?;
    rows::register(m)?;
    fit::register(m)?;
    mlp::register(m)?;
    online::register(m)?;
    kernel::register(m)?;
    text::register(m)?;
    voted::register(m)
}
