//! For each token, the best labels and how far the best ones with another label there are behind.
//!
//! - Problem: `max over z with z_t = y_t of score(z) - max over z with z_t != y_t of score(z)`, y the best
//!   label sequence: a difference of max-marginals.
//! - Method: `rest[t][y]` is the best score of what may follow label y at token t, made from the end as the
//!   search makes its table from the start:
//!   `rest[t][y] = max over z of (pair[t+1][y][z] + (e[t+1][z] + rest[t+1][z]))`.
//!   Then `delta[t][y] + rest[t][y]` is the best score of the sequences that have y at t.
//! - Result: never below 0; infinite where no other label is possible. Where no sum is rounded, the least
//!   margin of a sequence is the difference of its two best scores.
//! - Cost: that of a second search.

use super::Sequences;
use super::decode::{Found, Limits, Prepared, SearchWeights, by_sequence, each_sequence, too_large};
use super::lattice::Lattice;
use super::terms::Terms;
use crate::arith::environment::standard;
use crate::arith::lattice::best_of_all;
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::base::{Monitor, Pace, Result, collected, filled};
use crate::rows::Matrix;

/// Writes the labels of every row, and their margins.
pub fn margins<'a>(
    rows: &dyn Matrix,
    sequences: &Sequences,
    weights: impl Into<SearchWeights<'a>>,
    limits: Limits<'a>,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<(Vec<u32>, Vec<f64>)> {
    standard(|| {
        let prepared = Prepared::new(rows, weights.into(), limits, monitor)?;
        let (mut path, mut margins) = (filled(0, rows.len())?, filled(0.0, rows.len())?);
        let parts = by_sequence(&mut path, sequences).zip(by_sequence(&mut margins, sequences));
        let mut places = collected(parts)?;
        each_sequence(
            rows,
            sequences,
            &prepared,
            &mut places,
            threads,
            monitor,
            |found, (path, margins)| {
                found.trace(path);
                measure(found, path, margins, monitor)
            },
        )?;
        Ok((path, margins))
    })
}

fn measure(mut found: Found, path: &[u32], margins: &mut [f64], monitor: &dyn Monitor) -> Result<()> {
    let (forbids, number, stride) = (found.forbids, found.number, found.frame.shape.stride);
    let room = (filled(0.0, stride)?, filled(f64::NEG_INFINITY, stride)?);
    let (lattice, terms) = found.with_terms()?;
    if dispatch(Backwards { lattice, terms, path, forbids, room, margins, monitor })? {
        Ok(())
    } else {
        Err(too_large(number))
    }
}

/// The pass from the end.
struct Backwards<'a> {
    lattice: &'a Lattice<f64>,
    terms: &'a Terms,
    path: &'a [u32],
    forbids: bool,
    /// `rest[t]`, and `e[t] + rest[t]` of the candidates.
    room: (Vec<f64>, Vec<f64>),
    margins: &'a mut [f64],
    monitor: &'a dyn Monitor,
}

impl Leaf for Backwards<'_> {
    /// False if a number is not finite.
    type Output = Result<bool>;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Result<bool> {
        let Self { lattice, terms, path, forbids, room: (mut rest, mut after), margins, monitor } = self;
        let (labels, stride) = (lattice.shape.labels, lattice.shape.stride);
        let mut pace = Pace::new(monitor);
        for token in (0..path.len()).rev() {
            pace.spend(labels * stride)?;
            if token + 1 < path.len() {
                for (rest, pair) in rest.iter_mut().zip(terms.pair(token + 1).chunks_exact(stride)) {
                    *rest = best_of_all(&after, pair);
                }
            }
            after.fill(f64::NEG_INFINITY);
            let (scores, emission) = (lattice.scores(token), terms.emission(token));
            let (mut own, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
            for y in lattice.candidates(token).iter().map(|y| *y as usize) {
                after[y] = emission[y] + rest[y];
                let score = scores[y] + rest[y];
                if !(score.is_finite() || forbids && score == f64::NEG_INFINITY) {
                    return Ok(false);
                }
                let best = if y == path[token] as usize { &mut own } else { &mut second };
                *best = best.max(score);
            }
            let margin = own - second;
            if !own.is_finite() || !margin.is_finite() && second != f64::NEG_INFINITY {
                return Ok(false);
            }
            margins[token] = margin.max(0.0);
        }
        Ok(true)
    }
}
