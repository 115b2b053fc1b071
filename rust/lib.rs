//! The perceptron family with one bit pattern. See ARCHITECTURE.md for the map.

pub mod arith;
pub mod audit;
pub mod error;
pub mod kernel;
pub mod margin;
pub mod memory;
pub mod mlp;
pub mod monitor;
pub mod online;
pub mod order;
pub mod rows;
pub mod structured;
pub mod text;
pub(crate) mod threads;

#[cfg(feature = "python")]
mod python;

/// What every room asks for: errors, memory that may be refused, and whether to go on.
mod base {
    pub use crate::error::{Error, Result, choice};
    pub(crate) use crate::error::{bail, ensure};
    pub use crate::memory::{Grow, boxed, collected, filled, gathered, matrix, tried, with_room};
    pub use crate::monitor::{Flow, Monitor, NUMBERS, Pace, paced, pieces};
    pub use crate::monitor::{copied, joined, mapped, refill, same, unless_interrupted};
}

// The tests from outside are modules of the binary that holds the unit tests: each binary would compile the
// core and every leaf anew, which takes minutes.
#[cfg(test)]
extern crate self as perceptron_rs;
#[cfg(test)]
#[path = "../tests/core.rs"]
mod outside;

/// Raised by one whenever any learned bit changes.
pub const ARITHMETIC_VERSION: u32 = 2;
