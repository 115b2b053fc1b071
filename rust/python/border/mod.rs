//! What all bindings use: arrays, rows and words in; errors and signals out.

pub mod arrays;
pub mod call;
pub mod choices;
mod errors;
pub mod rows;
pub mod signals;
