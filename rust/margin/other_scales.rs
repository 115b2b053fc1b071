//! What to do when a problem is undecided in its own scale: the same question where it is easier.
//!
//! Whether a plane separates depends neither on the scale of single columns nor, with a bias, on how it
//! counts in the norm. So the columns are scaled by powers of two, and the augmented problem is solved
//! as the one with a free bias. A plane that is found there is certified here; weights that prove that
//! there is none stay a proof.

use super::certificate::{Lengths, dual_integers, lower_end};
use super::major_cycles::Work;
use super::problem::{Bias, MarginProblem};
use super::proof::prove;
use super::separate::Solution;
use super::wolfe::{NearestPoint, nearest_point};
use crate::arith::twofold::{exponent, power, times_power};
use crate::base::{Grow, Result, collected, filled, gathered};
use crate::rows::Entries;

/// A relative gap that leaves room for rounding; more is not needed to separate.
const ENOUGH: f64 = 1e-3;

/// A solution that is decided, if one of the other problems is; else the given one.
pub fn decide(
    problem: &MarginProblem,
    lengths: &Lengths,
    solution: Solution,
    found: &NearestPoint,
    tol: f64,
    work: &mut Work,
) -> Result<Solution> {
    let means = (problem.threads, problem.monitor);
    let other =
        |bias, unit| MarginProblem::new(problem.rows, problem.labels, bias, problem.found, unit, means);
    if problem.bias == Bias::Augmented && problem.is_of_one_class() {
        // All on one side of a plane that the features have no part in.
        let (coef, b) = (filled(0.0, problem.columns())?, problem.sign(0) / 2.0);
        let (lower, intercept) = lower_end(problem, lengths, &coef, Some(b))?;
        return Ok(Solution { status: "separable", lower, coef, intercept, ..solution });
    }
    let mut others = vec![];
    if found.lower > 0.0 {
        // It was left at the first plane that seemed to separate.
        others.try_push(other(problem.bias, None)?)?;
    }
    let unit = column_units(problem)?;
    if problem.bias == Bias::Augmented {
        others.try_push(other(Bias::Free, None)?)?;
        others.try_push(other(Bias::Free, Some(collected(unit.iter().copied())?))?)?;
    }
    others.try_push(other(problem.bias, Some(unit))?)?;
    for other in others {
        if !work.left()? {
            break;
        }
        let there = nearest_point(&other, tol.max(ENOUGH), false, None, work)?;
        if there.zero
            && let Some(mut proved) = refuted(&other, &there.numbers, &there.a)?
        {
            if other.groups() > problem.groups() {
                let a = collected(proved.dual_weights.iter().map(|&k| k as f64 * power(-54)))?;
                (proved.support, proved.dual_weights) = dual_integers(problem, &proved.support, &a)?;
            }
            return Ok(Solution { coef: solution.coef, intercept: solution.intercept, ..proved });
        }
        let (coef, b) = plane(&other, &there.v)?;
        if coef.iter().all(|w| *w == 0.0) && b.unwrap_or(0.0) == 0.0 {
            continue;
        }
        let (lower, intercept) = lower_end(problem, lengths, &coef, b)?;
        if lower > 0.0 {
            return Ok(Solution { status: "separable", lower, coef, intercept, ..solution });
        }
    }
    Ok(solution)
}

/// For each column the power of two that brings its range (without a bias: its values) near 1.
fn column_units(problem: &MarginProblem) -> Result<Vec<f64>> {
    let d = problem.columns();
    let (mut low, mut high) = (filled(f64::INFINITY, d)?, filled(f64::NEG_INFINITY, d)?);
    let (mut counts, mut room) = (filled(0, d)?, Entries::default());
    for row in 0..problem.len() {
        problem.monitor.pause()?;
        for (j, x) in room.only(problem.rows, row)?.pairs() {
            (low[j], high[j]) = (low[j].min(x), high[j].max(x));
            counts[j] += 1;
        }
    }
    let unit = |j: usize| {
        if counts[j] < problem.len() {
            (low[j], high[j]) = (low[j].min(0.0), high[j].max(0.0));
        }
        let range = high[j] / 2.0 - low[j] / 2.0;
        let size = if problem.bias == Bias::None { low[j].abs().max(high[j].abs()) } else { range };
        power((-exponent(size)).clamp(-1000, 1000))
    };
    collected((0..d).map(unit))
}

/// The solution that no plane separates, if the rows prove it.
pub fn refuted(problem: &MarginProblem, numbers: &[u32], a: &[f64]) -> Result<Option<Solution>> {
    let Some((how, positive)) = prove(problem, numbers, a)? else { return Ok(None) };
    let keep = |i: &usize| positive[*i];
    let numbers = gathered((0..positive.len()).filter(keep).map(|i| numbers[i]))?;
    let a = gathered((0..positive.len()).filter(keep).map(|i| a[i]))?;
    let (support, dual_weights) = dual_integers(problem, &numbers, &a)?;
    let coef = filled(0.0, problem.columns())?;
    Ok(Some(Solution { status: "non_separable", support, dual_weights, proof: Some(how), ..blank(coef) }))
}

/// Raw weights whose largest is in [1/2, 1), and the intercept if v decides it.
pub fn plane(problem: &MarginProblem, v: &[f64]) -> Result<(Vec<f64>, Option<f64>)> {
    let w = collected(v.iter().zip(&problem.unit).map(|(v, unit)| v * unit))?;
    let b = match problem.bias {
        Bias::Free => None,
        Bias::None => Some(0.0),
        Bias::Augmented => Some(v[problem.columns()] * problem.constant),
    };
    Ok(powered(w, b))
}

/// Multiplies by the power of two that brings the largest into [1/2, 1).
pub fn powered(mut w: Vec<f64>, b: Option<f64>) -> (Vec<f64>, Option<f64>) {
    let largest = w.iter().fold(b.map_or(0.0, f64::abs), |largest, w| largest.max(w.abs()));
    if largest == 0.0 || !largest.is_finite() {
        w.fill(0.0);
        return (w, b.map(|_| 0.0));
    }
    let power = -exponent(largest);
    for w in &mut w {
        *w = times_power(*w, power) + 0.0;
    }
    (w, b.map(|b| times_power(b, power) + 0.0))
}

/// A solution whose other entries are still blank.
pub fn blank(coef: Vec<f64>) -> Solution {
    Solution {
        status: "undecided",
        lower: f64::NEG_INFINITY,
        upper: f64::NEG_INFINITY,
        coef,
        intercept: 0.0,
        support: vec![],
        dual_weights: vec![],
        radius: 0.0,
        proof: None,
        solver: "wolfe",
        work: vec![],
    }
}
