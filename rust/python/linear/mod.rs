//! The linear learners: what needs no run, models, runs, votes.

mod draft;
pub mod model;
mod online;
mod rule;
pub mod run;
mod views;
mod voted;

use pyo3::prelude::*;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    online::register(m)?;
    model::register(m)?;
    m.add_class::<draft::PyDraft>()?;
    voted::register(m)
}
