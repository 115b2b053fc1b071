//! Rule 3: the dot product in eight lanes by column.
//!
//! Method: eight accumulators start at +0.0; column `j` adds `w[j]*x[j]` to lane `j mod 8`, in
//! increasing `j`; then the tree `t[i] = l[i] + l[i+4]`, `u[i] = t[i] + t[i+2]`, `u[0] + u[1]`.
//! Every product is rounded before it is added. A lane that starts at +0.0 never becomes −0.0, so a
//! zero of a dense row and an entry that a CSR row leaves out are the same.

use std::{array::from_fn, ops::Add};

use crate::arith::simd::{Fours, Portable, Simd};
use crate::arith::value::{Index, Value};

pub const LANES: usize = 8;

/// The tree of rule 3.
#[inline(always)]
pub fn fold<N: Copy + Add<Output = N>>(l: [N; LANES]) -> N {
    let t = [l[0] + l[4], l[1] + l[5], l[2] + l[6], l[3] + l[7]];
    let u = [t[0] + t[2], t[1] + t[3]];
    u[0] + u[1]
}

/// Dense row with one weight vector.
#[inline(always)]
pub fn dot<T: Value>(x: &[T], w: &[f64]) -> f64 {
    dots(Portable, [w], x)[0]
}

/// Dense row with `P` weight vectors, so that each value is loaded and widened once; or `P` rows with one
/// weight vector.
#[inline(always)]
pub fn dots<S: Simd, T: Value, W: Value, const P: usize>(simd: S, w: [&[W]; P], x: &[T]) -> [f64; P] {
    const HALF: usize = LANES / 2;
    let simd = simd.fours();
    let d = x.len();
    let w: [&[W]; P] = from_fn(|p| &w[p][..d]);
    // Four at a time: eight bytes would be loaded at once and taken apart in general registers.
    let (halves, _) = x.as_chunks::<HALF>();
    let (chunks, _) = halves.as_chunks::<2>();
    let rest = &x[chunks.len() * LANES..];
    let weights: [&[[W; LANES]]; P] = from_fn(|p| &w[p].as_chunks().0[..chunks.len()]);
    let mut sums = [[simd.lanes(&[0.0; HALF]); 2]; P];
    // By number: with an iterator the bounds of the weights are checked in each step.
    for i in 0..chunks.len() {
        for h in 0..2 {
            let x = simd.lanes(&T::widen_four(simd, &chunks[i][h]));
            for p in 0..P {
                let w = simd.lanes(&W::widen_four(simd, &weights[p][i].as_chunks::<HALF>().0[h]));
                sums[p][h] = simd.add_products(sums[p][h], w, x);
            }
        }
    }
    // Half a chunk at once, then up to three columns, and products of zeros, which change no lane.
    let (half, last) = rest.as_chunks::<HALF>();
    if let [x] = half {
        let x = simd.lanes(&T::widen_four(simd, x));
        for p in 0..P {
            let w = w[p][chunks.len() * LANES..].as_chunks::<HALF>().0;
            sums[p][0] = simd.add_products(sums[p][0], simd.lanes(&W::widen_four(simd, &w[0])), x);
        }
    }
    if !last.is_empty() {
        let x = simd.lanes(&padded(last));
        for p in 0..P {
            let w = simd.lanes(&padded(&w[p][d - last.len()..]));
            let [low, high] = sums[p];
            sums[p] = match half {
                [] => [simd.add_products(low, w, x), high],
                _ => [low, simd.add_products(high, w, x)],
            };
        }
    }
    let mut out = [0.0; P];
    for p in 0..P {
        out[p] = simd.fold(sums[p]);
    }
    out
}

/// Three numbers at most, and zeros.
#[inline(always)]
fn padded<T: Value>(x: &[T]) -> [f64; LANES / 2] {
    match *x {
        [a] => [a.widen(), 0.0, 0.0, 0.0],
        [a, b] => [a.widen(), b.widen(), 0.0, 0.0],
        [a, b, c] => [a.widen(), b.widen(), c.widen(), 0.0],
        _ => [0.0; LANES / 2],
    }
}

