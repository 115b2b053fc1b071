//! The weights of one or more planes, in the form that a leaf trains on.

use crate::arith::exact::{Halves, LARGEST_F64_SUM, LARGEST_I32_SUM, LARGEST_WEIGHT};

/// Everything of a plane but its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// Index of the plane in the state.
    pub plane: u32,
    /// The class index that is its +1.
    pub positive: u32,
    /// Weights of its negatives and positives.
    pub class_weight: [f64; 2],
    pub intercept: f64,
    /// Examples seen since the last cold start.
    pub seen: u64,
    /// Sum of the losses of this epoch, in visiting order.
    pub loss: f64,
}

/// Bounds of a data set that the exact path needs (rule 10).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Magnitude {
    /// Largest |value|.
    pub value: f64,
    /// At least the largest sum of |values| of a row.
    pub row: f64,
}

/// Forms of the weights of K planes over d columns.
pub(super) enum Weights {
    /// K x d.
    ByPlane(Vec<f64>),
    /// d x K: one stored entry of a CSR row updates adjacent sums.
    ByColumn(Vec<f64>),
    /// Exact integers for dense bytes.
    Halves(Vec<Halves>),
    /// Exact integers for CSR rows, d x stride.
    Counts { w: Vec<i32>, stride: usize },
}

pub struct Planes {
    pub heads: Vec<Head>,
    columns: usize,
    pub(super) weights: Weights,
    /// No exact path any more: its bound was passed.
    inexact: bool,
    /// At least the largest |weight|, while the weights are in an exact form.
    largest: f64,
}

impl Planes {
    /// `weights` is K x columns.
    #[must_use]
    pub fn new(heads: Vec<Head>, weights: Vec<f64>, columns: usize) -> Self {
        assert_eq!(weights.len(), heads.len() * columns);
        Self { heads, columns, weights: Weights::ByPlane(weights), inexact: false, largest: 0.0 }
    }

    #[must_use]
    pub fn is_exact(&self) -> bool {
        matches!(self.weights, Weights::Halves(_) | Weights::Counts { .. })
    }

    /// The weights of one plane.
    #[must_use]
    pub fn plane(&self, k: usize) -> Vec<f64> {
        let (d, planes) = (self.columns, self.heads.len());
        match &self.weights {
            Weights::ByPlane(w) => w[k * d..][..d].to_vec(),
            Weights::ByColumn(w) => (0..d).map(|j| w[j * planes + k]).collect(),
            Weights::Halves(w) => w[k].weights().iter().map(|&w| f64::from(w)).collect(),
            Weights::Counts { w, stride } => (0..d).map(|j| f64::from(w[j * stride + k])).collect(),
        }
    }

    /// Takes a plane out: it is frozen.
    pub fn remove(&mut self, k: usize) -> (Head, Vec<f64>) {
        self.make_by_plane();
        let weights = self.plane(k);
        if let Weights::ByPlane(w) = &mut self.weights {
            w.drain(k * self.columns..(k + 1) * self.columns);
        }
        (self.heads.remove(k), weights)
    }

    #[must_use]
    pub fn is_finite(&self) -> bool {
        let finite = match &self.weights {
            Weights::ByPlane(w) | Weights::ByColumn(w) => w.iter().all(|w| w.is_finite()),
            Weights::Halves(_) | Weights::Counts { .. } => true,
        };
        finite && self.heads.iter().all(|head| head.intercept.is_finite())
    }

    pub(super) fn make_by_plane(&mut self) {
        if !matches!(self.weights, Weights::ByPlane(_)) {
            let w = (0..self.heads.len()).flat_map(|k| self.plane(k)).collect();
            self.weights = Weights::ByPlane(w);
        }
    }

    pub(super) fn make_by_column(&mut self) {
        if matches!(self.weights, Weights::ByColumn(_)) {
            return;
        }
        self.make_by_plane();
        if let Weights::ByPlane(w) = &mut self.weights {
            let w = transpose(std::mem::take(w), self.heads.len(), self.columns);
            self.weights = Weights::ByColumn(w);
        }
    }

