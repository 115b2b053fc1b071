//! The votes of all weight vectors of a run, for many rows.
//!
//! The vectors are made again from the log, a few at a time, for a block of rows at a time: they
//! never lie in memory together. Where rule 10 holds they are not made at all.

use std::ops::Range;

use super::{scores::in_strips, voted::Log};
use crate::arith::environment::standard;
use crate::arith::finite::largest_of;
use crate::arith::gram::{stays_exact, vote};
use crate::arith::integers::all_integers;
use crate::arith::step::start;
use crate::base::{
    Error, Grow, Monitor, NUMBERS, Pace, Result, bail, collected, copied, ensure, filled, mapped,
};
use crate::monitor::all;
use crate::rows::{Arranged, Ballot, Chosen, Matrix, Narrow, OwnColumns, RenamedRows, Rows, Tie, over};
use crate::threads::each;

/// Rows of a block: many, for the vectors are made again for each block.
const BLOCK: usize = 256;

/// Vectors made at a time in exact integers: their rows stay in the first cache.
const STRIP: usize = 16;

/// Bytes of the vectors that are made at a time, and their least and largest number.
const CHUNK: usize = 256 * 1024;
const FEWEST: usize = 4;
const MOST: usize = 16;

/// All weight vectors of K planes: start vectors (`coef` is K x columns), the log of the mistakes that
/// made the others, and how many votes each has, those of a plane one after another.
#[derive(Clone, Copy)]
pub struct VoteVectors<'a> {
    pub stored: &'a dyn Matrix,
    pub log: Log<'a>,
    pub coef: &'a [f64],
    pub intercept: &'a [f64],
    pub counts: &'a [i64],
    /// Whether an activation of 0 is a vote for.
    pub tie: Tie,
}

impl<'a> VoteVectors<'a> {
    fn check(&self, rows: &dyn Rows) -> Result<()> {
        let (planes, d) = (self.log.planes(), rows.columns());
        ensure!(
            self.stored.columns() == d,
            "stored_rows must have {d} columns like rows, got {}",
            self.stored.columns()
        );
        if self.coef.len() != planes * d || self.intercept.len() != planes {
            bail!("coef must hold {planes} x {d} weights, got {}", self.coef.len());
        }
        let vectors = self.log.entries(planes - 1).end + planes;
        ensure!(
            self.counts.len() == vectors,
            "log_count must have {vectors} entries, one for each vector, got {}",
            self.counts.len()
        );
        let total = self
            .counts
            .iter()
            .try_fold(0_i64, |total, &count| if count < 0 { None } else { total.checked_add(count) });
        ensure!(total.is_some(), "log_count must be at least 0 and add up to less than 2^63");
        Ok(())
    }

    fn start(&self, plane: usize, monitor: &dyn Monitor) -> Result<(Vec<f64>, f64)> {
        let coef = mapped(self.coef_of(plane), |&w| start(w), monitor)?;
        Ok((coef, start(self.intercept[plane])))
    }

    fn coef_of(&self, plane: usize) -> &'a [f64] {
        let d = self.stored.columns();
        &self.coef[plane * d..][..d]
    }

    /// The start vectors in some columns, each at its place; places of no column hold 0.
    fn coef_in(&self, chosen: &Chosen, monitor: &dyn Monitor) -> Result<Vec<f64>> {
        chosen.take(self.log.planes(), |k, column| self.coef_of(k)[column], monitor)
    }

    /// Whether rule 10 holds for those of a plane, if it does for the values of the rows.
    fn stay_exact(&self, plane: usize, monitor: &dyn Monitor) -> Result<bool> {
        let coef = self.coef_of(plane);
        let are_exact =
            || stays_exact(largest_of(coef, 0.0), coef.len(), self.intercept[plane], self.log.steps(plane));
        Ok(all(coef, all_integers, monitor)? && are_exact())
    }

    /// Votes of the start vector, and of those that mistakes made.
    fn counts(&self, plane: usize) -> (i64, &'a [i64]) {
        let Range { start, end } = self.log.entries(plane);
        (self.counts[start + plane], &self.counts[start + plane + 1..=end + plane])
    }
}

/// For each row and plane, the sum of the votes of all vectors: its count with the sign of
/// `w·x + b`, of which 0 is as `tie` says. `out` is rows x planes.
///
/// # Panics
/// If `out` has another length.
pub fn votes(
    rows: &dyn Matrix,
    vectors: &VoteVectors,
    threads: usize,
    monitor: &dyn Monitor,
    out: &mut [i64],
) -> Result<()> {
    standard(|| {
        vectors.check(rows)?;
        let Some(own) = rows.own_columns(vectors.log.planes(), &[], monitor)?.map(OwnColumns::sorted) else {
            return hold(rows, vectors, threads, monitor, out);
        };
        let coef = vectors.coef_in(&own.chosen, monitor)?;
        let stored = RenamedRows::new(vectors.stored, &own.chosen, monitor)?;
        let few = VoteVectors { stored: &stored.view(), coef: &coef, ..*vectors };
        over(rows, Some(&own), |rows| hold(rows, &few, threads, monitor, out))
    })
}

fn hold(
    rows: &dyn Rows,
    vectors: &VoteVectors,
    threads: usize,
    monitor: &dyn Monitor,
    out: &mut [i64],
) -> Result<()> {
    let planes = vectors.log.planes();
    assert_eq!(out.len(), rows.len() * planes);
    let threads = threads.clamp(1, rows.len().div_ceil(BLOCK).max(1));
    let mut exact = filled(false, planes)?;
    for (k, exact) in exact.iter_mut().enumerate() {
        *exact = vectors.stay_exact(k, monitor)?;
    }
    each(out.chunks_mut(BLOCK * planes).enumerate(), threads, monitor, |(i, out)| {
        let range = i * BLOCK..i * BLOCK + out.len() / planes;
        let mut sums = filled(0, range.len())?;
        for (k, &exact) in exact.iter().enumerate() {
            sums.fill(0);
            let plane = PlaneVotes { rows, range: range.clone(), vectors, number: k, monitor };
            if !(exact && plane.vote_exactly(&mut sums)?) {
                sums.fill(0);
                plane.vote(&mut sums)?;
            }
            for (out, &sum) in out[k..].iter_mut().step_by(planes).zip(&sums) {
                *out = sum;
            }
        }
        Ok(())
    })
}

