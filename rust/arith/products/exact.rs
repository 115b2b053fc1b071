//! Rule 10: exact integers may take any order.
//!
//! Where every value, start weight and step is an integer and a checked bound keeps every product
//! and partial sum exact, each order of addition gives the bits of rule 3; so these loops take the
//! fastest one. Two forms:
//! - [`Halves`]: one weight vector over dense bytes. `w = 65536*hi + lo` with both halves in i16;
//!   a multiply-add of i16 pairs does the rest. A lane of i32 holds the products of
//!   [`FLUSH`] chunks, then it is emptied into an i64.
//! - the `_entries` functions: i32 weights stored by column, i32 sums, over CSR rows.
//!
//! Each update returns a bound of the |weights| that it wrote; the caller leaves the exact path as soon
//! as that passes [`weight_limit`].

use std::array::from_fn;

use super::dot::SOON;
use crate::arith::simd::Simd;
use crate::arith::value::{Index, Value};
use crate::error::Result;
use crate::memory::collected;

/// A weight of at most this and a product `c*x` of at most this add up within i32 (2^30 + 2^30 would
/// not), and both halves fit in i16.
pub const LARGEST: f64 = ((1 << 30) - 1) as f64;

/// Half of 2^53: room for the intercept beside the sum, and for the rounding of the bound itself.
pub const LARGEST_SUM: f64 = 4_503_599_627_370_496.0;

/// Columns that are multiplied at once.
const WIDTH: usize = 16;

/// Chunks after which the lanes of i32 are emptied. A lane holds two products of each of them, and four of
/// what is less than a chunk: at most 256 of 255 and 32768.
const FLUSH: usize = 126;

/// The largest |weight| with which every sum over a row stays below `largest_sum`; `mass` is at
/// least the largest sum of |values| of a row.
#[must_use]
pub fn weight_limit(mass: f64, largest_sum: f64) -> i32 {
    (largest_sum / mass.max(1.0)).min(LARGEST) as i32
}

/// One weight vector, split in halves.
pub struct Halves {
    hi: Vec<i16>,
    lo: Vec<i16>,
    /// At least the largest |hi|. While it is 0, `hi` is not read.
    top: i32,
}

/// A product of at most this and a byte fits in i16.
const NARROW: i32 = 128;

impl Halves {
    /// The weights must be integers of at most [`LARGEST`].
    pub fn new(weights: &[f64]) -> Result<Self> {
        let hi = collected(weights.iter().map(|&w| split(w as i32).0))?;
        let lo = collected(weights.iter().map(|&w| split(w as i32).1))?;
        let top = hi.iter().fold(0, |top, hi| top.max(i32::from(*hi).abs()));
        Ok(Self { hi, lo, top })
    }

    #[must_use]
    pub fn weight(&self, column: usize) -> i32 {
        whole(self.hi[column], self.lo[column])
    }

    fn is_small(&self) -> bool {
        self.top == 0
    }

    /// `w += c*x` for bytes; returns a bound of all |w|.
    ///
    /// Few sums pass the end of the low half: the high one is left alone until one does.
    #[inline(always)]
    pub fn axpy<T: Value>(&mut self, c: i32, x: &[T]) -> i32 {
        if c.abs() > NARROW {
            self.add_wide(c, x);
        } else if add_low(c as i16, x, &mut self.lo) {
            self.carry(c as i16, x);
        }
        self.top.saturating_mul(1 << 16).saturating_add(1 << 15)
    }

    /// The high halves after the low ones have wrapped.
    #[inline(always)]
    fn carry<T: Value>(&mut self, c: i16, x: &[T]) {
        let mut top = 0;
        for ((hi, lo), x) in self.hi.iter_mut().zip(&self.lo).zip(x) {
            let p = c * x.to_i32() as i16;
            let fits = lo.wrapping_sub(p).saturating_add(p) == *lo;
            *hi += if fits { 0 } else { p >> 15 | 1 };
            top = top.max(hi.abs());
        }
        self.top = self.top.max(i32::from(top));
    }

    fn add_wide<T: Value>(&mut self, c: i32, x: &[T]) {
        for ((hi, lo), x) in self.hi.iter_mut().zip(&mut self.lo).zip(x) {
            (*hi, *lo) = split(whole(*hi, *lo) + c * x.to_i32());
            self.top = self.top.max(i32::from(*hi).abs());
        }
    }
}

/// `low += c*x`, wrapping; returns whether a sum passed the end.
///
/// By hand in parts: left to itself, the compiler takes 64 columns at once, and the rest one by one.
#[inline(always)]
fn add_low<T: Value>(c: i16, x: &[T], low: &mut [i16]) -> bool {
    let (chunks, rest) = x.as_chunks::<WIDTH>();
    let (low_chunks, low_rest) = low.as_chunks_mut::<WIDTH>();
    let mut carries = [0; WIDTH];
    for (x, low) in chunks.iter().zip(low_chunks) {
        add_part(c, x, low, &mut carries);
    }
    let (eight, rest) = rest.as_chunks::<8>();
    let (low_eight, low_rest) = low_rest.as_chunks_mut::<8>();
    if let ([x], [low]) = (eight, low_eight) {
        add_part(c, x, low, &mut carries);
    }
    let (four, rest) = rest.as_chunks::<4>();
    let (low_four, low_rest) = low_rest.as_chunks_mut::<4>();
    if let ([x], [low]) = (four, low_four) {
        add_part(c, x, low, &mut carries);
    }
    for (x, low) in rest.iter().zip(low_rest) {
        add_part(c, &[*x], std::array::from_mut(low), &mut carries);
    }
    let mut any = 0;
    for carry in carries {
        any |= carry;
    }
    any != 0
}

