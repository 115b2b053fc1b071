//! Proofs that no plane separates: weights of a few rows that combine to 0, exactly.
//!
//! The weights of an affinely independent corral are the only solution of a small linear system.
//! "pair": one row has both labels. "verified" (Rump 1999): an approximate inverse bounds the
//! distance of the computed weights from the exact ones, which are therefore positive. "rational": the
//! system is solved in integers.

use super::problem::{Bias, Problem};
use super::rational::signs;
use crate::arith::axpy::axpy;
use crate::arith::factor::inner;
use crate::arith::twofold::{LOST, Twofold, UNIT, exponent, gamma, power};

/// Largest system that is inverted.
const LARGEST_INVERSE: usize = 1500;

/// How the rows prove that the hulls meet, and which of them have a positive weight; None if they do not.
#[must_use]
pub fn prove(problem: &Problem, numbers: &[u32], a: &[f64]) -> Option<(&'static str, Vec<bool>)> {
    let k = numbers.len();
    let rows: Vec<(Vec<i64>, Vec<f64>)> = numbers
        .iter()
        .map(|&number| {
            let (mut columns, mut values) = (vec![], vec![]);
            problem.rows.read(number as usize, &mut columns, &mut values).expect("memory");
            (columns, values)
        })
        .collect();
    let label = |i: usize| problem.labels[numbers[i] as usize];
    if k == 2 && label(0) != label(1) && rows[0] == rows[1] {
        return Some(("pair", vec![true; 2]));
    }
    let system = equations(problem, numbers, &rows);
    if system.len() == k && k <= LARGEST_INVERSE && is_verified(problem, &system, a) {
        return Some(("verified", vec![true; k]));
    }
    let signs = signs(&system, problem.groups())?;
    signs.iter().all(|&sign| sign >= 0).then(|| ("rational", signs.iter().map(|&sign| sign > 0).collect()))
}

/// One equation for each column that is not 0, one for each group.
fn equations(problem: &Problem, numbers: &[u32], rows: &[(Vec<i64>, Vec<f64>)]) -> Vec<Vec<f64>> {
    let k = numbers.len();
    let mut touched: Vec<i64> = rows.iter().flat_map(|(columns, _)| columns.iter().copied()).collect();
    touched.sort_unstable();
    touched.dedup();
    let mut system = vec![vec![0.0; k]; touched.len()];
    let sign = |i: usize| problem.sign(numbers[i] as usize);
    for (i, (columns, values)) in rows.iter().enumerate() {
        let mut at = 0;
        for (j, x) in columns.iter().zip(values) {
            while touched[at] != *j {
                at += 1;
            }
            system[at][i] = sign(i) * x;
        }
    }
    if problem.bias == Bias::Augmented {
        system.push((0..k).map(sign).collect());
    }
    let belongs = |i: usize, g| if problem.group(numbers[i] as usize) == g { 1.0 } else { 0.0 };
    system.extend((0..problem.groups()).map(|g| (0..k).map(|i| belongs(i, g)).collect()));
    system
}

/// Whether the exact solution lies close enough to `a` to be positive.
fn is_verified(problem: &Problem, system: &[Vec<f64>], a: &[f64]) -> bool {
    let (k, groups) = (system.len(), problem.groups());
    let mut scaled = Vec::with_capacity(k);
    for row in system {
        // Each equation by a power of two of its own; what underflows is no proof.
        let largest = row.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let shift = (-exponent(largest)).clamp(-1000, 1000);
        let out: Vec<f64> = row.iter().map(|x| x * power(shift)).collect();
        if out.iter().zip(row).any(|(out, x)| out * power(-shift) != *x) {
            return false;
        }
        scaled.push(out);
    }
    let mut right = vec![0.0; k];
    for (right, row) in right.iter_mut().zip(&scaled).skip(k - groups) {
        *right = row.iter().fold(f64::NEG_INFINITY, |largest, &x| largest.max(x));
    }
    let Some(inverse) = inverse(&scaled) else {
        return false;
    };
    let mut x = a.to_vec();
    for _ in 0..2 {
        let (r, _) = remainder(&scaled, &x, &right);
        for (x, row) in x.iter_mut().zip(&inverse) {
            *x += inner(row, &r);
        }
    }
    let (r, error) = remainder(&scaled, &x, &right);
    let size: Vec<f64> = r.iter().zip(&error).map(|(r, error)| r.abs() + error).collect();
    let slack = 1.0 + 4.0 * gamma(k + 8);
    let columns: Vec<Vec<f64>> = (0..k).map(|j| scaled.iter().map(|row| row[j]).collect()).collect();
    let mut sums = vec![0.0; k];
    for column in &columns {
        sums.iter_mut().zip(column).for_each(|(sum, x)| *sum += x.abs());
    }
    let (mut off, mut largest) = (0.0_f64, 0.0_f64);
    for (i, row) in inverse.iter().enumerate() {
        let lengths: Vec<f64> = row.iter().map(|x| x.abs()).collect();
        off = off.max(inner(&lengths, &size) * slack);
        let mut beta = inner(&lengths, &sums) * (gamma(k / 8 + 8) * slack) + k as f64 * (2.0 * UNIT);
        for (j, column) in columns.iter().enumerate() {
            let product = inner(row, column);
            beta += if i == j { (product - 1.0).abs() } else { product.abs() };
        }
        largest = largest.max(beta * slack);
    }
    let is_contraction = largest < 0.5;
    let bound = off / (1.0 - largest) * slack;
    is_contraction && x.iter().all(|&x| x > bound)
}

/// `right - system x` in doubled precision, and bounds of its errors.
fn remainder(system: &[Vec<f64>], x: &[f64], right: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let m = x.len() + 2;
    let square = gamma(m) * gamma(m) * 2.0;
    let one = |(row, &right): (&Vec<f64>, &f64)| {
        let (mut total, mut size) = (Twofold::default(), right);
        total.add(right);
        for (entry, x) in row.iter().zip(x) {
            total.add_product(*entry, -x);
            size += entry.abs() * x.abs();
        }
        let error = (UNIT * total.value().abs() + square * size) * (1.0 + 4.0 * gamma(m));
        (total.value(), error + m as f64 * (4.0 * LOST))
    };
    system.iter().zip(right).map(one).unzip()
}

/// An approximate inverse, by elimination with the largest pivot.
fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let k = matrix.len();
    let mut work: Vec<Vec<f64>> = matrix.to_vec();
    for (i, row) in work.iter_mut().enumerate() {
        row.resize(2 * k, 0.0);
        row[k + i] = 1.0;
    }
    for j in 0..k {
        let mut p = j;
        for i in j..k {
            if work[i][j].abs() > work[p][j].abs() {
                p = i;
            }
        }
        if work[p][j] == 0.0 {
            return None;
        }
        work.swap(j, p);
        let pivot = work[j][j];
        work[j].iter_mut().for_each(|x| *x /= pivot);
        let row = work[j].clone();
        for (i, other) in work.iter_mut().enumerate() {
            if i != j {
                axpy(-other[j], &row, other);
            }
        }
    }
    let is_finite = work.iter().flatten().all(|x| x.is_finite());
    is_finite.then(|| work.into_iter().map(|row| row[k..].to_vec()).collect())
}
