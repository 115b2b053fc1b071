//! The weights of a chain, as the engines' protocol has them and as the search reads them.

use crate::arith::lattice::Number;
use crate::error::{Error, Result, probe_memory};

/// Weights of K labels over d columns, or sums over them; row-major, without padding.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// d x K: of a column for a label.
    pub emission: Vec<f64>,
    /// K x K: of a label after another, the earlier one first.
    pub transition: Vec<f64>,
    /// K: of the first label of a sequence.
    pub start: Vec<f64>,
    /// K: of the last one.
    pub end: Vec<f64>,
    /// d x (K x K): of a column for a label after another.
    pub pair: Option<Vec<f64>>,
}

/// What a run has learnt, and all that it needs to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub weights: Weights,
    /// The sums u of rule 5.
    pub sums: Weights,
    /// Sequences seen, T.
    pub seen: u64,
}

impl Weights {
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
            .map(Vec::as_slice)
    }
}

/// Labels stand side by side in eights, so that the loops over them have no rest.
const WIDTH: usize = 8;

/// The same, each row of labels padded to `stride`.
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

impl<N: Number> Padded<N> {
    pub fn new(weights: &Weights) -> Result<Self> {
        let labels = weights.labels();
        let stride = labels.next_multiple_of(WIDTH);
        let largest = weights.pair.as_ref().map_or(weights.emission.len(), Vec::len);
        let padded = (largest / labels).checked_mul(stride);
        probe_memory(padded.and_then(|n| n.checked_mul(2 * size_of::<N>())))?;
        let pad = |w: &[f64]| {
            let mut out = vec![N::default(); w.len() / labels * stride];
            for (out, w) in out.chunks_mut(stride).zip(w.chunks(labels)) {
                out.iter_mut().zip(w).for_each(|(out, w)| *out = N::of(*w));
            }
            out
        };
        let transition = pad(&weights.transition);
        let mut turned = vec![N::default(); labels * stride];
        for (before, row) in transition.chunks(stride).enumerate() {
            for (label, w) in row[..labels].iter().enumerate() {
                turned[label * stride + before] = *w;
            }
        }
        Ok(Self {
            labels,
            stride,
            emission: pad(&weights.emission),
            transition,
            turned,
            start: pad(&weights.start),
            end: pad(&weights.end),
            pair: weights.pair.as_deref().map(pad),
        })
    }

    pub fn weights(&self) -> Weights {
        let cut = |w: &[N]| {
            w.chunks(self.stride).flat_map(|row| row[..self.labels].iter().map(|w| w.wide())).collect()
        };
        Weights {
            emission: cut(&self.emission),
            transition: cut(&self.transition),
            start: cut(&self.start),
            end: cut(&self.end),
            pair: self.pair.as_deref().map(cut),
        }
    }
}

impl Padded<f64> {
    /// Makes some transitions weigh minus infinity.
    pub fn forbid(&mut self, forbidden: &[bool]) {
        for (i, _) in forbidden.iter().enumerate().filter(|(_, is)| **is) {
            let (before, label) = (i / self.labels, i % self.labels);
            self.transition[before * self.stride + label] = f64::NEG_INFINITY;
            self.turned[label * self.stride + before] = f64::NEG_INFINITY;
        }
    }
}
