//! The search for the best label sequence: Viterbi's, or the same with a beam.
//!
//! - Problem: the labels y of a sequence with the largest sum of `e[t][y_t]` and `pair[y_(t-1)][y_t]`.
//! - Method: `delta[t][y]` is the best score of a prefix that ends in y at token t. Label by label,
//!   `delta[t][y] = max over y' of (delta[t-1][y'] + pair[y'][y]) + e[t][y]`; the labels are found by
//!   going back from the best one of the last token. Ties go to the lowest label, everywhere.
//! - A beam keeps the labels of a token with the largest delta. Prefixes that end in one label have
//!   equal futures, so only the best of them counts: a beam as wide as there are labels is Viterbi's.
//! - Paper: A. J. Viterbi, "Error bounds for convolutional codes", IEEE Transactions on Information
//!   Theory 13, 1967.

use super::fill::Fill;
use super::frame::{Frame, Shape};
use crate::arith::activation::{LabelSums, Row};
use crate::arith::lattice::{first_best, first_best_of_all};
use crate::arith::number::Number;
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::base::{Monitor, Result, collected, filled};
use crate::rows::Entries;

/// The weights of columns for planes, however they are stored.
pub(super) trait Columns<N> {
    /// Adds the products of a row.
    fn activate(&self, row: Row, sums: &mut LabelSums<N>);

    /// Tells the processor that the weights of a column will be needed soon.
    fn prefetch(&self, column: i64);
}

pub(super) struct SearchModel<'a, N, C> {
    pub frame: &'a Frame<N>,
    pub emission: &'a C,
    pub pair: Option<&'a C>,
}

impl<N, C> Clone for SearchModel<'_, N, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<N, C> Copy for SearchModel<'_, N, C> {}

#[derive(Clone, Copy, Default)]
pub(super) struct Search<'a> {
    /// How many labels of each token the search goes on from.
    pub beam: Option<usize>,
    /// For each token and label, whether it may be chosen.
    pub allowed: Option<&'a [bool]>,
    /// Some transitions weigh minus infinity.
    pub forbids: bool,
}

/// The table of the search over one sequence, and its scratch.
pub(super) struct Lattice<N> {
    pub(super) shape: Shape,
    pub(super) len: usize,
    pub(super) delta: Vec<N>,
    pub(super) all: Vec<u32>,
    /// The labels that the search goes on from at each token, one token after another; unused if these are all.
    pub(super) candidates: Vec<u32>,
    pub(super) candidate_ends: Vec<usize>,
    pub(super) limited: bool,
    /// With pair weights: the label before the best prefix that ends in a label.
    pub(super) back: Vec<u32>,
    pub(super) with_pair: bool,
    pub(super) pair: Vec<N>,
    pub(super) pair_sums: LabelSums<N>,
    pub(super) column: Vec<N>,
    pub(super) sums: LabelSums<N>,
    pub(super) is_finite: bool,
}

impl<N: Number> Lattice<N> {
    pub fn new(shape: Shape, with_pair: bool) -> Result<Self> {
        let Shape { labels, stride } = shape;
        let pairs = if with_pair { labels * stride } else { 0 };
        Ok(Self {
            shape,
            len: 0,
            delta: Vec::new(),
            all: collected(0..labels as u32)?,
            candidates: Vec::new(),
            candidate_ends: Vec::new(),
            limited: false,
            back: Vec::new(),
            with_pair,
            pair: filled(N::default(), pairs)?,
            pair_sums: LabelSums::new(pairs)?,
            column: filled(N::default(), stride)?,
            sums: LabelSums::new(stride)?,
            is_finite: true,
        })
    }

    /// Fills the table. False if a number is not finite.
    pub fn fill<C: Columns<N>>(
        &mut self,
        model: SearchModel<N, C>,
        rows: &Entries,
        search: Search,
        monitor: &dyn Monitor,
    ) -> Result<bool> {
        dispatch(Fill { lattice: self, model, rows, search, monitor })
    }

    /// Scores of the best prefixes that end at a token, by their last label.
    pub fn scores(&self, token: usize) -> &[N] {
        &self.delta[token * self.shape.stride..][..self.shape.labels]
    }

    /// The labels that the search goes on from at a token, in order.
    pub fn candidates(&self, token: usize) -> &[u32] {
        if !self.limited {
            return &self.all;
        }
        let start = if token == 0 { 0 } else { self.candidate_ends[token - 1] };
        &self.candidates[start..self.candidate_ends[token]]
    }

    /// The last label of the best prefix that ends at a token, if any can.
    pub fn best(&self, token: usize) -> Option<u32> {
        let (candidates, scores) = (self.candidates(token), self.scores(token));
        let better = |best: u32, y: &u32| if scores[*y as usize] > scores[best as usize] { *y } else { best };
        candidates.first().map(|first| candidates.iter().fold(*first, better))
    }

    /// The label before `label` at `token` in the best prefix that ends so.
    #[inline(always)]
    pub fn before(&self, frame: &Frame<N>, token: usize, label: u32) -> u32 {
        let Shape { labels, stride } = self.shape;
        if self.with_pair {
            return self.back[token * labels + label as usize];
        }
        let pair = &frame.turned[label as usize * stride..][..labels];
        if !self.limited {
            return first_best_of_all(self.scores(token - 1), pair);
        }
        first_best(self.scores(token - 1), self.candidates(token - 1), |y| pair[y])
    }

    /// Writes the labels of the best prefix that ends in `label` at the last token of `path`.
    pub fn trace(&self, frame: &Frame<N>, label: u32, path: &mut [u32]) {
        dispatch(Trace { lattice: self, frame, label, path });
    }

    /// The score of the true prefix that ends at a token, from that of the one before. Only while the
    /// table's sums can be made again.
    pub fn extend<C: Columns<N>>(
        &mut self,
        model: SearchModel<N, C>,
        rows: &Entries,
        score: N,
        token: usize,
        truth: &[u32],
    ) -> N {
        self.emit(model, rows, token);
        let e = self.column[truth[token] as usize];
        if token == 0 {
            return e;
        }
        let at = truth[token - 1] as usize * self.shape.stride + truth[token] as usize;
        let pair = match model.pair {
            None => model.frame.transition[at],
            Some(weights) => {
                self.pairs(model.frame, weights, rows.row(token), Search::default());
                self.pair[at]
            }
        };
        score + pair + e
    }
}

struct Trace<'a, N> {
    lattice: &'a Lattice<N>,
    frame: &'a Frame<N>,
    label: u32,
    path: &'a mut [u32],
}

impl<N: Number> Leaf for Trace<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let mut label = self.label;
        for (token, out) in self.path.iter_mut().enumerate().rev() {
            *out = label;
            if token > 0 {
                label = self.lattice.before(self.frame, token, label);
            }
        }
    }
}
