//! Structured perceptrons: the answer is a whole sequence, or any other structure.
//!
//! - [`chain`]: the learner of label sequences, over [`weights`] and the [`update`] at a mistake
//! - [`lattice`]: the search for the best label sequence; [`prefix`]: what a beam has lost, and where
//! - [`slots`]: which columns have weights at all
//! - [`decode`]: the best label sequences of many sequences
//! - [`general`]: weights and averages for any other structure

pub mod chain;
pub mod decode;
pub mod general;
mod lattice;
mod prefix;
mod sequences;
mod slots;
mod update;
mod weights;

pub use chain::{Answer, Chain, Learnt, Mending, Report, Schedule, Stopped, fit};
pub use decode::{Limits, decode};
pub use sequences::Sequences;
pub use weights::{State, Weights};
