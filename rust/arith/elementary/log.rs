//! The natural logarithm, written out.
//!
//! `x = 2^k*m` with m between the square roots of 1/2 and 2. With `f = m − 1` and `s = f/(2 + f)`,
//! `log(m) = 2 atanh(s) = f − (f²/2 − s*(f²/2 + R))`, where R is `2s²/3 + 2s⁴/5 + …`; then `k*ln2` is
//! added, its smaller part first. The error stays below 0.95 units in the last place.
//!
//! Special values: log(1) = +0, log(±0) = −inf, log(inf) = inf, log(NaN) = NaN, and NaN below zero.

use super::exp::{LN2_HIGH, LN2_LOW};

/// The bits of the square root of 1/2, and of 1.
const ROOT: u64 = 0x3FE6_A09E_667F_3BCD;
const ONE: u64 = 0x3FF0_0000_0000_0000;
const FRACTION: u64 = 0x000F_FFFF_FFFF_FFFF;
/// Its last bits are those of a whole number that is added: 2^52.
const WHOLE: f64 = 4_503_599_627_370_496.0;
const SMALLEST_NORMAL: f64 = f64::MIN_POSITIVE;
const LIFT: f64 = 18_014_398_509_481_984.0;
/// 2/(2n + 1) for n = 10 … 1.
const TERMS: [f64; 10] = [
    2.0 / 21.0,
    2.0 / 19.0,
    2.0 / 17.0,
    2.0 / 15.0,
    2.0 / 13.0,
    2.0 / 11.0,
    2.0 / 9.0,
    2.0 / 7.0,
    2.0 / 5.0,
    2.0 / 3.0,
];

#[inline(always)]
pub fn log(x: f64) -> f64 {
    let small = x < SMALLEST_NORMAL;
    let lifted = if small { x * LIFT } else { x };
    let bits = lifted.to_bits().wrapping_add(ONE - ROOT);
    let exponent = f64::from_bits((bits >> 52) | WHOLE.to_bits()) - WHOLE;
    let k = exponent - if small { 1077.0 } else { 1023.0 };
    let f = f64::from_bits((bits & FRACTION) + ROOT) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut r = TERMS[0];
    for &term in &TERMS[1..] {
        r = r * z + term;
    }
    let half = (0.5 * f) * f;
    let y = k * LN2_HIGH - ((half - (s * (half + r * z) + k * LN2_LOW)) - f);
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f64::NAN }
}
