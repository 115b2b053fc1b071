//! Rule 4: the step of an update, `c = (eta*s)*y` with `s` = sample weight times class weight,
//! rounded once. A passive-aggressive step has tau in the place of eta.

use crate::base::{Result, choice, ensure};

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
    /// That of a kind of step; `None`: its length is the learning rate.
    pub fn of_step(step: &str, c: f64) -> Result<Option<Self>> {
        let kinds = [("constant", None), ("pa1", Some(Self::Pa1(c))), ("pa2", Some(Self::Pa2(c)))];
        choice("step", step, &kinds)
    }

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
        ensure!(c.is_finite() && c > 0.0, "C must be finite and above 0, got {c}");
        Ok(())
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
