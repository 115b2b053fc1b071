//! The perceptron.
//!
//! - Problem: find `(w, b)` with `y*(w·x + b) > 0` for every example.
//! - Update rule: on a mistake, `w += c*x`, `b += c`, with `c = (eta*s)*y`. The leaf makes it.
//! - Given: rows, labels, weights, an order, start values.
//! - Result: the last `(w, b)`; the rule itself keeps nothing.
//! - Paper: Rosenblatt 1958, The perceptron: a probabilistic model for information storage and
//!   organization in the brain; convergence: Block 1962, Novikoff 1962 (Theorem 1).

use std::ops::Range;

use super::rule::{Kind, Learner, Numbers, Rule};
use super::run::State;
use crate::arith::{dot::dot, environment::standard, step::signed};
use crate::base::{Error, Monitor, Result, collected, ensure};
use crate::online::run::problem::Problem;
use crate::rows::{Head, Mistake, Visit};

pub struct Perceptron;

pub static KIND: Kind = Kind { has_parts: true, ..Kind::new(|_, _, _| Ok(Box::new(Perceptron))) };

impl Rule for Perceptron {
    fn absorb(&mut self, _visit: &Visit, _log: &[Mistake], _monitor: &dyn Monitor) -> Result<()> {
        Ok(())
    }

    fn is_finite(&self) -> bool {
        true
    }
}

impl Learner for Perceptron {
    fn check(&self, _state: &State) -> Result<()> {
        Ok(())
    }

    fn split<'a>(
        &'a mut self,
        ranges: &[Range<usize>],
        _problem: &'a Problem,
    ) -> Result<Vec<Box<dyn Rule + 'a>>> {
        collected(ranges.iter().map(|_| Box::new(Self) as Box<dyn Rule>)) // of no size
    }

    fn memory(&self) -> Result<Vec<(&'static str, Numbers<'_>)>> {
        Ok(Vec::new())
    }

    fn allows_penalty(&self) -> bool {
        true
    }

    fn answer_is_finite(&self, _: &Head, _: f64, _: &dyn Fn() -> Result<Vec<f64>>) -> Result<bool> {
        Ok(true)
    }
}

/// Whole part of the number of updates in a row on one example, step `step` each, that leave it
/// wrong: one more makes it right. `None`: it is right already.
pub fn updates_until_right(
    x: &[f64],
    positive: bool,
    w: &[f64],
    b: Option<f64>,
    step: f64,
) -> Result<Option<f64>> {
    standard(|| {
        ensure!(
            x.len() == w.len(),
            "x and w must be vectors of equal length, got {} and {}",
            x.len(),
            w.len()
        );
        let m = signed(dot(x, w) + b.unwrap_or(0.0), positive);
        if m > 0.0 && m.is_finite() {
            return Ok(None);
        }
        let square = dot(x, x);
        // How far one update moves the activation.
        let shift = step * if b.is_some() { square + 1.0 } else { square };
        ensure!(
            shift != 0.0,
            "x has norm 0 and there is no intercept: no update changes that; pass b or scale x"
        );
        let bound = -m / shift;
        if m.is_finite() && shift.is_finite() && bound.is_finite() {
            Ok(Some(bound.floor()))
        } else {
            Err(Error::TooLarge(
                "x, w and b: the activation or its shift is not finite; scale x and w".into(),
            ))
        }
    })
}