#[inline(always)]
fn add_part<T: Value, const N: usize>(c: i16, x: &[T; N], low: &mut [i16; N], carries: &mut [i16; WIDTH]) {
    for k in 0..N {
        let p = c * x[k].to_i32() as i16;
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

/// `w·x` of a row of bytes with `P` weight vectors, so that each value is loaded and widened once.
///
/// Tried: the halves of several vectors in one pass (1.7 times as long: more sums than registers).
#[inline(always)]
#[must_use]
pub fn dots<S: Simd, T: Value, const P: usize>(simd: S, w: [&Halves; P], x: &[T]) -> [f64; P] {
    let low: [&[i16]; P] = from_fn(|p| &w[p].lo[..]);
    if w.iter().all(|w| w.is_small()) {
        return sums(simd, low, x).map(|sum| sum as f64);
    }
    let high: [&[i16]; P] = from_fn(|p| &w[p].hi[..]);
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
#[must_use]
pub fn dots_of_rows<S: Simd, T: Value, const P: usize>(simd: S, w: &Halves, rows: [&[T]; P]) -> [f64; P] {
    if P == 1 {
        return dots(simd, [w], rows[0]).map(|dot| [dot; P])[0]; // both halves in one pass
    }
    let low = sums(simd, rows, &w.lo);
    if w.is_small() {
        return low.map(|sum| sum as f64);
    }
    let high = sums(simd, rows, &w.hi);
    from_fn(|p| joined(high[p], low[p]))
}

#[inline(always)]
fn joined(high: i64, low: i64) -> f64 {
    (65536 * high + low) as f64
}

/// Of weights and a row, or of rows and weights: one holds bytes, the other halves.
///
/// Loops, not iterators: a closure would be compiled without the instruction set of the leaf.
#[inline(always)]
fn sums<S: Simd, A: Value, B: Value, const P: usize>(simd: S, a: [&[A]; P], b: &[B]) -> [i64; P] {
    let (chunks, rest) = b.as_chunks::<WIDTH>();
    let mut others = [&[][..]; P];
    for p in 0..P {
        others[p] = &a[p].as_chunks::<WIDTH>().0[..chunks.len()];
    }
    let (mut sums, mut lanes) = ([0; P], [simd.zero(); P]);
    let mut done = chunks.len() * WIDTH;
    let (eight, rest) = rest.as_chunks::<8>();
    if let [b] = eight {
        lanes = add(simd, lanes, a, done, b);
        done += 8;
    }
    let (four, rest) = rest.as_chunks::<4>();
    if let [b] = four {
        lanes = add(simd, lanes, a, done, b);
        done += 4;
    }
    let mut i = 0;
    loop {
        let end = chunks.len().min(i + FLUSH);
        while i < end {
            let b = narrowed(&chunks[i]);
            for p in 0..P {
                lanes[p] = simd.add_pairs(lanes[p], &narrowed(&others[p][i]), &b);
            }
            i += 1;
        }
        for p in 0..P {
            sums[p] += simd.total(lanes[p]);
        }
        if i == chunks.len() {
            break;
        }
        lanes = [simd.zero(); P];
    }
    if !rest.is_empty() {
        for p in 0..P {
            let mut last = 0; // at most three products of 255 and 32768
            for (b, a) in rest.iter().zip(&a[p][done..]) {
                last += b.to_i32() * a.to_i32();
            }
            sums[p] += i64::from(last);
        }
    }
    sums
}

/// Adds the products of a part of a chunk, from column `from` on.
#[inline(always)]
fn add<S: Simd, A: Value, B: Value, const P: usize, const N: usize>(
    simd: S,
    mut lanes: [S::Sums; P],
    a: [&[A]; P],
    from: usize,
    b: &[B; N],
) -> [S::Sums; P] {
    let b = narrowed(b);
    for p in 0..P {
        let a: &[A; N] = a[p][from..].first_chunk().expect("rows are equally long");
        lanes[p] = simd.add_pairs(lanes[p], &narrowed(a), &b);
    }
    lanes
}

/// Fewer than a chunk holds are filled up with 0.
#[inline(always)]
fn narrowed<T: Value, const N: usize>(x: &[T; N]) -> [i16; WIDTH] {
    let mut narrow = [0; WIDTH];
    for k in 0..N {
        narrow[k] = x[k].to_i32() as i16;
    }
    narrow
}

/// CSR row with one weight vector.
#[inline(always)]
#[must_use]
pub fn dot_entries<T: Value, I: Index>(columns: &[I], values: &[T], w: &[i32]) -> i32 {
    let product = |j: &I, x: &T| w[j.at()] * x.to_i32();
    // By hand four at a time: LLVM does not unroll a loop with bounds checks.
    let (chunks, last) = columns.as_chunks::<4>();
    let (value_chunks, last_values) = values.as_chunks::<4>();
    // With four sums, some of what the loop needs is read from the stack; with one, it takes as long.
    let mut sums = [0; 2];
    for (j, x) in chunks.iter().zip(value_chunks) {
        for k in 0..4 {
            sums[k % 2] += product(&j[k], &x[k]);
        }
    }
    let rest = last.iter().zip(last_values).map(|(j, x)| product(j, x)).sum::<i32>();
    sums[0] + sums[1] + rest
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
