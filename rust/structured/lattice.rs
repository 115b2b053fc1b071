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

use super::weights::Padded;
use crate::arith::lattice::{Number, add_all, first_best, first_best_of_all, reach};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::rows::{Entries, prefetch};

/// Tokens whose weights are asked for in advance.
const AHEAD: usize = 2;

/// What a search may look at.
#[derive(Clone, Copy, Default)]
pub(super) struct Search<'a> {
    /// So many labels of each token are kept.
    pub beam: Option<usize>,
    /// For each token and label, whether it may be chosen.
    pub allowed: Option<&'a [bool]>,
    /// Some transitions weigh minus infinity.
    pub forbids: bool,
}

/// The table of the search over one sequence, and its scratch.
pub(super) struct Lattice<N> {
    labels: usize,
    stride: usize,
    len: usize,
    delta: Vec<N>,
    all: Vec<u32>,
    /// The labels kept of each token, one token after another; unused if all of them are.
    kept: Vec<u32>,
    kept_ends: Vec<usize>,
    limited: bool,
    /// With pair weights: the label before the best prefix that ends in a label.
    back: Vec<u32>,
    pair: Vec<N>,
    column: Vec<N>,
    is_finite: bool,
}

impl<N: Number> Lattice<N> {
    pub fn new(model: &Padded<N>) -> Self {
        let Padded { labels, stride, .. } = *model;
        let pairs = if model.pair.is_some() { labels * stride } else { 0 };
        Self {
            labels,
            stride,
            len: 0,
            delta: Vec::new(),
            all: (0..labels as u32).collect(),
            kept: Vec::new(),
            kept_ends: Vec::new(),
            limited: false,
            back: Vec::new(),
            pair: vec![N::default(); pairs],
            column: vec![N::default(); stride],
            is_finite: true,
        }
    }

    /// Fills the table. False if a number is not finite.
    pub fn fill(&mut self, model: &Padded<N>, rows: &Entries, search: Search) -> bool {
        dispatch(Fill { lattice: self, model, rows, search })
    }

    /// Scores of the best prefixes that end at a token, by their last label.
    pub fn scores(&self, token: usize) -> &[N] {
        &self.delta[token * self.stride..][..self.labels]
    }

    /// The labels that are kept of a token, in order.
    pub fn kept(&self, token: usize) -> &[u32] {
        if !self.limited {
            return &self.all;
        }
        let start = if token == 0 { 0 } else { self.kept_ends[token - 1] };
        &self.kept[start..self.kept_ends[token]]
    }

    /// The last label of the best prefix that ends at a token, if any can.
    pub fn best(&self, token: usize) -> Option<u32> {
        let (kept, scores) = (self.kept(token), self.scores(token));
        let better = |best: u32, y: &u32| if scores[*y as usize] > scores[best as usize] { *y } else { best };
        kept.first().map(|first| kept.iter().fold(*first, better))
    }

    /// The label before `label` at `token` in the best prefix that ends so.
    #[inline(always)]
    pub fn before(&self, model: &Padded<N>, token: usize, label: u32) -> u32 {
        if model.pair.is_some() {
            return self.back[token * self.labels + label as usize];
        }
        let pair = &model.turned[label as usize * self.stride..][..self.labels];
        if !self.limited {
            return first_best_of_all(self.scores(token - 1), pair);
        }
        first_best(self.scores(token - 1), self.kept(token - 1), |y| pair[y])
    }

    /// Writes the labels of the best prefix that ends in `label` at the last token of `path`.
    pub fn trace(&self, model: &Padded<N>, label: u32, path: &mut [u32]) {
        dispatch(Trace { lattice: self, model, label, path });
    }

    /// The score of the true prefix that ends at a token, from that of the one before. Only while the
    /// table's sums can be made again.
    pub fn extend(&mut self, model: &Padded<N>, rows: &Entries, score: N, token: usize, truth: &[u32]) -> N {
        self.emit(model, rows, token);
        let e = self.column[truth[token] as usize];
        if token == 0 {
            return e;
        }
        let at = truth[token - 1] as usize * self.stride + truth[token] as usize;
        let pair = match &model.pair {
            None => model.transition[at],
            Some(weights) => {
                self.pairs(model, weights, rows, token, Search::default());
                self.pair[at]
            }
        };
        score.plus(pair).plus(e)
    }

    /// `e[t]`, in the column.
    #[inline(always)]
    fn emit(&mut self, model: &Padded<N>, rows: &Entries, token: usize) {
        let row = rows.row(token);
        let e = &mut self.column[..];
        N::activate(row, &model.emission, e);
        if token == 0 {
            add_all(e, &model.start);
        }
        if token + 1 == self.len {
            add_all(e, &model.end);
        }
        self.is_finite &= all_finite(e);
    }