/// The vectors of one plane and a block of rows.
struct PlaneVotes<'a> {
    rows: &'a dyn Rows,
    range: Range<usize>,
    vectors: &'a VoteVectors<'a>,
    number: usize,
    monitor: &'a dyn Monitor,
}

impl PlaneVotes<'_> {
    fn scores(&self, weights: &Arranged, intercept: &[f64], out: &mut [f64]) -> Result<()> {
        in_strips(self.rows, self.range.clone(), intercept.len(), self.monitor, out, |range, out| {
            self.rows.scores(range, weights, intercept, out)
        })
    }

    /// By rule 10; `false` if it does not hold for the values of these rows.
    fn vote_exactly(&self, sums: &mut [i64]) -> Result<bool> {
        let Self { rows, vectors, .. } = self;
        let columns = rows.columns();
        let (Some(mut made_by), Some(mut voted_on)) = (Narrow::new(columns), Narrow::new(columns)) else {
            return Ok(false);
        };
        if !voted_on.take(*rows, self.range.clone())? {
            return Ok(false);
        }
        let (coef, intercept) = vectors.start(self.number, self.monitor)?;
        let (first, counts) = vectors.counts(self.number);
        let mut activations = filled(0.0, self.range.len())?;
        let weights = rows.arrange(coef.into(), 1, self.range.len(), self.monitor)?;
        self.scores(&weights, &[intercept], &mut activations)?;
        tally(&activations, &[first], vectors.tie, sums);
        let log = vectors.log.entries(self.number);
        let mut scratch = Vec::new();
        for (first, counts) in log.step_by(STRIP).zip(counts.chunks(STRIP)) {
            let entries = || (first..first + counts.len()).map(|place| vectors.log.entry(place));
            if !made_by.take(vectors.stored, entries().map(|(row, _)| row))? {
                return Ok(false);
            }
            let steps = collected(entries().map(|(_, step)| step))?;
            Ballot {
                made_by: &made_by,
                steps: &steps,
                counts,
                tie: vectors.tie,
                voted_on: &voted_on,
                activations: &mut activations,
                votes: sums,
                scratch: &mut scratch,
            }
            .hold()?;
            self.monitor.pause()?;
        }
        Ok(true)
    }

    /// By rule 3.
    fn vote(&self, sums: &mut [i64]) -> Result<()> {
        let (d, len) = (self.rows.columns(), self.range.len());
        let entries = self.rows.entries(self.range.clone());
        // To have several vectors at a time costs several passes over all columns.
        let width = if entries <= 2 * d { 1 } else { (CHUNK / (8 * d.max(1))).clamp(FEWEST, MOST) };
        let (mut w, mut b) = self.vectors.start(self.number, self.monitor)?;
        let (first, counts) = self.vectors.counts(self.number);
        let mut coef = copied(if width == 1 { &[] } else { &w }, self.monitor)?;
        let (mut intercept, mut votes) = (filled(b, 1)?, filled(first, 1)?);
        let mut activations = filled(0.0, width * len)?;
        // The monitor is asked for each few vectors at least.
        let (mut pace, least) = (Pace::new(self.monitor), NUMBERS / if width == 1 { BLOCK } else { width });
        let cost = least.max(entries + if width == 1 { 0 } else { d });
        let mut count = |coef: &[f64], intercept: &[f64], votes: &[i64]| {
            let activations = &mut activations[..votes.len() * len];
            let weights = self.rows.arrange(coef.into(), votes.len(), len, self.monitor)?;
            self.scores(&weights, intercept, activations)?;
            if tally(activations, votes, self.vectors.tie, sums) { Ok(()) } else { Err(not_finite()) }
        };
        for (place, &votes_here) in self.vectors.log.entries(self.number).zip(counts) {
            pace.spend(cost)?;
            if votes.len() == width {
                count(if width == 1 { &w } else { &coef }, &intercept, &votes)?;
                coef.clear();
                intercept.clear();
                votes.clear();
            }
            self.step(place, &mut w, &mut b);
            if width > 1 {
                coef.try_extend(w.iter().copied())?;
            }
            intercept.try_push(b)?;
            votes.try_push(votes_here)?;
        }
        count(if width == 1 { &w } else { &coef }, &intercept, &votes)
    }

    /// Makes the vector of an entry of the log from the one before.
    fn step(&self, place: usize, w: &mut [f64], b: &mut f64) {
        let (row, [c, bias]) = self.vectors.log.entry(place);
        self.vectors.stored.axpy(row, c, w);
        *b += bias;
    }
}

/// Adds the votes of some vectors, by the signs of the activations (rows x vectors).
/// False if one is not finite.
fn tally(activations: &[f64], votes: &[i64], tie: Tie, sums: &mut [i64]) -> bool {
    let mut finite = true;
    for (activations, sum) in activations.chunks(votes.len()).zip(sums) {
        for (a, &votes) in activations.iter().zip(votes) {
            finite &= a.is_finite();
            *sum += vote(*a, [votes, tie.votes_at_zero(votes)]);
        }
    }
    finite
}

fn not_finite() -> Error {
    Error::TooLarge("rows: the activation of a vector that votes is not finite; scale the features".into())
}
