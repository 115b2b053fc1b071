//! The weights of one or more planes, in the form that a leaf trains on.

use std::ops::Range;

use crate::arith::decay::Decay;
use crate::arith::exact::{Halves, LARGEST, LARGEST_SUM, weight_limit};
use crate::arith::finite::all_finite;
use crate::arith::integers::integers_within;
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, filled};
use crate::monitor::{self, Monitor, all, pieces};
use crate::rows::arranged_otherwise;
use crate::rows::pass::noise::Noise;
use crate::rows::weights::pending::{Ages, Pending};
use crate::rows::weights::scaled::Common;

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
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Magnitude {
    /// Largest |value|.
    pub value: f64,
    /// The largest sum of |values| of a row, but for its rounding: it is compared with room to spare.
    pub row: f64,
}

impl Magnitude {
    /// Takes in the largest |value| of a row and the sum of all its |values|.
    #[must_use]
    pub fn with(self, [largest, sum]: [f64; 2]) -> Self {
        Self { value: self.value.max(largest), row: self.row.max(sum) }
    }
}

/// Forms of the weights of K planes over d columns.
pub enum Weights {
    /// K x d.
    ByPlane(Vec<f64>),
    /// d x stride, the stride at least K: one stored entry of a CSR row updates adjacent sums.
    ByColumn { w: Vec<f64>, stride: usize },
    /// Exact integers for dense bytes.
    Halves(Vec<Halves>),
    /// Exact integers for CSR rows, d x stride.
    Counts { w: Vec<i32>, stride: usize },
}

/// Values per column, of all the rows to be scored, from which another form of the weights is worth making.
pub(in crate::rows) const MANY: usize = 8;

/// Activations of examples at their visit, before the update: n x width, from plane `first` on.
#[derive(Debug, Clone, PartialEq)]
pub struct Activations {
    pub values: Vec<f64>,
    pub first: usize,
    pub width: usize,
}

impl Activations {
    #[inline(always)]
    pub(in crate::rows) fn put(&mut self, row: usize, plane: u32, a: f64) {
        self.values[row * self.width + plane as usize - self.first] = a;
    }
}

pub struct Planes {
    pub heads: Vec<Head>,
    /// Memory of each example during a call; set by the driver.
    pub noise: Option<Noise>,
    /// Penalties to be applied; set by the driver. Rules out the exact path.
    pub pending: Option<Pending>,
    /// Where the activations of the visited examples go, if they are wanted.
    pub activations: Option<Activations>,
    columns: usize,
    pub(crate) weights: Weights,
    /// No exact path any more: its bound was passed.
    inexact: bool,
    /// The largest |weight| that the exact path allows.
    pub(in crate::rows) limit: i32,
}

