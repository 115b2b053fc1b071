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
    with_most(MOST_MEMBERS, problem, options, work)
}

/// The same, with a corral of at most so many rows.
fn with_most(
    most: usize,
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
    if alone || !reached && descent.support() > most {
        reached = descent.run(options.tol, work, if alone { u64::MAX } else { LATE }, separable)?;
    }
    work.passes += descent.checks;
    work.rows_scored += descent.checks * problem.len() as u64 + descent.visits;
    work.sweeps += descent.sweeps;
    match descent.found(if alone || reached { usize::MAX } else { most })? {
        Some(found) if alone || reached => Ok((found, Solver::Descent.name())),
        start => wolfe(start, work),
    }
}

/// Whether sweeps are so much cheaper than a corral of all rows or columns that they come first.
fn suits_descent(problem: &MarginProblem) -> bool {
    let side = problem.len().min(problem.size()) as f64;
    SWEEPS * (problem.found.nonzeros as f64) < CORRAL * (side * side * side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::margin::Bias;
    use crate::margin::problem::survey;
    use crate::order::SplitMix64;
    use crate::rows::Dense;

    /// Descent goes on if it leaves more rows than a corral may have, and not if it leaves as many.
    #[test]
    fn as_many_rows_as_a_corral_may_have() {
        const N: usize = 128;
        let mut random = SplitMix64::new(3);
        let values: Vec<f64> = (0..N * N).map(|_| (random.draw() % 64) as f64 - 32.0).collect();
        let labels: Vec<u32> = (0..N as u32).map(|row| row % 2).collect();
        let rows = Dense::new(&values, N, N).expect("a matrix");
        let found = survey(&rows, &()).expect("numbers");
        let problem =
            MarginProblem::new(&rows, &labels, Bias::Free, found, None, (1, &())).expect("a problem");
        let options = Options {
            bias: Bias::Free,
            tol: 1e-6,
            max_steps: 100_000,
            solver: Solver::Auto,
            goal: Goal::Margin,
            threads: 1,
        };
        let work = || Work::new(options.max_steps, &());
        let mut descent = Descent::new(&problem).expect("memory");
        let reached = descent.run(NEAR, &work(), SOON, false).expect("nobody interrupts");
        let left = descent.support();
        assert!(left > 9, "{left}, {reached}");
        let sweeps = |most| {
            let mut work = work();
            with_most(most, &problem, &options, &mut work).expect("nobody interrupts");
            work.sweeps
        };
        assert_eq!(sweeps(left), sweeps(left + 1));
        assert!(sweeps(left - 1) > sweeps(left), "{} sweeps", sweeps(left));
    }
}
