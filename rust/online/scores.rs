//! Activations of many rows, split over threads by rows.

use super::threads::share_out;
use crate::error::{Error, Result, probe_memory};
use crate::rows::Rows;

/// Rows for which a thread is worth its start.
const LEAST: usize = 256;

/// Activations by rule 3, the intercept added last, into `out` (rows x planes). `coef` is planes x
/// columns.
///
/// # Panics
/// If `out` has another length.
pub fn scores(
    rows: &dyn Rows,
    coef: &[f64],
    intercept: &[f64],
    threads: usize,
    out: &mut [f64],
) -> Result<()> {
    let (n, planes) = (rows.len(), intercept.len());
    if planes == 0 || coef.len() != planes * rows.columns() {
        return Err(Error::Invalid(format!(
            "coef must hold {planes} x {} weights, got {}",
            rows.columns(),
            coef.len()
        )));
    }
    assert_eq!(out.len(), n * planes);
    probe_memory(coef.len().checked_mul(16))?;
    let weights = rows.arrange(coef, planes);
    let strip = n.div_ceil(threads.max(1)).max(LEAST);
    let strips = out.chunks_mut(strip * planes).enumerate();
    let threads = threads.min(strips.len());
    let run = |(i, out): (usize, &mut [f64])| {
        let first = i * strip;
        rows.scores(first..first + out.len() / planes, &weights, intercept, out);
    };
    share_out(strips, threads, run, || ());
    Ok(())
}
