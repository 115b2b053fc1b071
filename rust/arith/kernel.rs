//! The formulas of the kernel perceptron, element by element: each operation rounded, in one order.

use super::twofold::total;

/// `base^degree` by products from the left; the degree is at least 1.
#[inline(always)]
pub fn powers(degree: u32, values: &mut [f64]) {
    match degree {
        1 => {}
        // Constants, so that the inner loop is unrolled and the outer one vectorised.
        2 => values.iter_mut().for_each(|v| *v = power(*v, 2)),
        3 => values.iter_mut().for_each(|v| *v = power(*v, 3)),
        4 => values.iter_mut().for_each(|v| *v = power(*v, 4)),
        _ => values.iter_mut().for_each(|v| *v = power(*v, degree)),
    }
}

#[inline(always)]
fn power(base: f64, degree: u32) -> f64 {
    let mut product = base;
    for _ in 1..degree {
        product *= base;
    }
    product
}

/// `max(0, (x·x + z·z) − 2·(x·z))`; not a number stays what it is.
#[inline(always)]
pub fn squared_distance(xx: f64, zz: f64, dot: f64) -> f64 {
    let distance = (xx + zz) - 2.0 * dot;
    if distance < 0.0 { 0.0 } else { distance }
}

/// `sums += c*values`: one mistake enters the sums of many examples.
#[inline(always)]
pub fn add(c: f64, values: &[f64], sums: &mut [f64]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += c * value;
    }
}

/// The squared norm of a vector after an update with `c`, of which the sum at the example was `s`
/// before, and whose kernel value with itself is `own`.
#[inline(always)]
pub fn grown(square: f64, c: f64, s: f64, own: f64) -> f64 {
    square + c * (2.0 * s + c * own)
}

/// The activation divided by the norm of its vector; 0 for a vector without one.
#[inline(always)]
pub fn normalised(a: f64, square: f64) -> f64 {
    if square > 0.0 { a / square.sqrt() } else { 0.0 }
}

/// One divided by `columns` times the variance of all values, from the sums and the squares of the
/// rows: `m = S/n`, `Q/n − m*m` with S and Q added up in row order. 1 if that is not above 0.
pub fn scale(sums: &[f64], squares: &[f64], columns: usize) -> f64 {
    let number = (sums.len() * columns) as f64;
    let mean = total(sums.iter().copied()) / number;
    let variance = total(squares.iter().copied()) / number - mean * mean;
    if variance > 0.0 { 1.0 / (columns as f64 * variance) } else { 1.0 }
}
