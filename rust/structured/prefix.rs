//! Which prefix of a wrong answer is learnt from.
//!
//! - Problem: with a beam, the best sequence found may score less than the true one, which the search
//!   has lost. Learning from the whole of both then need not help.
//! - Method: learn from a prefix on which the beam's best scores at least as much as the truth. `Early`:
//!   up to the token where the beam loses the true prefix. `MaxViolation`: up to the token where the
//!   beam's best prefix is ahead of the true one by most; among equals the shortest, of those that differ.
//! - Paper: M. Collins, B. Roark, "Incremental parsing with the perceptron algorithm", ACL 2004, section 3.3
//!   (early update); L. Huang, S. Fayong, Y. Guo, "Structured perceptron with inexact search", NAACL 2012,
//!   section 4 (max-violation).

use super::frame::Frame;
use super::lattice::{Columns, Lattice, SearchModel};
use crate::arith::number::Number;
use crate::base::{Result, collected};
use crate::rows::Entries;

/// What is learnt from a wrong answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mending {
    Full,
    Early,
    MaxViolation,
}

impl Mending {
    /// By their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("full", Self::Full), ("early", Self::Early), ("max_violation", Self::MaxViolation)];
}

/// Writes into `path` the prefix to be compared with that of `truth`, and returns its length; 0 if
/// the answer is right, or if there is none. `None`: a score of the truth is not finite.
pub(super) fn compare<N: Number, C: Columns<N>>(
    lattice: &mut Lattice<N>,
    (model, rows): (SearchModel<N, C>, &Entries),
    mending: Mending,
    truth: &[u32],
    path: &mut [u32],
) -> Result<Option<usize>> {
    let mut trace = |lattice: &Lattice<N>, len: usize| {
        let Some(best) = lattice.best(len - 1) else { return 0 };
        lattice.trace(model.frame, best, &mut path[..len]);
        if path[..len] == truth[..len] { 0 } else { len }
    };
    let len = truth.len();
    Ok(Some(match mending {
        Mending::Full => trace(lattice, len),
        Mending::Early => {
            let lost = kept_prefixes(lattice, model.frame, truth)?.iter().position(|is_kept| !is_kept);
            trace(lattice, lost.map_or(len, |token| token + 1))
        }
        Mending::MaxViolation => {
            if trace(lattice, len) == 0 {
                return Ok(Some(0));
            }
            let is_kept = kept_prefixes(lattice, model.frame, truth)?;
            let mut worst = (0, f64::NEG_INFINITY);
            let mut score = N::default();
            for (token, (&label, is_kept)) in truth.iter().zip(is_kept).enumerate() {
                score = lattice.extend(model, rows, score, token, truth);
                let Some(best) = lattice.best(token) else { break };
                let ahead = lattice.scores(token)[best as usize].wide() - score.wide();
                if !(is_kept && best == label) && ahead > worst.1 {
                    worst = (token + 1, ahead);
                }
            }
            if worst.0 == 0 {
                return Ok(None); // the truth follows a pair of labels that the beam has not met
            }
            trace(lattice, worst.0)
        }
    }))
}

/// By how much the best prefix, which ends in `label`, scores more than the true one.
pub(super) fn ahead<N: Number, C: Columns<N>>(
    lattice: &mut Lattice<N>,
    (model, rows): (SearchModel<N, C>, &Entries),
    truth: &[u32],
    label: u32,
) -> f64 {
    let score =
        (0..truth.len()).fold(N::default(), |score, token| lattice.extend(model, rows, score, token, truth));
    lattice.scores(truth.len() - 1)[label as usize].wide() - score.wide()
}

/// For each token, whether the true prefix up to there is the best one that ends in its last label.
fn kept_prefixes<N: Number>(lattice: &Lattice<N>, frame: &Frame<N>, truth: &[u32]) -> Result<Vec<bool>> {
    let mut is_kept = true;
    let step = |(token, label): (usize, &u32)| {
        is_kept &= lattice.candidates(token).contains(label)
            && (token == 0 || lattice.before(frame, token, *label) == truth[token - 1]);
        is_kept
    };
    collected(truth.iter().enumerate().map(step))
}
