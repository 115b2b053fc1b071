//! The loops of a training pass over dense rows: weights in f64, and exact ones.

use crate::arith::axpy::axpy;
use crate::arith::decay::scale;
use crate::arith::dot::dots;
use crate::arith::exact::{self, Halves};
use crate::arith::simd::Simd;
use crate::arith::value::Value;
use crate::rows::pass::learn::LoopBody;
use crate::rows::pass::prefetch::{Hint, prefetch_into};
use crate::rows::weights::pending::{Ages, Settle};
use crate::rows::weights::undo::Undo;
use crate::rows::{Dense, Rows};

/// Planes that share one load (and widening) of a row: eight accumulators of four lanes each.
pub(super) const GROUP: usize = 4;

/// `w·x` of a row for planes stored one after another, four at a time. Five that are left are three and two, for a
/// single plane would wait for its own additions.
#[inline(always)]
pub(super) fn activations<S: Simd, T: Value>(
    simd: S,
    x: &[T],
    wide: &mut [f64],
    weights: &[f64],
    sums: &mut [f64],
) {
    if let [sum] = sums {
        *sum = dots(simd, [weights], x)[0]; // as it is stored
        return;
    }
    let x = T::widened(x, wide);
    let mut k = 0;
    while k < sums.len() {
        let (w, sums) = (&weights[k * x.len()..], &mut sums[k..]);
        k += match sums.len() {
            2 => group::<2, _>(simd, x, w, sums),
            3 | 5 => group::<3, _>(simd, x, w, sums),
            _ => group::<GROUP, _>(simd, x, w, sums),
        }
    }
}

#[inline(always)]
fn group<const P: usize, S: Simd>(simd: S, x: &[f64], weights: &[f64], sums: &mut [f64]) -> usize {
    let mut w = [x; P];
    for (p, w) in w.iter_mut().enumerate() {
        *w = &weights[p * x.len()..][..x.len()];
    }
    sums[..P].copy_from_slice(&dots(simd, w, x));
    P
}

/// The same in exact integers.
#[inline(always)]
pub(super) fn exact_activations<S: Simd, T: Value>(simd: S, x: &[T], planes: &[Halves], sums: &mut [f64]) {
    let (fours, planes) = planes.as_chunks::<GROUP>();
    let (four_sums, sums) = sums.as_chunks_mut::<GROUP>();
    for (sums, planes) in four_sums.iter_mut().zip(fours) {
        *sums = exact::dots(simd, planes.each_ref(), x);
    }
    let (pairs, planes) = planes.as_chunks::<2>();
    let (pair_sums, sums) = sums.as_chunks_mut::<2>();
    for (sums, planes) in pair_sums.iter_mut().zip(pairs) {
        *sums = exact::dots(simd, planes.each_ref(), x);
    }
    if let ([sum], [plane]) = (sums, planes) {
        [*sum] = exact::dots(simd, [plane], x);
    }
}

pub(super) struct FloatPlanes<'a, T> {
    pub rows: Dense<'a, T>,
    pub weights: &'a mut [f64],
    pub wide: Vec<f64>,
    pub undo: Option<&'a mut Undo>,
}

impl<T: Value> LoopBody for FloatPlanes<'_, T> {
    #[inline(always)]
    fn activate<S: Simd>(&mut self, simd: S, row: usize, sums: &mut [f64]) {
        activations(simd, self.rows.row(row), &mut self.wide, self.weights, sums);
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        let d = self.rows.columns;
        if let Some(undo) = &mut self.undo
            && !self.rows.keep(row, self.weights, (1, plane * d), undo)
        {
            return false;
        }
        axpy(c, self.rows.row(row), &mut self.weights[plane * d..][..d]);
        true
    }

    fn size(&self) -> usize {
        size_of_val(self.rows.values)
    }

    #[inline(always)]
    fn prefetch(&self, row: usize, hint: Hint) {
        prefetch_into(self.rows.row(row), hint);
    }
}

impl<T: Value> Settle for FloatPlanes<'_, T> {
    #[inline(always)]
    fn settle(&mut self, row: usize, ages: &mut Ages) {
        let d = self.rows.columns;
        for (j, _) in self.rows.row(row).iter().enumerate().filter(|(_, x)| x.widen() != 0.0) {
            ages.settle(j, self.weights.iter_mut().skip(j).step_by(d));
        }
    }

    fn scale(&mut self, factor: f64) {
        scale(self.weights, factor);
    }
}

pub(super) struct Exact<'a, T> {
    pub rows: Dense<'a, T>,
    pub weights: &'a mut [Halves],
    pub limit: i32,
    pub spare: Vec<T>,
}

impl<T: Value> LoopBody for Exact<'_, T> {
    #[inline(always)]
    fn activate<S: Simd>(&mut self, simd: S, row: usize, sums: &mut [f64]) {
        exact_activations(simd, self.rows.row_and_more(row, &mut self.spare), self.weights, sums);
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        let x = self.rows.row_and_more(row, &mut self.spare);
        self.weights[plane].axpy(c as i32, x) <= self.limit
    }

    fn size(&self) -> usize {
        size_of_val(self.rows.values)
    }

    #[inline(always)]
    fn prefetch(&self, row: usize, hint: Hint) {
        prefetch_into(self.rows.row(row), hint);
    }
}
