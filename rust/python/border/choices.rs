//! Arguments that are one of a few words.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::online::pocket::Check;
use crate::rows::{Spread, Tie};

pub fn parse_tie(tie: &str) -> PyResult<Tie> {
    match tie {
        "mistake" => Ok(Tie::Mistake),
        "positive" => Ok(Tie::Positive),
        _ => Err(PyValueError::new_err(format!("tie must be \"mistake\" or \"positive\", got {tie:?}"))),
    }
}

pub fn parse_joint(joint: &str) -> PyResult<Spread> {
    match joint {
        "max" => Ok(Spread::Max),
        "uniform" => Ok(Spread::Uniform),
        "proportional" => Ok(Spread::Proportional),
        _ => Err(PyValueError::new_err(format!(
            "joint must be \"max\", \"uniform\", \"proportional\" or None, got {joint:?}"
        ))),
    }
}

pub fn parse_check(check: &str) -> PyResult<Check> {
    match check {
        "run" => Ok(Check::Run),
        "ratchet" => Ok(Check::Ratchet),
        "update" => Ok(Check::Update),
        "epoch" => Ok(Check::Epoch),
        _ => Err(PyValueError::new_err(format!(
            "check must be \"run\", \"ratchet\", \"update\" or \"epoch\", got {check:?}"
        ))),
    }
}
