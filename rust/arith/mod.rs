//! The arithmetic contract. No other module adds or multiplies learned numbers.

pub mod environment;
