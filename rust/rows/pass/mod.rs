//! A pass over examples: what is told, the loop, what it asks for ahead, and what it reports.

pub mod joint;
pub mod labels;
pub mod learn;
pub mod noise;
pub mod prefetch;
pub mod visit;
