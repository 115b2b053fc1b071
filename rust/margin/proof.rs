//! Proofs that no plane separates: weights of a few rows that combine to 0, exactly.
//!
//! The weights of an affinely independent corral are the only solution of a small linear system.
//! "pair": one row has both labels. "verified" (Rump 1999): an approximate inverse bounds the
//! distance of the computed weights from the exact ones, which are therefore positive. "rational": the
//! system is solved in integers.

use super::problem::{Bias, MarginProblem};
use super::rational::{System, signs};
use crate::arith::axpy::axpy;
use crate::arith::factor::inner;
use crate::arith::twofold::{LOST, Twofold, UNIT, exponent, gamma, power};
use crate::base::{Grow, Result, collected, filled, tried};
use crate::rows::Entries;

const LARGEST_INVERSE: usize = 1500;

/// How the rows prove that the hulls meet, and which of them have a positive weight; None if they do not.
pub fn prove(
    problem: &MarginProblem,
    numbers: &[u32],
    a: &[f64],
) -> Result<Option<(&'static str, Vec<bool>)>> {
    let k = numbers.len();
    let rows = Entries::of(problem.rows, numbers)?;
    let label = |i: usize| problem.labels[numbers[i] as usize];
    if k == 2 && label(0) != label(1) && rows.row(0) == rows.row(1) {
        return Ok(Some(("pair", filled(true, 2)?)));
    }
    let system = equations(problem, numbers, &rows)?;
    if system.len() == k && k <= LARGEST_INVERSE && is_verified(problem, &system, a)? {
        return Ok(Some(("verified", filled(true, k)?)));
    }
    match signs(&system, problem.groups(), problem.monitor)? {
        Some(signs) if signs.iter().all(|&sign| sign >= 0) => {
            Ok(Some(("rational", collected(signs.iter().map(|&sign| sign > 0))?)))
        }
        _ => Ok(None),
    }
}

/// One equation for each column that is not 0, without those that say the same, then one for each group.
fn equations(problem: &MarginProblem, numbers: &[u32], rows: &Entries) -> Result<System> {
    let k = numbers.len();
    let sign = |i: usize| problem.sign(numbers[i] as usize);
    let mut entries = Vec::new();
    for i in 0..k {
        for (j, x) in rows.row(i).pairs() {
            entries.try_push((j, i as u32, sign(i) * x))?;
        }
    }
    problem.monitor.pause()?;
    entries.sort_unstable_by_key(|&(j, i, _)| (j, i));
    let mut system = System::new(k);
    for column in entries.chunk_by(|(j, ..), (next, ..)| j == next) {
        system.push(column.iter().map(|&(_, i, x)| (i, x)))?;
    }
    drop(entries);
    if problem.bias == Bias::Augmented {
        system.push((0..k).map(|i| (i as u32, sign(i))))?;
    }
    problem.monitor.pause()?;
    let mut system = system.distinct()?;
    let mut members = Vec::new();
    for g in 0..problem.groups() {
        members.clear();
        for i in (0..k).filter(|&i| problem.group(numbers[i] as usize) == g) {
            members.try_push((i as u32, 1.0))?;
        }
        system.push(members.iter().copied())?;
    }
    Ok(system)
}

