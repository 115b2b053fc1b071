//! Rigorous ends of an interval for the margin, for the very floats that are returned.
//!
//! All rows are scored by the dot product of the contract, whose error is bounded by the rows'
//! lengths; those that could be the least of their class once more in doubled precision. An upper
//! end comes from convex weights that are integers over 2^53. No directed rounding: bounds are
//! enlarged instead.

use super::problem::{Bias, MarginProblem, scale_of};
use crate::arith::twofold::{LOST, SLACK, Twofold, UNIT, gamma, power, times_power};
use crate::base::{Grow, Result, collected, filled, gathered, tried};
use crate::rows::Entries;

const DENOMINATOR: i64 = 1 << 53;
/// More than underflow can take from a sum of squares, relative to numbers below 1.
const TINY: f64 = power(-1000);

/// More than a length can lose by underflow.
const LEAST: f64 = power(-1022) * power(-51);

/// Bounds of `||x_i||` for all rows, in the scale of the problem.
pub struct Lengths {
    pub bounds: Vec<f64>,
    /// The largest of the raw rows, rounded up; infinite only if it exceeds all floats.
    pub radius: f64,
}

impl Lengths {
    pub fn new(problem: &MarginProblem) -> Result<Self> {
        let slack = 1.0 + 2.0 * gamma(problem.columns() / 8 + 8);
        let tiny = (problem.columns() + 1) as f64 * TINY;
        // In the scale of the rows alone: next to the constant coordinate they may be tiny.
        let shift = scale_of(problem.found.largest);
        let mut bounds = problem.squares(power(shift))?;
        for bound in &mut bounds {
            *bound = (*bound * slack + tiny).sqrt() * (1.0 + 4.0 * UNIT);
        }
        let largest = bounds.iter().fold(0.0, |largest: f64, &bound| largest.max(bound));
        let radius = if problem.found.largest > 0.0 { back_up(largest, -shift) } else { 0.0 };
        let back = times_power(1.0, problem.shift - shift);
        if back != 1.0 {
            for bound in &mut bounds {
                *bound = *bound * back + LEAST;
            }
        }
        Ok(Self { bounds, radius })
    }
}

/// Scores of a plane on all rows with bounds of their errors.
pub struct Checked<'a> {
    problem: &'a MarginProblem<'a>,
    lengths: &'a Lengths,
    pub w: &'a [f64],
    pub scores: Vec<f64>,
    pub norm: f64,
    /// The error of a score is at most `relative * length + lost`.
    relative: f64,
    lost: f64,
}

impl<'a> Checked<'a> {
    pub fn new(problem: &'a MarginProblem<'a>, lengths: &'a Lengths, w: &'a [f64]) -> Result<Self> {
        let mut padded = filled(0.0, problem.size())?;
        padded[..w.len()].copy_from_slice(w);
        let mut scores = filled(0.0, problem.len())?;
        problem.all_scores(&padded, &mut scores)?;
        let (norm, d) = (norm_ends(w, 0.0)[1], problem.columns());
        let lost = (d + 2) as f64 * LEAST * (1.0 + problem.found.largest);
        let relative = gamma(d / 8 + 6) * SLACK;
        Ok(Self { problem, lengths, w, scores, norm, relative, lost })
    }

    pub fn error(&self, row: usize) -> f64 {
        self.lengths.bounds[row] * self.norm * self.relative + self.lost
    }

    /// For each label the rows that could have the least score of it.
    pub fn nearest(&self) -> Result<[Vec<u32>; 2]> {
        let (mut reach, mut nearest) = ([f64::INFINITY; 2], [vec![], vec![]]);
        let labels = || self.problem.labels.iter().map(|&label| label as usize).enumerate();
        for (row, label) in labels() {
            let end = self.scores[row] + self.error(row);
            if end < reach[label] {
                reach[label] = end;
            }
        }
        for (row, label) in labels() {
            if self.scores[row] - self.error(row) <= reach[label] {
                nearest[label].try_push(row as u32)?;
            }
        }
        Ok(nearest)
    }
}

