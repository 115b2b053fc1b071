//! Rule 5: averages without a fold.
//!
//! On the mistake made at example t (counted from 1), `u = u + (t*c)*x` with `t*c` computed once;
//! the average of `w_0 … w_T` is `((T+1)*w − u)/(T+1)`, each operation rounded.

/// The factor of `x` in the update of `u`.
#[inline(always)]
#[must_use]
pub fn timed(t: u64, c: f64) -> f64 {
    t as f64 * c
}

/// The average after `seen` examples of a coordinate that ended at `w`.
#[inline(always)]
#[must_use]
pub fn average(w: f64, u: f64, seen: u64) -> f64 {
    let n = (seen + 1) as f64;
    (n * w - u) / n
}
