//! Rule 10: exact integers may take any order.
//!
//! Where every value, start weight and step is an integer and a checked bound keeps every product
//! and partial sum exact, each order of addition gives the bits of rule 3; so these loops take the
//! fastest one. Two forms:
//! - [`Halves`]: one weight vector over dense bytes. `w = 65536*hi + lo` with both halves in i16;
//!   a multiply-add of i16 pairs does the rest. A lane of i32 holds the products of [`FLUSH`] chunks, then it
//!   is emptied into an f64.
//! - the `_entries` functions: i32 weights stored by column, i32 sums, over CSR rows.
//!
//! Each update returns a bound of the |weights| that it wrote; the caller leaves the exact path as soon
//! as that passes [`weight_limit`].

use std::{array::from_fn, ops::Range};

use super::dot::SOON;
use crate::arith::simd::{Fours, Simd};
use crate::arith::value::{Index, Value};
use crate::base::{Result, filled};

/// A weight of at most this and a product `c*x` of at most this add up within i32 (2^30 + 2^30 would
/// not), and both halves fit in i16.
pub const LARGEST: f64 = ((1 << 30) - 1) as f64;

/// Half of 2^53: room for the rounding of the bound itself.
pub const LARGEST_SUM: f64 = 4_503_599_627_370_496.0;

/// Columns that are multiplied at once.
const WIDTH: usize = 16;

/// Chunks after which the lanes of i32 are emptied. A lane holds two products of each of them: fewer than 256
/// of at most 255 and 32768 stay below 2^31.
const FLUSH: usize = 127;

/// Chunks of which all lanes together stay below 2^31.
const FEW: usize = 16;

/// The largest |weight| with which every sum over a row stays below `largest_sum`; `mass` is at
/// least the largest sum of |values| of a row.
pub fn weight_limit(mass: f64, largest_sum: f64) -> i32 {
    (largest_sum / mass.max(1.0)).min(LARGEST) as i32
}

/// One weight vector, split in halves, and zeros up to a whole number of chunks.
pub struct Halves {
    hi: Vec<[i16; WIDTH]>,
    lo: Vec<[i16; WIDTH]>,
    columns: usize,
    /// At least the largest |hi|. While it is 0, `hi` is not read.
    top: i32,
}

/// A product of at most this and a byte fits in i16.
const NARROW: i32 = 128;

impl Halves {
    /// The weights must be integers of at most [`LARGEST`].
    pub fn new(weights: &[f64]) -> Result<Self> {
        let chunks = weights.len().div_ceil(WIDTH);
        let [mut hi, mut lo] = [filled([0; WIDTH], chunks)?, filled([0; WIDTH], chunks)?];
        let mut top = 0;
        for ((hi, lo), &w) in hi.as_flattened_mut().iter_mut().zip(lo.as_flattened_mut()).zip(weights) {
            (*hi, *lo) = split(w as i32);
            top = top.max(i32::from(*hi).abs());
        }
        Ok(Self { hi, lo, columns: weights.len(), top })
    }

    pub fn weight(&self, column: usize) -> i32 {
        whole(self.hi.as_flattened()[column], self.lo.as_flattened()[column])
    }

    /// How many bytes of a row are read: its own, and some more that are multiplied by 0.
    pub fn reach(columns: usize) -> usize {
        columns.next_multiple_of(WIDTH)
    }

    fn is_small(&self) -> bool {
        self.top == 0
    }

    /// `w += c*x` for bytes, [`Halves::reach`] of them; returns a bound of all |w|.
    ///
    /// Few sums pass the end of the low half: the high one is left alone until one does.
    #[inline(always)]
    pub fn axpy<T: Value>(&mut self, c: i32, x: &[T]) -> i32 {
        if c.abs() > NARROW {
            self.add_wide(c, x);
        } else if self.add_low(c as i16, x) {
            self.carry(c as i16, x);
        }
        self.top.saturating_mul(1 << 16).saturating_add(1 << 15)
    }

    /// Returns whether a sum has passed the end and is wrapped.
    #[inline(always)]
    fn add_low<T: Value>(&mut self, c: i16, x: &[T]) -> bool {
        let own = self.own_of_last();
        let ((x, _), mut carries) = (x.as_chunks(), [0; WIDTH]);
        if let (Some((low_last, low)), Some((x_last, x))) = (self.lo.split_last_mut(), x.split_last()) {
            for (low, x) in low.iter_mut().zip(x) {
                add_part(c, x, &OWN, low, &mut carries);
            }
            add_part(c, x_last, own, low_last, &mut carries);
        }
        let mut any = 0;
        for carry in carries {
            any |= carry;
        }
        any != 0
    }

