//! Rule 4: the step of an update, `c = (eta*s)*y` with `s` = sample weight times class weight,
//! rounded once. A passive-aggressive step has tau in the place of eta.

use crate::error::{Error, Result};

/// The weight `s` of an example.
#[inline(always)]
pub fn weight(sample_weight: Option<f64>, class_weight: f64) -> f64 {
    match sample_weight {
        Some(weight) => weight * class_weight,
        None => class_weight,
    }
}

#[inline(always)]
pub fn step(eta: f64, s: f64, positive: bool) -> f64 {
    let size = eta * s;
    if positive { size } else { -size }
}

/// How the length of a passive-aggressive step is chosen (Crammer et al. 2006, PA-I and PA-II), with C.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aggressive {
    Pa1(f64),
    Pa2(f64),
}

impl Aggressive {
    /// What takes the place of the learning rate, for a loss and the squared norm of the update. 0: no
    /// update is made, as of a row of zeros by PA-I. NaN: the norm is not finite.
    pub fn tau(self, loss: f64, square: f64) -> f64 {
        match self {
            _ if !square.is_finite() => f64::NAN,
            Self::Pa1(_) if square == 0.0 => 0.0,
            Self::Pa1(c) => c.min(loss / square),
            Self::Pa2(c) => loss / (square + 0.5 / c),
        }
    }

    /// Refuses a C that is no finite number above 0.
    pub fn check(self) -> Result<()> {
        let (Self::Pa1(c) | Self::Pa2(c)) = self;
        if c.is_finite() && c > 0.0 {
            return Ok(());
        }
        Err(Error::Invalid(format!("C must be finite and above 0, got {c}")))
    }
}

/// `y*a`: the activation as seen from the example's label. On bits, because a branch on the label
/// would be mispredicted for every second example.
#[inline(always)]
pub fn signed(a: f64, positive: bool) -> f64 {
    f64::from_bits(a.to_bits() ^ (u64::from(!positive) << 63))
}

/// A start weight: −0.0 becomes +0.0 (no state vector ever holds −0.0).
#[inline(always)]
pub fn start(w: f64) -> f64 {
    w + 0.0
}

/// How far one update with this step moves the activation of an example of this squared norm.
pub fn moved_by(step: f64, square: f64, fit_intercept: bool) -> f64 {
    step * if fit_intercept { square + 1.0 } else { square }
}

/// After as many updates or fewer the example is still wrong.
pub fn updates_needed(m: f64, shift: f64) -> f64 {
    -m / shift
}

/// The activation with the part of an example's own feature of value `delta` and weight `v`.
#[inline(always)]
pub fn own_feature(a: f64, v: f64, delta: f64) -> f64 {
    a + v * delta
}

/// The weight of an example's own feature after an update.
#[inline(always)]
pub fn own_weight(v: f64, c: f64, delta: f64) -> f64 {
    v + c * delta
}

/// An equal part of a step.
#[inline(always)]
pub fn share(c: f64, parts: usize) -> f64 {
    c / parts as f64
}

/// The part of a step that belongs to an excess `e` of a sum `z` of them.
#[inline(always)]
pub fn share_of(c: f64, e: f64, z: f64) -> f64 {
    c * e / z
}

/// In the given order, from the first term.
#[inline(always)]
pub fn sum_of_excess(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(0.0, |sum, e| sum + e)
}
