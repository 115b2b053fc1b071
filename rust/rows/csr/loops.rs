//! The loops of a training pass over CSR rows: weights in f64, and exact ones.

use std::hint::black_box;
use std::mem::replace;

use crate::arith::by_lane::{ByLane, ManyProducts, WideRow, add, are_many};
use crate::arith::decay::scale;
use crate::arith::dot::{
    FEW_OF_FOUR, FEW_OF_MORE, LANES, dot_entries, dot_entries_by, dot_few_entries, dot_four_of_few,
    dots_entries, fold,
};
use crate::arith::exact;
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::arith::value::{Index, Value};
use crate::rows::Rows;
use crate::rows::csr::Csr;
use crate::rows::pass::learn::LoopBody;
use crate::rows::pass::prefetch::{Hint, prefetch, prefetch_into};
use crate::rows::weights::pending::{Ages, Settle};
use crate::rows::weights::undo::Undo;

pub(in crate::rows) struct FloatColumns<'a, T, I> {
    pub rows: &'a Csr<'a, T, I>,
    pub weights: &'a mut [f64],
    pub stride: usize,
    pub undo: Option<&'a mut Undo>,
    pub wide: &'a mut WideRow,
}

/// `w·x` of a row for planes that stand by column: of many with its entries by lane, else up to 20 at a time.
///
/// Never a part of a loop: that of one plane takes 1.2 with it.
#[inline(never)]
pub(in crate::rows) fn products<T: Value, I: Index>(
    (columns, values): (&[I], &[T]),
    w: &[f64],
    stride: usize,
    wide: &mut WideRow,
    sums: &mut [f64],
) {
    if let ([sum], 1) = (&mut *sums, stride) {
        *sum = dot_entries(columns, values, w);
        return;
    }
    let (values, by_lane) = wide.widened(values);
    if are_many(sums.len(), columns.len()) {
        by_lane.take(columns, values, stride);
        dispatch(ManyProducts { row: by_lane, w, sums });
    } else {
        dispatch(Products { row: (columns, values), w, stride, sums });
    }
}

/// Several planes. What sparse rows gain by an instruction set are these and exact products, so the loops
/// around them have no copies.
struct Products<'a, I> {
    row: (&'a [I], &'a [f64]),
    w: &'a [f64],
    stride: usize,
    sums: &'a mut [f64],
}

impl<I: Index> Products<'_, I> {
    /// `4*C` planes from `offset` on; returns how many.
    #[inline(always)]
    fn group<S: Simd, const C: usize>(&mut self, simd: S, offset: usize) -> usize {
        let (columns, values) = self.row;
        let found = dots_entries::<S, I, C>(simd, columns, values, self.w, (self.stride, offset), prefetch);
        for (sum, found) in self.sums[offset..].iter_mut().zip(found.as_flattened()) {
            *sum = *found;
        }
        4 * C
    }

    /// The same for four planes and a few entries.
    #[inline(always)]
    fn four_of_few(&mut self, offset: usize) -> usize {
        let (columns, values) = self.row;
        let found = dot_four_of_few(columns, values, self.w, (self.stride, offset));
        for (sum, found) in self.sums[offset..].iter_mut().zip(found) {
            *sum = found;
        }
        4
    }

    /// The last planes, fewer than four.
    #[inline(always)]
    fn one_by_one(&mut self, offset: usize) -> usize {
        let (columns, values) = self.row;
        for (k, sum) in (offset..).zip(&mut self.sums[offset..]) {
            *sum = dot_few_entries(columns, values, |j| self.w[j * self.stride + k]);
        }
        self.sums.len() - offset
    }
}

impl<I: Index> Leaf for Products<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let (mut offset, columns) = (0, self.row.0);
        // Behind the last weight of the last column nothing need be stored. Columns that are renamed do not rise.
        let last = || columns.iter().map(|j| j.at()).max();
        let whole = self.sums.len().is_multiple_of(4);
        let stored =
            if whole { None } else { last() }.map_or(self.stride, |j| self.w.len() - j * self.stride);
        while offset < self.sums.len() {
            let fours = (self.sums.len() - offset).div_ceil(4).min((stored - offset) / 4);
            let few = if fours == 1 { FEW_OF_FOUR } else { FEW_OF_MORE };
            offset += match fours {
                0 => self.one_by_one(offset),
                _ if columns.len() <= few => self.four_of_few(offset),
                1 => self.group::<S, 1>(simd, offset),
                2 => self.group::<S, 2>(simd, offset),
                3 => self.group::<S, 3>(simd, offset),
                5 => self.group::<S, 5>(simd, offset),
                8 => self.group::<S, 8>(simd, offset),
                _ => self.group::<S, 4>(simd, offset),
            };
        }
    }
}

