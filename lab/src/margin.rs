//! The largest margin of the points, certified, and the bound on the mistakes.

use perceptron_rs::error::Result;
use perceptron_rs::margin::{Bias, Goal, Options, Solution, Solver, separate};
use serde::Serialize;

use crate::proof::squares;
use crate::request::Learner;
use crate::session::Session;

/// As `max_margin` of Python has it.
const TOL: f64 = 1e-8;
/// Passes over the points and steps at most: what is not decided by then is said to be so.
const STEPS: u64 = 20_000;

#[derive(Serialize)]
pub struct Margin {
    /// "separable" or what else is certain.
    pub status: &'static str,
    /// The largest margin is in this interval.
    pub lower: Option<f64>,
    pub upper: Option<f64>,
    /// The line that has it.
    pub plane: Option<[f64; 3]>,
    /// What the bound takes: `gamma`, and `u`, the direction of length 1 that has it. With an intercept that
    /// is one of the longer vectors.
    pub gamma: Option<f64>,
    pub u: Vec<f64>,
    /// The points that prove it, or that no line separates the points; their weights in each class.
    pub support: Vec<u32>,
    pub weights: Vec<f64>,
    /// `R^2`: the square of the largest length of a point; with an intercept, the constant 1 is a coordinate
    /// too.
    pub squared: f64,
    /// `(R/gamma)^2`: more mistakes there cannot be.
    pub bound: Option<f64>,
}

impl Session {
    /// What is certain of the points for one plane.
    pub fn margin(&self, plane: usize) -> Result<Margin> {
        let data = &self.data;
        let labels: Vec<u32> = (0..data.len()).map(|i| u32::from(data.sign(i, plane) > 0.0)).collect();
        let rows = data.rows()?;
        let found = |bias| -> Result<Solution> {
            let (solver, goal) = (Solver::Auto, Goal::Margin);
            separate(
                &rows,
                &labels,
                &Options { bias, tol: TOL, max_steps: STEPS, solver, goal, threads: 1 },
                &(),
            )
        };
        let intercept = self.request.intercept;
        let free = found(if intercept { Bias::Free } else { Bias::None })?;
        // From another start, and with other learners, the theorem is another one.
        let has_bound = !self.request.starts_elsewhere()
            && !matches!(self.request.learner, Learner::Kernel | Learner::Multilayer);
        let separable = free.lower > 0.0;
        let other = (intercept && separable).then(|| found(Bias::Augmented)).transpose()?;
        let of_bound = other.as_ref().unwrap_or(&free);
        let augmented = of_bound.lower;
        let mut u = of_bound.coef.clone();
        u.extend(other.as_ref().map(|found| found.intercept));
        let length = squares(&u, u.len())?[0].sqrt();
        let squared = free.radius * free.radius + if other.is_some() { 1.0 } else { 0.0 };
        // The few roundings are smaller than what is added.
        let bound = squared / (augmented * augmented) * (1.0 + 1e-14);
        let is_bounded = has_bound && separable && augmented > 0.0;
        Ok(Margin {
            status: free.status,
            lower: free.lower.is_finite().then_some(free.lower),
            upper: free.upper.is_finite().then_some(free.upper),
            plane: separable.then_some([free.coef[0], free.coef[1], free.intercept]),
            gamma: is_bounded.then_some(augmented),
            u: if is_bounded { u.iter().map(|u| u / length).collect() } else { vec![] },
            support: free.support,
            weights: free.dual_weights.iter().map(|weight| *weight as f64 / (1_u64 << 53) as f64).collect(),
            squared,
            bound: is_bounded.then_some(bound),
        })
    }
}
