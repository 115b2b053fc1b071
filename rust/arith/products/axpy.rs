//! Rule 4: `w[j] = w[j] + c*x[j]`, element by element, two roundings.

use crate::arith::value::{Index, Value};

#[inline(always)]
pub fn axpy<T: Value>(c: f64, x: &[T], w: &mut [f64]) {
    for (w, x) in w.iter_mut().zip(x) {
        *w += c * x.widen();
    }
}

/// CSR row; weight vectors stored by column, `stride` of them, the one at `offset` is updated.
#[inline(always)]
pub fn axpy_entries<T: Value, I: Index>(
    c: f64,
    columns: &[I],
    values: &[T],
    w: &mut [f64],
    (stride, offset): (usize, usize),
) {
    if stride == 1 {
        for (j, x) in columns.iter().zip(values) {
            w[j.at()] += c * x.widen();
        }
    } else {
        for (j, x) in columns.iter().zip(values) {
            w[j.at() * stride + offset] += c * x.widen();
        }
    }
}
