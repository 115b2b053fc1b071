//! Rule 10: exact integers may take any order.
//!
//! Where every value, start weight and step is an integer and a checked bound keeps every product
//! and partial sum exact, each order of addition gives the bits of rule 3; so these loops take the
//! fastest one. Two forms:
//! - [`Halves`]: one weight vector over dense bytes. `w = 65536*hi + lo` with both halves in i16;
//!   a multiply-add of i16 pairs does the rest. A lane of i32 holds the products of
//!   [`FLUSH`] columns, then it is emptied into an i64.
//! - the `_entries` functions: i32 weights stored by column, i32 sums, over CSR rows.
//!
//! Each update returns the largest |weight| that it wrote; the caller leaves the exact path as soon
//! as that passes [`weight_limit`].

use super::simd::Simd;
use super::value::{Index, Value};

/// A weight below this and a product `c*x` below it add up within i32, and both halves fit in i16.
pub const LARGEST: f64 = (1 << 30) as f64;

/// Half of 2^53: room for the intercept beside the sum, and for the rounding of the bound itself.
pub const LARGEST_SUM: f64 = 4_503_599_627_370_496.0;

/// Columns after which an i32 lane is emptied: 256 products a lane, each at most 255 * 32768.
const FLUSH: usize = 2048;

const WIDTH: usize = 16;

/// The largest |weight| with which every sum over a row stays below `largest_sum`; `mass` is at
/// least the largest sum of |values| of a row.
#[must_use]
pub fn weight_limit(mass: f64, largest_sum: f64) -> i32 {
    (largest_sum / mass.max(1.0)).min(LARGEST) as i32
}

/// One weight vector, as i32 and split in halves.
pub struct Halves {
    w: Vec<i32>,
    hi: Vec<i16>,
    lo: Vec<i16>,
}

impl Halves {
    /// The weights must be integers of at most [`LARGEST_WEIGHT`].
    #[must_use]
    pub fn new(weights: &[f64]) -> Self {
        let w: Vec<i32> = weights.iter().map(|&w| w as i32).collect();
        let (hi, lo) = w.iter().map(|&w| split(w)).unzip();
        Self { w, hi, lo }
    }

    #[must_use]
    pub fn weights(&self) -> &[i32] {
        &self.w
    }

    /// `x` is the row in i16 ([`Halves::narrowed`]).
    #[inline(always)]
    #[must_use]
    pub fn dot<S: Simd>(&self, simd: S, x: &[i16]) -> f64 {
        let mut sum = 0_i64;
        let strips = x.chunks(FLUSH).zip(self.hi.chunks(FLUSH).zip(self.lo.chunks(FLUSH)));
        for (x, (hi, lo)) in strips {
            sum += strip(simd, x, hi, lo);
        }
        sum as f64
    }

    /// The row in i16, in `buffer`.
    #[inline(always)]
    pub fn narrowed<'a, T: Value>(row: &[T], buffer: &'a mut [i16]) -> &'a [i16] {
        for (narrow, value) in buffer.iter_mut().zip(row) {
            *narrow = value.to_i32() as i16;
        }
        buffer
    }

    /// `w += c*x`; returns the largest |w| of the row.
    #[inline(always)]
    pub fn axpy<T: Value>(&mut self, c: i32, x: &[T]) -> i32 {
        let halves = self.hi.iter_mut().zip(&mut self.lo);
        let mut largest = 0;
        for ((w, (hi, lo)), x) in self.w.iter_mut().zip(halves).zip(x) {
            *w += c * x.to_i32();
            (*hi, *lo) = split(*w);
            largest = largest.max(w.abs());
        }
        largest
    }
}

#[inline(always)]
fn split(w: i32) -> (i16, i16) {
    let lo = w as i16;
    (((w - i32::from(lo)) >> 16) as i16, lo)
}

#[inline(always)]
fn strip<S: Simd>(simd: S, x: &[i16], hi: &[i16], lo: &[i16]) -> i64 {
    let (chunks, rest) = x.as_chunks::<WIDTH>();
    let tail = chunks.len() * WIDTH;
    let (mut high, mut low) = (simd.zero(), simd.zero());
    for (x, (hi, lo)) in chunks.iter().zip(hi.as_chunks::<WIDTH>().0.iter().zip(lo.as_chunks::<WIDTH>().0)) {
        high = simd.add_pairs(high, x, hi);
        low = simd.add_pairs(low, x, lo);
    }
    let mut sum = 0;
    for (high, low) in simd.to_array(high).iter().zip(&simd.to_array(low)) {
        sum += 65536 * i64::from(*high) + i64::from(*low);
    }
    for (x, (hi, lo)) in rest.iter().zip(hi[tail..].iter().zip(&lo[tail..])) {
        sum += i64::from(*x) * (65536 * i64::from(*hi) + i64::from(*lo));
    }
    sum
}

/// CSR row with one weight vector; `ONES`: every value is 1 and the values are not read.
#[inline(always)]
#[must_use]
pub fn dot_entries<T: Value, I: Index, const ONES: bool>(columns: &[I], values: &[T], w: &[i32]) -> i32 {
    let mut sum = 0;
    if ONES {
        for j in columns {
            sum += w[j.at()];
        }
    } else {
        for (j, x) in columns.iter().zip(values) {
            sum += w[j.at()] * x.to_i32();
        }
    }
    sum
}

/// CSR row with `8*C` weight vectors, those at `offset` of `stride` stored by column.
#[inline(always)]
pub fn dots_entries<T: Value, I: Index, const ONES: bool, const C: usize>(
    columns: &[I],
    values: &[T],
    w: &[i32],
    (stride, offset): (usize, usize),
) -> [[i32; 8]; C] {
    let mut sums = [[0; 8]; C];
    for (e, j) in columns.iter().enumerate() {
        let w = &w[j.at() * stride + offset..][..8 * C];
        let x = if ONES { 1 } else { values[e].to_i32() };
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
