//! The bindings: names, arrays, errors. They borrow, detach and return; the core computes.

#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over")]

mod arrays_by_name;
mod audit;
mod border;
mod budget;
mod environment;
mod hashed;
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

/// Cargo's version as Python spells it, which the package's metadata has, too: "1.0.0-rc1" is "1.0.0rc1".
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR"),
    ".",
    env!("CARGO_PKG_VERSION_PATCH"),
    env!("CARGO_PKG_VERSION_PRE"),
);

#[pymodule(gil_used = false)]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("ARITHMETIC_VERSION", crate::ARITHMETIC_VERSION)?;
    m.add("__version__", VERSION)?;
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
    hashed::register(m)?;
    text::register(m)
}
