//! Activations of many rows, split over threads by rows.

use std::thread;

use crate::arith::environment::Standard;
use crate::error::{Error, Result};
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
    let arranged = rows.arrange(coef, planes);
    let strip = n.div_ceil(threads.max(1)).max(LEAST);
    let run = |i: usize, out: &mut [f64]| {
        let _standard = Standard::enter();
        let first = i * strip;
        rows.scores(first..first + out.len() / planes, &arranged, intercept, out);
    };
    let mut strips = out.chunks_mut(strip * planes).enumerate();
    thread::scope(|scope| {
        let own = strips.next();
        for (i, out) in strips {
            scope.spawn(move || run(i, out));
        }
        if let Some((i, out)) = own {
            run(i, out);
        }
    });
    Ok(())
}
