//! Joint multiclass: the planes of all classes judge an example together.
//!
//! Scores s; the error set E holds each r other than the true class y with `s_r >= s_y`. A mistake
//! if E is not empty: row y moves up by c, the rows of E down by c in all (Crammer, Singer 2003).

/// How the downward part of an update is spread over the error set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// All of it on the highest score, the lowest class of equals.
    Max,
    Uniform,
    /// In proportion to `s_r − s_y`; equal parts if all of these are 0.
    Proportional,
}

impl Spread {
    /// By their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("max", Self::Max), ("uniform", Self::Uniform), ("proportional", Self::Proportional)];
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

/// The downward part of an update. No closure takes its steps: one is called out of line, without
/// the instruction set of the leaf.
pub struct Downward<'a> {
    how: Spread,
    scores: &'a [f64],
    truth: usize,
    judgement: Judgement,
    c: f64,
    /// Sum of the excesses of the error set, if the step is spread in proportion to them.
    z: f64,
}

impl<'a> Downward<'a> {
    #[inline(always)]
    pub fn new(how: Spread, scores: &'a [f64], truth: usize, judgement: Judgement, c: f64) -> Self {
        let mut down = Self { how, scores, truth, judgement, c, z: 0.0 };
        if how == Spread::Proportional {
            let errors = (0..scores.len()).filter(|&r| down.is_error(r));
            down.z = errors.fold(0.0, |z, r| z + (scores[r] - scores[truth]));
        }
        down
    }

    #[inline(always)]
    fn is_error(&self, r: usize) -> bool {
        r != self.truth && self.scores[r] >= self.scores[self.truth]
    }

    /// The (negative) step of a class; `None` if it does not move down.
    #[inline(always)]
    pub fn step(&self, r: usize) -> Option<f64> {
        let moves = if self.how == Spread::Max { r == self.judgement.top } else { self.is_error(r) };
        moves.then(|| match self.how {
            Spread::Max => -self.c,
            _ if self.z == 0.0 => -(self.c / self.judgement.errors as f64),
            _ => -(self.c * (self.scores[r] - self.scores[self.truth]) / self.z),
        })
    }
}
