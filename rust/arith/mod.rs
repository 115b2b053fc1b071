//! The arithmetic contract: each operation on learned numbers whose order or rounding matters. Plain sums and products,
//! such as `b += c`, stand where they are made.
//!
//! - [`value`]: the storage types and their exact widening to f64; [`storage`]: the smallest of them that
//!   holds some numbers
//! - [`products`]: of rows and weights, in floats ([`dot`], [`tile`], [`by_lane`], [`axpy`]) and in exact
//!   integers ([`exact`], [`gram`])
//! - [`step`], [`average`]: the scalar formulas of the update and of the averaged weights
//! - [`decay`]: the penalty of many examples at once
//! - [`mixture`]: what passes over partitions have led to
//! - [`finite`]: the check of rule 9
//! - [`elementary`]: [`exp`], [`tanh`], [`log`], and the three over many numbers: rule 6
//! - [`neuron`]: layers of neurons
//! - [`kernel`]: from dot products to kernel values, and the sums over mistakes
//! - [`budget`]: how steps shrink, and what is left of an example beside its projection
//! - [`search`]: the sums and maxima of a search over label sequences ([`lattice`], [`number`],
//!   [`activation`])
//! - [`twofold`]: sums and products with their errors
//! - [`factor`]: a Cholesky factor that grows and shrinks
//! - [`sign`]: the sign of a sum of products, exactly
//! - [`simd`]: the instruction sets a loop is compiled for
//! - [`environment`]: rounding mode and denormals

pub mod average;
pub mod budget;
pub mod decay;
pub mod elementary;
pub mod environment;
pub mod factor;
pub mod finite;
pub mod kernel;
pub mod mixture;
pub mod neuron;
pub mod products;
pub mod search;
pub mod sign;
pub mod simd;
pub mod step;
pub mod storage;
pub mod twofold;
pub mod value;

pub use elementary::{exp, log, tanh};
pub use products::{axpy, by_lane, dot, exact, gram, integers, tile};
pub use search::{activation, lattice, number};
