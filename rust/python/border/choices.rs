//! Arguments that are one of a few words.

use pyo3::prelude::*;

use crate::arith::neuron::Activation;
use crate::arith::step::Aggressive;
use crate::error::choice;
use crate::online::pocket::Check;
use crate::rows::{Spread, Tie};
use crate::structured::Mending;

pub fn parse_tie(tie: &str) -> PyResult<Tie> {
    Ok(choice("tie", tie, &[("mistake", Tie::Mistake), ("positive", Tie::Positive)])?)
}

/// How the length of a step is chosen; `None`: it is the learning rate.
pub fn parse_step(step: &str, c: f64) -> PyResult<Option<Aggressive>> {
    let (pa1, pa2) = (Some(Aggressive::Pa1(c)), Some(Aggressive::Pa2(c)));
    Ok(choice("step", step, &[("constant", None), ("pa1", pa1), ("pa2", pa2)])?)
}

pub fn parse_joint(joint: &str) -> PyResult<Spread> {
    let spreads =
        [("max", Spread::Max), ("uniform", Spread::Uniform), ("proportional", Spread::Proportional)];
    Ok(choice("joint", joint, &spreads)?)
}

pub fn parse_check(check: &str) -> PyResult<Check> {
    let checks = [
        ("run", Check::Run),
        ("ratchet", Check::Ratchet),
        ("update", Check::Update),
        ("epoch", Check::Epoch),
    ];
    Ok(choice("check", check, &checks)?)
}

pub fn parse_update(update: &str) -> PyResult<Mending> {
    let ways = [("full", Mending::Full), ("early", Mending::Early), ("max_violation", Mending::MaxViolation)];
    Ok(choice("update", update, &ways)?)
}

pub fn parse_activation(activation: &str) -> PyResult<Activation> {
    let functions =
        [("logistic", Activation::Logistic), ("relu", Activation::Relu), ("tanh", Activation::Tanh)];
    Ok(choice("activation", activation, &functions)?)
}
