//! Rule 5: averages without a fold.
//!
//! On the mistake made at example t (counted from 1), `u = u + (t*c)*x` with `t*c` computed once;
//! the average of `w_0 … w_T` is `((T+1)*w − u)/(T+1)`, each operation rounded.

/// The factor of `x` in the update of `u`.
#[inline(always)]
pub fn timed(t: u64, c: f64) -> f64 {
    t as f64 * c
}

/// The average after `seen` examples of a coordinate that ended at `w`.
#[inline(always)]
pub fn average(w: f64, u: f64, seen: u64) -> f64 {
    sum(w, u, seen) / (seen + 1) as f64 + 0.0
}

/// The average times the number of vectors.
#[inline(always)]
fn sum(w: f64, u: f64, seen: u64) -> f64 {
    (seen + 1) as f64 * w - u
}

/// Whether all averages are finite: as their sums, which divided by 1 or more become no larger.
///
/// # Panics
/// If the lengths differ.
pub fn averages_are_finite(w: &[f64], u: &[f64], seen: u64) -> bool {
    assert_eq!(w.len(), u.len());
    let mut sums = w.chunks(1024).zip(u.chunks(1024));
    sums.all(|(w, u)| w.iter().zip(u).fold(true, |finite, (w, u)| finite & sum(*w, *u, seen).is_finite()))
}
