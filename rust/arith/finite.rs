//! Rule 9: finite in, finite out.

/// A bound up to here holds although it was computed with roundings of its own; no NaN is below it.
pub const LARGE: f64 = f64::MAX / 1024.0;

/// Whether every number is finite: 0 times a finite number is 0, and times any other it is NaN.
#[must_use]
pub fn all_finite(values: &[f64]) -> bool {
    const LANES: usize = 8;
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        for (sum, v) in sums.iter_mut().zip(chunk) {
            *sum += 0.0 * v;
        }
    }
    sums.iter().chain(rest).all(|v| v.is_finite())
}

/// The largest |value|, or `least`.
#[must_use]
pub fn largest_of(values: &[f64], least: f64) -> f64 {
    values.iter().fold(least, |most, w| most.max(w.abs()))
}
