//! Activations of many rows, split over threads by rows.

use std::ops::Range;

use super::threads::{each, worthwhile};
use crate::error::{Error, Result};
use crate::memory::filled;
use crate::monitor::Monitor;
use crate::rows::Rows;

/// Products between two looks at the monitor: some milliseconds.
pub(super) const PRODUCTS: usize = 1 << 22;

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
    monitor: &dyn Monitor,
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
    let threads = worthwhile(threads, rows.entries(0..n).saturating_mul(planes));
    if rows.entries(0..n) <= rows.columns() {
        return plane_by_plane(rows, coef, intercept, threads, monitor, out);
    }
    let weights = rows.arrange(coef, planes, monitor)?;
    let strip = n.div_ceil(threads);
    let strips = out.chunks_mut(strip * planes).enumerate();
    each(strips, threads, monitor, |(i, out)| {
        let first = i * strip;
        in_strips(rows, first..first + out.len() / planes, planes, monitor, out, |range, out| {
            rows.scores(range, &weights, intercept, out)
        })
    })
}

/// The same for rows that have fewer entries than there are columns: the weights are read where they stand,
/// for to arrange them would take longer.
fn plane_by_plane(
    rows: &dyn Rows,
    coef: &[f64],
    intercept: &[f64],
    threads: usize,
    monitor: &dyn Monitor,
    out: &mut [f64],
) -> Result<()> {
    let (n, d, planes) = (rows.len(), rows.columns(), intercept.len());
    if planes == 1 {
        monitor.pause()?;
        return rows.scores_of_one(0..n, coef, intercept[0], out);
    }
    let mut scores = filled(0.0, n * planes)?;
    each(scores.chunks_mut(n.max(1)).enumerate(), threads, monitor, |(k, scores)| {
        rows.scores_of_one(0..n, &coef[k * d..][..d], intercept[k], scores)
    })?;
    for (i, out) in out.chunks_mut(planes).enumerate() {
        for (out, score) in out.iter_mut().zip(scores[i..].iter().step_by(n)) {
            *out = *score;
        }
    }
    Ok(())
}

/// Fills the scores of some rows, with looks at the monitor in between.
pub(super) fn in_strips(
    rows: &dyn Rows,
    mut range: Range<usize>,
    planes: usize,
    monitor: &dyn Monitor,
    mut out: &mut [f64],
    fill: impl Fn(Range<usize>, &mut [f64]) -> Result<()>,
) -> Result<()> {
    while !range.is_empty() {
        let mut strip = range.clone();
        while strip.len() > 1 && rows.entries(strip.clone()).saturating_mul(planes) > PRODUCTS {
            strip.end = strip.start + strip.len() / 2;
        }
        let (here, rest) = std::mem::take(&mut out).split_at_mut(strip.len() * planes);
        fill(strip.clone(), here)?;
        (range.start, out) = (strip.end, rest);
        if !range.is_empty() {
            monitor.pause()?;
        }
    }
    Ok(())
}
