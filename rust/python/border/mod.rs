//! What all bindings use: arrays and rows in; errors and signals out.

mod arrays;
mod call;
mod errors;
mod rows;
mod signals;

pub use arrays::*;
pub use call::*;
pub use rows::*;
pub use signals::Signals;
