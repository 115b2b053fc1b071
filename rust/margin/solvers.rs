//! Which solver looks for the nearest points, and how one hands over to the other.

use super::descent::Descent;
use super::major_cycles::Work;
use super::problem::MarginProblem;
use super::separate::{Goal, Options, Solver};
use super::wolfe::{NearestPoint, nearest_point};
use crate::error::Result;

/// A corral costs about the cube of its rows, a sweep the number of entries; so many sweeps are one.
const SWEEPS: f64 = 600.0;
const CORRAL: f64 = 6.0;
/// Gap at which descent hands over, or as many visits of each row if it has not come so far.
const NEAR: f64 = 1e-2;
const SOON: u64 = 50;
/// Visits of each row after which descent gives up.
const LATE: u64 = 5000;
/// Rows from which a corral is built.
const MOST_MEMBERS: usize = 4000;

/// The best that the solver found, and the name of the one that ran last.
pub(super) fn solve(
    problem: &MarginProblem,
    options: &Options,
    work: &mut Work,
) -> Result<(NearestPoint, &'static str)> {
    let separable = options.goal == Goal::Separable;
    let wolfe = |start, work: &mut Work| {
        Ok((nearest_point(problem, options.tol, separable, start, work)?, Solver::Wolfe.name()))
    };
    let alone = options.solver == Solver::Descent;
    if options.solver == Solver::Wolfe || !(alone || suits_descent(problem)) {
        return wolfe(None, work);
    }
    let mut descent = Descent::new(problem)?;
    let mut reached = false;
    if !alone {
        reached = descent.run(options.tol.max(NEAR), work, SOON, separable)?;
        reached &= options.tol >= NEAR || separable;
    }
    if alone || !reached && descent.support() > MOST_MEMBERS {
        reached = descent.run(options.tol, work, if alone { u64::MAX } else { LATE }, separable)?;
    }
    work.passes += descent.checks;
    work.rows_scored += descent.checks * problem.len() as u64 + descent.visits;
    work.sweeps += descent.sweeps;
    match descent.found(if alone || reached { usize::MAX } else { MOST_MEMBERS })? {
        Some(found) if alone || reached => Ok((found, Solver::Descent.name())),
        start => wolfe(start, work),
    }
}

/// Whether sweeps are so much cheaper than a corral of all rows or columns that they come first.
fn suits_descent(problem: &MarginProblem) -> bool {
    let side = problem.len().min(problem.size()) as f64;
    SWEEPS * (problem.found.nonzeros as f64) < CORRAL * (side * side * side)
}
