//! The best label sequences of many sequences, shared out over threads.

use std::{ops::Range, sync::Mutex};

use super::chain::check_beam;
use super::frame::{Frame, Shape};
use super::lattice::{Columns, Lattice, Search, SearchModel};
use super::sparse::Sparse;
use super::terms::Terms;
use super::{ChainWeights, Sequences};
use crate::arith::activation::{LabelSums, Row};
use crate::arith::environment::standard;
use crate::base::{Error, Grow, Monitor, Result, bail, collected, ensure, filled};
use crate::rows::{Entries, Matrix, prefetch};
use crate::threads::{each, lock};

#[derive(Debug, Clone, Copy, Default)]
pub struct Limits<'a> {
    pub beam: Option<usize>,
    /// For each row and label, whether the row may have it.
    pub allowed: Option<&'a [bool]>,
    /// For each label and the next, whether they may not follow each other.
    pub forbidden: Option<&'a [bool]>,
}

/// The frame of weights that were checked: it stays for many searches, of which short ones take less time than
/// to make it.
pub struct CheckedFrame {
    frame: Frame<f64>,
    columns: usize,
}

impl CheckedFrame {
    pub fn new(weights: &ChainWeights, monitor: &dyn Monitor) -> Result<Self> {
        standard(|| {
            let columns = weights.emission.columns();
            weights.check(columns, monitor)?;
            Ok(Self { frame: Frame::new(weights)?, columns })
        })
    }
}

/// The weights of a search, and their frame if there is one.
#[derive(Clone, Copy)]
pub struct SearchWeights<'a> {
    pub weights: &'a ChainWeights<'a>,
    pub checked: Option<&'a CheckedFrame>,
}

impl<'a> From<&'a ChainWeights<'a>> for SearchWeights<'a> {
    fn from(weights: &'a ChainWeights<'a>) -> Self {
        Self { weights, checked: None }
    }
}

/// Writes the labels of every row, and the score of every sequence.
pub fn decode<'a>(
    rows: &dyn Matrix,
    sequences: &Sequences,
    weights: impl Into<SearchWeights<'a>>,
    limits: Limits<'a>,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<(Vec<u32>, Vec<f64>)> {
    standard(|| {
        let prepared = Prepared::new(rows, weights.into(), limits, monitor)?;
        let (mut path, mut scores) = (filled(0, rows.len())?, filled(0.0, sequences.len())?);
        let mut places = collected(by_sequence(&mut path, sequences).zip(&mut scores))?;
        each_sequence(rows, sequences, &prepared, &mut places, threads, monitor, |found, (path, score)| {
            found.trace(path);
            **score = found.score();
            Ok(())
        })?;
        Ok((path, scores))
    })
}

/// The numbers of each sequence among those of all rows.
pub(super) fn by_sequence<'a, T>(
    mut rest: &'a mut [T],
    sequences: &Sequences,
) -> impl ExactSizeIterator<Item = &'a mut [T]> {
    (0..sequences.len()).map(move |i| rest.split_off_mut(..sequences.rows(i).len()).unwrap_or_default())
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

/// The frame of weights, made for one call, or lent.
enum Held<'a> {
    Own(Frame<f64>),
    Lent(&'a Frame<f64>),
}

/// What all searches read.
pub(super) struct Prepared<'a> {
    frame: Held<'a>,
    emission: StoredWeights<'a>,
    pair: Option<StoredWeights<'a>>,
    limits: Limits<'a>,
}

impl<'a> Prepared<'a> {
    pub fn new(
        rows: &dyn Matrix,
        SearchWeights { weights, checked }: SearchWeights<'a>,
        limits: Limits<'a>,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        match checked {
            None => weights.check_for(rows, monitor)?,
            Some(CheckedFrame { columns, .. }) => {
                let got = rows.columns();
                ensure!(*columns == got, "rows must have {columns} columns, as the weights, got {got}");
            }
        }
        check_beam(limits.beam)?;
        let labels = weights.labels();
        let masks = [
            ("allowed", limits.allowed, rows.len() * labels),
            ("forbidden", limits.forbidden, labels * labels),
        ];
        for (name, given, needed) in masks {
            ensure!(
                given.is_none_or(|given| given.len() == needed),
                "{name} must hold {needed} booleans for these rows and labels"
            );
        }
        let frame = match (checked, limits.forbidden) {
            (Some(checked), None) => Held::Lent(&checked.frame),
            (checked, forbidden) => {
                let mut frame = match checked {
                    Some(checked) => checked.frame.widened()?,
                    None => Frame::new(weights)?,
                };
                if let Some(forbidden) = forbidden {
                    frame.forbid(forbidden);
                }
                Held::Own(frame)
            }
        };
        let shape = Shape::new(labels);
        let emission = StoredWeights::new(&weights.emission, shape, 1)?;
        let pair = weights.pair.as_ref().map(|pair| StoredWeights::new(pair, shape, labels));
        let pair = pair.transpose()?;
        Ok(Self { frame, emission, pair, limits })
    }
}