/// Lanes of four weight vectors.
pub type FourSums = [[f64; 4]; LANES];

/// Adds to the lanes of four weight vectors, those at `offset` of `stride` stored by column, what some
/// columns of a dense row give: those from a multiple of eight on. Behind the last weight nothing need be
/// stored.
#[inline(always)]
pub fn add_columns<S: Simd>(
    simd: S,
    x: &[f64],
    w: &[f64],
    (stride, offset): (usize, usize),
    lanes: &mut FourSums,
) {
    let simd = simd.fours();
    let mut sums = lanes.map(|lane| simd.lanes(&lane));
    let four = |column: usize| {
        let w = &w[column * stride + offset..];
        simd.lanes(w.first_chunk().unwrap_or(&padded(w)))
    };
    let (chunks, rest) = x.as_chunks::<LANES>();
    for (i, x) in chunks.iter().enumerate() {
        for (lane, (sum, x)) in sums.iter_mut().zip(x).enumerate() {
            *sum = simd.add_products(*sum, four(i * LANES + lane), simd.lanes(&[*x; 4]));
        }
    }
    for (lane, (sum, x)) in sums.iter_mut().zip(rest).enumerate() {
        *sum = simd.add_products(*sum, four(chunks.len() * LANES + lane), simd.lanes(&[*x; 4]));
    }
    for (lane, sum) in lanes.iter_mut().zip(sums) {
        simd.write(sum, lane);
    }
}

/// The trees of rule 3 of several weight vectors.
#[inline(always)]
pub fn folded<const V: usize>(lanes: &[[f64; V]; LANES]) -> [f64; V] {
    from_fn(|k| fold(from_fn(|lane| lanes[lane][k])))
}

/// The bits that each lane takes of a product, by the lane of its column.
static OWN: [[u64; LANES]; LANES] = {
    let (mut own, mut lane) = ([[0; LANES]; LANES], 0);
    while lane < LANES {
        own[lane][lane] = u64::MAX;
        lane += 1;
    }
    own
};

/// The same for four vectors.
static OWN_OF_FOUR: [[[u64; 4]; LANES]; LANES] = {
    let (mut own, mut lane) = ([[[0; 4]; LANES]; LANES], 0);
    while lane < LANES {
        own[lane][lane] = [u64::MAX; 4];
        lane += 1;
    }
    own
};

/// CSR row with one weight vector. Columns are increasing.
#[inline(always)]
pub fn dot_entries<T: Value, I: Index>(columns: &[I], values: &[T], w: &[f64]) -> f64 {
    dot_entries_by(columns, values, |j, _| w[j])
}

/// The same of a few entries, with lanes in registers: each product is added to all of them, as 0 but to its own, which
/// changes no other. In memory, a lane that has just been written is waited for.
#[inline(always)]
pub fn dot_few_entries<T: Value, I: Index>(
    columns: &[I],
    values: &[T],
    weight: impl Fn(usize) -> f64,
) -> f64 {
    let mut lanes = [0.0; LANES];
    for (j, x) in columns.iter().zip(values) {
        let product = (weight(j.at()) * x.widen()).to_bits();
        for (lane, own) in lanes.iter_mut().zip(OWN[j.at() % LANES]) {
            *lane += f64::from_bits(product & own);
        }
    }
    fold(lanes)
}

/// Up to so many entries, [`dot_four_of_few`] takes less time than [`dots_entries`] of four vectors, and of more.
pub const FEW_OF_FOUR: usize = 16;
pub const FEW_OF_MORE: usize = 4;

