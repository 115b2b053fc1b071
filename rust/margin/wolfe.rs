//! The nearest point of the hulls, by Wolfe's method on a working set that passes over the rows enlarge.
//!
//! - Problem: the v of least length in the hull of the `u_i` (with a free bias, in the difference of the
//!   hulls).
//! - Update rule: passes over ever denser samples add the rows that violate the present plane most
//!   to the working set; there the method runs to a tolerance before the next pass.
//! - Given: tolerance of the relative gap, how many passes and major cycles at most, whether separability
//!   suffices.
//! - Result: the plane of the best lower end, the weights of the best upper end.
//! - Paper: Wolfe 1976, Finding the nearest point in a polytope.

use super::corral::Corral;
use super::major_cycles::{Work, ZERO, run};
use super::pricing::{Scoring, price, strides};
use super::problem::MarginProblem;
use super::working_set::WorkingSet;
use crate::arith::{factor::inner, twofold::total};
use crate::base::{Grow, Result, collected, filled, gathered};

/// Inner tolerance at strides above 1.
const COARSE: f64 = 1e-2;
/// Rounds without a better end after which the method stops.
const PATIENCE: usize = 8;
const FEWEST_ADDED: usize = 32;
const MOST_ADDED: usize = 1000;
const SAMPLE: usize = 4096;

/// The best that was found: a plane, and convex weights of rows.
pub struct NearestPoint {
    pub v: Vec<f64>,
    pub lower: f64,
    /// All scores of the plane, if it comes from a pass.
    pub pass: Option<Scoring>,
    pub numbers: Vec<u32>,
    pub a: Vec<f64>,
    /// Of the length of a point of the corral with these weights.
    pub square: f64,
    pub zero: bool,
}

impl NearestPoint {
    /// A plane of which nothing is known.
    pub fn of(v: Vec<f64>) -> Self {
        let (lower, square) = (f64::NEG_INFINITY, f64::INFINITY);
        Self { v, lower, pass: None, numbers: vec![], a: vec![], square, zero: false }
    }

    /// Takes a plane if its lower end is better.
    fn keep_plane(&mut self, v: &[f64], lower: f64) -> bool {
        let better = lower > self.lower;
        if better {
            self.v.copy_from_slice(v);
            self.lower = lower;
            self.pass = None;
        }
        better
    }

    fn keep_weights(&mut self, working: &WorkingSet, corral: &Corral) -> Result<bool> {
        let square = corral.square();
        if square >= self.square {
            return Ok(false);
        }
        self.square = square;
        self.a = collected(corral.a.iter().copied())?;
        self.numbers = collected(corral.places.iter().map(|&place| working.numbers[place]))?;
        Ok(true)
    }
}

