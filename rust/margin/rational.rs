//! The signs of the exact solution of a small linear system.
//!
//! Method: each equation becomes one of integers by a power of two. The system is solved modulo primes until
//! their product exceeds twice Hadamard's bound of the determinants; numerators and denominator have
//! the signs of their mixed-radix digits (Garner).

use crate::arith::sign::parts;
use crate::arith::twofold::exponent;
use crate::error::Result;
use crate::memory::{Grow, collected, gathered, tried};
use crate::online::Monitor;

/// Largest cost of a solution, in bit operations of a kind.
const LARGEST_COST: f64 = 1e10;
/// Every prime exceeds this power of two.
const PRIME_BITS: usize = 30;

/// The signs of the unknowns; None if there is no solution, or not one alone, or it costs too much. The last
/// `groups` equations have the right side 1, the others 0.
pub fn signs(system: &[Vec<f64>], groups: usize, monitor: &dyn Monitor) -> Result<Option<Vec<i32>>> {
    let m = system.len();
    let Some(k) = system.first().map(Vec::len) else { return Ok(None) };
    let (mut lowest, mut bits) = (vec![], 0);
    for row in system {
        let exponents = || row.iter().filter(|x| **x != 0.0).map(|x| exponent(*x));
        let (Some(low), Some(high)) = (exponents().min(), exponents().max()) else { return Ok(None) };
        lowest.try_push(low - 53)?;
        bits = bits.max((high - low + 53) as usize);
    }
    let (size, rows) = (k as f64, m as f64);
    if size * size * rows * (size * (bits + 8) as f64) > LARGEST_COST || m < k {
        return Ok(None);
    }
    // Hadamard: the determinant of k + 1 rows of numbers below 2^bits.
    let growth = ((k + 1) as f64).sqrt().max(1.0);
    let root_bits = (exponent(growth) + 1) as usize;
    let needed = (k + 1) * (bits + root_bits) / PRIME_BITS + 2;
    let mut pivots = None;
    let (mut primes, mut residues) = (vec![], vec![]);
    let mut failures = 0;
    for p in Primes::new() {
        let matrix = reduce(system, &lowest, groups, p)?;
        let Some((order, solution)) = solve(matrix, k, pivots.as_deref(), p, monitor)? else {
            // Singular, inconsistent, or an unlucky prime; three of those in a row of any size are none.
            failures += 1;
            if failures == 3 {
                return Ok(None);
            }
            continue;
        };
        pivots.get_or_insert(order);
        primes.try_push(p)?;
        residues.try_push(solution)?;
        if primes.len() == needed {
            break;
        }
    }
    let inverses = inverses(&primes)?;
    let sign = |i: usize| {
        monitor.pause()?;
        sign_of(residues.iter().map(|residues: &Vec<u64>| residues[i]), &primes, &inverses)
    };
    let denominator = sign(k)?;
    Ok(Some(tried((0..k).map(|i| Ok(sign(i)? * denominator)))?))
}

/// The equations and right sides modulo p.
fn reduce(system: &[Vec<f64>], lowest: &[i32], groups: usize, p: u64) -> Result<Vec<Vec<u64>>> {
    let first_group = system.len() - groups;
    let residue = |x: f64, lowest: i32| {
        let (mantissa, exponent) = parts(x);
        if mantissa == 0 {
            return 0;
        }
        // What lies below the lowest exponent are zeros of a mantissa with leading zeros.
        let shift = exponent - lowest;
        let size =
            if shift < 0 { mantissa >> -shift } else { mantissa } % p * pow(2, shift.max(0) as u64, p) % p;
        if x < 0.0 { (p - size) % p } else { size }
    };
    let row = |(j, row): (usize, &Vec<f64>)| {
        let right = if j >= first_group { 1.0 } else { 0.0 };
        gathered(row.iter().copied().chain([right]).map(|x| residue(x, lowest[j])))
    };
    tried(system.iter().enumerate().map(row))
}

