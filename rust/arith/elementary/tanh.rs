//! The hyperbolic tangent, written out.
//!
//! With `E = exp(2|x|) − 1` it is `E/(E + 2)`, with the sign of x. E and `E + 2` are sums of two
//! numbers, and the quotient of their first parts is corrected once by its remainder, which Dekker's
//! product gives exactly. The error stays below 0.95 units in the last place.
//!
//! Special values: tanh(±0) = ±0, tanh(±inf) = ±1, tanh(NaN) = NaN; the result is x where x is
//! tiny, ±1 above 19.1.

use super::exp::{power_of_two, reduced, series};
use crate::arith::twofold::dekker_product;

/// Beyond it the result is 1.
const HIGHEST: f64 = 20.0;

#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let size = x.abs();
    let size = if size > HIGHEST { HIGHEST } else { size };
    let (k, r, tail) = reduced(size + size);
    let (high, low) = series(r, tail);
    let scale = power_of_two(k);
    // 2^k − 1 is 0 or at least as large as the term behind it, so its rounding error is found in
    // two steps.
    let (base, step) = (scale - 1.0, scale * high);
    let e = base + step;
    let e_low = ((base - e) + step) + scale * low;
    let d = e + 2.0;
    let part = d - e;
    let d_low = ((e - (d - part)) + (2.0 - part)) + e_low;
    let quotient = e / d;
    let (product, error) = dekker_product(quotient, d);
    let rest = ((e - product) - error) + (e_low - quotient * d_low);
    (quotient + rest / d).copysign(x)
}
