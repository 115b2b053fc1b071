//! The margin of a data set: a certified interval, the plane, the convex weights, or a proof that there is
//! none.

use super::certificate::{Lengths, dual_integers, half_way, lower_end, upper_end};
use super::descent::Descent;
use super::major_cycles::Work;
use super::other_scales::{blank, decide, plane, powered, refuted};
use super::plane::check_signs;
use super::problem::{Bias, MarginProblem, survey};
use super::wolfe::{NearestPoint, nearest_point};
use crate::arith::environment::standard;
use crate::base::{Monitor, Result, ensure, filled, gathered};
use crate::rows::{Entries, Matrix};

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
/// An upper end below this part of the radius is nothing but rounding.
const ROUNDING: f64 = 1e-13;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    Auto,
    Wolfe,
    Descent,
}

impl Solver {
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Wolfe => "wolfe",
            Self::Descent => "descent",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    Margin,
    /// Stop at the first plane that separates.
    Separable,
}

#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub bias: Bias,
    /// Gap of the interval relative to its upper end at which to stop.
    pub tol: f64,
    /// Passes over the rows and major cycles at most.
    pub max_steps: u64,
    pub solver: Solver,
    pub goal: Goal,
    pub threads: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    pub status: &'static str,
    pub lower: f64,
    pub upper: f64,
    /// The largest has a size in [1/2, 1), or all are 0.
    pub coef: Vec<f64>,
    pub intercept: f64,
    /// Rows of positive weight, ascending; the weights of each group sum to 2^53.
    pub support: Vec<u32>,
    pub dual_weights: Vec<i64>,
    /// Largest length of the raw rows, rounded up.
    pub radius: f64,
    pub proof: Option<&'static str>,
    pub solver: &'static str,
    pub work: Vec<(&'static str, u64)>,
}

/// Finds the plane of largest margin and an interval that contains that margin. The monitor is asked
/// between major cycles and sweeps, on the calling thread.
pub fn separate(
    rows: &dyn Matrix,
    labels: &[u32],
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Solution> {
    standard(|| {
        check_signs(rows, labels)?;
        let &Options { bias, tol, max_steps, threads, .. } = options;
        ensure!(tol > 0.0 && tol.is_finite(), "tol must be positive and finite, got {tol:?}");
        let problem =
            MarginProblem::new(rows, labels, bias, survey(rows, monitor)?, None, (threads, monitor))?;
        let lengths = Lengths::new(&problem)?;
        let mut work = Work::new(max_steps, monitor);
        let mut solution = if bias == Bias::Free && problem.is_of_one_class() {
            Solution {
                status: "one_class",
                lower: f64::INFINITY,
                upper: f64::INFINITY,
                intercept: problem.sign(0),
                ..blank(filled(0.0, problem.columns())?)
            }
        } else if problem.found.largest == 0.0 && bias != Bias::Augmented {
            let numbers = problem.firsts()?;
            let a = filled(1.0, numbers.len())?;
            let v = filled(0.0, problem.size())?;
            judge(
                &problem,
                &lengths,
                &NearestPoint { numbers, a, square: 0.0, zero: true, ..NearestPoint::of(v) },
            )?
        } else {
            let (found, solver) = solve(&problem, options, &mut work)?;
            let solution = judge(&problem, &lengths, &found)?;
            if matches!(solution.status, "margin_at_most" | "undecided") {
                decide(&problem, &lengths, solution, &found, tol, &mut work)?
            } else {
                Solution { solver, ..solution }
            }
        };
        solution.radius = lengths.radius;
        let work = [
            ("passes", work.passes),
            ("rows_scored", work.rows_scored),
            ("majors", work.majors),
            ("refinements", work.refinements),
            ("sweeps", work.sweeps),
        ];
        solution.work = gathered(work.into_iter())?;
        Ok(solution)
    })
}

fn judge(problem: &MarginProblem, lengths: &Lengths, found: &NearestPoint) -> Result<Solution> {
    let (mut coef, b) = plane(problem, &found.v)?;
    let is_zero = |coef: &[f64]| coef.iter().all(|w| *w == 0.0);
    let no_plane = is_zero(&coef) && b.unwrap_or(0.0) == 0.0;
    if no_plane {
        coef = some_row(problem)?;
    }
    if found.zero
        && let Some(solution) = refuted(problem, &found.numbers, &found.a)?
    {
        let intercept = match (b, &found.pass) {
            (None, Some(pass)) if !no_plane => half_way(problem, &coef, &pass.nearest(problem, &found.v)?)?,
            (None, _) if !is_zero(&coef) => lower_end(problem, lengths, &coef, b)?.1,
            _ => b.unwrap_or(0.0),
        };
        return Ok(Solution { coef, intercept, ..solution });
    }
    let (support, dual_weights) = dual_integers(problem, &found.numbers, &found.a)?;
    let upper = upper_end(problem, &support, &dual_weights)?;
    let (lower, intercept) = if is_zero(&coef) && b.unwrap_or(0.0) == 0.0 {
        (f64::NEG_INFINITY, b.unwrap_or(0.0))
    } else {
        lower_end(problem, lengths, &coef, b)?
    };
    let status = if lower > 0.0 {
        "separable"
    } else if upper <= ROUNDING * lengths.radius {
        "margin_at_most"
    } else {
        "undecided"
    };
    Ok(Solution { status, lower, upper, intercept, support, dual_weights, ..blank(coef) })
}

/// A direction that is not 0, if there is one: the first row that is not.
fn some_row(problem: &MarginProblem) -> Result<Vec<f64>> {
    let (mut coef, mut room) = (filled(0.0, problem.columns())?, Entries::default());
    for row in 0..problem.len() {
        problem.monitor.pause()?;
        let found = room.only(problem.rows, row)?;
        if !found.values.is_empty() {
            found.pairs().for_each(|(j, x)| coef[j] = problem.sign(row) * x);
            return Ok(powered(coef, None).0);
        }
    }
    Ok(coef)
}

/// The best that the solver found, and the name of the one that ran last.
fn solve(
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
