//! The weights of a chain while they are learnt, and the sums over them.

use super::column_weights::ColumnWeights;
use super::frame::Frame;
use super::lattice::SearchModel;
use super::weights::{ChainState, ChainWeights};
use crate::arith::activation::learn;
use crate::arith::average::average;
use crate::arith::finite::all_finite;
use crate::arith::number::Number;
use crate::error::Result;
use crate::monitor::Monitor;
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
        for token in 0..truth.len() {
            let row = rows.row(token);
            let (right, wrong) = (truth[token] as usize, path[token] as usize);
            if right != wrong {
                for (factors, label) in [((c, tc), right), ((-c, -tc), wrong)] {
                    note(self.emission.learn(row, label, factors)?);
                    if token == 0 {
                        note(learn((&mut w.start[label], &mut u.start[label]), factors, 1.0));
                    }
                    if is_whole && token + 1 == truth.len() {
                        note(learn((&mut w.end[label], &mut u.end[label]), factors, 1.0));
                    }
                }
            }
            if token == 0 {
                continue;
            }
            let (right, wrong) = ((truth[token - 1] as usize, right), (path[token - 1] as usize, wrong));
            if right == wrong {
                continue;
            }
            for (factors, (before, label)) in [((c, tc), right), ((-c, -tc), wrong)] {
                let at = before * stride + label;
                note(learn((&mut w.transition[at], &mut u.transition[at]), factors, 1.0));
                w.turn(before, label);
                if let Some(pair) = &mut self.pair {
                    note(pair.learn(row, at, factors)?);
                }
            }
        }
        Ok(largest)
    }

    fn tables(&self) -> impl Iterator<Item = &ColumnWeights<N>> {
        [&self.emission].into_iter().chain(&self.pair)
    }

    /// Whether all weights and sums are finite.
    pub fn is_finite(&self) -> bool {
        let frames = [&self.w.transition, &self.w.start, &self.w.end];
        let sums = [&self.u.transition, &self.u.start, &self.u.end];
        frames.into_iter().flatten().all(|w| w.is_finite())
            && sums.into_iter().all(|u| all_finite(u))
            && self
                .tables()
                .all(|table| table.all(|w, u| w.is_finite() && u.is_finite(), &()).is_ok_and(|finite| finite))
    }

    /// Whether all averages over `seen` sequences are finite.
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
