//! The tests of the core from outside: they use what is public, by the name of the crate. `rust/lib.rs` says
//! why they are no binary of their own.

mod allocation;
mod environment;
mod exact;
mod fuzzed;
mod golden;
mod golden_kernels;
mod golden_margins;
mod instruction_sets;
mod interrupts;
mod margin;
mod model;
mod pocket;
mod resume;
mod rules;
mod support;
mod text;
