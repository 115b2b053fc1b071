//! The linear learners: their memory, what needs no run, passes over few rows, votes.

mod attributes;
pub mod memory;
mod one_pass;
mod online;
mod voted;
mod weights;

use pyo3::prelude::*;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    online::register(m)?;
    one_pass::register(m)?;
    voted::register(m)
}