impl Planes {
    /// `weights` is K x columns.
    ///
    /// # Panics
    /// If they are not.
    #[must_use]
    pub fn new(heads: Vec<Head>, weights: Vec<f64>, columns: usize) -> Self {
        assert_eq!(weights.len(), heads.len() * columns);
        Self {
            heads,
            noise: None,
            pending: None,
            activations: None,
            columns,
            weights: Weights::ByPlane(weights),
            inexact: false,
            limit: 0,
        }
    }

    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.inexact && matches!(self.weights, Weights::Halves(_) | Weights::Counts { .. })
    }

    /// The weights of one plane.
    pub fn plane(&self, k: usize) -> Result<Vec<f64>> {
        let mut out = filled(0.0, self.columns)?;
        self.copy_plane(k, 0..self.columns, &mut out);
        Ok(out)
    }

    /// Copies some weights of one plane, in whatever form they are.
    pub fn copy_plane(&self, k: usize, columns: Range<usize>, out: &mut [f64]) {
        let Range { start, end } = columns;
        match &self.weights {
            Weights::ByPlane(w) => out.copy_from_slice(&w[k * self.columns..][start..end]),
            Weights::ByColumn { w, stride } => {
                for (out, column) in out.iter_mut().zip(w[start * stride..end * stride].chunks(*stride)) {
                    *out = column[k];
                }
            }
            Weights::Halves(w) => {
                for (out, j) in out.iter_mut().zip(start..end) {
                    *out = f64::from(w[k].weight(j));
                }
            }
            Weights::Counts { w, stride } => {
                for (out, column) in out.iter_mut().zip(w[start * stride..end * stride].chunks(*stride)) {
                    *out = f64::from(column[k]);
                }
            }
        }
    }

    /// Takes a plane out of weights by plane: it is frozen.
    pub fn remove(&mut self, k: usize) -> Result<(Head, Vec<f64>)> {
        let d = self.columns;
        let Weights::ByPlane(w) = &mut self.weights else { return Err(arranged_otherwise()) };
        let weights = if self.heads.len() == 1 && w.capacity() <= 2 * d {
            std::mem::take(w)
        } else {
            // The last plane does not keep the room of those before it.
            let weights = collected(w[k * d..][..d].iter().copied())?;
            w.drain(k * d..(k + 1) * d);
            if w.is_empty() {
                *w = Vec::new();
            }
            weights
        };
        Ok((self.heads.remove(k), weights))
    }

    /// Puts the planes under a penalty, with `ages` examples pending on each coordinate.
    pub fn put_under(&mut self, decay: Decay, ages: &[i64], monitor: &dyn Monitor) -> Result<()> {
        self.leave_exact();
        let age = ages.first().copied().unwrap_or(0);
        self.pending = Some(
            if decay.is_common() && all(ages, |ages| ages.iter().all(|other| *other == age), monitor)? {
                Pending::Common(Common::new(decay, age))
            } else {
                Pending::Each(Ages::new(decay, ages, monitor)?)
            },
        );
        Ok(())
    }

    /// Before the first example: if one factor can stand for all that is pending, but the ages differ,
    /// everything is settled.
    pub(crate) fn level(&mut self, monitor: &dyn Monitor) -> Result<()> {
        if matches!(&self.pending, Some(Pending::Each(ages)) if ages.decay.is_common()) {
            self.settle(monitor)?;
            if let Some(Pending::Each(ages)) = self.pending.take() {
                self.pending = Some(Pending::Common(Common::new(ages.decay, 0)));
            }
        }
        Ok(())
    }

    /// The examples pending on each coordinate, if there is a penalty.
    pub fn ages(&self, monitor: &dyn Monitor) -> Result<Option<Vec<i64>>> {
        Ok(match &self.pending {
            None => None,
            Some(Pending::Each(ages)) => Some(ages.ages(monitor)?),
            Some(Pending::Common(common)) => Some(monitor::filled(&common.age(), self.columns, monitor)?),
        })
    }

    /// Applies all penalties that are pending. After an interrupt some still are.
    pub fn settle(&mut self, monitor: &dyn Monitor) -> Result<()> {
        let (Some(pending), d) = (&mut self.pending, self.columns) else { return Ok(()) };
        let (weights, by_plane, by_column) = match &mut self.weights {
            Weights::ByPlane(w) => (w, 1, d),
            Weights::ByColumn { w, stride } => (w, *stride, 1),
            Weights::Halves(_) | Weights::Counts { .. } => return Ok(()), // put under no penalty
        };
        match pending {
            // One factor for all: it is taken at once, or not at all. A pass over the weights, as
            // `is_finite`.
            Pending::Common(common) => common.settle(weights),
            Pending::Each(ages) => {
                const SETTLED: usize = 8; // numbers that are copied meanwhile
                let planes = self.heads.len();
                for piece in pieces(d, SETTLED * planes, monitor) {
                    for j in piece? {
                        ages.settle(j, weights[j * by_plane..].iter_mut().step_by(by_column).take(planes));
                    }
                }
            }
        }
        Ok(())
    }

    #[must_use]
    pub fn is_finite(&self) -> bool {
        let finite = match &self.weights {
            Weights::ByPlane(w) | Weights::ByColumn { w, .. } => all_finite(w),
            Weights::Halves(_) | Weights::Counts { .. } => true,
        };
        finite && self.heads.iter().all(|head| head.intercept.is_finite())
    }

    /// An interrupt leaves the weights in the form that they had.
    pub fn make_by_plane(&mut self, monitor: &dyn Monitor) -> Result<()> {
        let w = self.take_by_plane(monitor)?;
        self.weights = Weights::ByPlane(w);
        Ok(())
    }

    /// The weights, K x d, taken out where that can be: after an `Ok` the planes have none to go on with.
    pub fn take_by_plane(&mut self, monitor: &dyn Monitor) -> Result<Vec<f64>> {
        match &mut self.weights {
            // Those of one plane are the same in both forms.
            Weights::ByPlane(w) | Weights::ByColumn { w, stride: 1 } => return Ok(std::mem::take(w)),
            _ => {}
        }
        let (planes, d) = (self.heads.len(), self.columns);
        let mut w = monitor::filled(&0.0, planes * d, monitor)?;
        in_tiles(d, planes, monitor, |tile| {
            for (k, plane) in w.chunks_mut(d).enumerate() {
                self.copy_plane(k, tile.clone(), &mut plane[tile.clone()]);
            }
        })?;
        Ok(w)
    }

    pub(in crate::rows) fn make_by_column(&mut self, monitor: &dyn Monitor) -> Result<()> {
        if matches!(self.weights, Weights::ByColumn { .. }) {
            return Ok(());
        }
        self.make_by_plane(monitor)?;
        if let Weights::ByPlane(by_plane) = &mut self.weights {
            let stride = column_stride(self.heads.len());
            let w = match stride {
                1 => std::mem::take(by_plane),
                _ => by_column(by_plane, self.columns, stride, |w| w, monitor)?,
            };
            self.weights = Weights::ByColumn { w, stride };
        }
        Ok(())
    }

    /// Brings the weights into `Halves` if rule 10 holds for them, else into `ByPlane`.
    pub(in crate::rows) fn make_halves(
        &mut self,
        integer_step: Option<f64>,
        size: Magnitude,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let limit = exact_limit(integer_step, size, LARGEST_SUM);
        if self.is_exact() && matches!(self.weights, Weights::Halves(_)) && limit == Some(self.limit) {
            return Ok(());
        }
        self.make_by_plane(monitor)?;
        let d = self.columns;
        if let Some(w) = self.integers(limit) {
            self.weights = Weights::Halves(halves(w, d, monitor)?);
        }
        Ok(())
    }

    /// Brings the weights into `Counts` if rule 10 holds for them, else into `ByColumn`.
    pub(in crate::rows) fn make_counts(
        &mut self,
        integer_step: Option<f64>,
        size: Option<Magnitude>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let limit = size.and_then(|size| exact_limit(integer_step, size, LARGEST));
        if self.is_exact() && matches!(self.weights, Weights::Counts { .. }) && limit == Some(self.limit) {
            return Ok(());
        }
        if self.inexact || limit.is_none() {
            return self.make_by_column(monitor);
        }
        self.make_by_plane(monitor)?;
        let (planes, d) = (self.heads.len(), self.columns);
        let Some(weights) = self.integers(limit) else { return self.make_by_column(monitor) };
        // Rows of eight i32 keep the loop over planes free of a remainder.
        let stride = if planes == 1 { 1 } else { planes.next_multiple_of(8) };
        let w = by_column(weights, d, stride, |w| w as i32, monitor)?;
        self.weights = Weights::Counts { w, stride };
        Ok(())
    }

    /// The weights, if they and the intercepts are integers within the bounds of rule 10.
    fn integers(&mut self, limit: Option<i32>) -> Option<&[f64]> {
        let limit = limit.filter(|_| !self.inexact && self.columns > 0)?;
        let Weights::ByPlane(w) = &self.weights else { return None };
        let fits = |b: f64| b.fract() == 0.0 && b.abs() <= LARGEST_SUM;
        let exact =
            self.heads.iter().all(|head| fits(head.intercept)) && integers_within(w, f64::from(limit));
        (self.limit, self.inexact) = (limit, !exact);
        exact.then_some(w)
    }

    /// Rule 3 from here on; the form changes when the planes are prepared again.
    pub(in crate::rows) fn leave_exact(&mut self) {
        self.inexact = true;
    }
}

