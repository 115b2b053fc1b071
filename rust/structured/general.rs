//! The structured perceptron on any structure: weights and sums for a caller who searches.
//!
//! - Problem: y^ = the y with the largest w.Phi(x, y); the caller computes Phi and finds y^.
//! - Update rule: if y^ is wrong, `w = w + c Phi(x, y)`, then `w = w - c Phi(x, y^)`; at the t-th example
//!   also t c to the sums u. Column by column, c = eta0.
//! - Given: the features of both, as columns and values; c and t.
//! - Result: w and u.
//! - Paper: M. Collins, "Discriminative training methods for hidden Markov models", EMNLP 2002: figure 1.

use crate::arith::{average::timed, axpy::axpy_entries};
use crate::base::{Error, Result, bail, ensure};

/// Features of a structure: columns, each below the number of weights, and their values.
pub type Features<'a> = (&'a [i64], &'a [f64]);

pub fn mend(
    w: &mut [f64],
    u: &mut [f64],
    (truth, answer): (Features, Features),
    c: f64,
    t: u64,
) -> Result<()> {
    let tc = timed(t, c);
    if !tc.is_finite() {
        return Err(Error::TooLarge("step times t is not finite; lower eta0".into()));
    }
    ensure!(u.len() == w.len(), "w and u must have equal lengths, got {} and {}", w.len(), u.len());
    for (columns, values) in [truth, answer] {
        ensure!(columns.len() == values.len(), "columns and values must have equal lengths");
        if let Some(j) = columns.iter().find(|j| !usize::try_from(**j).is_ok_and(|j| j < w.len())) {
            bail!("columns must be at least 0 and below the number of weights, {}, got {j}", w.len());
        }
    }
    for (c, out) in [(c, w), (tc, u)] {
        axpy_entries(c, truth.0, truth.1, out, (1, 0));
        axpy_entries(-c, answer.0, answer.1, out, (1, 0));
    }
    Ok(())
}
