//! For each token, the best labels and how far the best ones with another label there are behind.
//!
//! - Problem: `score(y) - max over z with z_t != y_t of score(z)`, y the best label sequence, each score the
//!   sum that the search makes of it, their difference rounded once.
//! - Method: a search for each token that starts from the table's row without that label, all of them token by
//!   token side by side. No sum is made backwards: added from the other end, the terms of a sequence have
//!   another rounding, and the difference would be of numbers that are nobody's score.
//! - Result: never below 0; infinite where no other label is possible. The least margin of a sequence is the
//!   difference of its two best scores, bit by bit.
//! - Cost: the square of the number of tokens, times that of labels.

use super::decode::{Found, Limits, Prepared, by_sequence, each_sequence, too_large};
use super::lattice::Lattice;
use super::terms::Terms;
use super::{ChainWeights, Sequences};
use crate::arith::environment::standard;
use crate::arith::lattice::{add_all, reach};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::error::Result;
use crate::memory::{collected, filled};
use crate::online::Monitor;
use crate::rows::Matrix;

/// Writes the labels of every row, and their margins.
pub fn margins(
    rows: &dyn Matrix,
    sequences: &Sequences,
    weights: &ChainWeights,
    limits: Limits,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<(Vec<u32>, Vec<f64>)> {
    standard(|| {
        let prepared = Prepared::new(rows, weights, limits, monitor)?;
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
    let (score, forbids, number) = (found.score(), found.forbids, found.number);
    let stride = found.frame.shape.stride;
    let tables = (filled(f64::NEG_INFINITY, path.len() * stride)?, filled(0.0, stride)?);
    let (lattice, terms) = found.with_terms()?;
    let others = Others { lattice, terms, path, score, forbids, tables, margins, monitor };
    if dispatch(others)? { Ok(()) } else { Err(too_large(number)) }
}

/// Steps of the searches between two looks at the monitor.
const WORK: usize = 1 << 20;

struct Others<'a> {
    lattice: &'a Lattice<f64>,
    terms: &'a Terms,
    path: &'a [u32],
    score: f64,
    forbids: bool,
    /// A row of labels for each token, the last of its search; and one to write to.
    tables: (Vec<f64>, Vec<f64>),
    margins: &'a mut [f64],
    monitor: &'a dyn Monitor,
}

impl Leaf for Others<'_> {
    /// False if a number is not finite.
    type Output = Result<bool>;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Result<bool> {
        let Self { lattice, terms, path, score, forbids, tables: (mut rows, mut next), margins, monitor } =
            self;
        let (labels, stride) = (lattice.shape.labels, lattice.shape.stride);
        let mut steps = 0;
        for (token, chosen) in path.iter().enumerate() {
            let kept = lattice.kept(token);
            let (earlier, own) = rows.split_at_mut(token * stride);
            for row in earlier.chunks_exact_mut(stride) {
                steps += labels * stride;
                if steps > WORK {
                    monitor.pause()?;
                    steps = 0;
                }
                if is_empty(row) {
                    continue;
                }
                reach(&row[..labels], (&lattice.all, true), terms.pair(token), &mut next);
                add_all(&mut next, terms.emission(token));
                // What a search does not keep is no label of the token.
                row.fill(f64::NEG_INFINITY);
                for &y in kept {
                    row[y as usize] = next[y as usize];
                }
                if !forbids && kept.iter().any(|y| !row[*y as usize].is_finite()) {
                    return Ok(false);
                }
            }
            for &y in kept.iter().filter(|y| *y != chosen) {
                own[y as usize] = lattice.scores(token)[y as usize];
            }
        }
        for (margin, row) in margins.iter_mut().zip(rows.chunks_exact(stride)) {
            let second = row.iter().fold(f64::NEG_INFINITY, |most, score| most.max(*score));
            *margin = score - second;
            if !margin.is_finite() && !is_empty(row) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[inline(always)]
fn is_empty(row: &[f64]) -> bool {
    row.iter().all(|score| *score == f64::NEG_INFINITY)
}
