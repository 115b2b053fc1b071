//! A learner's memory: read from the state, and written back with it.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::memory::boxed;
use crate::online::pocket::Pocket;
use crate::online::voted::Voted;
use crate::online::{Learner, Numbers, Settings, State};
use crate::python::border::arrays::set_joined;
use crate::python::border::choices::parse_check;
use crate::python::border::own::Own;
use crate::python::border::signals::Signals;
use crate::python::settings::Linear;

/// The linear learner of these settings, with what the state says of it.
pub fn read_learner(
    given: &Linear,
    state: &Bound<'_, PyDict>,
    settings: &Settings,
    begin: &State,
) -> PyResult<Box<dyn Learner>> {
    let (planes, fit_intercept) = (settings.planes(), settings.fit_intercept);
    match &*given.learner {
        "pocket" => {
            let (check, signals) = (parse_check(&given.check)?, Signals::new());
            let pocket = Pocket::new(check, given.average, fit_intercept, begin, &signals);
            Ok(boxed(signals.settle(pocket, state.py(), false)?)?)
        }
        "voted" => Ok(boxed(Voted::new(planes)?)?),
        name => Err(PyValueError::new_err(format!(
            "learner must be \"perceptron\", \"averaged\", \"pocket\" or \"voted\", got {name:?}"
        ))),
    }
}

/// The memory of the learner, by the names of the protocol; `shape` is that of coef, of its `own` columns if
/// the run is over these.
pub fn write_memory(
    state: &Bound<'_, PyDict>,
    learner: &dyn Learner,
    shape: [usize; 2],
    own: Option<&Own>,
) -> PyResult<()> {
    for (name, values) in learner.memory()? {
        let shape = name.starts_with("coef").then_some(shape);
        match (values, shape.and(own)) {
            (Numbers::Floats(pieces), Some(own)) => own.set(state, name, &pieces)?,
            (Numbers::Floats(pieces), None) => set_joined(state, name, &pieces, shape)?,
            (Numbers::Integers(pieces), _) => set_joined(state, name, &pieces, shape)?,
        }
    }
    Ok(())
}
