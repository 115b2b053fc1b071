//! The arithmetic of a search over label sequences: the numbers that scores are kept in, what they start
//! from, and the sums and maxima.

pub mod activation;
pub mod lattice;
pub mod number;
