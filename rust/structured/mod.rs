//! Structured perceptrons: the answer is a whole sequence, or any other structure.
//!
//! - [`chain`]: the perceptron on label sequences, epoch by epoch; [`learner`]: its update
//! - [`lattice`]: the search for the best label sequence, which [`fill`]s a table; [`prefix`]: what a beam
//!   has lost, and where
//! - [`weights`]: as they come and go, [`sparse`]; as they are read, [`frame`]; as they are learnt,
//!   [`column_weights`]
//! - [`decode`]: the best label sequences of many sequences; [`k_best`]: the k best of each; [`margins`]: how
//!   far another label of a token is behind; [`terms`]: the numbers of one sequence that these two add up
//!   again
//! - [`general`]: weights and averages for any other structure

pub mod chain;
mod column_weights;
pub mod decode;
mod fill;
mod frame;
pub mod general;
mod k_best;
mod lattice;
mod learner;
mod margins;
mod prefix;
mod sequences;
mod sparse;
mod terms;
mod weights;

pub use chain::{Chain, ChainRun, ChainSettings, Mending};
pub use decode::{CheckedFrame, Limits, SearchWeights, decode};
pub use k_best::{Best, k_best};
pub use margins::margins;
pub use sequences::Sequences;
pub use sparse::Sparse;
pub use weights::{ChainState, ChainWeights, averages};
