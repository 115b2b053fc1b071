//! What all bindings use: arrays and rows in; errors and signals out.

pub mod arrays;
pub mod call;
mod errors;
pub mod rows;
pub mod signals;
