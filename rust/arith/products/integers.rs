//! What rule 10 asks of stored values, in loops that vectorise without special instructions.

use crate::arith::value::{ROUNDER, Value};

/// Whether every value is finite and, up to 2^51, an integer.
#[inline(always)]
pub fn all_integers<T: Value>(values: &[T]) -> bool {
    let is_integer = |v: &T| is_integer(v.widen());
    T::INTEGER || values.chunks(1024).all(|chunk| chunk.iter().fold(true, |all, v| all & is_integer(v)))
}

/// Whether every number is an integer of at most this size, which is at most 2^51.
pub fn integers_within(values: &[f64], size: f64) -> bool {
    let fits = |v: &f64| is_integer(*v) & (v.abs() <= size);
    values.chunks(1024).all(|chunk| chunk.iter().fold(true, |all, v| all & fits(v)))
}

/// Up to 2^51. Not by `fract`: a call for each value where the processor's own instruction may not be
/// assumed.
#[inline(always)]
fn is_integer(v: f64) -> bool {
    // The difference, not a comparison: of infinity it is NaN.
    ((v + ROUNDER) - ROUNDER) - v == 0.0
}

/// The largest |value| and the sum of all, which is rounded in an order of its own.
#[inline(always)]
pub fn sizes<T: Value>(values: &[T]) -> [f64; 2] {
    const LANES: usize = 8; // with four, sums wait for the ones before them
    let larger = |largest: f64, size: f64| if size > largest { size } else { largest };
    let (chunks, rest) = values.as_chunks::<LANES>();
    let [mut largest, mut sum] = [0.0; 2];
    if !chunks.is_empty() {
        let [mut lanes, mut sums] = [[0.0; LANES]; 2];
        for chunk in chunks {
            for (lane, v) in chunk.iter().enumerate() {
                let size = v.widen().abs();
                (lanes[lane], sums[lane]) = (larger(lanes[lane], size), sums[lane] + size);
            }
        }
        (largest, sum) =
            (lanes.into_iter().fold(0.0, larger), sums.into_iter().fold(0.0, |total, part| total + part));
    }
    for v in rest {
        let size = v.widen().abs();
        (largest, sum) = (larger(largest, size), sum + size);
    }
    [largest, sum]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_told_from_other_numbers() {
        let largest = (1_u64 << 51) as f64;
        for x in [0.0, -0.0, 1.0, -7.0, 255.0, largest, -largest, largest - 1.0] {
            assert!(all_integers(&[x; 9]), "{x}");
        }
        for x in [0.5, -0.5, 1e-300, f64::EPSILON, 1.0 - f64::EPSILON, largest / 2.0 - 0.5] {
            assert!(!all_integers(&[x]), "{x}");
            assert!(!all_integers(&[1.0, 2.0, x, 3.0]), "{x}");
        }
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::from_bits(1)] {
            assert!(!all_integers(&[x]) && !all_integers(&[1.0, 2.0, 3.0, x, 4.0]), "{x}");
            assert!(!all_integers(&[x as f32]) || x as f32 == 0.0, "{x}");
        }
        assert!(all_integers::<f64>(&[]));
        assert!(all_integers(&[u8::MAX]));
    }

    #[test]
    fn integers_within_a_bound() {
        let values = [0.0, -0.0, 3.0, -7.0, 7.0];
        assert!(integers_within(&values, 7.0) && integers_within(&[], 0.0));
        assert!(!integers_within(&values, 6.0));
        for x in [0.5, -6.5, 8.0, -8.0, f64::NAN, f64::INFINITY, f64::MAX] {
            for place in 0..=values.len() {
                let mut values = values.to_vec();
                values.insert(place, x);
                assert!(!integers_within(&values, 7.0), "{x}");
            }
        }
    }

    #[test]
    fn sizes_of_rows_of_every_length() {
        for n in 0..12 {
            let values: Vec<f64> = (0..n).map(|i| f64::from((i * 5) % 7 - 3)).collect();
            let largest = values.iter().fold(0.0, |top: f64, v| top.max(v.abs()));
            let total: f64 = values.iter().map(|v| v.abs()).sum();
            assert_eq!(sizes(&values), [largest, total]);
        }
    }
}
