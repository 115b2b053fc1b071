//! Rule 9: finite in, finite out; and rule 8.

use super::simd::{Leaf, Simd};

/// A bound up to here holds although it was computed with roundings of its own; no NaN is below it.
pub const LARGE: f64 = f64::MAX / 1024.0;

/// Whether every number is finite: 0 times a finite number is 0, and times any other it is NaN.
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
pub fn largest_of(values: &[f64], least: f64) -> f64 {
    values.iter().fold(least, |most, w| most.max(w.abs()))
}

/// The place of the first largest number of each row: rule 8. The answer is whether all numbers are finite; if not,
/// the places mean nothing.
pub struct FirstLargest<'a> {
    /// As many in each row.
    pub numbers: &'a [f64],
    pub out: &'a mut [i64],
}

impl Leaf for FirstLargest<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> bool {
        const LANES: usize = 8;
        let (mut sums, width) = ([0.0; LANES], (self.numbers.len() / self.out.len().max(1)).max(1));
        let mut finite = true;
        for (row, out) in self.numbers.chunks_exact(width).zip(self.out) {
            if width < 4 * LANES {
                // By what is selected, not by jumps, which nobody can foresee.
                let (mut largest, mut place) = (f64::NEG_INFINITY, 0);
                for (k, number) in row.iter().enumerate() {
                    let is_more = *number > largest;
                    largest = if is_more { *number } else { largest };
                    place = if is_more { k } else { place };
                    sums[0] += 0.0 * number;
                }
                *out = place as i64;
                continue;
            }
            let (eights, rest) = row.as_chunks::<LANES>();
            let mut most = [f64::NEG_INFINITY; LANES];
            for eight in eights {
                for ((most, sum), number) in most.iter_mut().zip(&mut sums).zip(eight) {
                    *most = if *number > *most { *number } else { *most };
                    *sum += 0.0 * number;
                }
            }
            let mut largest = f64::NEG_INFINITY;
            for number in rest {
                largest = if *number > largest { *number } else { largest };
                finite &= number.is_finite();
            }
            for most in most {
                largest = if most > largest { most } else { largest };
            }
            let has_it = |eight: &[f64; LANES]| {
                eight.iter().fold(0, |found, number| found | u8::from(*number == largest)) > 0
            };
            let before = eights.iter().position(has_it).unwrap_or(eights.len()) * LANES;
            let place = row[before..].iter().position(|number| *number == largest);
            *out = (before + place.unwrap_or(0)) as i64;
        }
        finite && sums.iter().all(|sum| sum.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::simd::{InstructionSet, dispatch, force};

    #[test]
    fn the_first_largest_of_finite_numbers() {
        for set in InstructionSet::available() {
            force(Some(set));
            for width in 1..50 {
                for place in 0..width {
                    for bad in [1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                        let mut row: Vec<f64> = (0..width).map(|k| -((k * 7 % width) as f64) - 1.0).collect();
                        row[place..].fill(-0.0);
                        row.extend_from_within(..);
                        row[width] *= bad;
                        let mut out = [7; 2];
                        let finite = dispatch(FirstLargest { numbers: &row, out: &mut out });
                        assert_eq!((out[0], finite), (place as i64, row.iter().all(|x| x.is_finite())));
                    }
                }
            }
            force(None);
        }
        assert!(dispatch(FirstLargest { numbers: &[], out: &mut [] }));
    }
}
