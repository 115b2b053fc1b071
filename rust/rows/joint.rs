//! Joint multiclass: the planes of all classes judge an example together.
//!
//! Scores s; the error set E holds each r other than the true class y with `s_r >= s_y`. A mistake
//! if E is not empty: row y moves up by c, the rows of E down by c in all (Crammer, Singer 2003).

use crate::arith::step::{share, share_of, sum_of_excess};

/// How the downward part of an update is spread over the error set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// All of it on the highest score, the lowest class of equals.
    Max,
    /// Equal parts.
    Uniform,
    /// In proportion to `s_r − s_y`; equal parts if all of these are 0.
    Proportional,
}

/// What the scores of an example say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// Classes of the error set; 0: the example is right.
    pub errors: usize,
    /// The lowest of the highest scores of the wrong classes, and by how much it exceeds the true one.
    pub top: usize,
    pub excess: f64,
}

/// Judges an example of class `truth`. The scores are finite, and there are two or more.
#[inline(always)]
#[must_use]
pub fn judge(scores: &[f64], truth: usize) -> Judgement {
    let mut judgement = Judgement { errors: 0, top: 0, excess: f64::NEG_INFINITY };
    for (r, s) in scores.iter().enumerate().filter(|(r, _)| *r != truth) {
        judgement.errors += usize::from(*s >= scores[truth]);
        if *s > judgement.excess {
            (judgement.top, judgement.excess) = (r, *s);
        }
    }
    judgement.excess -= scores[truth];
    judgement
}

/// Calls `down` with each class of the error set and its (negative) step, in class order.
#[inline(always)]
pub fn spread(
    how: Spread,
    scores: &[f64],
    truth: usize,
    judgement: Judgement,
    c: f64,
    mut down: impl FnMut(usize, f64),
) {
    let errors = || (0..scores.len()).filter(|&r| r != truth && scores[r] >= scores[truth]);
    let z = match how {
        Spread::Max => return down(judgement.top, -c),
        Spread::Uniform => 0.0,
        Spread::Proportional => sum_of_excess(errors().map(|r| scores[r] - scores[truth])),
    };
    for r in errors() {
        let part =
            if z == 0.0 { share(c, judgement.errors) } else { share_of(c, scores[r] - scores[truth], z) };
        down(r, -part);
    }
}
