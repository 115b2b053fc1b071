//! Dual coordinate descent for the hard margin: the second engine, for sparse rows with many support
//! vectors.
//!
//! - Problem: minimise ||w||^2/2 subject to `y_i*(w·x_i + b) >= 1`; the margin is then 1/||w||.
//! - Update rule: `g = y_i*(w·x_i + b) − 1`, `alpha_i = max(0, alpha_i − g/(||x_i||^2 + c^2))`, w and b
//!   follow: a perceptron update with the exact step, and clipping. The constant feature c makes b a
//!   weight like the others. For a free bias a sweep ends with `b += c^2 * sum alpha_i*y_i`, a step of
//!   the method of multipliers, which takes the price of b away in the limit.
//! - Given: rows, labels, a power of two that the rows are scaled by, which gap between the ends of the
//!   interval suffices, and how many sweeps at most.
//! - Result: the plane of the best lower end and the dual weights of the best upper end seen by a check,
//!   both as floats whose ends somebody else must certify.
//! - Paper: Anlauf, Biehl 1989 (the Adatron), eq. 9; Hsieh, Chang, Lin, Keerthi, Sundararajan 2008 (dual
//!   coordinate descent), algorithm 3; Hestenes 1969, Powell 1969 (method of multipliers).

use super::major_cycles::Work;
use super::problem::{Bias, MarginProblem};
use super::wolfe::NearestPoint;
use crate::arith::factor::inner;
use crate::arith::finite::all_finite;
use crate::arith::twofold::{power, total};
use crate::base::{Grow, Result, collected, filled, gathered};
use crate::order::shuffle;
use crate::rows::strip;

/// c^2 relative to the median squared row, for a free bias. Larger values need more sweeps to make
/// `w` follow, smaller ones more sweeps to find b. (Relative to the largest row a few long documents
/// among short ones made it 20 times slower.)
const CONSTANT: f64 = 0.05;

/// A row without weight whose `g` is above this leaves the sweeps until the next check.
const FAR: f64 = 0.5;

/// What a sweep works on. A scaled row has the activation `scale*w·x + b`.
struct Plane {
    w: Vec<f64>,
    b: f64,
}

pub struct Descent<'a> {
    problem: &'a MarginProblem<'a>,
    scale: f64,
    /// Square of the constant feature.
    constant: f64,
    /// Squared length of each row with the constant feature.
    squares: Vec<f64>,
    now: Plane,
    weights: Vec<f64>,
    active: Vec<u32>,
    /// Where their orders are drawn.
    order: Vec<u32>,
    /// `<u_i, v>` of all rows at the last check.
    scores: Vec<f64>,
    next_check: u64,
    /// Of the best lower end.
    pub w: Vec<f64>,
    pub b: f64,
    /// Of the best upper end; not normalised.
    pub alpha: Vec<f64>,
    /// Both ends of the margin of the scaled rows, in floating point.
    pub lower: f64,
    pub upper: f64,
    pub sweeps: u64,
    pub visits: u64,
    pub checks: u64,
    /// Whether a number left the finite range; the best so far stays.
    pub overflowed: bool,
}

impl<'a> Descent<'a> {
    /// Columns must have one unit.
    pub fn new(problem: &'a MarginProblem<'a>) -> Result<Self> {
        let (n, d) = (problem.len(), problem.columns());
        let scale = power(problem.shift);
        let mut squares = problem.squares(scale)?;
        let constant = match problem.bias {
            Bias::Free => CONSTANT * median(&squares)?,
            Bias::Augmented => problem.constant * problem.constant,
            Bias::None => 0.0,
        };
        for q in &mut squares {
            *q += constant;
        }
        Ok(Self {
            problem,
            scale,
            constant,
            squares,
            now: Plane { w: filled(0.0, d)?, b: 0.0 },
            weights: filled(0.0, n)?,
            active: collected(0..n as u32)?,
            order: vec![],
            scores: filled(0.0, n)?,
            next_check: 1,
            w: filled(0.0, d)?,
            b: 0.0,
            alpha: filled(0.0, n)?,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            sweeps: 0,
            visits: 0,
            checks: 0,
            overflowed: false,
        })
    }

    /// Goes on until the gap relative to the upper end is reached (or, if only that is asked, a plane
    /// separates), or so many sweeps are done, or each row was visited about so often. Returns
    /// whether the gap is reached.
    pub fn run(&mut self, gap: f64, work: &Work, visits: u64, separates: bool) -> Result<bool> {
        let sweeps = work.max_steps;
        let most = visits.saturating_mul(self.weights.len() as u64);
        let reached = |at: &Self| at.lower > 0.0 && (separates || at.upper - at.lower <= gap * at.upper);
        let left = |at: &Self| at.sweeps < sweeps && at.visits < most;
        while !reached(self) && !self.overflowed && left(self) {
            self.sweep(work)?;
            if self.sweeps >= self.next_check || !left(self) {
                self.check()?;
                self.next_check = self.sweeps + (self.sweeps / 10).max(1);
            }
        }
        Ok(reached(self))
    }

    /// Rows with weight at the best upper end.
    pub fn support(&self) -> usize {
        self.alpha.iter().filter(|alpha| **alpha > 0.0).count()
    }

