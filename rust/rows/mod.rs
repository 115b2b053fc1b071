//! Examples in their storage, and the leaves: the only code that is generic over storage and
//! instruction set.
//!
//! A leaf runs over examples until something needs attention, makes the plain update and logs the
//! mistakes. It knows no learner; a learner never sees a storage type.

mod csr;
mod dense;
mod learn;
mod planes;
mod prefetch;
mod visit;

use std::ops::Range;

pub use csr::{Csr, Facts};
pub use dense::Dense;
pub use planes::{Head, Planes};
pub use visit::{Cursor, Mistake, Stop, Tie, Visit, integer_step};

/// Checked, immutable examples. Object safe: everything above this trait is compiled once.
pub trait Rows: Sync {
    /// Number of examples.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn columns(&self) -> usize;

    /// How many examples fit in a block: few enough that those of its log are still in cache.
    fn block(&self) -> usize;

    /// Brings the weights into the form that [`Rows::learn`] is fastest on.
    fn prepare(&self, visit: &Visit, planes: &mut Planes);

    /// Visits positions `at.pos..end` of the order: updates the planes at each mistake, logs it,
    /// and advances the cursor. On [`Stop::Overflow`] the planes are not to be used further.
    fn learn(
        &self,
        visit: &Visit,
        at: &mut Cursor,
        end: usize,
        planes: &mut Planes,
        log: &mut Vec<Mistake>,
    ) -> Stop;

    /// `out += c*x` for one row.
    fn axpy(&self, row: usize, c: f64, out: &mut [f64]);

    /// Weights (K x columns) in the form that [`Rows::scores`] wants.
    fn arrange(&self, coef: &[f64], planes: usize) -> Vec<f64>;

    /// Activations of some rows under all planes, row by row, by rule 3.
    fn scores(&self, rows: Range<usize>, arranged: &[f64], intercept: &[f64], out: &mut [f64]);
}
