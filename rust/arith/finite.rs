//! Rule 9: finite in, finite out.

/// Whether every number is finite, in chunks that vectorise.
#[must_use]
pub fn all_finite(values: &[f64]) -> bool {
    values.chunks(1024).all(|chunk| chunk.iter().fold(true, |finite, v| finite & v.is_finite()))
}

/// The largest |value|, or `least`.
#[must_use]
pub fn largest_of(values: &[f64], least: f64) -> f64 {
    values.iter().fold(least, |most, w| most.max(w.abs()))
}
