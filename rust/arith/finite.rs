//! Rule 9: finite in, finite out.

/// Whether every number is finite, in chunks that vectorise.
#[must_use]
pub fn all_finite(values: &[f64]) -> bool {
    values.chunks(1024).all(|chunk| chunk.iter().fold(true, |finite, v| finite & v.is_finite()))
}
