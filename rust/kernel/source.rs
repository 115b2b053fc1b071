//! Rows of a Gram matrix that somebody else computes.

/// Gives the rows of a Gram matrix of n examples, when they are needed. It is asked on the thread that called
/// [`crate::online::Run::epoch`], for one row at a time; not again for a row in the cache.
pub trait RowSource: Sync {
    /// Puts the kernel values of every example with this one into `out` (n), the same ones each time. False
    /// if it cannot: the run then ends with an error, and nothing of it is kept.
    fn row(&self, number: usize, out: &mut [f64]) -> bool;
}
