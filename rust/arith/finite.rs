//! Rule 9: finite in, finite out.

use crate::error::Result;
use crate::monitor::{Monitor, NUMBERS};

/// Whether every number is finite, in chunks that vectorise.
#[must_use]
pub fn all_finite(values: &[f64]) -> bool {
    values.chunks(1024).all(|chunk| chunk.iter().fold(true, |finite, v| finite & v.is_finite()))
}

/// The largest |number| that a pass may start from, at least 0. `None`: one is not finite, or −0.0.
pub fn largest_if_sound(values: &[f64], monitor: &dyn Monitor) -> Result<Option<f64>> {
    let mut largest = 0.0;
    for piece in values.chunks(NUMBERS) {
        monitor.pause()?;
        if !piece.iter().all(|w| w.is_finite() && w.to_bits() != (-0.0_f64).to_bits()) {
            return Ok(None);
        }
        largest = largest_of(piece, largest);
    }
    Ok(Some(largest))
}

/// The largest |value|, or `least`.
#[must_use]
pub fn largest_of(values: &[f64], least: f64) -> f64 {
    values.iter().fold(least, |most, w| most.max(w.abs()))
}
