//! Certified margins and linear separability without a linear program.
//!
//! [`MarginProblem`] holds the rows in one scale; `passes` scores them all; `corral` and `wolfe` look for the
//! nearest points of the hulls; `certificate` and `proof` say what is certain; [`separate`] and
//! [`margin`] are the two functions of the engine.

mod certificate;
mod choose;
mod corral;
mod descent;
mod inner;
mod other_scales;
mod passes;
mod plane;
mod problem;
mod proof;
mod rational;
mod separate;
mod wolfe;
mod working;

pub use plane::margin;
pub use problem::{Bias, MarginProblem};
pub use separate::{Goal, Options, Solution, Solver, separate};