/// Rows that follow each other. To score them one by one, a call for each would take as long as a short one.
pub(in crate::rows) struct Strip<'a, T, I> {
    /// Where each row begins, and the end.
    pub ends: &'a [I],
    /// The entries of these rows.
    pub columns: &'a [I],
    pub values: &'a [T],
}

/// Rows whose lanes are written before those of the first are read: what has just been written is waited for.
const APART: usize = 8;

/// Bytes of weights that the second cache may hold; and numbers that are asked for before they are read, of so many
/// entries at most. Rows of more ask for their own.
const CACHED: usize = 1 << 20;
const AHEAD: usize = 2048;
const ENTRIES_AHEAD: usize = 24;

impl<T: Value, I: Index> Strip<'_, T, I> {
    #[inline(always)]
    pub fn rows(&self) -> impl Iterator<Item = (&[I], &[T])> {
        let before = self.ends[0].at();
        self.ends.windows(2).map(move |ends| {
            let own = ends[0].at() - before..ends[1].at() - before;
            (&self.columns[own.clone()], &self.values[own])
        })
    }

    /// The columns of entries some way ahead: none of weights that stay in the cache, and of long rows.
    fn later(&self, w: &[f64], planes: usize) -> &[I] {
        let pays = size_of_val(w) > CACHED && self.columns.len() < ENTRIES_AHEAD * self.ends.len();
        let ahead = if pays { (AHEAD / planes).clamp(1, ENTRIES_AHEAD) } else { usize::MAX };
        self.columns.get(ahead..).unwrap_or(&[])
    }

    /// Calls `put` with each row and its `w·x`.
    #[inline(always)]
    pub fn products(&self, w: &[f64], mut put: impl FnMut(usize, f64)) {
        let (mut room, before) = ([[0.0; LANES]; APART], self.ends[0].at());
        for (start, ends) in (0..).step_by(APART).zip(self.ends[1..].chunks(APART)) {
            let mut first = self.ends[start].at() - before;
            for (lanes, end) in room.iter_mut().zip(ends) {
                let own = first..end.at() - before;
                first = own.end;
                *lanes = [0.0; LANES];
                for (j, x) in self.columns[own.clone()].iter().zip(&self.values[own]) {
                    lanes[j.at() % LANES] += w[j.at()] * x.widen();
                }
            }
            for (row, lanes) in (start..).zip(&room[..ends.len()]) {
                put(row, fold(*lanes));
            }
        }
    }
}

/// Scores of some rows for several planes that stand by column.
pub(in crate::rows) struct SeveralPlanes<'a, I> {
    pub strip: Strip<'a, f64, I>,
    pub w: &'a [f64],
    pub stride: usize,
    pub intercept: &'a [f64],
    /// Rows x planes.
    pub out: &'a mut [f64],
}

