//! Rule 10 for many vectors at once: an activation is moved from one weight vector to the next by
//! `c*(x_m·x) + c`, with the product of two rows in exact integers.
//!
//! Rows are in i16, of at most [`LARGEST_VALUE`] each, padded with zeros to a multiple of [`WIDTH`] columns,
//! of which there are at most [`MOST_COLUMNS`]: then a product of two rows fits in i32.

use std::array::from_fn;

use super::{exact::LARGEST_SUM, integers::all_integers};
use crate::arith::simd::{Fours, Simd};
use crate::arith::value::Value;

pub const LARGEST_VALUE: i16 = 255;
pub const MOST_COLUMNS: usize = 32_768;
pub const WIDTH: usize = 16;

/// Rows that share a load in [`products`].
pub const LEFT: usize = 2;
pub const RIGHT: usize = 4;

/// No side of a tile is longer.
pub const LARGEST_TILE: usize = 4;

/// Writes a row as i16; false if a value does not fit.
#[inline(always)]
pub fn narrow<T: Value>(row: &[T], out: &mut [i16]) -> bool {
    let largest = f64::from(LARGEST_VALUE);
    let mut fits = true;
    for (out, value) in out.iter_mut().zip(row) {
        if !T::BYTE {
            let wide = value.widen();
            fits &= wide.abs() <= largest && f64::from(value.to_i32()) == wide;
        }
        *out = value.to_i32() as i16;
    }
    fits
}

/// Products of each of some rows with each of others.
#[inline(always)]
pub fn products<S: Simd, const L: usize, const R: usize>(
    simd: S,
    left: [&[i16]; L],
    right: [&[i16]; R],
) -> [[i32; R]; L] {
    let chunks = left[0].len() / WIDTH;
    let left: [&[[i16; WIDTH]]; L] = from_fn(|k| &left[k].as_chunks().0[..chunks]);
    let right: [&[[i16; WIDTH]]; R] = from_fn(|k| &right[k].as_chunks().0[..chunks]);
    let simd = simd.fours();
    let mut sums = [[simd.zero(); R]; L];
    for i in 0..chunks {
        for (sums, left) in sums.iter_mut().zip(&left) {
            for (sum, right) in sums.iter_mut().zip(&right) {
                *sum = simd.add_pairs(*sum, &left[i], &right[i]);
            }
        }
    }
    let mut products = [[0; R]; L];
    for (products, sums) in products.iter_mut().zip(sums) {
        for (products, sums) in products.chunks_mut(RIGHT).zip(sums.chunks(RIGHT)) {
            let mut four = [simd.zero(); RIGHT];
            four[..sums.len()].copy_from_slice(sums);
            products.copy_from_slice(&simd.totals(four)[..products.len()]);
        }
    }
    products
}

/// Moves activations to the next weight vector, and lets it vote.
#[inline(always)]
pub fn vote_next(
    [c, bias]: [f64; 2],
    products: &[i32],
    [count, at_zero]: [i64; 2],
    activations: &mut [f64],
    votes: &mut [i64],
) {
    for ((a, votes), &product) in activations.iter_mut().zip(votes).zip(products) {
        *a += c * f64::from(product) + bias;
        *votes += vote(*a, [count, at_zero]);
    }
}

/// What a vector casts: its count with the sign of the activation, or what it casts at 0.
#[inline(always)]
pub fn vote(a: f64, [count, at_zero]: [i64; 2]) -> i64 {
    if a > 0.0 {
        count
    } else if a < 0.0 {
        -count
    } else {
        at_zero
    }
}

/// Whether all activations on the way are exact: no sum can pass 2^52, if the `columns` weights of the start
/// are whole, with this largest one, and the steps are whole.
pub fn stays_exact(largest: f64, columns: usize, intercept: f64, [steps, biases]: [&[f64]; 2]) -> bool {
    let [way, bias_way] = [steps, biases].map(|steps| steps.iter().map(|c| c.abs()).sum::<f64>());
    let value = f64::from(LARGEST_VALUE);
    let sum = (largest + way * value) * value * columns as f64 + intercept.abs() + bias_way;
    all_integers(&[intercept]) && all_integers(steps) && all_integers(biases) && sum <= LARGEST_SUM
}
