//! The settings of a pass, its position, its log, and why it stops.

use crate::arith::finite::largest_of;
use crate::arith::integers::all_integers;
use crate::arith::step::{self, Aggressive};
use crate::rows::{pass::joint::Spread, pass::labels::Labels, weights::planes::Head};

/// When an activation of exactly 0 is a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    Mistake,
    /// sign(0) = +1: for negative examples only.
    Positive,
}

impl Tie {
    /// By their names.
    pub const ALL: [(&'static str, Self); 2] = [("mistake", Self::Mistake), ("positive", Self::Positive)];

    /// Whether `m = y*a` is a mistake: it has to pass `threshold`. Written so that NaN is one.
    #[inline(always)]
    #[expect(clippy::neg_cmp_op_on_partial_ord, clippy::nonminimal_bool, reason = "of NaN")]
    pub fn is_mistake(self, m: f64, positive: bool, threshold: f64) -> bool {
        !(m > threshold) && !(self == Self::Positive && positive && m >= threshold)
    }

    /// Whether `m = y*a` is a wrong prediction: an activation of 0 is predicted as positive or negative, so
    /// it is right for one of them. Written so that NaN is wrong for both.
    #[inline(always)]
    #[expect(clippy::neg_cmp_op_on_partial_ord, clippy::nonminimal_bool, reason = "of NaN")]
    pub fn is_error(self, m: f64, positive: bool) -> bool {
        !(m > 0.0) && !((self == Self::Positive) == positive && m >= 0.0)
    }

    /// What a vector with so many votes casts at an activation of 0, where one that is a mistake for both classes
    /// takes no side.
    #[inline(always)]
    pub fn votes_at_zero(self, count: i64) -> i64 {
        if self == Self::Positive { count } else { 0 }
    }
}

/// One pass: what to visit and how to judge it.
#[derive(Clone, Copy)]
pub struct Visit<'a> {
    /// Rows by position; `None`: 0, 1, 2, …
    pub order: Option<&'a [u32]>,
    pub labels: Labels<'a>,
    pub sample_weight: Option<&'a [f64]>,
    pub eta: f64,
    pub tie: Tie,
    pub fit_intercept: bool,
    /// What an activation has to pass to be right.
    pub margin_threshold: f64,
    /// The planes are the classes of one decision, in their order.
    pub joint: Option<Spread>,
    pub integer_step: Option<f64>,
    /// Steps that depend on the loss; `None`: all have the length `eta`.
    pub aggressive: Option<PassiveAggressive<'a>>,
}

/// The rule of passive-aggressive steps, and the squared norms that it needs.
#[derive(Clone, Copy)]
pub struct PassiveAggressive<'a> {
    pub rule: Aggressive,
    /// `x·x` of every row.
    pub squares: &'a [f64],
}

impl PassiveAggressive<'_> {
    /// One call for all leaves. By value: behind a reference the visit would not stay in registers.
    #[inline(never)]
    fn tau(self, row: usize, loss: f64, planes: f64) -> Option<f64> {
        Some(self.rule.tau(loss, planes * self.squares[row])).filter(|tau| *tau != 0.0)
    }
}

impl Visit<'_> {
    pub fn len(&self) -> usize {
        self.order.map_or_else(|| self.labels.len(), <[u32]>::len)
    }

    #[inline(always)]
    pub fn row(&self, pos: usize) -> usize {
        match self.order {
            Some(order) => order[pos] as usize,
            None => pos,
        }
    }

    /// The loss of an example: how far it is from right, or with [`PassiveAggressive`] from right by 1.
    #[inline(always)]
    pub fn loss(&self, m: f64) -> f64 {
        if self.aggressive.is_some() { 1.0 - m } else { -m }
    }

    /// The step c of a plane's update on a row of this loss; `None`: there is no update.
    #[inline(always)]
    pub fn step(&self, head: &Head, row: usize, positive: bool, loss: f64) -> Option<f64> {
        let class_weight = head.class_weight[usize::from(positive)];
        let s = step::weight(self.sample_weight.map(|weights| weights[row]), class_weight);
        let eta = match self.aggressive {
            None => self.eta,
            // A joint decision moves two planes by the row.
            Some(norms) => norms.tau(row, loss, if self.joint.is_some() { 2.0 } else { 1.0 })?,
        };
        Some(step::step(eta, s, positive))
    }
}

/// The largest |c| of a run if every step is an integer, else `None` (rule 10).
pub fn integer_step(eta: f64, sample_weight: Option<&[f64]>, class_weight: &[[f64; 2]]) -> Option<f64> {
    let sample = match sample_weight {
        Some(weights) => largest_integer(weights)?,
        None => 1.0,
    };
    let class = largest_integer(class_weight.as_flattened())?;
    Some(step::step(largest_integer(&[eta])?, step::weight(Some(sample), class), true))
}

fn largest_integer(values: &[f64]) -> Option<f64> {
    all_integers(values).then(|| largest_of(values, 0.0))
}

/// Where a pass stands: with the planes and a rule's memory, this is a checkpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The next position of the order.
    pub pos: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mistake {
    pub row: u32,
    /// Index of the plane in the state.
    pub plane: u32,
    /// The example's number, counted from 1 since the plane's last cold start.
    pub t: u64,
    pub c: f64,
}

/// Why a leaf returned; the later, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    Block,
    /// A weight passed the bound of the exact path (rule 10): the planes are to be prepared again.
    Limit,
    /// An activation or a step is not finite.
    Overflow,
    /// A mistake could not be logged; only within a leaf, which returns an error.
    Memory,
}