/// Numerators and the determinant modulo p, and which equations were used; None if it is 0 or an
/// equation contradicts the others.
fn solve(
    mut rows: Vec<Vec<u64>>,
    k: usize,
    known: Option<&[usize]>,
    p: u64,
    monitor: &dyn Monitor,
) -> Result<Option<(Vec<usize>, Vec<u64>)>> {
    let mut order = vec![];
    let mut determinant = 1;
    for j in 0..k {
        monitor.pause()?;
        let pivot = match known {
            Some(known) => Some(known[j]),
            None => (j..rows.len()).find(|&i| rows[i][j] != 0),
        };
        let Some(pivot) = pivot.filter(|&pivot| rows[pivot][j] != 0) else { return Ok(None) };
        order.try_push(pivot)?;
        if pivot != j {
            rows.swap(j, pivot);
            determinant = (p - determinant) % p;
        }
        determinant = determinant * rows[j][j] % p;
        let inverse = pow(rows[j][j], p - 2, p);
        rows[j][j..].iter_mut().for_each(|x| *x = *x * inverse % p);
        let row = std::mem::take(&mut rows[j]);
        for (i, other) in rows.iter_mut().enumerate() {
            if i != j && other[j] != 0 {
                let factor = p - other[j];
                for (x, y) in other[j..].iter_mut().zip(&row[j..]) {
                    *x = (*x + factor * y) % p;
                }
            }
        }
        rows[j] = row;
    }
    if rows[k..].iter().any(|row| row[k] != 0) {
        return Ok(None);
    }
    let numerators = rows[..k].iter().map(|row| row[k] * determinant % p).chain([determinant]);
    Ok(Some((order, gathered(numerators)?)))
}

fn pow(mut base: u64, mut exponent: u64, p: u64) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power * base % p;
        }
        base = base * base % p;
        exponent >>= 1;
    }
    power
}

/// `inverses[i]`: of the product of the primes before the i-th, modulo the i-th.
fn inverses(primes: &[u64]) -> Result<Vec<u64>> {
    let inverse = |(i, &p): (usize, &u64)| {
        let product = primes[..i].iter().fold(1, |product, q| product * (q % p) % p);
        pow(product, p - 2, p)
    };
    collected(primes.iter().enumerate().map(inverse))
}

/// The sign of the number of least size with these residues.
fn sign_of(residues: impl Iterator<Item = u64>, primes: &[u64], inverses: &[u64]) -> Result<i32> {
    let mut digits: Vec<u64> = vec![];
    for (i, (residue, &p)) in residues.zip(primes).enumerate() {
        // The value of the digits so far modulo p, by Horner's rule from the last.
        let known = digits.iter().zip(primes).rev().fold(0, |sum, (digit, q)| (sum * (q % p) + digit) % p);
        digits.try_push((residue + p - known) % p * inverses[i] % p)?;
    }
    if digits.iter().all(|&digit| digit == 0) {
        return Ok(0);
    }
    // Half of the product of odd primes has the digits (p - 1) / 2.
    for (&digit, &p) in digits.iter().zip(primes).rev() {
        if digit != (p - 1) / 2 {
            return Ok(if digit > (p - 1) / 2 { -1 } else { 1 });
        }
    }
    Ok(1)
}

/// The primes below 2^31, descending.
struct Primes(u64);

impl Primes {
    fn new() -> Self {
        Self((1 << 31) + 1)
    }
}

impl Iterator for Primes {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            self.0 -= 2;
            if self.0 >> PRIME_BITS == 0 {
                return None;
            }
            if is_prime(self.0) {
                return Some(self.0);
            }
        }
    }
}

/// Miller and Rabin, with bases that decide it below 3.4e12.
fn is_prime(n: u64) -> bool {
    let twos = (n - 1).trailing_zeros();
    [2, 3, 5, 7, 11].into_iter().all(|base| {
        let mut x = pow(base, (n - 1) >> twos, n);
        if x == 1 || x == n - 1 {
            return true;
        }
        for _ in 1..twos {
            x = x * x % n;
            if x == n - 1 {
                return true;
            }
        }
        false
    })
}