/// Whether the exact solution lies close enough to `a` to be positive.
fn is_verified(problem: &MarginProblem, system: &System, a: &[f64]) -> Result<bool> {
    let (k, groups) = (system.len(), problem.groups());
    let mut scaled = Vec::new();
    for equation in system.equations() {
        // Each equation by a power of two of its own; what underflows is no proof.
        let largest = equation.iter().fold(0.0_f64, |largest, (_, x)| largest.max(x.abs()));
        let shift = (-exponent(largest)).clamp(-1000, 1000);
        let mut out = filled(0.0, k)?;
        for &(i, x) in equation {
            out[i as usize] = x * power(shift);
            if out[i as usize] * power(-shift) != x {
                return Ok(false);
            }
        }
        scaled.try_push(out)?;
    }
    let mut right = filled(0.0, k)?;
    for (right, row) in right.iter_mut().zip(&scaled).skip(k - groups) {
        *right = row.iter().fold(f64::NEG_INFINITY, |largest, &x| largest.max(x));
    }
    let Some(inverse) = inverse(&scaled, problem)? else {
        return Ok(false);
    };
    let mut x = collected(a.iter().copied())?;
    for _ in 0..2 {
        let (r, _) = remainder(&scaled, &x, &right)?;
        for (x, row) in x.iter_mut().zip(&inverse) {
            *x += inner(row, &r);
        }
    }
    let (r, error) = remainder(&scaled, &x, &right)?;
    let size = collected(r.iter().zip(&error).map(|(r, error)| r.abs() + error))?;
    let slack = 1.0 + 4.0 * gamma(k + 8);
    let columns = tried((0..k).map(|j| collected(scaled.iter().map(|row| row[j]))))?;
    let mut sums = filled(0.0, k)?;
    for column in &columns {
        sums.iter_mut().zip(column).for_each(|(sum, x)| *sum += x.abs());
    }
    let (mut off, mut largest) = (0.0_f64, 0.0_f64);
    for (i, row) in inverse.iter().enumerate() {
        problem.monitor.pause()?;
        let lengths = collected(row.iter().map(|x| x.abs()))?;
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
    Ok(is_contraction && x.iter().all(|&x| x > bound))
}

/// `right - system x` in doubled precision, and bounds of its errors.
fn remainder(system: &[Vec<f64>], x: &[f64], right: &[f64]) -> Result<(Vec<f64>, Vec<f64>)> {
    let m = x.len() + 2;
    let square = gamma(m) * gamma(m) * 2.0;
    let (mut values, mut errors) = (filled(0.0, system.len())?, filled(0.0, system.len())?);
    for (((row, &right), value), bound) in system.iter().zip(right).zip(&mut values).zip(&mut errors) {
        let (mut total, mut size) = (Twofold::default(), right);
        total.add(right);
        for (entry, x) in row.iter().zip(x) {
            total.add_product(*entry, -x);
            size += entry.abs() * x.abs();
        }
        let error = (UNIT * total.value().abs() + square * size) * (1.0 + 4.0 * gamma(m));
        (*value, *bound) = (total.value(), error + m as f64 * (4.0 * LOST));
    }
    Ok((values, errors))
}

/// An approximate inverse, by elimination with the largest pivot, in place: a column that is done makes room
/// for one of the inverse.
fn inverse(matrix: &[Vec<f64>], problem: &MarginProblem) -> Result<Option<Vec<Vec<f64>>>> {
    let k = matrix.len();
    let mut work = tried(matrix.iter().map(|row| collected(row.iter().copied())))?;
    let mut swaps = vec![];
    for j in 0..k {
        problem.monitor.pause()?;
        let mut p = j;
        for i in j..k {
            if work[i][j].abs() > work[p][j].abs() {
                p = i;
            }
        }
        if work[p][j] == 0.0 {
            return Ok(None);
        }
        work.swap(j, p);
        swaps.try_push((j, p))?;
        let mut row = std::mem::take(&mut work[j]);
        let pivot = std::mem::replace(&mut row[j], 1.0);
        for x in &mut row {
            *x /= pivot;
        }
        for (i, other) in work.iter_mut().enumerate() {
            if i != j {
                let c = std::mem::replace(&mut other[j], 0.0);
                axpy(-c, &row, other);
            }
        }
        work[j] = row;
    }
    for row in &mut work {
        for &(j, p) in swaps.iter().rev() {
            row.swap(j, p);
        }
    }
    Ok(work.iter().flatten().all(|x| x.is_finite()).then_some(work))
}

#[cfg(test)]
mod tests {
    use super::super::problem::survey;
    use super::*;
    use crate::monitor::tests::Asked;
    use crate::rows::Dense;

    /// Twice while equations are made; for each row of the inverse, when it is computed and when it is
    /// looked at.
    #[test]
    fn asks_on_the_way() {
        const D: usize = 20;
        const K: usize = D + 1;
        // The unit vectors, and minus their sum.
        let values: Vec<f64> =
            (0..K * D).map(|i| if i >= D * D { -1.0 } else { f64::from(u8::from(i / D == i % D)) }).collect();
        let (rows, labels) = (Dense::new(&values, K, D).expect("a matrix"), [1; K]);
        let asked = Asked::default();
        let found = survey(&rows, &()).expect("finite values");
        let problem =
            MarginProblem::new(&rows, &labels, Bias::None, found, None, (1, &asked)).expect("little memory");
        let numbers: Vec<u32> = (0..K as u32).collect();
        let proof = prove(&problem, &numbers, &[1.0 / K as f64; K]).expect("nobody interrupts");
        assert_eq!(proof, Some(("verified", vec![true; K])));
        assert_eq!(asked.times(), 2 + 2 * K);
    }
}
