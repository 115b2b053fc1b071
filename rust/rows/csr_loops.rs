//! The loops of a training pass over CSR rows: weights in f64, and exact ones.

use super::csr::Csr;
use super::learn::LoopBody;
use super::pending::{Ages, Settle};
use super::prefetch::prefetch;
use crate::arith::axpy::axpy_entries;
use crate::arith::decay::scale;
use crate::arith::dot::{dot_entries, dot_entries_by, dots_entries};
use crate::arith::exact;
use crate::arith::simd::Simd;
use crate::arith::value::{Index, Value};

pub(super) struct Float<'a, T, I> {
    pub rows: &'a Csr<'a, T, I>,
    pub weights: &'a mut [f64],
    pub stride: usize,
}

/// `w·x` of a row for all planes of `stride`, up to 20 of them at a time.
#[inline(always)]
pub(super) fn products<T: Value, I: Index>(
    (columns, values): (&[I], &[T]),
    w: &[f64],
    stride: usize,
    sums: &mut [f64],
) {
    if let [sum] = sums {
        *sum = dot_entries(columns, values, w);
        return;
    }
    let mut offset = 0;
    while offset < sums.len() {
        let (row, place, sums) = ((columns, values), (stride, offset), &mut sums[offset..]);
        offset += match (stride - offset) / 4 {
            1 => group::<T, I, 1>(row, w, place, sums),
            2 => group::<T, I, 2>(row, w, place, sums),
            3 => group::<T, I, 3>(row, w, place, sums),
            5 => group::<T, I, 5>(row, w, place, sums),
            _ => group::<T, I, 4>(row, w, place, sums),
        };
    }
}

/// `4*C` planes; returns how many.
#[inline(always)]
fn group<T: Value, I: Index, const C: usize>(
    (columns, values): (&[I], &[T]),
    w: &[f64],
    place: (usize, usize),
    sums: &mut [f64],
) -> usize {
    let found = dots_entries::<T, I, C>(columns, values, w, place, prefetch);
    for (sum, found) in sums.iter_mut().zip(found.as_flattened()) {
        *sum = *found;
    }
    4 * C
}

impl<T: Value, I: Index> LoopBody for Float<'_, T, I> {
    const EXACT: bool = false;

    #[inline(always)]
    fn activate<S: Simd>(&mut self, _simd: S, row: usize, sums: &mut [f64]) {
        products(self.rows.row(row), self.weights, self.stride, sums);
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        let (columns, values) = self.rows.row(row);
        axpy_entries(c, columns, values, self.weights, (self.stride, plane));
        true
    }

    #[inline(always)]
    fn ahead(&self) -> usize {
        0 // tried: 4 and 16, no faster
    }

    #[inline(always)]
    fn prefetch(&self, row: usize) {
        let (columns, values) = self.rows.row(row);
        prefetch(columns);
        prefetch(values);
    }
}

impl<T: Value, I: Index> Settle for Float<'_, T, I> {
    #[inline(always)]
    fn settle(&mut self, row: usize, ages: &mut Ages) {
        let (columns, values) = self.rows.row(row);
        for (j, _) in columns.iter().zip(values).filter(|(_, x)| x.widen() != 0.0) {
            ages.settle(j.at(), self.weights[j.at() * self.stride..][..self.stride].iter_mut());
        }
    }

    fn scale(&mut self, factor: f64) {
        scale(self.weights, factor);
    }

    #[inline(always)]
    fn settle_and_activate<S: Simd>(&mut self, simd: S, row: usize, sums: &mut [f64], ages: &mut Ages) {
        if let [sum] = sums {
            let (columns, values) = self.rows.row(row);
            *sum = if ages.in_table() {
                let mut settler = ages.settler::<true>(self.weights);
                dot_entries_by(columns, values, |j, x| settler.read(j, x))
            } else {
                let mut settler = ages.settler::<false>(self.weights);
                dot_entries_by(columns, values, |j, x| settler.read(j, x))
            };
        } else {
            self.settle(row, ages);
            self.activate(simd, row, sums);
        }
    }
}

pub(super) struct Counts<'a, T, I> {
    pub rows: &'a Csr<'a, T, I>,
    pub weights: &'a mut [i32],
    pub stride: usize,
    pub limit: i32,
}

impl<T: Value, I: Index> Counts<'_, T, I> {
    /// `8*C` planes from `offset` on, their sums in registers.
    #[inline(always)]
    fn group<const C: usize>(&self, row: usize, offset: usize, sums: &mut [f64]) {
        let (columns, values) = self.rows.row(row);
        let place = (self.stride, offset);
        let exact = exact::dots_entries::<T, I, C>(columns, values, self.weights, place, prefetch);
        for (sum, exact) in sums[offset..].iter_mut().zip(exact.as_flattened()) {
            *sum = f64::from(*exact);
        }
    }
}

impl<T: Value, I: Index> LoopBody for Counts<'_, T, I> {
    const EXACT: bool = true;

    #[inline(always)]
    fn activate<S: Simd>(&mut self, _simd: S, row: usize, sums: &mut [f64]) {
        if let [sum] = sums {
            let (columns, values) = self.rows.row(row);
            *sum = f64::from(exact::dot_entries(columns, values, self.weights));
            return;
        }
        let mut offset = 0;
        while offset < sums.len() {
            match (self.stride - offset) / 8 {
                1 => self.group::<1>(row, offset, sums),
                2 => self.group::<2>(row, offset, sums),
                3 => self.group::<3>(row, offset, sums),
                _ => self.group::<4>(row, offset, sums),
            }
            offset += 32;
        }
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        let (columns, values) = self.rows.row(row);
        let place = (self.stride, plane);
        exact::axpy_entries(c as i32, columns, values, self.weights, place) <= self.limit
    }

    #[inline(always)]
    fn ahead(&self) -> usize {
        0 // tried: 4 and 16, no faster
    }

    #[inline(always)]
    fn prefetch(&self, row: usize) {
        let (columns, values) = self.rows.row(row);
        prefetch(columns);
        prefetch(values);
    }
}
