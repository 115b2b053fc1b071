//! The margin of a data set: a certified interval, the plane, the convex weights, or a proof that there is none.

use super::certificate::{Lengths, dual_integers, lower_end, upper_end};
use super::inner::Work;
use super::plane::check_labels;
use super::problem::{Bias, Problem, survey};
use super::proof::prove;
use super::wolfe::{Found, nearest_point};
use crate::arith::environment::Standard;
use crate::arith::twofold::{exponent, times_power};
use crate::error::{Error, Result};
use crate::rows::Rows;

/// An upper end below this part of the radius is nothing but rounding.
const NOTHING: f64 = 1e-13;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    Auto,
    Wolfe,
    Descent,
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
    pub budget: u64,
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

/// Finds the plane of largest margin and an interval that contains that margin.
pub fn separate(rows: &dyn Rows, labels: &[u32], options: &Options) -> Result<Solution> {
    let _standard = Standard::enter();
    check_labels(rows, labels)?;
    let &Options { bias, tol, budget, goal, threads, .. } = options;
    if !(tol > 0.0 && tol.is_finite()) {
        return Err(Error::Invalid(format!("tol must be positive and finite, got {tol:?}")));
    }
    let problem = Problem::new(rows, labels, bias, survey(rows)?, None, threads);
    let lengths = Lengths::new(&problem);
    let mut work = Work { budget, ..Work::default() };
    let mut solution = if bias == Bias::Free && labels.iter().all(|label| *label == labels[0]) {
        Solution {
            status: "one_class",
            lower: f64::INFINITY,
            upper: f64::INFINITY,
            intercept: problem.sign(0),
            ..blank(vec![0.0; problem.columns()])
        }
    } else if problem.found.largest == 0.0 && bias != Bias::Augmented {
        let numbers = problem.firsts();
        let a = vec![1.0; numbers.len()];
        let v = vec![0.0; problem.size()];
        judge(&problem, &lengths, &Found { v, lower: f64::NEG_INFINITY, numbers, a, square: 0.0, zero: true })
    } else {
        let found = nearest_point(&problem, tol, goal == Goal::Separable, &mut work);
        judge(&problem, &lengths, &found)
    };
    solution.radius = lengths.radius;
    solution.work = vec![
        ("passes", work.passes),
        ("rows_scored", work.rows_scored),
        ("majors", work.majors),
        ("refinements", work.refinements),
    ];
    Ok(solution)
}

fn blank(coef: Vec<f64>) -> Solution {
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

fn judge(problem: &Problem, lengths: &Lengths, found: &Found) -> Solution {
    let (coef, b) = plane(problem, &found.v);
    if found.zero
        && let Some((how, positive)) = prove(problem, &found.numbers, &found.a)
    {
        let keep = |i: &usize| positive[*i];
        let numbers: Vec<u32> = (0..positive.len()).filter(keep).map(|i| found.numbers[i]).collect();
        let a: Vec<f64> = (0..positive.len()).filter(keep).map(|i| found.a[i]).collect();
        let (support, dual_weights) = dual_integers(problem, &numbers, &a);
        let intercept = b.unwrap_or(0.0);
        return Solution {
            status: "non_separable",
            intercept,
            support,
            dual_weights,
            proof: Some(how),
            ..blank(coef)
        };
    }
    let (support, dual_weights) = dual_integers(problem, &found.numbers, &found.a);
    let upper = upper_end(problem, &support, &dual_weights);
    let (lower, intercept) = if coef.iter().any(|w| *w != 0.0) {
        lower_end(problem, lengths, &coef, b)
    } else {
        (f64::NEG_INFINITY, b.unwrap_or(0.0))
    };
    let status = if lower > 0.0 {
        "separable"
    } else if upper <= NOTHING * lengths.radius {
        "margin_at_most"
    } else {
        "undecided"
    };
    Solution { status, lower, upper, intercept, support, dual_weights, ..blank(coef) }
}

/// Raw weights whose largest is in [1/2, 1), and the intercept if v decides it.
fn plane(problem: &Problem, v: &[f64]) -> (Vec<f64>, Option<f64>) {
    let w: Vec<f64> = v.iter().zip(&problem.unit).map(|(v, unit)| v * unit).collect();
    let b = match problem.bias {
        Bias::Free => None,
        Bias::None => Some(0.0),
        Bias::Augmented => Some(v[problem.columns()] * problem.constant),
    };
    let largest = w.iter().fold(b.map_or(0.0, f64::abs), |largest, w| largest.max(w.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return (vec![0.0; w.len()], b);
    }
    let power = -exponent(largest);
    let w = w.into_iter().map(|w| times_power(w, power) + 0.0).collect();
    (w, b.map(|b| times_power(b, power) + 0.0))
}
