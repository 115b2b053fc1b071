//! The arithmetic contract. No other module adds or multiplies learned numbers.
//!
//! - [`value`]: the storage types and their exact widening to f64
//! - [`dot`], [`axpy`]: the two loops over a row, dense and sparse
//! - [`exact`]: the same results in integers, any order, where a bound proves them exact
//! - [`gram`]: the same for the activations of many weight vectors
//! - [`step`], [`average`]: the scalar formulas of the update and of the averaged weights
//! - [`twofold`]: sums and products with their errors
//! - [`factor`]: a Cholesky factor that grows and shrinks
//! - [`sign`]: the sign of a sum of products, exactly
//! - [`decay`]: the penalty of many examples at once
//! - [`kernel`]: from dot products to kernel values, and the sums over mistakes
//! - [`budget`]: how steps shrink, and what is left of an example beside its projection
//! - [`exp`], [`tanh`], [`log`], and [`elementary`] over many numbers: rule 6
//! - [`neuron`]: layers of neurons
//! - [`finite`]: the check of rule 9
//! - [`lattice`]: the sums and maxima of a search over label sequences; [`number`]: what they are kept in;
//!   [`activation`]: what they start from
//! - [`simd`]: the instruction sets a loop is compiled for
//! - [`environment`]: rounding mode and denormals

pub mod activation;
pub mod average;
pub mod axpy;
pub mod budget;
pub mod decay;
pub mod dot;
pub mod elementary;
pub mod environment;
pub mod exact;
pub mod exp;
pub mod factor;
pub mod finite;
pub mod gram;
pub mod integers;
pub mod kernel;
pub mod lattice;
pub mod log;
pub mod neuron;
pub mod number;
pub mod sign;
pub mod simd;
pub mod step;
pub mod tanh;
pub mod twofold;
pub mod value;
