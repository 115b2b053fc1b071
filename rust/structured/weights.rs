//! The weights of a chain, as the engines' protocol has them and as the search reads them.

use std::borrow::Cow;

use super::slots::Slots;
use crate::arith::average::average;
use crate::arith::finite::all_finite;
use crate::arith::lattice::Number;
use crate::error::{Error, Result, probe_memory};

/// Weights of K labels over d columns, or sums over them; row-major, without padding.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights<'a> {
    /// d x K: of a column for a label.
    pub emission: Cow<'a, [f64]>,
    /// K x K: of a label after another, the earlier one first.
    pub transition: Cow<'a, [f64]>,
    /// K: of the first label of a sequence.
    pub start: Cow<'a, [f64]>,
    /// K: of the last one.
    pub end: Cow<'a, [f64]>,
    /// d x (K x K): of a column for a label after another.
    pub pair: Option<Cow<'a, [f64]>>,
}

/// What a run has learnt, and all that it needs to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct State<'a> {
    pub weights: Weights<'a>,
    /// The sums u of rule 5.
    pub sums: Weights<'a>,
    /// Sequences seen, T.
    pub seen: u64,
}

impl Weights<'_> {
    #[must_use]
    pub fn labels(&self) -> usize {
        self.start.len()
    }

    /// Refuses arrays that are no weights over `columns` columns.
    pub fn check(&self, columns: usize) -> Result<()> {
        let labels = self.labels();
        let squares = labels * labels;
        let mut sizes = vec![
            ("emission", self.emission.len(), columns.checked_mul(labels)),
            ("transition", self.transition.len(), Some(squares)),
            ("end", self.end.len(), Some(labels)),
        ];
        if let Some(pair) = &self.pair {
            sizes.push(("pair", pair.len(), columns.checked_mul(squares)));
        }
        if labels == 0 {
            return Err(Error::Invalid("start must hold a weight for each label, got none".into()));
        }
        for (name, got, needed) in sizes {
            if needed != Some(got) {
                return Err(Error::Invalid(format!(
                    "{name} must hold a weight for each of {labels} labels and {columns} columns, got {got}"
                )));
            }
        }
        Ok(())
    }

    pub fn arrays(&self) -> impl Iterator<Item = &[f64]> {
        [&self.emission, &self.transition, &self.start, &self.end]
            .into_iter()
            .chain(&self.pair)
            .map(|w| &w[..])
    }

    /// Whether a column has a weight other than 0.
    #[must_use]
    pub fn has_column(&self, column: usize) -> bool {
        let of = |w: &[f64], size: usize| w[column * size..][..size].iter().any(|w| *w != 0.0);
        let labels = self.labels();
        of(&self.emission, labels) || self.pair.as_ref().is_some_and(|pair| of(pair, labels * labels))
    }
}

/// Labels stand side by side in eights, so that the loops over them have no rest.
const WIDTH: usize = 8;

/// The same, each row of labels padded to `stride`, of the columns that have a slot.
pub(super) struct Padded<N> {
    pub labels: usize,
    pub stride: usize,
    pub emission: Vec<N>,
    pub transition: Vec<N>,
    /// The transitions by their later label: the search goes back along these.
    pub turned: Vec<N>,
    pub start: Vec<N>,
    pub end: Vec<N>,
    pub pair: Option<Vec<N>>,
}

/// Each row of `labels` weights, padded.
fn pad<N: Number>(w: &[f64], (labels, stride): (usize, usize)) -> Vec<N> {
    let mut out = vec![N::default(); w.len() / labels * stride];
    for (out, w) in out.chunks_mut(stride).zip(w.chunks(labels)) {
        out.iter_mut().zip(w).for_each(|(out, w)| *out = N::of(*w));
    }
    out
}

/// The rows of `size` weights of the columns that have a slot, padded.
fn pad_slots<N: Number>(w: &[f64], size: usize, slots: &Slots, shape: (usize, usize)) -> Vec<N> {
    let padded = size / shape.0 * shape.1;
    let mut out = vec![N::default(); slots.len() * padded];
    for (column, slot) in slots.iter() {
        out[slot * padded..][..padded].copy_from_slice(&pad(&w[column * size..][..size], shape));
    }
    out
}

/// The inverse: columns without a slot weigh 0.
fn cut_slots<N: Number>(
    w: &[N],
    size: usize,
    slots: &Slots,
    (labels, stride): (usize, usize),
    value: impl Fn(usize, N) -> f64,
) -> Vec<f64> {
    let padded = size / labels * stride;
    let mut out = vec![0.0; slots.columns() * size];
    for (column, slot) in slots.iter() {
        let out = out[column * size..][..size].chunks_mut(labels);
        for (i, out) in out.enumerate() {
            let first = slot * padded + i * stride;
            for (k, out) in out.iter_mut().enumerate() {
                *out = value(first + k, w[first + k]);
            }
        }
    }
    out
}

