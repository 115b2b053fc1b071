//! How the table of a search is filled, token by token.

use super::frame::{Frame, Shape};
use super::lattice::{Columns, Lattice, Search, SearchModel};
use crate::arith::activation::Row;
use crate::arith::lattice::{add_all, first_best, reach};
use crate::arith::number::Number;
use crate::arith::simd::{Leaf, Simd};
use crate::base::{Grow, Monitor, Pace, Result};
use crate::rows::Entries;

/// Tokens whose weights are asked for in advance.
const AHEAD: usize = 2;

impl<N: Number> Lattice<N> {
    /// `e[t]`, in the column.
    #[inline(always)]
    pub(super) fn emit<C: Columns<N>>(&mut self, model: SearchModel<N, C>, rows: &Entries, token: usize) {
        self.sums.clear();
        model.emission.activate(rows.row(token), &mut self.sums);
        let e = &mut self.column[..];
        self.sums.total(e);
        if token == 0 {
            add_all(e, &model.frame.start);
        }
        if token + 1 == self.len {
            add_all(e, &model.frame.end);
        }
        self.is_finite &= all_finite(e);
    }

    /// `pair[y'][y]` where the row has a say in it.
    #[inline(always)]
    pub(super) fn pairs<C: Columns<N>>(&mut self, frame: &Frame<N>, weights: &C, row: Row, search: Search) {
        self.pair_sums.clear();
        weights.activate(row, &mut self.pair_sums);
        self.pair_sums.total(&mut self.pair);
        add_all(&mut self.pair, &frame.transition);
        let is_good = |pair: &N| pair.is_finite() || search.forbids && pair.wide() == f64::NEG_INFINITY;
        self.is_finite &= self.pair.iter().all(is_good);
    }

    /// A row of the table.
    #[inline(always)]
    fn step(&mut self, frame: &Frame<N>, token: usize) {
        let Shape { labels, stride } = self.shape;
        let (done, now) = self.delta.split_at_mut(token * stride);
        let now = &mut now[..stride];
        if token == 0 {
            return now.copy_from_slice(&self.column);
        }
        let before = &done[(token - 1) * stride..];
        let from = if self.limited {
            let start = if token == 1 { 0 } else { self.candidate_ends[token - 2] };
            &self.candidates[start..self.candidate_ends[token - 1]]
        } else {
            &self.all[..]
        };
        if self.with_pair {
            reach(before, (from, !self.limited), &self.pair, now);
            for y in 0..labels {
                let best = first_best(before, from, |other| self.pair[other * stride + y]);
                self.back[token * labels + y] = best;
            }
        } else {
            reach(before, (from, !self.limited), &frame.transition, now);
        }
        add_all(now, &self.column);
    }

    /// The labels of a token that the search goes on with. Their scores must be finite.
    #[inline(always)]
    fn keep(&mut self, token: usize, search: Search) -> Result<()> {
        let Shape { labels, stride } = self.shape;
        let scores = &self.delta[token * stride..][..labels];
        if !self.limited {
            self.is_finite &= all_finite(scores);
            return Ok(());
        }
        let may = |y: &u32| {
            let y = *y as usize;
            search.allowed.is_none_or(|allowed| allowed[token * labels + y])
                && (!search.forbids || scores[y].wide() != f64::NEG_INFINITY)
        };
        let start = self.candidates.len();
        self.candidates.try_reserve(labels)?;
        self.candidates.extend(self.all.iter().copied().filter(may));
        if let Some(beam) = search.beam
            && self.candidates.len() - start > beam
        {
            // No score is -0.0, which total_cmp would hold apart from +0.0: sums start at +0.0.
            let key = |y: &u32| scores[*y as usize].wide();
            let kept = &mut self.candidates[start..];
            kept.sort_unstable_by(|a, b| key(b).total_cmp(&key(a)).then(a.cmp(b)));
            kept[..beam].sort_unstable();
            self.candidates.truncate(start + beam);
        }
        self.is_finite &= self.candidates[start..].iter().all(|&y| scores[y as usize].is_finite());
        self.candidate_ends.try_push(self.candidates.len())
    }
}

pub(super) struct Fill<'a, N, C> {
    pub lattice: &'a mut Lattice<N>,
    pub model: SearchModel<'a, N, C>,
    pub rows: &'a Entries,
    pub search: Search<'a>,
    pub monitor: &'a dyn Monitor,
}

impl<N: Number, C: Columns<N>> Leaf for Fill<'_, N, C> {
    type Output = Result<bool>;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Result<bool> {
        let Self { lattice, model, rows, search, monitor } = self;
        let Shape { labels, stride } = lattice.shape;
        lattice.len = rows.len();
        lattice.limited = search.beam.is_some() || search.allowed.is_some() || search.forbids;
        lattice.is_finite = true;
        lattice.candidates.clear();
        lattice.candidate_ends.clear();
        if lattice.delta.len() < rows.len() * stride {
            lattice.delta.try_resize(rows.len() * stride, N::default())?;
        }
        if model.pair.is_some() {
            lattice.back.try_resize(rows.len() * labels, 0)?;
        }
        let mut pace = Pace::new(monitor);
        for token in 0..rows.len() {
            pace.spend(labels * stride)?;
            // The rows of the weights are scattered over memory; no hardware can guess them.
            if token + AHEAD < rows.len() {
                for column in rows.row(token + AHEAD).columns {
                    model.emission.prefetch(*column);
                }
            }
            lattice.emit(model, rows, token);
            if let (Some(weights), true) = (&model.pair, token > 0) {
                lattice.pairs(model.frame, *weights, rows.row(token), search);
            }
            if token > 0 && lattice.candidates(token - 1).is_empty() {
                break;
            }
            lattice.step(model.frame, token);
            lattice.keep(token, search)?;
        }
        if lattice.limited {
            lattice.candidate_ends.try_resize(rows.len(), lattice.candidates.len())?;
        }
        Ok(lattice.is_finite)
    }
}

#[inline(always)]
fn all_finite<N: Number>(numbers: &[N]) -> bool {
    numbers.iter().fold(true, |all, number| all & number.is_finite())
}