    /// The best so far with the heaviest rows, at most so many, heaviest first; None if there is no
    /// plane, or no row of a group.
    pub fn found(&self, most: usize) -> Result<Option<NearestPoint>> {
        let problem = self.problem;
        let alpha = |i: u32| self.alpha[i as usize];
        let mut numbers = gathered((0..problem.len() as u32).filter(|&i| alpha(i) > 0.0))?;
        numbers.sort_unstable_by(|&i, &j| alpha(j).total_cmp(&alpha(i)).then(i.cmp(&j)));
        numbers.truncate(most);
        let mut sums = [0.0; 2];
        for &i in &numbers {
            sums[problem.group(i as usize)] += self.alpha[i as usize];
        }
        if sums[..problem.groups()].contains(&0.0) || self.w.iter().all(|w| *w == 0.0) {
            return Ok(None);
        }
        let a = collected(numbers.iter().map(|&i| alpha(i) / sums[problem.group(i as usize)]))?;
        let mut v = collected(self.w.iter().copied())?;
        if problem.bias == Bias::Augmented {
            v.try_push(self.b / problem.constant)?;
        }
        Ok(Some(NearestPoint { lower: self.lower, numbers, a, ..NearestPoint::of(v) }))
    }

    /// Visits the active rows in a new order.
    fn sweep(&mut self, work: &Work) -> Result<()> {
        let problem = self.problem;
        self.order = collected(self.active.iter().copied())?;
        shuffle(&mut self.order, (0, self.sweeps, 0), self.problem.monitor)?;
        self.sweeps += 1;
        self.visits += self.order.len() as u64;
        let strip = strip(problem.rows);
        let mut score = [0.0];
        for (k, &row) in self.order.iter().enumerate() {
            if k % strip == 0 {
                work.monitor.pause()?;
            }
            let i = row as usize;
            if self.squares[i] == 0.0 {
                continue; // no step changes its score
            }
            let y = problem.sign(i);
            problem.rows.dots(&[row], &self.now.w, &mut score);
            let g = y * (self.scale * score[0] + self.now.b) - 1.0;
            let old = self.weights[i];
            if old == 0.0 && g >= 0.0 {
                continue;
            }
            let moved = old - g / self.squares[i];
            let new = if moved > 0.0 { moved } else { 0.0 };
            let step = (new - old) * y;
            if !(step * self.scale).is_finite() {
                self.overflowed = true;
                return Ok(());
            }
            self.weights[i] = new;
            problem.rows.axpy(i, step * self.scale, &mut self.now.w);
            self.now.b += step * self.constant;
        }
        if problem.bias == Bias::Free {
            let signed = self.weights.iter().enumerate().map(|(i, weight)| weight * problem.sign(i));
            self.now.b += self.constant * total(signed);
        }
        Ok(())
    }

    /// Scores all rows, keeps the better ends, and chooses the rows to visit.
    fn check(&mut self) -> Result<()> {
        let problem = self.problem;
        let mut v = collected(self.now.w.iter().copied())?;
        if problem.bias == Bias::Augmented {
            v.try_push(self.now.b / problem.constant)?;
        }
        problem.all_scores(&v, &mut self.scores)?;
        self.checks += 1;
        if !(all_finite(&v) && self.now.b.is_finite() && all_finite(&self.scores)) {
            self.overflowed = true;
            return Ok(());
        }
        let [lower, upper] = [self.lower_end(&v), self.upper_end()?];
        if lower > self.lower {
            self.lower = lower;
            self.w.copy_from_slice(&self.now.w);
            self.b = self.now.b;
        }
        if upper < self.upper {
            self.upper = upper;
            self.alpha.copy_from_slice(&self.weights);
        }
        let b = if problem.bias == Bias::Free { self.now.b } else { 0.0 };
        let keep = |&row: &u32| {
            let i = row as usize;
            self.weights[i] > 0.0 || self.scores[i] + problem.sign(i) * b - 1.0 <= FAR
        };
        self.active.clear();
        for row in (0..problem.len() as u32).filter(keep) {
            self.active.try_push(row)?;
        }
        Ok(())
    }

    /// Of the plane at hand, from the scores.
    fn lower_end(&self, v: &[f64]) -> f64 {
        let mut least = [f64::INFINITY; 2];
        for (i, &score) in self.scores.iter().enumerate() {
            let least = &mut least[self.problem.group(i)];
            *least = least.min(score);
        }
        let groups = self.problem.groups();
        let low = if groups == 2 { least[0] + least[1] } else { least[0] };
        let norm = groups as f64 * inner(v, v).sqrt();
        if norm > 0.0 { low / norm } else { f64::NEG_INFINITY }
    }

    /// Of the dual weights at hand, each group brought to the sum 1.
    fn upper_end(&self) -> Result<f64> {
        let problem = self.problem;
        let (groups, mut sums) = (problem.groups(), [0.0; 2]);
        for (i, weight) in self.weights.iter().enumerate() {
            sums[problem.group(i)] += weight;
        }
        if !sums[..groups].iter().all(|sum| *sum > 0.0 && sum.is_finite()) {
            return Ok(f64::INFINITY);
        }
        let mut v = filled(0.0, problem.columns())?;
        let mut constant = 0.0;
        for (i, &weight) in self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let part = weight / sums[problem.group(i)] * problem.sign(i);
            problem.rows.axpy(i, part * self.scale, &mut v);
            constant += part * problem.constant;
        }
        if problem.bias == Bias::Augmented {
            v.try_push(constant)?;
        }
        Ok(inner(&v, &v).sqrt() / groups as f64)
    }
}

/// Of the numbers that are not 0; the lower one of two in the middle.
fn median(squares: &[f64]) -> Result<f64> {
    let mut sorted = gathered(squares.iter().copied().filter(|q| *q > 0.0))?;
    sorted.sort_unstable_by(f64::total_cmp);
    Ok(sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0.0))
}