    /// Brings the weights into `Halves` if they are integers that fit and the steps are too.
    pub(super) fn make_halves(&mut self, integer_step: Option<f64>) {
        if self.is_exact() {
            return;
        }
        self.make_by_plane();
        let d = self.columns;
        if let Some(w) = self.integers(integer_step) {
            self.weights = Weights::Halves(w.chunks(d).map(Halves::new).collect());
        }
    }

    /// Brings the weights into `Counts` if they are integers that fit and the steps are too.
    pub(super) fn make_counts(&mut self, integer_step: Option<f64>) {
        if self.is_exact() {
            return;
        }
        self.make_by_plane();
        let (planes, d) = (self.heads.len(), self.columns);
        if let Some(weights) = self.integers(integer_step) {
            // Rows of eight i32 keep the loop over planes free of a remainder.
            let stride = if planes == 1 { 1 } else { planes.next_multiple_of(8) };
            let mut w = vec![0; d * stride];
            for (k, plane) in weights.chunks(d).enumerate() {
                for (j, weight) in plane.iter().enumerate() {
                    w[j * stride + k] = *weight as i32;
                }
            }
            self.weights = Weights::Counts { w, stride };
        }
    }

    fn integers(&mut self, integer_step: Option<f64>) -> Option<&[f64]> {
        integer_step?;
        if self.inexact || self.columns == 0 || self.heads.iter().any(|head| head.intercept.fract() != 0.0) {
            return None;
        }
        let Weights::ByPlane(w) = &self.weights else { return None };
        let largest = w.iter().try_fold(0.0_f64, |top, w| (w.fract() == 0.0).then_some(top.max(w.abs())))?;
        if largest > LARGEST_WEIGHT {
            return None;
        }
        self.largest = largest;
        Some(w)
    }

    /// Whether a block of `steps` examples stays exact; if not, the caller goes on with rule 3.
    ///
    /// The bound of rule 10 with half of 2^53 to spare, so that its own rounding does not matter.
    pub(super) fn stays_exact(&mut self, steps: usize, integer_step: Option<f64>, size: Magnitude) -> bool {
        let Some(c) = integer_step else { return false };
        let steps = steps as f64;
        let fits = |largest: f64, heads: &[Head], counts: bool| {
            let weight = largest + steps * c * size.value;
            let sum = weight * size.row;
            let intercept = heads.iter().fold(0.0_f64, |top, head| top.max(head.intercept.abs())) + steps * c;
            weight <= LARGEST_WEIGHT
                && c * size.value <= LARGEST_WEIGHT
                && sum + intercept <= LARGEST_F64_SUM / 2.0
                && (!counts || sum <= LARGEST_I32_SUM / 2.0)
        };
        let counts = matches!(self.weights, Weights::Counts { .. });
        if fits(self.largest, &self.heads, counts) {
            return true;
        }
        // The running bound is loose: look at the weights themselves before giving up.
        self.largest = match &self.weights {
            Weights::Halves(w) => largest(w.iter().flat_map(Halves::weights)),
            Weights::Counts { w, .. } => largest(w),
            Weights::ByPlane(_) | Weights::ByColumn(_) => return false,
        };
        self.inexact = !fits(self.largest, &self.heads, counts);
        !self.inexact
    }

    /// Raises the running bound after a block with that many updates.
    pub(super) fn grew(&mut self, updates: usize, integer_step: Option<f64>, size: Magnitude) {
        self.largest += updates as f64 * integer_step.unwrap_or(0.0) * size.value;
    }
}

fn largest<'a>(weights: impl IntoIterator<Item = &'a i32>) -> f64 {
    weights.into_iter().fold(0.0, |top, &w| top.max(f64::from(w).abs()))
}

/// From planes x columns to columns x planes.
pub(super) fn transpose(w: Vec<f64>, planes: usize, columns: usize) -> Vec<f64> {
    if planes == 1 {
        return w;
    }
    let mut out = vec![0.0; w.len()];
    for (k, plane) in w.chunks(columns.max(1)).enumerate() {
        for (j, weight) in plane.iter().enumerate() {
            out[j * planes + k] = *weight;
        }
    }
    out
}