/// Runs the method until the gap is closed, v is 0, nothing improves or no steps are left.
pub fn nearest_point(
    problem: &MarginProblem,
    tol: f64,
    separable: bool,
    start: Option<NearestPoint>,
    work: &mut Work,
) -> Result<NearestPoint> {
    let mut working = WorkingSet::new(problem)?;
    let mut v = mean(problem)?;
    let groups = problem.groups();
    let ones = &[1.0; 2][..groups];
    let mut found = NearestPoint::of(collected(v.iter().copied())?);
    if start.is_none() && !work.left()? {
        let corral = warm(problem, &mut working, &problem.firsts()?, ones, work)?;
        found.keep_weights(&working, &corral)?;
        return Ok(found);
    }
    let mut corral: Option<Corral> = None;
    let most = problem.size().clamp(FEWEST_ADDED, MOST_ADDED);
    let mut sampled = true;
    if let Some(start) = start {
        let mut warm = warm(problem, &mut working, &start.numbers, &start.a, work)?;
        work.majors += start.numbers.len() as u64;
        warm.minor(&working, work)?;
        v.copy_from_slice(&warm.v);
        corral = Some(warm);
        sampled = false;
        found = start;
    }
    for stride in strides(problem).filter(|stride| sampled || *stride == 1) {
        let last = stride == 1;
        let (mut tightened, mut rounds, mut factor) = (0, 0, 1.0);
        loop {
            if let Some(corral) = &corral
                && !work.left()?
            {
                found.keep_weights(&working, corral)?;
                if found.lower == f64::NEG_INFINITY {
                    found.v = v;
                }
                return Ok(found);
            }
            let seen = price(problem, stride, &v)?;
            work.passes += 1;
            work.rows_scored += seen.len() as u64;
            let (mut least, mut kept) = (seen.least, false);
            let (mut level, mut square, mut gap) = ([f64::INFINITY; 2], f64::INFINITY, f64::INFINITY);
            if let Some(corral) = &corral {
                level = levels(problem, &working, corral, &v, &mut least)?;
                square = corral.square();
            } else if last {
                square = inner(&v, &v);
            }
            if last {
                let lower = total(least[..groups].iter().copied()) / (groups as f64 * square.sqrt());
                kept = square > 0.0 && found.keep_plane(&v, lower);
                if let Some(corral) = &corral {
                    let better = found.keep_weights(&working, corral)? || kept;
                    let upper = found.square.sqrt() / groups as f64;
                    gap = if upper > 0.0 { (upper - found.lower) / upper } else { f64::INFINITY };
                    rounds = if better { 0 } else { rounds + 1 };
                    let floor = 8.0 * f64::EPSILON * corral.sigma.sqrt() / square.sqrt();
                    if gap <= tol || gap <= floor || rounds >= PATIENCE || (separable && found.lower > 0.0) {
                        return Ok(found);
                    }
                }
            }
            let limits = if corral.is_some() {
                let slack = 0.3 * (if last { tol } else { tol.max(COARSE) }) * square / groups as f64;
                level.map(|level| level - slack)
            } else {
                level
            };
            let added = seen.violators(problem, &limits, most, &working.inside)?;
            if kept {
                found.pass = Some(seen);
            }
            if added.is_empty() {
                if !last || tightened == 2 {
                    break;
                }
                tightened += 1;
                factor *= 0.01;
            } else {
                working.add(problem, &added)?;
            }
            let corral = match &mut corral {
                Some(corral) => corral,
                none => none.insert(Corral::new(&working, &starts(&working)?, ones, work)?),
            };
            let tau = if last { factor * (0.1 * tol).max((0.03 * gap).min(0.1)) } else { COARSE };
            run(&working, corral, tau, work)?;
            if !corral.square().is_finite() {
                return Ok(found);
            }
            v.copy_from_slice(&corral.v);
            if corral.square() <= ZERO * corral.sigma {
                found.keep_weights(&working, corral)?;
                found.zero = true;
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// A corral of given rows, the first of the working set.
fn warm(
    problem: &MarginProblem,
    working: &mut WorkingSet,
    numbers: &[u32],
    weights: &[f64],
    work: &Work,
) -> Result<Corral> {
    working.add(problem, numbers)?;
    let places = collected(0..working.len())?;
    Corral::new(working, &places, weights, work)
}

/// The sum over the groups of the mean of the sampled rows.
fn mean(problem: &MarginProblem) -> Result<Vec<f64>> {
    let step = problem.len().div_ceil(SAMPLE);
    let mut v = filled(0.0, problem.size())?;
    let mut part = filled(0.0, problem.size())?;
    for (g, first) in problem.firsts()?.into_iter().enumerate() {
        part.fill(0.0);
        let chosen = (0..problem.len()).step_by(step).filter(|&row| problem.group(row) == g);
        let mut chosen = gathered(chosen)?;
        if chosen.is_empty() {
            chosen.try_push(first as usize)?;
        }
        for &row in &chosen {
            problem.add_to(row, problem.sign(row), &mut part)?;
        }
        let count = chosen.len() as f64;
        v.iter_mut().zip(&part).for_each(|(v, part)| *v += part / count);
    }
    Ok(v)
}

/// The place of the row of each group with the lowest score: the first that was added.
fn starts(working: &WorkingSet) -> Result<Vec<usize>> {
    let first = |g| working.group.iter().position(|&group| usize::from(group) == g);
    gathered((0..working.groups).filter_map(first))
}

/// The mean score of the members of each group; their scores lower the least that was seen.
fn levels(
    problem: &MarginProblem,
    working: &WorkingSet,
    corral: &Corral,
    v: &[f64],
    least: &mut [f64; 2],
) -> Result<[f64; 2]> {
    let numbers = collected(corral.places.iter().map(|&place| working.numbers[place]))?;
    let mut s = filled(0.0, numbers.len())?;
    problem.scores(&numbers, v, &mut s)?;
    let mut level = [0.0; 2];
    for (g, (level, least)) in level.iter_mut().zip(least).enumerate().take(working.groups) {
        let own =
            || corral.group.iter().zip(&s).filter(|(group, _)| usize::from(**group) == g).map(|(_, s)| *s);
        *least = own().fold(*least, f64::min);
        *level = total(own()) / own().count() as f64;
    }
    Ok(level)
}