    /// The high halves after the low ones have wrapped.
    #[inline(always)]
    fn carry<T: Value>(&mut self, c: i16, x: &[T]) {
        let mut top = 0;
        let halves = self.hi.as_flattened_mut().iter_mut().zip(self.lo.as_flattened());
        for ((hi, lo), x) in halves.zip(&x[..self.columns]) {
            let p = c * x.to_i32() as i16;
            let fits = lo.wrapping_sub(p).saturating_add(p) == *lo;
            *hi += if fits { 0 } else { p >> 15 | 1 };
            top = top.max(hi.abs());
        }
        self.top = self.top.max(i32::from(top));
    }

    fn add_wide<T: Value>(&mut self, c: i32, x: &[T]) {
        let halves = self.hi.as_flattened_mut().iter_mut().zip(self.lo.as_flattened_mut());
        for ((hi, lo), x) in halves.zip(&x[..self.columns]) {
            (*hi, *lo) = split(whole(*hi, *lo) + c * x.to_i32());
            self.top = self.top.max(i32::from(*hi).abs());
        }
    }

    /// A mask of the columns of the last chunk.
    #[inline(always)]
    fn own_of_last(&self) -> &'static [i16; WIDTH] {
        OWN_OR_NOT[Self::reach(self.columns) - self.columns..].first_chunk().expect("less than a chunk")
    }
}

const OWN: [i16; WIDTH] = [-1; WIDTH];

static OWN_OR_NOT: [i16; 2 * WIDTH] = {
    let mut mask = [0; 2 * WIDTH];
    mask.split_at_mut(WIDTH).0.copy_from_slice(&OWN);
    mask
};

/// `low += c*x` in own columns, wrapping; a carry becomes other than 0 where a sum passes the end.
#[inline(always)]
fn add_part<T: Value>(
    c: i16,
    x: &[T; WIDTH],
    own: &[i16; WIDTH],
    low: &mut [i16; WIDTH],
    carries: &mut [i16; WIDTH],
) {
    for k in 0..WIDTH {
        let p = c * (x[k].to_i32() as i16 & own[k]);
        let sum = low[k].wrapping_add(p);
        carries[k] |= sum ^ low[k].saturating_add(p);
        low[k] = sum;
    }
}

/// Just above the limit, before the exact path is left, `hi` may wrap; [`whole`] takes that back.
#[inline(always)]
fn split(w: i32) -> (i16, i16) {
    let lo = w as i16;
    ((w.wrapping_sub(i32::from(lo)) >> 16) as i16, lo)
}

#[inline(always)]
fn whole(hi: i16, lo: i16) -> i32 {
    (i32::from(hi) << 16).wrapping_add(i32::from(lo))
}

/// `w·x` of a row of bytes with `P` weight vectors, so that each value is loaded and widened once. The row
/// has the length of [`Halves::reach`].
#[inline(always)]
pub fn dots<S: Simd, T: Value, const P: usize>(simd: S, w: [&Halves; P], x: &[T]) -> [f64; P] {
    let (x, _) = x.as_chunks();
    let low: [&[_]; P] = from_fn(|p| &w[p].lo[..]);
    if w.iter().all(|w| w.is_small()) {
        return sums(simd, low, x);
    }
    let high: [&[_]; P] = from_fn(|p| &w[p].hi[..]);
    if P == 1 {
        let [low, high] = sums(simd, [low[0], high[0]], x);
        [joined(high, low); P]
    } else {
        let (low, high) = (sums(simd, low, x), sums(simd, high, x));
        from_fn(|p| joined(high[p], low[p]))
    }
}

/// `w·x` of `P` rows of bytes with one weight vector.
#[inline(always)]
pub fn dots_of_rows<S: Simd, T: Value, const P: usize>(simd: S, w: &Halves, rows: [&[T]; P]) -> [f64; P] {
    if P == 1 {
        return dots(simd, [w], rows[0]).map(|dot| [dot; P])[0]; // both halves in one pass
    }
    let rows = rows.map(|x| x.as_chunks().0);
    let low = sums(simd, rows, &w.lo);
    if w.is_small() {
        return low;
    }
    let high = sums(simd, rows, &w.hi);
    from_fn(|p| joined(high[p], low[p]))
}

/// Exact: the sum stays below [`LARGEST_SUM`].
#[inline(always)]
fn joined(high: f64, low: f64) -> f64 {
    65536.0 * high + low
}