/// `y_i (<w, x_i> + b)` in doubled precision, and bounds of the errors.
pub fn precise(problem: &MarginProblem, w: &[f64], numbers: &[u32], b: f64) -> Result<Vec<(f64, f64)>> {
    let d = problem.columns();
    let square = gamma(d + 2) * gamma(d + 2) * 2.0;
    let mut room = Entries::default();
    let precise = |&number: &u32| {
        let row = number as usize;
        problem.monitor.pause()?;
        let (mut total, mut size) = (Twofold::default(), 0.0);
        for (j, x) in room.only(problem.rows, row)?.pairs() {
            let (x, w) = (x * problem.unit[j], w[j]);
            total.add_product(x, w);
            size += (x * w).abs();
        }
        total.add(b);
        let value = problem.sign(row) * total.value();
        let size = size * (1.0 + 2.0 * gamma(d + 2)) + b.abs();
        let error = (UNIT * value.abs() + square * size) * SLACK + (d + 2) as f64 * (4.0 * LOST);
        Ok((value, error))
    };
    tried(numbers.iter().map(precise))
}

/// The raw intercept half way between the classes, from the rows of each label that could be nearest.
pub fn half_way(problem: &MarginProblem, w: &[f64], nearest: &[Vec<u32>; 2]) -> Result<f64> {
    let least = |side: &[u32]| -> Result<f64> {
        let values = precise(problem, w, side, 0.0)?;
        Ok(values.iter().fold(f64::INFINITY, |least, (value, _)| least.min(*value)))
    };
    Ok(((least(&nearest[0])? - least(&nearest[1])?) / 2.0) / power(problem.shift) + 0.0)
}

/// Bounds of `sqrt(||w||^2 + b^2)` from below and above.
pub fn norm_ends(w: &[f64], b: f64) -> [f64; 2] {
    let mut total = Twofold::default();
    for &number in w {
        total.add_product(number, number);
    }
    total.add_product(b, b);
    root_ends(total.value(), w.len() + 1)
}

/// The same from the sum of so many squares, in doubled precision. Two floats down and up are more than its
/// last rounding, and next to nothing is lost of the others, unless there are 10^8 of them.
fn root_ends(square: f64, terms: usize) -> [f64; 2] {
    let lost = 2.0 * gamma(terms + 1) * gamma(terms + 1) * square * SLACK + terms as f64 * (2.0 * LOST);
    let low = (square.next_down().next_down() - lost).max(0.0);
    [low.sqrt().next_down().max(0.0), (square.next_up().next_up() + lost).sqrt().next_up()]
}

/// A bound from below of `low / norm`, brought back to the raw scale.
pub fn quotient(low: f64, norm: f64, shift: i32) -> f64 {
    back_down((low / norm).next_down(), -shift)
}

/// A bound from below times a power of two.
pub fn back_down(low: f64, exponent: i32) -> f64 {
    let raw = times_power(low, exponent);
    if raw == f64::INFINITY {
        f64::MAX
    } else if raw >= f64::MIN_POSITIVE {
        raw
    } else {
        raw.next_down().max(0.0)
    }
}

/// A bound from above times a power of two.
pub fn back_up(high: f64, exponent: i32) -> f64 {
    let raw = times_power(high, exponent);
    if raw >= f64::MIN_POSITIVE { raw } else { raw.next_up() }
}