/// The largest |weight| with which steps and values of this size stay exact; `None`: not even 0.
fn exact_limit(integer_step: Option<f64>, size: Magnitude, largest_sum: f64) -> Option<i32> {
    (integer_step? * size.value <= LARGEST).then(|| weight_limit(size.row, largest_sum))
}

/// Sums are updated four at a time; one plane needs no padding.
pub(crate) fn column_stride(planes: usize) -> usize {
    if planes == 1 { 1 } else { planes.next_multiple_of(4) }
}

/// From planes x columns to columns x stride, padded with 0.
pub(in crate::rows) fn by_column<T: Copy + Default>(
    w: &[f64],
    columns: usize,
    stride: usize,
    narrow: fn(f64) -> T,
    monitor: &dyn Monitor,
) -> Result<Vec<T>> {
    let mut out = Vec::new();
    out.try_reserve_exact(columns * stride).map_err(|_| Error::Memory)?;
    in_tiles(columns, stride, monitor, |tile| {
        out.resize(tile.end * stride, T::default());
        for (k, plane) in w.chunks(columns).enumerate() {
            for j in tile.clone() {
                out[j * stride + k] = narrow(plane[j]);
            }
        }
    })?;
    Ok(out)
}

/// Calls `work` on ranges of columns, and asks the monitor now and then. Those of many planes stay in
/// the cache while they are copied plane by plane.
pub fn in_tiles(
    columns: usize,
    planes: usize,
    monitor: &dyn Monitor,
    mut work: impl FnMut(Range<usize>),
) -> Result<()> {
    const WIDTH: usize = 64;
    for piece in pieces(columns, planes, monitor) {
        let Range { start, end } = piece?;
        for start in (start..end).step_by(WIDTH) {
            work(start..end.min(start + WIDTH));
        }
    }
    Ok(())
}

/// Integers, K x columns, each in two halves.
pub(in crate::rows) fn halves(w: &[f64], columns: usize, monitor: &dyn Monitor) -> Result<Vec<Halves>> {
    let mut planes = Vec::new();
    for w in w.chunks(columns) {
        monitor.pause()?;
        planes.try_push(Halves::new(w)?)?;
    }
    Ok(planes)
}
