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

#[cfg(feature = "python")]
mod python;

// The tests from outside are modules of the binary that holds the unit tests: each binary would compile the
// core and every leaf anew, which takes minutes.
#[cfg(test)]
extern crate self as perceptron_rs;
#[cfg(test)]
#[path = "../tests/core.rs"]
mod outside;

/// Raised by one whenever any learned bit changes.
pub const ARITHMETIC_VERSION: u32 = 2;