/// Of at most four weights and a row, or rows and weights: one holds bytes, the other halves.
#[inline(always)]
fn sums<S: Simd, A: Value, B: Value, const P: usize>(
    simd: S,
    a: [&[[A; WIDTH]]; P],
    b: &[[B; WIDTH]],
) -> [f64; P] {
    let simd = simd.fours();
    let a: [&[_]; P] = from_fn(|p| &a[p][..b.len()]);
    if b.len() <= FEW {
        let totals = simd.totals(lanes(simd, a, b, 0..b.len()));
        return from_fn(|p| f64::from(totals[p]));
    }
    let mut sums = [0.0; P];
    for start in (0..b.len()).step_by(FLUSH) {
        let lanes = lanes(simd, a, b, start..b.len().min(start + FLUSH));
        for p in 0..P {
            sums[p] += simd.total(lanes[p]) as f64;
        }
    }
    sums
}

/// The sums of some chunks, in lanes.
#[inline(always)]
fn lanes<S: Fours, A: Value, B: Value, const P: usize>(
    simd: S,
    a: [&[[A; WIDTH]]; P],
    b: &[[B; WIDTH]],
    chunks: Range<usize>,
) -> [S::Sums; 4] {
    let mut lanes = [simd.zero(); 4];
    // By number: with an iterator the bounds of a are checked in each step.
    for i in chunks {
        let b = narrowed(&b[i]);
        for p in 0..P {
            lanes[p] = simd.add_pairs(lanes[p], &narrowed(&a[p][i]), &b);
        }
    }
    lanes
}

#[inline(always)]
fn narrowed<T: Value>(x: &[T; WIDTH]) -> [i16; WIDTH] {
    let mut narrow = [0; WIDTH];
    for k in 0..WIDTH {
        narrow[k] = x[k].to_i32() as i16;
    }
    narrow
}

/// CSR row with one weight vector.
#[inline(always)]
pub fn dot_entries<T: Value, I: Index>(columns: &[I], values: &[T], w: &[i32]) -> i32 {
    // By hand four at a time: LLVM does not unroll a loop with bounds checks.
    let (chunks, last) = columns.as_chunks::<4>();
    let (value_chunks, last_values) = values.as_chunks::<4>();
    // The weights are read one by one, and multiplied at once: `vpgatherdd` is slow where microcode has to
    // protect it.
    let mut sums = [0; 4];
    for (j, x) in chunks.iter().zip(value_chunks) {
        let mut read = [0; 4];
        for k in 0..4 {
            read[k] = w[j[k].at()];
        }
        for k in 0..4 {
            sums[k] += read[k] * x[k].to_i32();
        }
    }
    let rest = last.iter().zip(last_values).map(|(j, x)| w[j.at()] * x.to_i32()).sum::<i32>();
    sums.iter().sum::<i32>() + rest
}

/// The same where every value is 1.
#[inline(always)]
pub fn sum_entries<I: Index>(columns: &[I], w: &[i32]) -> i32 {
    let (chunks, last) = columns.as_chunks::<4>();
    let mut sums = [0; 2];
    for j in chunks {
        for k in 0..4 {
            sums[k % 2] += w[j[k].at()];
        }
    }
    sums[0] + sums[1] + last.iter().map(|j| w[j.at()]).sum::<i32>()
}

/// CSR row with `8*C` weight vectors, those at `offset` of `stride` stored by column; `soon` is told
/// which weights will be read after some more entries.
#[inline(always)]
pub fn dots_entries<T: Value, I: Index, const C: usize>(
    columns: &[I],
    values: &[T],
    w: &[i32],
    (stride, offset): (usize, usize),
    soon: impl Fn(&[i32]),
) -> [[i32; 8]; C] {
    let at = |j: &I| &w[j.at() * stride + offset..][..8 * C];
    let mut sums = [[0; 8]; C];
    for (e, j) in columns.iter().enumerate() {
        if let Some(next) = columns.get(e + SOON) {
            soon(at(next));
        }
        let w = at(j);
        let x = values[e].to_i32();
        for (sums, w) in sums.iter_mut().zip(w.as_chunks::<8>().0) {
            for (sum, w) in sums.iter_mut().zip(w) {
                *sum += w * x;
            }
        }
    }
    sums
}

/// `w += c*x` for one of the weight vectors stored by column; returns the largest |w| written.
#[inline(always)]
pub fn axpy_entries<T: Value, I: Index>(
    c: i32,
    columns: &[I],
    values: &[T],
    w: &mut [i32],
    (stride, offset): (usize, usize),
) -> i32 {
    let mut largest = 0;
    for (j, x) in columns.iter().zip(values) {
        let w = &mut w[j.at() * stride + offset];
        *w += c * x.to_i32();
        largest = largest.max(w.abs());
    }
    largest
}