    /// `pair[y'][y]` where the row has a say in it.
    #[inline(always)]
    fn pairs(&mut self, model: &Padded<N>, weights: &[N], rows: &Entries, token: usize, search: Search) {
        N::activate(rows.row(token), weights, &mut self.pair);
        add_all(&mut self.pair, &model.transition);
        let is_good = |pair: &N| pair.is_finite() || search.forbids && pair.wide() == f64::NEG_INFINITY;
        self.is_finite &= self.pair.iter().all(is_good);
    }

    /// A row of the table.
    #[inline(always)]
    fn step(&mut self, model: &Padded<N>, token: usize) {
        let (stride, labels) = (self.stride, self.labels);
        let (done, now) = self.delta.split_at_mut(token * stride);
        let now = &mut now[..stride];
        if token == 0 {
            return now.copy_from_slice(&self.column);
        }
        let before = &done[(token - 1) * stride..];
        let from = if self.limited {
            let start = if token == 1 { 0 } else { self.kept_ends[token - 2] };
            &self.kept[start..self.kept_ends[token - 1]]
        } else {
            &self.all[..]
        };
        if model.pair.is_some() {
            reach(before, (from, !self.limited), &self.pair, now);
            for y in 0..labels {
                let best = first_best(before, from, |other| self.pair[other * stride + y]);
                self.back[token * labels + y] = best;
            }
        } else {
            reach(before, (from, !self.limited), &model.transition, now);
        }
        add_all(now, &self.column);
    }

    /// The labels of a token that the search goes on with. Their scores must be finite.
    #[inline(always)]
    fn keep(&mut self, token: usize, search: Search) {
        let scores = &self.delta[token * self.stride..][..self.labels];
        if !self.limited {
            self.is_finite &= all_finite(scores);
            return;
        }
        let may = |y: &u32| {
            let y = *y as usize;
            search.allowed.is_none_or(|allowed| allowed[token * self.labels + y])
                && (!search.forbids || scores[y].wide() != f64::NEG_INFINITY)
        };
        let start = self.kept.len();
        self.kept.extend(self.all.iter().copied().filter(may));
        if let Some(beam) = search.beam
            && self.kept.len() - start > beam
        {
            // Adding 0 turns -0.0 into +0.0, which total_cmp would hold apart.
            let key = |y: &u32| scores[*y as usize].wide() + 0.0;
            let kept = &mut self.kept[start..];
            kept.sort_by(|a, b| key(b).total_cmp(&key(a)));
            kept[..beam].sort_unstable();
            self.kept.truncate(start + beam);
        }
        self.is_finite &= self.kept[start..].iter().all(|&y| scores[y as usize].is_finite());
        self.kept_ends.push(self.kept.len());
    }
}

struct Trace<'a, N> {
    lattice: &'a Lattice<N>,
    model: &'a Padded<N>,
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
                label = self.lattice.before(self.model, token, label);
            }
        }
    }
}

struct Fill<'a, N> {
    lattice: &'a mut Lattice<N>,
    model: &'a Padded<N>,
    rows: &'a Entries,
    search: Search<'a>,
}

impl<N: Number> Leaf for Fill<'_, N> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> bool {
        let Self { lattice, model, rows, search } = self;
        let (stride, labels) = (lattice.stride, lattice.labels);
        lattice.len = rows.len();
        lattice.limited = search.beam.is_some() || search.allowed.is_some() || search.forbids;
        lattice.is_finite = true;
        lattice.kept.clear();
        lattice.kept_ends.clear();
        if lattice.delta.len() < rows.len() * stride {
            lattice.delta.resize(rows.len() * stride, N::default());
        }
        if model.pair.is_some() {
            lattice.back.resize(rows.len() * labels, 0);
        }
        for token in 0..rows.len() {
            // The rows of the weights are scattered over memory; no hardware can guess them.
            if model.pair.is_none() && token + AHEAD < rows.len() {
                for slot in rows.row(token + AHEAD).columns {
                    prefetch(&model.emission[*slot as usize * stride..][..stride]);
                }
            }
            lattice.emit(model, rows, token);
            if let (Some(weights), true) = (&model.pair, token > 0) {
                lattice.pairs(model, weights, rows, token, search);
            }
            if token > 0 && lattice.kept(token - 1).is_empty() {
                break;
            }
            lattice.step(model, token);
            lattice.keep(token, search);
        }
        if lattice.limited {
            lattice.kept_ends.resize(rows.len(), lattice.kept.len());
        }
        lattice.is_finite
    }
}

#[inline(always)]
fn all_finite<N: Number>(numbers: &[N]) -> bool {
    numbers.iter().fold(true, |all, number| all & number.is_finite())
}
