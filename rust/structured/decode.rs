//! The best label sequences of many sequences, shared out over threads.

use std::ops::Range;
use std::sync::Mutex;

use super::chain::check_beam;
use super::frame::{Frame, Shape};
use super::lattice::{Columns, Lattice, Search, SearchModel};
use super::sparse::Sparse;
use super::{ChainWeights, Sequences};
use crate::arith::activation::{LabelSums, Row};
use crate::arith::environment::standard;
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, filled};
use crate::online::Monitor;
use crate::online::threads::{each, lock};
use crate::rows::{Entries, Matrix, prefetch};

/// What a search may choose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits<'a> {
    pub beam: Option<usize>,
    /// For each row and label, whether the row may have it.
    pub allowed: Option<&'a [bool]>,
    /// For each label and the next, whether they may not follow each other.
    pub forbidden: Option<&'a [bool]>,
}

/// Writes the labels of every row, and the score of every sequence.
pub fn decode(
    rows: &dyn Matrix,
    sequences: &Sequences,
    weights: &ChainWeights,
    limits: Limits,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<(Vec<u32>, Vec<f64>)> {
    standard(|| search(rows, sequences, weights, limits, threads, monitor))
}

fn search(
    rows: &dyn Matrix,
    sequences: &Sequences,
    weights: &ChainWeights,
    limits: Limits,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<(Vec<u32>, Vec<f64>)> {
    weights.check_for(rows, monitor)?;
    check_beam(limits.beam)?;
    let labels = weights.labels();
    for (name, given, needed) in
        [("allowed", limits.allowed, rows.len() * labels), ("forbidden", limits.forbidden, labels * labels)]
    {
        if given.is_some_and(|given| given.len() != needed) {
            return Err(Error::Invalid(format!(
                "{name} must hold {needed} booleans for these rows and labels"
            )));
        }
    }
    let parts = collected((0..sequences.len()).map(|i| sequences.rows(i)))?;
    decode_all(rows, &parts, &Prepared::new(weights, limits)?, threads, monitor)
}

/// Weights of columns where they are stored, and the places of their planes, if they are not the same.
struct StoredWeights<'a> {
    weights: &'a Sparse<'a>,
    places: Option<Vec<usize>>,
}

impl<'a> StoredWeights<'a> {
    /// `planes` rows of labels, K or 1.
    fn new(weights: &'a Sparse<'a>, shape: Shape, planes: usize) -> Result<Self> {
        let is_padded = planes > 1 && shape.stride > shape.labels;
        let places =
            is_padded.then(|| collected((0..planes * shape.labels).map(|plane| shape.padded(plane))));
        Ok(Self { weights, places: places.transpose()? })
    }
}

impl Columns<f64> for StoredWeights<'_> {
    #[inline(always)]
    fn activate(&self, row: Row, sums: &mut LabelSums<f64>) {
        for (column, x) in row.columns.iter().zip(row.values) {
            let (planes, data) = self.weights.row(*column as usize);
            let planes = planes.iter().map(|plane| *plane as usize);
            let data = data.iter().copied();
            match &self.places {
                None => sums.add_some(*column, *x, planes.zip(data)),
                Some(places) => sums.add_some(*column, *x, planes.map(|plane| places[plane]).zip(data)),
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, column: i64) {
        let (planes, data) = self.weights.row(column as usize);
        prefetch(planes);
        prefetch(data);
    }
}

/// What all searches read.
struct Prepared<'a> {
    frame: Frame<f64>,
    emission: StoredWeights<'a>,
    pair: Option<StoredWeights<'a>>,
    limits: Limits<'a>,
}

impl<'a> Prepared<'a> {
    pub fn new(weights: &'a ChainWeights<'a>, limits: Limits<'a>) -> Result<Self> {
        let mut frame = Frame::new(weights)?;
        if let Some(forbidden) = limits.forbidden {
            frame.forbid(forbidden);
        }
        let emission = StoredWeights::new(&weights.emission, frame.shape, 1)?;
        let pair =
            weights.pair.as_ref().map(|pair| StoredWeights::new(pair, frame.shape, frame.shape.labels));
        let pair = pair.transpose()?;
        Ok(Self { frame, emission, pair, limits })
    }
}

/// The table of a search and the entries it is about.
struct Searcher {
    lattice: Lattice<f64>,
    entries: Entries,
}

impl Searcher {
    fn new(prepared: &Prepared) -> Result<Self> {
        let lattice = Lattice::new(prepared.frame.shape, prepared.pair.is_some())?;
        Ok(Self { lattice, entries: Entries::default() })
    }

    /// Writes the labels of a sequence, the `number`-th, and returns their score.
    fn search(
        &mut self,
        rows: &dyn Matrix,
        (number, part): (usize, Range<usize>),
        prepared: &Prepared,
        path: &mut [u32],
        monitor: &dyn Monitor,
    ) -> Result<f64> {
        let Prepared { frame, emission, pair, limits } = prepared;
        let Self { lattice, entries } = self;
        entries.clear();
        rows.gather(part.clone(), entries)?;
        let labels = frame.shape.labels;
        let search = Search {
            beam: limits.beam,
            allowed: limits.allowed.map(|allowed| &allowed[part.start * labels..part.end * labels]),
            forbids: limits.forbidden.is_some(),
        };
        let model = SearchModel { frame, emission, pair: pair.as_ref() };
        if !entries.is_finite() || !lattice.fill(model, entries, search, monitor)? {
            return Err(Error::TooLarge(format!(
                "a score of sequence {number} is not finite; scale the features"
            )));
        }
        let Some(best) = lattice.best(part.len() - 1) else {
            return Err(Error::Invalid(format!(
                "allowed and forbidden leave no labels for sequence {number}; allow more, or widen the beam"
            )));
        };
        lattice.trace(frame, best, path);
        Ok(lattice.scores(part.len() - 1)[best as usize])
    }
}

/// Sequences that a thread takes at once.
const BLOCK: usize = 64;

/// Writes the labels of some runs of rows, one after another, and the score of each. An error is that of the
/// first sequence that has one.
fn decode_all(
    rows: &dyn Matrix,
    parts: &[Range<usize>],
    prepared: &Prepared,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<(Vec<u32>, Vec<f64>)> {
    let len = |parts: &[Range<usize>]| parts.iter().fold(0, |len, part| len + part.len());
    let (mut path, mut scores) = (filled(0, len(parts))?, filled(0.0, parts.len())?);
    let mut rest = &mut path[..];
    let blocks = parts.chunks(BLOCK).zip(scores.chunks_mut(BLOCK)).enumerate().map(|(i, (parts, scores))| {
        let (path, others) = std::mem::take(&mut rest).split_at_mut(len(parts));
        rest = others;
        (i * BLOCK, parts, path, scores)
    });
    let threads = threads.min(blocks.len()).max(1);
    let idle = Mutex::new(vec![]);
    each(blocks, threads, monitor, |(first, parts, mut path, scores)| {
        let mut searcher = lock(&idle).pop().map_or_else(|| Searcher::new(prepared), Ok)?;
        for (k, (part, score)) in parts.iter().zip(scores).enumerate() {
            let (labels, rest) = path.split_at_mut(part.len());
            path = rest;
            *score = searcher.search(rows, (first + k, part.clone()), prepared, labels, monitor)?;
        }
        lock(&idle).try_push(searcher)
    })?;
    Ok((path, scores))
}
