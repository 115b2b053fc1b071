//! Products of rows and weights: the loops that take most of the time of a fit.
//!
//! [`dot`], [`tile`], [`by_lane`] and [`axpy`] in the order of the contract; [`exact`] and [`gram`] in integers, in any order, where
//! [`integers`] and a bound prove that it is the same.

pub mod axpy;
pub mod by_lane;
pub mod dot;
pub mod exact;
pub mod gram;
pub mod integers;
pub mod tile;
