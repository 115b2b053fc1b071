//! The weights of labels next to each other and at both ends, as the search reads them.

use std::borrow::Cow;

use super::weights::ChainWeights;
use crate::arith::{number::Number, step::start};
use crate::base::{Result, collected, filled};

/// Labels stand side by side in eights, so that the loops over them have no rest.
const WIDTH: usize = 8;

/// Labels, and how many places they take with the padding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub labels: usize,
    pub stride: usize,
}

impl Shape {
    pub fn new(labels: usize) -> Self {
        Self { labels, stride: labels.next_multiple_of(WIDTH) }
    }

    /// The place of a number in rows of `labels` of them, once these are padded.
    pub fn padded(self, i: usize) -> usize {
        i / self.labels * self.stride + i % self.labels
    }

    pub fn cut(self, place: usize) -> usize {
        place / self.stride * self.labels + place % self.stride
    }
}

/// Each row of labels is padded.
#[derive(Default)]
pub(super) struct Frame<N> {
    pub shape: Shape,
    pub transition: Vec<N>,
    /// The transitions by their later label: the search goes back along these.
    pub turned: Vec<N>,
    pub start: Vec<N>,
    pub end: Vec<N>,
}

impl<N: Number> Frame<N> {
    pub fn new(weights: &ChainWeights) -> Result<Self> {
        let shape = Shape::new(weights.labels());
        let pad = |w: &[f64]| -> Result<_> {
            let mut out = filled(N::default(), w.len() / shape.labels * shape.stride)?;
            w.iter().enumerate().for_each(|(i, w)| out[shape.padded(i)] = N::of(start(*w)));
            Ok(out)
        };
        let mut frame = Self {
            shape,
            transition: pad(&weights.transition)?,
            turned: filled(N::default(), shape.labels * shape.stride)?,
            start: pad(&weights.start)?,
            end: pad(&weights.end)?,
        };
        for before in 0..shape.labels {
            for label in 0..shape.labels {
                frame.turn(before, label);
            }
        }
        Ok(frame)
    }

    /// Copies a transition to the other of its two places.
    pub fn turn(&mut self, before: usize, label: usize) {
        let stride = self.shape.stride;
        self.turned[label * stride + before] = self.transition[before * stride + label];
    }

    /// Makes some transitions weigh minus infinity.
    pub fn forbid(&mut self, forbidden: &[bool]) {
        let Shape { labels, stride } = self.shape;
        for (i, _) in forbidden.iter().enumerate().filter(|(_, is)| **is) {
            let (before, label) = (i / labels, i % labels);
            self.transition[before * stride + label] = N::of(f64::NEG_INFINITY);
            self.turn(before, label);
        }
    }

    /// The numbers without padding, each from that of this frame and that of another: transitions,
    /// start and end.
    pub fn cut(
        &self,
        other: &Frame<f64>,
        value: impl Fn(f64, f64) -> f64,
    ) -> Result<[Cow<'static, [f64]>; 3]> {
        let shape = self.shape;
        let cut = |w: &[N], u: &[f64]| -> Result<Cow<'static, [f64]>> {
            let len = w.len() / shape.stride * shape.labels;
            let places = (0..len).map(|i| shape.padded(i));
            Ok(collected(places.map(|place| value(w[place].wide(), u[place])))?.into())
        };
        Ok([
            cut(&self.transition, &other.transition)?,
            cut(&self.start, &other.start)?,
            cut(&self.end, &other.end)?,
        ])
    }

    /// The same in float64.
    pub fn widened(&self) -> Result<Frame<f64>> {
        let widen = |w: &[N]| collected(w.iter().map(|w| w.wide()));
        Ok(Frame {
            shape: self.shape,
            transition: widen(&self.transition)?,
            turned: widen(&self.turned)?,
            start: widen(&self.start)?,
            end: widen(&self.end)?,
        })
    }
}
