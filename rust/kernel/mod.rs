//! The kernel perceptron: the perceptron on the rows of a Gram matrix.
//!
//! - [`kernels`]: from dot products to kernel values
//! - [`gram`]: dot products of many rows with many rows
//! - [`cache`]: a cache of rows of the Gram matrix
//! - [`train`]: the sums of all examples, kept up to date; a [`crate::online::Run`] goes over them
//! - [`window`]: the examples that are visited next
//! - [`support_set`], [`pool`], [`budget`], [`kept`]: at most so many examples, where they are, the runs that
//!   keep them, and the arrays of a state
//! - [`predict`]: the vectors of a run on new rows

mod budget;
mod cache;
mod gram;
mod kept;
mod kernels;
mod pool;
mod predict;
mod products;
mod support_set;
mod train;
mod window;

pub use budget::{BudgetRows, Budgeted};
pub use gram::{GramForm, kernel_matrix, scale_gamma};
pub use kept::Kept;
pub use kernels::Kernel;
pub use predict::{Answer, SupportVectors, predict};
pub use support_set::{Budget, Policy, SupportSet, Values};
pub use train::{Dual, DualRows, Norms, RowSource};
