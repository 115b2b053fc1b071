//! Certified margins and linear separability without a linear program.
//!
//! [`MarginProblem`] holds the rows in one scale; `pricing` scores them all; `corral` and `wolfe` look for the
//! nearest points of the hulls; `certificate` and `proof` say what is certain; [`separate`] and
//! [`margin`] are the two functions of the engine.

mod certificate;
mod corral;
mod descent;
mod major_cycles;
mod other_scales;
mod plane;
mod pricing;
mod problem;
mod proof;
mod rational;
mod separate;
mod wolfe;
mod working_set;

pub use plane::margin;
pub use problem::{Bias, MarginProblem};
pub use separate::{Goal, Options, Solution, Solver, separate};