/// The table of a search and the entries it is about.
struct Searcher {
    lattice: Lattice<f64>,
    entries: Entries,
    terms: Terms,
}

/// The table of one sequence, in which there are labels for all of its tokens.
pub(super) struct Found<'a> {
    pub lattice: &'a mut Lattice<f64>,
    pub frame: &'a Frame<f64>,
    /// Which sequence it is, and how many tokens it has.
    pub number: usize,
    pub tokens: usize,
    /// The last of the best labels.
    pub last: u32,
    /// Whether some labels may not follow each other.
    pub forbids: bool,
    prepared: &'a Prepared<'a>,
    entries: &'a Entries,
    terms: &'a mut Terms,
}

impl Found<'_> {
    pub fn trace(&self, path: &mut [u32]) {
        self.lattice.trace(self.frame, self.last, path);
    }

    pub fn score(&self) -> f64 {
        self.lattice.scores(self.tokens - 1)[self.last as usize]
    }

    /// The table, and the numbers that it is the sums of.
    pub fn with_terms(&mut self) -> Result<(&Lattice<f64>, &Terms)> {
        self.terms.make(self.lattice, self.prepared.model(), self.entries, self.forbids)?;
        Ok((self.lattice, self.terms))
    }
}

pub(super) fn too_large(number: usize) -> Error {
    Error::TooLarge(format!("a score of sequence {number} is not finite; scale the features"))
}

impl<'a> Prepared<'a> {
    fn frame(&self) -> &Frame<f64> {
        match &self.frame {
            Held::Own(frame) => frame,
            Held::Lent(frame) => frame,
        }
    }

    fn model(&self) -> SearchModel<'_, f64, StoredWeights<'a>> {
        SearchModel { frame: self.frame(), emission: &self.emission, pair: self.pair.as_ref() }
    }
}

impl Searcher {
    fn new(prepared: &Prepared) -> Result<Self> {
        let lattice = Lattice::new(prepared.frame().shape, prepared.pair.is_some())?;
        Ok(Self { lattice, entries: Entries::default(), terms: Terms::default() })
    }

    /// Fills the table of a sequence, the `number`-th.
    fn search<'a>(
        &'a mut self,
        rows: &dyn Matrix,
        (number, part): (usize, Range<usize>),
        prepared: &'a Prepared<'a>,
        monitor: &dyn Monitor,
    ) -> Result<Found<'a>> {
        let (frame, limits) = (prepared.frame(), prepared.limits);
        let Self { lattice, entries, terms } = self;
        entries.clear();
        rows.gather(part.clone(), entries)?;
        let (labels, forbids) = (frame.shape.labels, limits.forbidden.is_some());
        let allowed = limits.allowed.map(|allowed| &allowed[part.start * labels..part.end * labels]);
        let search = Search { beam: limits.beam, allowed, forbids };
        if !entries.is_finite() || !lattice.fill(prepared.model(), entries, search, monitor)? {
            return Err(too_large(number));
        }
        let Some(last) = lattice.best(part.len() - 1) else {
            bail!(
                "allowed and forbidden leave no labels for sequence {number}; allow more, or widen the beam"
            );
        };
        let tokens = part.len();
        Ok(Found { lattice, frame, number, tokens, last, forbids, prepared, entries, terms })
    }
}

/// Sequences that a thread takes at once.
const BLOCK: usize = 64;

/// Searches every sequence, and calls `work` on the table and on its place for what is to be found there. An
/// error is that of the first sequence that has one.
pub(super) fn each_sequence<T: Send>(
    rows: &dyn Matrix,
    sequences: &Sequences,
    prepared: &Prepared,
    places: &mut [T],
    threads: usize,
    monitor: &dyn Monitor,
    work: impl Fn(Found, &mut T) -> Result<()> + Sync,
) -> Result<()> {
    let blocks = places.chunks_mut(BLOCK).enumerate().map(|(i, places)| (i * BLOCK, places));
    let threads = threads.min(blocks.len()).max(1);
    let idle = Mutex::new(vec![]);
    each(blocks, threads, monitor, |(first, places)| {
        let mut searcher = lock(&idle).pop().map_or_else(|| Searcher::new(prepared), Ok)?;
        for (number, place) in (first..).zip(places) {
            let part = (number, sequences.rows(number));
            work(searcher.search(rows, part, prepared, monitor)?, place)?;
        }
        lock(&idle).try_push(searcher)
    })
}
