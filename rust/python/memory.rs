//! A learner's memory: read from the state, and written back with it.

use std::borrow::Cow;

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrays::{numbers, set_array, to_matrix};
use crate::error::probe_memory;
use crate::online::averaged::Averaged;
use crate::online::perceptron::Perceptron;
use crate::online::pocket::{Check, Pocket};
use crate::online::voted::Voted;
use crate::online::{Learner, Numbers, Snapshot, State};

/// What a learner remembers besides the weights.
pub(super) enum Memory {
    Perceptron(Perceptron),
    Averaged(Averaged),
    Pocket(Pocket),
    Voted(Voted),
}

impl Memory {
    pub(super) fn read(
        learner: &str,
        state: &Bound<'_, PyDict>,
        (planes, columns): (usize, usize),
        fit_intercept: bool,
        (check, start): (Check, &State),
    ) -> PyResult<Self> {
        match learner {
            "perceptron" => Ok(Self::Perceptron(Perceptron)),
            "averaged" => Ok(Self::Averaged(Averaged {
                coef: numbers("coef_u", state, planes, Some(columns))?,
                intercept: numbers("intercept_u", state, planes, None)?,
                fit_intercept,
            })),
            "pocket" => {
                probe_memory(start.coef.len().checked_mul(16))?;
                Ok(Self::Pocket(Pocket::new(check, fit_intercept, start)))
            }
            "voted" => Ok(Self::Voted(Voted::new(planes))),
            _ => Err(PyValueError::new_err(format!(
                "learner must be \"perceptron\", \"averaged\", \"pocket\" or \"voted\", got {learner:?}"
            ))),
        }
    }

    pub(super) fn learner(&mut self) -> &mut (dyn Learner + Send) {
        match self {
            Self::Perceptron(learner) => learner,
            Self::Averaged(learner) => learner,
            Self::Pocket(learner) => learner,
            Self::Voted(learner) => learner,
        }
    }
}

/// The state and the memory of the learner, by the names of the protocol.
pub fn state_to_python<'py>(py: Python<'py>, learnt: &Snapshot) -> PyResult<Bound<'py, PyDict>> {
    let State { coef, intercept, seen, ages } = learnt.state;
    let planes = intercept.len();
    let seen: Vec<i64> = seen.iter().map(|&seen| seen as i64).collect();
    let state = PyDict::new(py);
    state.set_item("seen", PyArray1::from_slice(py, &seen))?;
    if let Some(ages) = ages {
        state.set_item("ages", to_matrix(py, ages, [planes, coef.len() / planes.max(1)])?)?;
    }
    let columns = coef.len() / planes.max(1);
    let floats = |values| Numbers::Floats(Cow::Borrowed(values));
    let numbers = [("coef", floats(coef)), ("intercept", floats(intercept))];
    for (name, values) in numbers.into_iter().chain(learnt.learner.memory()) {
        let shape = name.starts_with("coef").then_some([planes, columns]);
        match values {
            Numbers::Floats(values) => set_array(&state, name, &values, shape)?,
            Numbers::Integers(values) => set_array(&state, name, &values, shape)?,
        }
    }
    Ok(state)
}
