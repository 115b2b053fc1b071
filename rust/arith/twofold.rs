//! Sums and products with their rounding errors, and bounds of what is still lost.
//!
//! [`two_sum`] and [`two_product`] return the rounded result and its error, exactly (Knuth; Dekker). A
//! [`Twofold`] adds products as if in twice the precision: after m of them, its value is off by at
//! most `u |value| + 2 gamma(m + 1)^2 sum |a b|` (Ogita, Rump, Oishi 2005, Dot2).
//!
//! A product below 2^-960 has error 0 here, because Dekker's splitting is exact only above; whoever
//! bounds an error adds [`LOST`] for each product.

/// Half of the distance from 1 to the next float.
pub const UNIT: f64 = f64::EPSILON / 2.0;
/// Covers the roundings in the computation of a bound of a few operations.
pub const SLACK: f64 = 1.0 + f64::EPSILON * 4096.0;
/// More than a product loses whose error is not computed.
pub const LOST: f64 = power(-1012);
const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
const SMALLEST: f64 = power(-960);

/// `2^exponent`.
///
/// # Panics
/// If that is no normal float.
pub const fn power(exponent: i32) -> f64 {
    assert!(-1023 < exponent && exponent < 1024);
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The e for which `|a| = f 2^e` with f in [1/2, 1); 0 for 0.
pub fn exponent(a: f64) -> i32 {
    let field = (a.to_bits() >> 52 & 0x7FF) as i32;
    if a == 0.0 {
        0
    } else if field == 0 {
        exponent(a * power(64)) - 64
    } else {
        field - 1022
    }
}

/// `a * 2^exponent`; exact unless it leaves the normal floats.
pub fn times_power(mut a: f64, mut exponent: i32) -> f64 {
    while exponent > 1000 {
        (a, exponent) = (a * power(1000), exponent - 1000);
    }
    while exponent < -1000 {
        (a, exponent) = (a * power(-1000), exponent + 1000);
    }
    a * power(exponent)
}

/// The rounded sum and its error.
#[inline(always)]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// The rounded product and its error; 0 as the error of a product below 2^-960.
#[inline(always)]
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let (p, e) = dekker_product(a, b);
    (p, if p.abs() >= SMALLEST { e } else { 0.0 })
}

/// The rounded product and its error, which is exact if the product is at least 2^-960 (Dekker 1971).
#[inline(always)]
pub fn dekker_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    (p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low))
}

#[inline(always)]
fn split(a: f64) -> (f64, f64) {
    let t = SPLITTER * a;
    let high = t - (t - a);
    (high, a - high)
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Twofold {
    high: f64,
    low: f64,
}

impl Twofold {
    #[inline(always)]
    pub fn add_product(&mut self, a: f64, b: f64) {
        let (p, e) = two_product(a, b);
        let t;
        (self.high, t) = two_sum(self.high, p);
        self.low += t + e;
    }

    #[inline(always)]
    pub fn add(&mut self, a: f64) {
        let t;
        (self.high, t) = two_sum(self.high, a);
        self.low += t;
    }

    /// The sum, rounded.
    pub fn value(&self) -> f64 {
        self.high + self.low
    }
}

/// A bound of the relative error of m roundings in a row.
pub fn gamma(m: usize) -> f64 {
    let m = m as f64;
    m * UNIT / (1.0 - m * UNIT) * SLACK
}

/// The sum in the given order, from 0.
pub fn total(terms: impl IntoIterator<Item = f64>) -> f64 {
    terms.into_iter().fold(0.0, |sum, term| sum + term)
}
