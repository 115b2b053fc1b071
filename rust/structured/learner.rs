//! The weights of a chain while they are learnt, and the sums over them.

use super::column_weights::ColumnWeights;
use super::frame::Frame;
use super::lattice::SearchModel;
use super::weights::{ChainState, ChainWeights};
use crate::arith::activation::learn;
use crate::arith::average::average;
use crate::arith::dot::{Term, square_of_sums};
use crate::arith::finite::all_finite;
use crate::arith::number::Number;
use crate::base::{Grow, Monitor, Result};
use crate::rows::Entries;

#[derive(Default)]
pub(super) struct ChainLearner<N> {
    pub w: Frame<N>,
    u: Frame<f64>,
    emission: ColumnWeights<N>,
    pair: Option<ColumnWeights<N>>,
}

impl<N: Number> ChainLearner<N> {
    pub fn new(state: &ChainState, monitor: &dyn Monitor) -> Result<Self> {
        let ChainState { weights, sums, .. } = state;
        let (w, u) = (Frame::new(weights)?, Frame::new(sums)?);
        let emission = ColumnWeights::new(w.shape, 1, (&weights.emission, &sums.emission), monitor)?;
        let pair = weights.pair.as_ref().zip(sums.pair.as_ref());
        let pair = pair.map(|pair| ColumnWeights::new(w.shape, w.shape.labels, pair, monitor)).transpose()?;
        Ok(Self { w, u, emission, pair })
    }