impl<I: Index> SeveralPlanes<'_, I> {
    /// `V` registers of planes from `first` on. Their lanes are in memory, and zeros again as soon as they are read: what
    /// has just been written is waited for. More than there are may be written, over those of the next row, which come
    /// later.
    #[inline(always)]
    fn group<S: Simd, const V: usize>(&mut self, simd: S, first: usize) {
        let Self { ref strip, w, stride, intercept, .. } = *self;
        // Zeros that the compiler knows would be written by a call.
        let (planes, zero) = (intercept.len(), simd.lanes(black_box(&[0.0; LANES])));
        let own = |row: usize| row * planes + first..row * planes + first + V * S::LANES;
        let padded = |numbers: &[f64]| {
            let mut room = [0.0; MOST * LANES];
            room.iter_mut().zip(numbers).for_each(|(room, number)| *room = *number);
            room
        };
        let (bias, mut later) = (padded(&intercept[first..]), strip.later(w, planes));
        let mut room = [[[zero; V]; LANES]; APART];
        for (start, ends) in (0..).step_by(APART).zip(strip.ends[1..].chunks(APART)) {
            let before = strip.ends[0].at();
            let mut from = strip.ends[start].at() - before;
            for (lanes, end) in room.iter_mut().zip(ends) {
                let entries = from..end.at() - before;
                from = entries.end;
                let next;
                (next, later) = later.split_at(entries.len().min(later.len()));
                for w in next.iter().filter_map(|j| w.get(j.at() * stride + first..)?.get(..V * S::LANES)) {
                    prefetch(w);
                }
                for (j, x) in strip.columns[entries.clone()].iter().zip(&strip.values[entries]) {
                    let (lane, at, x) = (j.at() % LANES, j.at() * stride + first, simd.lanes(&[*x; LANES]));
                    let room;
                    // Behind the last weight of the last column nothing need be stored.
                    let w = if let Some(w) = w.get(at..at + V * S::LANES) {
                        w
                    } else {
                        room = padded(&w[at..]);
                        &room[..]
                    };
                    for v in 0..V {
                        lanes[lane][v] = simd.add_products(lanes[lane][v], x, simd.lanes(&w[v * S::LANES..]));
                    }
                }
            }
            for (row, lanes) in (start..start + ends.len()).zip(&mut room) {
                let pair = |i: usize| add(simd, lanes[i], lanes[i + LANES / 2]);
                let sums = add(simd, add(simd, pair(0), pair(2)), add(simd, pair(1), pair(3)));
                *lanes = [[zero; V]; LANES];
                let mut room = [0.0; MOST * LANES];
                let fits = self.out.len() >= own(row).end;
                let out = if fits { &mut self.out[own(row)] } else { &mut room[..] };
                for v in 0..V {
                    let (bias, one) = (simd.lanes(&bias[v * S::LANES..]), simd.lanes(&[1.0; LANES]));
                    simd.write(simd.add_products(sums[v], bias, one), &mut out[v * S::LANES..]);
                }
                if !fits {
                    let out = &mut self.out[own(row).start..];
                    let len = out.len().min(planes - first);
                    out[..len].copy_from_slice(&room[..len]);
                }
            }
        }
    }
}

/// Registers of planes at most, whose lanes stay in the first cache.
const MOST: usize = 4;

/// Planes that take less time in registers of four: in those of eight there is little of them, and more of others.
const FOURS: usize = 12;

impl<I: Index> SeveralPlanes<'_, I> {
    pub fn go(self) {
        if self.intercept.len() > FOURS { dispatch(self) } else { dispatch(FewPlanes(self)) }
    }

    #[inline(always)]
    fn all<S: Simd>(&mut self, simd: S) {
        let planes = self.intercept.len();
        for first in (0..planes).step_by(MOST * S::LANES).rev() {
            match (planes - first).div_ceil(S::LANES) {
                1 => self.group::<S, 1>(simd, first),
                2 => self.group::<S, 2>(simd, first),
                3 => self.group::<S, 3>(simd, first),
                _ => self.group::<S, MOST>(simd, first),
            }
        }
    }
}

impl<I: Index> Leaf for SeveralPlanes<'_, I> {
    const WIDEST: bool = true;

    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        self.all(simd);
    }
}

/// The same of a few planes, with AVX2 where there is more.
struct FewPlanes<'a, I>(SeveralPlanes<'a, I>);

impl<I: Index> Leaf for FewPlanes<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        self.0.all(simd);
    }
}

/// The same for many planes or rows of many entries, row by row.
pub(in crate::rows) struct ManyPlanes<'a, I>(pub SeveralPlanes<'a, I>, pub &'a mut ByLane);

impl<I: Index> ManyPlanes<'_, I> {
    pub fn go(self) {
        let Self(SeveralPlanes { strip, w, stride, intercept, out }, by_lane) = self;
        let planes = intercept.len();
        let (mut later, mut before) = (strip.later(w, planes), &mut [][..]);
        let add = |sums: &mut [f64]| sums.iter_mut().zip(intercept).for_each(|(sum, b)| *sum += b);
        for (row, sums) in strip.rows().zip(out.chunks_mut(planes)) {
            let next;
            (next, later) = later.split_at(row.0.len().min(later.len()));
            for w in next.iter().filter_map(|j| w.get(j.at() * stride..)?.get(..planes)) {
                prefetch(w);
            }
            by_lane.take(row.0, row.1, stride);
            dispatch(ManyProducts { row: by_lane, w, sums });
            // What has just been written is waited for.
            add(replace(&mut before, sums));
        }
        add(before);
    }
}

