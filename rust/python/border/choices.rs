//! Arguments that are one of a few words.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arith::step::Aggressive;
use crate::online::pocket::Check;
use crate::rows::{Spread, Tie};

pub fn parse_tie(tie: &str) -> PyResult<Tie> {
    match tie {
        "mistake" => Ok(Tie::Mistake),
        "positive" => Ok(Tie::Positive),
        _ => Err(PyValueError::new_err(format!("tie must be \"mistake\" or \"positive\", got {tie:?}"))),
    }
}

/// How the length of a step is chosen; `None`: it is the learning rate.
pub fn parse_step(step: &str, c: f64) -> PyResult<Option<Aggressive>> {
    match step {
        "constant" => Ok(None),
        "pa1" => Ok(Some(Aggressive::Pa1(c))),
        "pa2" => Ok(Some(Aggressive::Pa2(c))),
        _ => {
            Err(PyValueError::new_err(format!("step must be \"constant\", \"pa1\" or \"pa2\", got {step:?}")))
        }
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
