//! Rule 10: exact integers may take any order.
//!
//! Where every value, start weight and step is an integer and a checked bound keeps every product
//! and partial sum exact, each order of addition gives the bits of rule 3; so these loops take the
//! fastest one. Two forms:
//! - [`Halves`]: one weight vector over dense bytes. `w = 65536*hi + lo` with both halves in i16;
//!   a multiply-add of i16 pairs does the rest. A lane of i32 holds the products of
//!   [`FLUSH`] columns, then it is emptied into an i64.
//! - the `_entries` functions: i32 weights stored by column, i32 sums, over CSR rows.

use std::hint::black_box;

use super::value::{Index, Value};

/// No weight of the integer paths may exceed it, so that both halves fit in i16.
pub const LARGEST_WEIGHT: f64 = (i32::MAX - (1 << 16)) as f64;

/// Below this, sums in i32 are exact.
pub const LARGEST_I32_SUM: f64 = i32::MAX as f64;

/// Below this, sums of integers in f64 are exact: 2^53.
pub const LARGEST_F64_SUM: f64 = 9_007_199_254_740_992.0;

/// Columns after which an i32 lane is emptied: 256 products a lane, each at most 255 * 32768.
const FLUSH: usize = 2048;

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

    #[inline(always)]
    #[must_use]
    pub fn dot<T: Value>(&self, x: &[T]) -> f64 {
        let mut sum = 0_i64;
        let strips = x.chunks(FLUSH).zip(self.hi.chunks(FLUSH).zip(self.lo.chunks(FLUSH)));
        for (x, (hi, lo)) in strips {
            sum += strip(x, hi, lo);
        }
        sum as f64
    }

    /// `w += c*x`.
    #[inline(always)]
    pub fn axpy<T: Value>(&mut self, c: i32, x: &[T]) {
        let halves = self.hi.iter_mut().zip(&mut self.lo);
        for ((w, (hi, lo)), x) in self.w.iter_mut().zip(halves).zip(x) {
            *w += c * x.to_i32();
            (*hi, *lo) = split(*w);
        }
    }
}

#[inline(always)]
fn split(w: i32) -> (i16, i16) {
    let lo = w as i16;
    (((w - i32::from(lo)) >> 16) as i16, lo)
}

#[inline(always)]
fn strip<T: Value>(x: &[T], hi: &[i16], lo: &[i16]) -> i64 {
    const WIDTH: usize = 16;
    let (chunks, rest) = x.as_chunks::<WIDTH>();
    let tail = chunks.len() * WIDTH;
    let mut high = [0_i32; WIDTH / 2];
    let mut low = [0_i32; WIDTH / 2];
    for (x, (hi, lo)) in chunks.iter().zip(hi.as_chunks::<WIDTH>().0.iter().zip(lo.as_chunks::<WIDTH>().0)) {
        let x = x.map(|x| i32::from(x.to_i32() as i16));
        let (mut p, mut q) = ([0; WIDTH], [0; WIDTH]);
        for k in 0..WIDTH {
            p[k] = x[k] * i32::from(hi[k]);
            q[k] = x[k] * i32::from(lo[k]);
        }
        for k in 0..WIDTH / 2 {
            high[k] += p[2 * k] + p[2 * k + 1];
            low[k] += q[2 * k] + q[2 * k + 1];
        }
    }
    // As in `dot`: keeps the lanes apart, so that the loop becomes multiply-adds of pairs.
    let (high, low) = black_box((high, low));
    let mut sum = 0;
    for (high, low) in high.iter().zip(&low) {
        sum += 65536 * i64::from(*high) + i64::from(*low);
    }
    for (x, (hi, lo)) in rest.iter().zip(hi[tail..].iter().zip(&lo[tail..])) {
        sum += i64::from(x.to_i32()) * (65536 * i64::from(*hi) + i64::from(*lo));
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

/// `w += c*x` for one of the weight vectors stored by column.
#[inline(always)]
pub fn axpy_entries<T: Value, I: Index>(
    c: i32,
    columns: &[I],
    values: &[T],
    w: &mut [i32],
    (stride, offset): (usize, usize),
) {
    for (j, x) in columns.iter().zip(values) {
        w[j.at() * stride + offset] += c * x.to_i32();
    }
}