/// The same with four weight vectors, those at `offset` of `stride` stored by column.
#[inline(always)]
pub fn dot_four_of_few<I: Index>(
    columns: &[I],
    values: &[f64],
    w: &[f64],
    (stride, offset): (usize, usize),
) -> [f64; 4] {
    let mut lanes = [[0.0; 4]; LANES];
    for (j, x) in columns.iter().zip(values) {
        let w = &w[j.at() * stride + offset..][..4];
        let products: [u64; 4] = from_fn(|k| (w[k] * *x).to_bits());
        for (lane, own) in lanes.iter_mut().zip(&OWN_OF_FOUR[j.at() % LANES]) {
            for k in 0..4 {
                lane[k] += f64::from_bits(products[k] & own[k]);
            }
        }
    }
    folded(&lanes)
}

/// The same with a weight that is asked for once for each entry, by its column and value.
#[inline(always)]
pub fn dot_entries_by<T: Value, I: Index>(
    columns: &[I],
    values: &[T],
    mut weight: impl FnMut(usize, f64) -> f64,
) -> f64 {
    let mut lanes = [0.0; LANES];
    let mut add = |j: &I, x: &T| {
        let (j, x) = (j.at(), x.widen());
        lanes[j % LANES] += weight(j, x) * x;
    };
    // By hand four at a time: LLVM does not unroll a loop with bounds checks.
    let (columns, last_columns) = columns.as_chunks::<4>();
    let (values, last_values) = values.as_chunks::<4>();
    for (j, x) in columns.iter().zip(values) {
        for k in 0..4 {
            add(&j[k], &x[k]);
        }
    }
    for (j, x) in last_columns.iter().zip(last_values) {
        add(j, x);
    }
    fold(lanes)
}

/// A number that is added to a column of a vector.
pub struct Term {
    pub vector: usize,
    pub column: usize,
    /// Its place among all terms.
    pub number: usize,
    pub value: f64,
}

/// The dot products of vectors with themselves, added up: each number is the sum of its terms, in their
/// order.
pub fn square_of_sums(terms: &mut [Term]) -> f64 {
    terms.sort_unstable_by_key(|term| (term.vector, term.column, term.number));
    terms.chunk_by(|a, b| a.vector == b.vector).fold(0.0, |squares, vector| {
        let mut lanes = [0.0; LANES];
        for terms in vector.chunk_by(|a, b| a.column == b.column) {
            let x = terms.iter().fold(0.0, |x, term| x + term.value);
            lanes[terms[0].column % LANES] += x * x;
        }
        squares + fold(lanes)
    })
}

/// How many entries ahead weights of several planes are asked for.
pub(super) const SOON: usize = 16;

/// CSR row with `4*C` weight vectors, those at `offset` of `stride` stored by column: one entry
/// updates adjacent sums. `soon` is told which weights will be read after some more entries.
#[inline(always)]
pub fn dots_entries<S: Simd, I: Index, const C: usize>(
    simd: S,
    columns: &[I],
    values: &[f64],
    w: &[f64],
    (stride, offset): (usize, usize),
    soon: impl Fn(&[f64]),
) -> [[f64; 4]; C] {
    let simd = simd.fours();
    let at = |j: &I| &w[j.at() * stride + offset..][..4 * C];
    let mut lanes = [[[0.0; 4]; C]; LANES];
    for (e, (j, x)) in columns.iter().zip(values).enumerate() {
        if let Some(next) = columns.get(e + SOON) {
            soon(at(next));
        }
        let x = simd.lanes(&[*x; 4]);
        for (lane, w) in lanes[j.at() % LANES].iter_mut().zip(at(j).as_chunks::<4>().0) {
            simd.write(simd.add_products(simd.lanes(lane), simd.lanes(w), x), lane);
        }
    }
    // The trees, of four vectors at once.
    let (mut sums, add) = ([[0.0; 4]; C], |a: [f64; 4], b: [f64; 4]| from_fn(|k| a[k] + b[k]));
    for (c, sum) in sums.iter_mut().enumerate() {
        let pair = |i: usize| add(lanes[i][c], lanes[i + LANES / 2][c]);
        *sum = add(add(pair(0), pair(2)), add(pair(1), pair(3)));
    }
    sums
}