impl<N: Number> Padded<N> {
    pub fn new(weights: &Weights, slots: &Slots) -> Result<Self> {
        let labels = weights.labels();
        let stride = labels.next_multiple_of(WIDTH);
        let shape = (labels, stride);
        let width = if weights.pair.is_some() { labels * stride } else { stride };
        probe_memory(slots.len().checked_mul(width).and_then(|n| n.checked_mul(2 * size_of::<N>())))?;
        let transition = pad(&weights.transition, shape);
        let mut turned = vec![N::default(); labels * stride];
        for (before, row) in transition.chunks(stride).enumerate() {
            for (label, w) in row[..labels].iter().enumerate() {
                turned[label * stride + before] = *w;
            }
        }
        Ok(Self {
            labels,
            stride,
            emission: pad_slots(&weights.emission, labels, slots, shape),
            transition,
            turned,
            start: pad(&weights.start, shape),
            end: pad(&weights.end, shape),
            pair: weights.pair.as_deref().map(|pair| pad_slots(pair, labels * labels, slots, shape)),
        })
    }

    /// Nothing, to be left where weights were taken from.
    pub fn empty() -> Self {
        let none = Vec::new;
        let (emission, transition, turned) = (none(), none(), none());
        Self { labels: 0, stride: 0, emission, transition, turned, start: none(), end: none(), pair: None }
    }

    /// Makes room for so many slots.
    pub fn grow(&mut self, slots: usize) {
        if self.emission.len() < slots * self.stride {
            self.emission.resize(slots * self.stride, N::default());
            if let Some(pair) = &mut self.pair {
                pair.resize(slots * self.labels * self.stride, N::default());
            }
        }
    }

    /// Weights without padding; `value` of the name of the array, the place and the number there.
    pub fn weights(&self, slots: &Slots, value: impl Fn(Array, usize, N) -> f64) -> Weights<'static> {
        let shape = (self.labels, self.stride);
        let cut = |w: &[N], array: Array| -> Cow<'static, [f64]> {
            let place = |i: usize| i / self.labels * self.stride + i % self.labels;
            (0..w.len() / self.stride * self.labels).map(|i| value(array, place(i), w[place(i)])).collect()
        };
        Weights {
            emission: cut_slots(&self.emission, self.labels, slots, shape, |i, w| {
                value(Array::Emission, i, w)
            })
            .into(),
            transition: cut(&self.transition, Array::Transition),
            start: cut(&self.start, Array::Start),
            end: cut(&self.end, Array::End),
            pair: self.pair.as_deref().map(|pair| {
                cut_slots(pair, self.labels * self.labels, slots, shape, |i, w| value(Array::Pair, i, w))
                    .into()
            }),
        }
    }

    pub fn array(&self, array: Array) -> &[N] {
        match array {
            Array::Emission => &self.emission,
            Array::Transition => &self.transition,
            Array::Start => &self.start,
            Array::End => &self.end,
            Array::Pair => self.pair.as_deref().unwrap_or(&[]),
        }
    }

    /// Whether all averages of these weights, with the sums `u` over `seen` sequences, are finite.
    pub fn average_is_finite(&self, u: &Padded<f64>, seen: u64) -> bool {
        ARRAYS.into_iter().all(|array| {
            self.array(array).iter().zip(u.array(array)).all(|(w, u)| average(w.wide(), *u, seen).is_finite())
        })
    }
}

/// The arrays by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Array {
    Emission,
    Transition,
    Start,
    End,
    Pair,
}

pub(super) const ARRAYS: [Array; 5] =
    [Array::Emission, Array::Transition, Array::Start, Array::End, Array::Pair];

impl Padded<f64> {
    pub fn is_finite(&self) -> bool {
        ARRAYS.into_iter().all(|array| all_finite(self.array(array)))
    }

    /// The same weights as floats.
    pub fn of_exact(w: Padded<i32>) -> Self {
        let widen = |w: Vec<i32>| w.into_iter().map(f64::from).collect();
        Self {
            labels: w.labels,
            stride: w.stride,
            emission: widen(w.emission),
            transition: widen(w.transition),
            turned: widen(w.turned),
            start: widen(w.start),
            end: widen(w.end),
            pair: w.pair.map(widen),
        }
    }

    /// Makes some transitions weigh minus infinity.
    pub fn forbid(&mut self, forbidden: &[bool]) {
        for (i, _) in forbidden.iter().enumerate().filter(|(_, is)| **is) {
            let (before, label) = (i / self.labels, i % self.labels);
            self.transition[before * self.stride + label] = f64::NEG_INFINITY;
            self.turned[label * self.stride + before] = f64::NEG_INFINITY;
        }
    }
}
