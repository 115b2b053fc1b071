//! The signs of the exact solution of a small linear system.
//!
//! Method: each equation becomes one of integers by a power of two. The system is solved modulo primes until
//! their product exceeds twice Hadamard's bound of the determinants; numerators and denominator have
//! the signs of their mixed-radix digits (Garner).

use crate::arith::{sign::parts, twofold::exponent};
use crate::base::{Grow, Monitor, Result, collected, filled, gathered, tried};

/// Largest cost of a solution, in bit operations of a kind.
const LARGEST_COST: f64 = 1e10;
/// Every prime exceeds this power of two.
const PRIME_BITS: usize = 30;

/// Linear equations. Of each, the unknowns that take part, ascending, with their factors: as large as the
/// data that they are made of.
pub struct System {
    unknowns: usize,
    ends: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl System {
    pub fn new(unknowns: usize) -> Self {
        Self { unknowns, ends: vec![], entries: vec![] }
    }

    /// Adds an equation; its factors are not 0.
    pub fn push(&mut self, equation: impl Iterator<Item = (u32, f64)>) -> Result<()> {
        for entry in equation {
            self.entries.try_push(entry)?;
        }
        self.ends.try_push(self.entries.len())
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    fn equation(&self, j: usize) -> &[(u32, f64)] {
        &self.entries[if j == 0 { 0 } else { self.ends[j - 1] }..self.ends[j]]
    }

    pub fn equations(&self) -> impl Iterator<Item = &[(u32, f64)]> {
        (0..self.len()).map(|j| self.equation(j))
    }

    /// The first of all equations that are equal, in their order.
    pub fn distinct(self) -> Result<Self> {
        let mut order = collected(0..self.len())?;
        let content = |&j: &usize| self.equation(j).iter().map(|&(i, x)| (i, x.to_bits()));
        order.sort_unstable_by(|j, other| content(j).cmp(content(other)).then(j.cmp(other)));
        order.dedup_by(|later, first| content(later).eq(content(first)));
        order.sort_unstable();
        let mut distinct = Self::new(self.unknowns);
        for j in order {
            distinct.push(self.equation(j).iter().copied())?;
        }
        Ok(distinct)
    }
}

/// The signs of the unknowns; None if there is no solution, or not one alone, or it costs too much. The last
/// `groups` equations have the right side 1, the others 0.
pub fn signs(system: &System, groups: usize, monitor: &dyn Monitor) -> Result<Option<Vec<i32>>> {
    let (m, k) = (system.len(), system.unknowns);
    let (mut lowest, mut bits) = (vec![], 0);
    for equation in system.equations() {
        let exponents = || equation.iter().map(|(_, x)| exponent(*x));
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
            // Singular, inconsistent, or an unlucky prime; three of the last kind are next to impossible.
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
fn reduce(system: &System, lowest: &[i32], groups: usize, p: u64) -> Result<Vec<Vec<u64>>> {
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
    let row = |(j, equation): (usize, &[(u32, f64)])| {
        let mut row = filled(0, system.unknowns + 1)?;
        for &(i, x) in equation {
            row[i as usize] = residue(x, lowest[j]);
        }
        if j >= first_group {
            row[system.unknowns] = residue(1.0, lowest[j]);
        }
        Ok(row)
    };
    tried(system.equations().enumerate().map(row))
}

/// Which equations were used, and numerators and the determinant modulo p, without the sign of the
/// permutation, which all of them have; None if the determinant is 0 or an equation contradicts the others.
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
        rows.swap(j, pivot);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn system(rows: &[Vec<f64>]) -> System {
        let mut system = System::new(rows[0].len());
        for row in rows {
            let entries = (0..).zip(row.iter().copied()).filter(|(_, x)| *x != 0.0);
            system.push(entries).expect("memory");
        }
        system
    }

    fn signs(rows: &[Vec<f64>], groups: usize, monitor: &dyn Monitor) -> Result<Option<Vec<i32>>> {
        super::signs(&system(rows), groups, monitor)
    }

    #[test]
    fn equal_equations_are_one() {
        let rows = [[1.0, 0.0], [0.0, 3.0], [1.0, 0.0], [1.0, 2.0], [0.0, 3.0], [1.0, 0.0]].map(Vec::from);
        let found = system(&rows).distinct().expect("memory");
        let wanted: [&[(u32, f64)]; 3] = [&[(0, 1.0)], &[(1, 3.0)], &[(0, 1.0), (1, 2.0)]];
        assert_eq!(found.equations().collect::<Vec<_>>(), wanted);
    }
    use crate::arith::twofold::power;
    use crate::monitor::tests::Asked;
    use crate::order::SplitMix64;

    /// Of whole numbers, in any order.
    fn total(terms: impl Iterator<Item = i128>) -> i128 {
        let mut total = 0;
        for term in terms {
            total += term;
        }
        total
    }

    /// By Laplace, along the first row.
    fn determinant(matrix: &[Vec<i128>]) -> i128 {
        let Some((first, rest)) = matrix.split_first() else { return 1 };
        let minor = |j: usize| {
            let without = |row: &Vec<i128>| (0..row.len()).filter(|&at| at != j).map(|at| row[at]).collect();
            determinant(&rest.iter().map(without).collect::<Vec<_>>())
        };
        let terms =
            first.iter().enumerate().map(|(j, x)| if j % 2 == 0 { x * minor(j) } else { -x * minor(j) });
        total(terms)
    }

    /// By Cramer's rule from the first equations that are independent; all others are tried in turn.
    fn by_cramer(system: &[Vec<i128>], groups: usize) -> Option<Vec<i32>> {
        let (m, k) = (system.len(), system[0].len());
        let right = |j: usize| i128::from(j >= m - groups);
        let picks = (0_u32..1 << m).filter(|pick| pick.count_ones() as usize == k);
        let rows = |pick: u32| (0..m).filter(move |j| pick >> j & 1 == 1);
        let square = |pick: u32| rows(pick).map(|j| system[j].clone()).collect::<Vec<_>>();
        let pick = picks.into_iter().find(|&pick| determinant(&square(pick)) != 0)?;
        let whole = determinant(&square(pick));
        let numerator = |i: usize| {
            let mut matrix = square(pick);
            matrix.iter_mut().zip(rows(pick)).for_each(|(row, j)| row[i] = right(j));
            determinant(&matrix)
        };
        let numerators: Vec<i128> = (0..k).map(numerator).collect();
        let holds =
            |j: usize| total(system[j].iter().zip(&numerators).map(|(x, n)| x * n)) == right(j) * whole;
        (0..m).all(holds).then(|| numerators.iter().map(|n| (n.signum() * whole.signum()) as i32).collect())
    }

    #[test]
    fn signs_are_those_of_cramers_rule() {
        let mut random = SplitMix64::new(3);
        let mut counts = [0; 2];
        for i in 0..3000 {
            let (k, groups) = (1 + random.below(4) as usize, 1 + random.below(2) as usize);
            let m = k.max(groups) + usize::from(random.below(4) == 0);
            let size = [1, 2, 1 << 10, 1 << 22][random.below(4) as usize];
            let mut draw = || i128::from(random.below(2 * size + 1)) - i128::from(size);
            let mut whole: Vec<Vec<i128>> = (0..m).map(|_| (0..k).map(|_| draw()).collect()).collect();
            if i % 3 == 0 && m > groups + 1 {
                // An equation that follows from the others.
                whole[0] = (0..k).map(|j| total(whole[1..m - groups].iter().map(|row| row[j]))).collect();
            }
            // An equation whose right side is 0 holds at every scale.
            let scale = |j| if j < m - groups { power(random_power(i, j)) } else { 1.0 };
            let system: Vec<Vec<f64>> =
                (0..m).map(|j| whole[j].iter().map(|x| *x as f64 * scale(j)).collect()).collect();
            let empty = whole.iter().any(|row| row.iter().all(|x| *x == 0));
            let want = if empty { None } else { by_cramer(&whole, groups) };
            counts[usize::from(want.is_some())] += 1;
            assert_eq!(
                signs(&system, groups, &()).expect("nobody interrupts"),
                want,
                "{groups} of {system:?}"
            );
        }
        assert!(counts.iter().all(|count| *count > 300), "{counts:?}");
    }

    #[test]
    fn a_determinant_may_reach_hadamards_bound() {
        let entry = |i: usize, j: usize| if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
        let system: Vec<Vec<f64>> = (0..32).map(|i| (0..32).map(|j| entry(i, j)).collect()).collect();
        // The inverse is the transposed matrix over 32.
        let want = (0..32).map(|j| entry(31, j) as i32).collect();
        assert_eq!(signs(&system, 1, &()), Ok(Some(want)));
    }

    /// For each column modulo each prime, and for each sign.
    #[test]
    fn asks_on_the_way() {
        const K: usize = 12;
        let row = |i: usize| (0..K).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
        let system: Vec<Vec<f64>> = (0..K).map(row).collect();
        let asked = Asked::default();
        assert!(signs(&system, 1, &asked).expect("nobody interrupts").is_some());
        let (primes, of_signs) = ((asked.times() - 1) / K - 1, K + 1);
        assert_eq!(asked.times(), primes * K + of_signs);
        assert!(primes > 10, "{primes}");
    }

    #[test]
    fn primes_that_divide_the_determinant_are_passed_over() {
        let [p, q] = [2_147_483_647.0, 2_147_483_629.0];
        assert_eq!(signs(&[vec![p, 0.0], vec![0.0, -q]], 2, &()), Ok(Some(vec![1, -1])));
    }

    #[test]
    fn all_numbers_below_half_the_product_of_the_primes_have_their_sign() {
        let primes = [7, 11, 5];
        let inverses = inverses(&primes).expect("memory");
        for number in -192_i64..=192 {
            let residues = primes.map(|p| number.rem_euclid(p as i64) as u64);
            let found = sign_of(residues.into_iter(), &primes, &inverses).expect("memory");
            assert_eq!(found, number.signum() as i32, "{number}");
        }
    }

    /// Exponents from -40 to 40.
    fn random_power(i: u64, j: usize) -> i32 {
        SplitMix64::of_epoch(5, i, j as u64).below(81) as i32 - 40
    }

    #[test]
    fn a_system_that_costs_too_much_is_left() {
        // Entries 900 powers of two apart.
        let wide = |k: usize| -> Vec<Vec<f64>> {
            let row = |i: usize| (0..k).map(|j| if i == j { power(900) } else { 1.0 }).collect();
            (0..k).map(row).collect()
        };
        assert_eq!(signs(&wide(57), 1, &()), Ok(None));
        assert!(signs(&wide(36), 1, &()).expect("nobody interrupts").is_some());
    }

    #[test]
    fn primes_are_those_of_trial_division() {
        let divides = |n: u64| (2..=n.isqrt()).any(|q| n.is_multiple_of(q));
        for n in (13..20_000).step_by(2) {
            assert_eq!(is_prime(n), !divides(n), "{n}");
        }
        let first: Vec<u64> = Primes::new().take(6).collect();
        let all: Vec<u64> = (0..).map(|k| (1 << 31) - 1 - 2 * k).filter(|&n| !divides(n)).take(6).collect();
        assert_eq!(first, all);
        assert_eq!(Primes((1 << PRIME_BITS) + 1).next(), None);
    }
}
