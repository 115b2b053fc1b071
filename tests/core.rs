//! The tests of the core from outside, as one binary: each binary compiles every leaf that it uses anew,
//! which takes minutes.

mod asking;
mod environment;
mod exact;
mod fuzzed;
mod golden;
mod golden_kernels;
mod golden_margins;
mod instruction_sets;
mod margin;
mod model;
mod pocket;
mod resume;
mod rules;
mod support;
mod text;