    pub fn model(&self) -> SearchModel<'_, N, ColumnWeights<N>> {
        SearchModel { frame: &self.w, emission: &self.emission, pair: self.pair.as_ref() }
    }

    /// What one mistake changes: adds `c` times the features of `truth`, and takes `c` times those of
    /// `path`, where they differ; `tc` times them for the sums. `is_whole`: the last label is that
    /// of the sequence. Returns the largest weight written.
    pub fn learn(
        &mut self,
        (c, tc): (f64, f64),
        rows: &Entries,
        (truth, path): (&[u32], &[u32]),
        is_whole: bool,
    ) -> Result<N> {
        let stride = self.w.shape.stride;
        let (w, u) = (&mut self.w, &mut self.u);
        let mut largest = N::default();
        let mut note = |size: N| largest = largest.larger(size);
        differences((truth, path), is_whole, |change, sign| {
            let factors = (sign * c, sign * tc);
            match change {
                Change::Emission(token, label) => {
                    note(self.emission.learn(rows.row(token), label, factors)?);
                }
                Change::Start(label) => note(learn((&mut w.start[label], &mut u.start[label]), factors, 1.0)),
                Change::End(label) => note(learn((&mut w.end[label], &mut u.end[label]), factors, 1.0)),
                Change::Pair(token, before, label) => {
                    let at = before * stride + label;
                    note(learn((&mut w.transition[at], &mut u.transition[at]), factors, 1.0));
                    w.turn(before, label);
                    if let Some(pair) = &mut self.pair {
                        note(pair.learn(rows.row(token), at, factors)?);
                    }
                }
            }
            Ok(())
        })?;
        Ok(largest)
    }

    /// The squared norm of what a mistake changes by a step of 1: the sum of the squares of each label, by
    /// rule 3, of the transitions with both ends, and of each pair of labels.
    pub fn square(&self, rows: &Entries, compared: (&[u32], &[u32]), is_whole: bool) -> Result<f64> {
        let (labels, mut terms) = (self.w.shape.labels, Vec::new());
        let with_pair = self.pair.is_some();
        differences(compared, is_whole, |change, sign| {
            let mut put = |vector: usize, column: usize, x: f64| {
                let number = terms.len();
                terms.try_push(Term { vector, column, number, value: sign * x })
            };
            match change {
                Change::Emission(token, label) => {
                    rows.row(token).pairs().try_for_each(|(column, x)| put(label, column, x))
                }
                Change::Start(label) => put(labels, label, 1.0),
                Change::End(label) => put(labels, labels + label, 1.0),
                Change::Pair(token, before, label) => {
                    let pair = before * labels + label;
                    put(labels, 2 * labels + pair, 1.0)?;
                    let mut entries = rows.row(token).pairs().filter(|_| with_pair);
                    entries.try_for_each(|(column, x)| put(labels + 1 + pair, column, x))
                }
            }
        })?;
        Ok(square_of_sums(&mut terms))
    }

    fn tables(&self) -> impl Iterator<Item = &ColumnWeights<N>> {
        [&self.emission].into_iter().chain(&self.pair)
    }

    pub fn is_finite(&self) -> bool {
        let frames = [&self.w.transition, &self.w.start, &self.w.end];
        let sums = [&self.u.transition, &self.u.start, &self.u.end];
        frames.into_iter().flatten().all(|w| w.is_finite())
            && sums.into_iter().all(|u| all_finite(u))
            && self
                .tables()
                .all(|table| table.all(|w, u| w.is_finite() && u.is_finite(), &()).is_ok_and(|finite| finite))
    }

    pub fn average_is_finite(&self, seen: u64, monitor: &dyn Monitor) -> Result<bool> {
        let good = |w: f64, u: f64| average(w, u, seen).is_finite();
        let frames = self.w.cut(&self.u, |w, u| average(w, u, seen))?;
        for table in self.tables() {
            if !table.all(|w, u| good(w.wide(), u), monitor)? {
                return Ok(false);
            }
        }
        Ok(frames.iter().all(|w| all_finite(w)))
    }

    /// Weights and sums as they are given out.
    pub fn state(&self, seen: u64, monitor: &dyn Monitor) -> Result<ChainState<'static>> {
        Ok(ChainState {
            weights: self.weights(|w, _| w, monitor)?,
            sums: self.weights(|_, u| u, monitor)?,
            seen,
        })
    }

    /// Weights without padding; `value` of a weight and its sum.
    fn weights(
        &self,
        value: impl Fn(f64, f64) -> f64,
        monitor: &dyn Monitor,
    ) -> Result<ChainWeights<'static>> {
        let [transition, start, end] = self.w.cut(&self.u, &value)?;
        let emission = self.emission.matrix(&value, monitor)?;
        let pair = self.pair.as_ref().map(|pair| pair.matrix(&value, monitor)).transpose()?;
        Ok(ChainWeights { emission, transition, start, end, pair })
    }

    /// The same in float64.
    pub fn widened(self) -> Result<ChainLearner<f64>> {
        Ok(ChainLearner {
            w: self.w.widened()?,
            u: self.u,
            emission: self.emission.widened()?,
            pair: self.pair.map(ColumnWeights::widened).transpose()?,
        })
    }
}

/// Something that the true labels have and others have not, or the other way round.
enum Change {
    /// A token with a label.
    Emission(usize, usize),
    Start(usize),
    End(usize),
    /// A token whose label follows another one.
    Pair(usize, usize, usize),
}

/// Calls `work` on all in which two sequences of labels differ, token by token: 1 for what `truth` has, -1
/// for what `path` has. `is_whole`: the last label is that of the sequence.
fn differences(
    (truth, path): (&[u32], &[u32]),
    is_whole: bool,
    mut work: impl FnMut(Change, f64) -> Result<()>,
) -> Result<()> {
    for token in 0..truth.len() {
        let (right, wrong) = (truth[token] as usize, path[token] as usize);
        if right != wrong {
            for (sign, label) in [(1.0, right), (-1.0, wrong)] {
                work(Change::Emission(token, label), sign)?;
                if token == 0 {
                    work(Change::Start(label), sign)?;
                }
                if is_whole && token + 1 == truth.len() {
                    work(Change::End(label), sign)?;
                }
            }
        }
        if token == 0 {
            continue;
        }
        let (right, wrong) = ((truth[token - 1] as usize, right), (path[token - 1] as usize, wrong));
        if right != wrong {
            for (sign, (before, label)) in [(1.0, right), (-1.0, wrong)] {
                work(Change::Pair(token, before, label), sign)?;
            }
        }
    }
    Ok(())
}