impl<T: Value, I: Index> LoopBody for FloatColumns<'_, T, I> {
    const WIDE: bool = false;

    #[inline(always)]
    fn activate<S: Simd>(&mut self, _simd: S, row: usize, sums: &mut [f64]) {
        let (columns, values) = self.rows.row(row);
        if let ([sum], 1) = (&mut *sums, self.stride) {
            *sum = dot_entries(columns, values, self.weights);
        } else {
            products((columns, values), self.weights, self.stride, self.wide, sums);
        }
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        let place = (self.stride, plane);
        if let Some(undo) = &mut self.undo
            && !self.rows.keep(row, self.weights, place, undo)
        {
            return false;
        }
        self.rows.axpy_at(row, c, self.weights, place);
        true
    }

    fn size(&self) -> usize {
        self.rows.size()
    }

    #[inline(always)]
    fn prefetch(&self, row: usize, hint: Hint) {
        let (columns, values) = self.rows.row(row);
        prefetch_into(columns, hint);
        prefetch_into(values, hint);
    }
}

impl<T: Value, I: Index> Settle for FloatColumns<'_, T, I> {
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
            let mut settler = ages.settler(self.weights);
            *sum = dot_entries_by(columns, values, |j, x| settler.read(j, x));
        } else {
            self.settle(row, ages);
            self.activate(simd, row, sums);
        }
    }
}

pub(in crate::rows) struct Counts<'a, T, I> {
    pub rows: &'a Csr<'a, T, I>,
    pub weights: &'a mut [i32],
    pub stride: usize,
    pub limit: i32,
}

/// Exact `w·x` of a row for one plane.
#[inline(always)]
pub(in crate::rows) fn exact_product<T: Value, I: Index>(row: (&[I], &[T]), w: &[i32]) -> f64 {
    // Of ones nothing is multiplied, so no instruction set makes a difference.
    let are_ones = size_of::<T>() == 0;
    f64::from(if are_ones { exact::sum_entries(row.0, w) } else { dispatch(ExactProduct(row, w)) })
}

struct ExactProduct<'a, T, I>((&'a [I], &'a [T]), &'a [i32]);

impl<T: Value, I: Index> Leaf for ExactProduct<'_, T, I> {
    type Output = i32;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> i32 {
        let Self((columns, values), w) = self;
        exact::dot_entries(columns, values, w)
    }
}

/// Exact sums of several planes.
struct ExactProducts<'a, T, I> {
    row: (&'a [I], &'a [T]),
    w: &'a [i32],
    stride: usize,
    sums: &'a mut [f64],
}

impl<T: Value, I: Index> ExactProducts<'_, T, I> {
    /// `8*C` planes from `offset` on, their sums in registers.
    #[inline(always)]
    fn group<const C: usize>(&mut self, offset: usize) {
        let (columns, values) = self.row;
        let place = (self.stride, offset);
        let exact = exact::dots_entries::<T, I, C>(columns, values, self.w, place, prefetch);
        for (sum, exact) in self.sums[offset..].iter_mut().zip(exact.as_flattened()) {
            *sum = f64::from(*exact);
        }
    }
}

impl<T: Value, I: Index> Leaf for ExactProducts<'_, T, I> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, _simd: S) {
        for offset in (0..self.sums.len()).step_by(32) {
            match (self.stride - offset) / 8 {
                1 => self.group::<1>(offset),
                2 => self.group::<2>(offset),
                3 => self.group::<3>(offset),
                _ => self.group::<4>(offset),
            }
        }
    }
}

impl<T: Value, I: Index> LoopBody for Counts<'_, T, I> {
    const WIDE: bool = false;

    #[inline(always)]
    fn activate<S: Simd>(&mut self, _simd: S, row: usize, sums: &mut [f64]) {
        let (row, w, stride) = (self.rows.row(row), &*self.weights, self.stride);
        if let [sum] = sums {
            *sum = exact_product(row, w);
        } else {
            dispatch(ExactProducts { row, w, stride, sums });
        }
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        let (columns, values) = self.rows.row(row);
        let place = (self.stride, plane);
        exact::axpy_entries(c as i32, columns, values, self.weights, place) <= self.limit
    }

    fn size(&self) -> usize {
        self.rows.size()
    }

    #[inline(always)]
    fn prefetch(&self, row: usize, hint: Hint) {
        let (columns, values) = self.rows.row(row);
        prefetch_into(columns, hint);
        prefetch_into(values, hint);
    }
}
