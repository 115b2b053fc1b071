//! A pass over examples: its settings and labels, its loop, prefetching, and its log.

pub mod joint;
pub mod labels;
pub mod learn;
pub mod noise;
pub mod prefetch;
pub mod visit;