/// A certified lower end for the plane `w` and its intercept; -inf if it separates nothing for sure.
///
/// Without b, the free intercept half way between the classes is taken. `w` and `b` are raw; the
/// largest of `w` is near 1.
pub fn lower_end(
    problem: &MarginProblem,
    lengths: &Lengths,
    w: &[f64],
    b: Option<f64>,
) -> Result<(f64, f64)> {
    let checked = Checked::new(problem, lengths, w)?;
    let scale = power(problem.shift);
    let sides = checked.nearest()?;
    let b = b.map_or_else(|| half_way(problem, w, &sides), Ok)?;
    if !b.is_finite() || !(b * scale).is_finite() {
        return Ok((f64::NEG_INFINITY, b));
    }
    let mut low = f64::INFINITY;
    for side in &sides {
        for (value, error) in precise(problem, w, side, b * scale)? {
            low = low.min(value - error);
        }
    }
    low = low.next_down();
    let is_positive = low > 0.0;
    if !is_positive {
        return Ok((f64::NEG_INFINITY, b));
    }
    let norm = norm_ends(w, if problem.bias == Bias::Augmented { b } else { 0.0 })[1];
    let lower = quotient(low, norm, problem.shift);
    Ok((if lower > 0.0 { lower } else { f64::NEG_INFINITY }, b))
}

/// The rows of positive weight, ascending, and the weights as integers that sum to 2^53 in each group.
pub fn dual_integers(problem: &MarginProblem, numbers: &[u32], a: &[f64]) -> Result<(Vec<u32>, Vec<i64>)> {
    let both = numbers.iter().copied().zip(a.iter().copied());
    let mut both = gathered(both.filter(|(_, a)| *a > 0.0))?;
    both.sort_unstable_by_key(|(number, _)| *number);
    let numbers = collected(both.iter().map(|(number, _)| *number))?;
    let mut k = collected(both.iter().map(|(_, a)| (a * DENOMINATOR as f64).floor().max(1.0) as i64))?;
    for g in 0..problem.groups() {
        let (mut rest, mut largest) = (DENOMINATOR, None);
        for (i, &number) in numbers.iter().enumerate() {
            if problem.group(number as usize) == g {
                rest -= k[i];
                if largest.is_none_or(|largest: usize| k[i] > k[largest]) {
                    largest = Some(i);
                }
            }
        }
        if let Some(largest) = largest {
            k[largest] += rest;
        }
    }
    Ok((numbers, k))
}

/// The length of the point with these weights, over the number of groups, rounded up.
pub fn upper_end(problem: &MarginProblem, numbers: &[u32], k: &[i64]) -> Result<f64> {
    let mut total = filled(Twofold::default(), problem.size())?;
    let mut room = Entries::default();
    for (&number, &weight) in numbers.iter().zip(k) {
        problem.monitor.pause()?;
        let weight = weight as f64 * problem.sign(number as usize);
        for (j, x) in problem.entries(number as usize, &mut room)? {
            total[j].add_product(weight, x);
        }
    }
    let m = numbers.len() + 1;
    let reach = (problem.found.largest * power(problem.shift)).max(problem.constant);
    let square = gamma(m) * gamma(m) * 2.0;
    let bound = |total: &Twofold| {
        let value = total.value().abs();
        let error = (UNIT * value + square * (DENOMINATOR as f64 * problem.groups() as f64 * reach)) * SLACK;
        (value + (error + m as f64 * (4.0 * LOST))) * (1.0 + 4.0 * UNIT) * power(-53)
    };
    let bounds = collected(total.iter().map(bound))?;
    let length = norm_ends(&bounds, 0.0)[1] / problem.groups() as f64;
    Ok(back_up(length.next_up(), -problem.shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ogita, Rump, Oishi: at most `u |sum| + 2 gamma(m + 1)^2 sum`.
    #[test]
    fn ends_of_a_norm_of_any_length() {
        for terms in [1, 1 << 20, 1 << 24, 1 << 26, 1 << 28, 1 << 31] {
            let relative = UNIT + 2.0 * gamma(terms + 1) * gamma(terms + 1);
            for square in [1.0, 1.7, 3.999, 1e-300, 1e300] {
                let [low, high] = root_ends(square, terms);
                assert!(low * low <= square * (1.0 - relative), "{terms}, {square}");
                assert!(high * high >= square * (1.0 + relative), "{terms}, {square}");
                // As tight as ever where there are few.
                assert!(
                    terms > 1 << 24 || square < 1.0 || high / low < 1.0 + 8.0 * f64::EPSILON,
                    "{terms}, {square}"
                );
            }
        }
    }
}
