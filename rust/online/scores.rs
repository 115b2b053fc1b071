//! Activations of many rows, split over threads by rows.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::arith::{finite::FirstLargest, simd::dispatch};
use crate::base::{Monitor, NUMBERS, Result, bail, filled};
use crate::rows::{Arranged, Rows, arranged_otherwise, row_entries, strip};
use crate::threads::{each, worthwhile};

/// Products between two looks at the monitor.
const PRODUCTS: usize = 4 * NUMBERS;

/// Activations by rule 3, the intercept added last, into `out` (rows x planes). The weights of each plane and
/// column stand by plane or by column.
///
/// # Panics
/// If `out` has another length.
pub fn scores(
    rows: &dyn Rows,
    coef: Arranged,
    intercept: &[f64],
    threads: usize,
    monitor: &dyn Monitor,
    out: &mut [f64],
) -> Result<()> {
    let (n, planes) = (rows.len(), intercept.len());
    if planes == 0 || !coef.has_shape(planes, rows.columns()) {
        let columns = rows.columns();
        bail!("coef must hold {planes} x {columns} weights, got {}", coef.len());
    }
    assert_eq!(out.len(), n * planes);
    let threads = worthwhile(threads, rows.entries(0..n).saturating_mul(planes));
    if is_in_groups(rows, planes, threads) {
        return in_groups(rows, &coef, intercept, threads, monitor, out);
    }
    let weights = rows.arrange(coef, planes, n, monitor)?;
    over_threads(rows, planes, threads, monitor, out, |range, out| {
        rows.scores(range, &weights, intercept, out)
    })
}

/// The plane whose activation is the first largest, of each row. False: not all are finite, so these mean nothing.
///
/// # Panics
/// If `out` has another length.
pub fn first_largest(
    rows: &dyn Rows,
    coef: Arranged,
    intercept: &[f64],
    threads: usize,
    monitor: &dyn Monitor,
    out: &mut [i64],
) -> Result<bool> {
    let (n, planes) = (rows.len(), intercept.len());
    assert_eq!(out.len(), n);
    let needed = worthwhile(threads, rows.entries(0..n).saturating_mul(planes));
    if planes == 0 || !coef.has_shape(planes, rows.columns()) || is_in_groups(rows, planes, needed) {
        let mut all = filled(0.0, n * planes)?;
        scores(rows, coef, intercept, threads, monitor, &mut all)?;
        return Ok(dispatch(FirstLargest { numbers: &all, out }));
    }
    let (weights, finite) = (rows.arrange(coef, planes, n, monitor)?, AtomicBool::new(true));
    over_threads(rows, planes, needed, monitor, out, |range, out| {
        let few = (CACHED / planes).max(LEAST);
        let mut room = filled(0.0, few.min(range.len()) * planes)?;
        for (start, out) in range.step_by(few).zip(out.chunks_mut(few)) {
            let numbers = &mut room[..out.len() * planes];
            rows.scores(start..start + out.len(), &weights, intercept, numbers)?;
            if !dispatch(FirstLargest { numbers, out }) {
                finite.store(false, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(finite.into_inner())
}

/// Activations that are looked at before others take their place in the cache; of so many rows at least.
const CACHED: usize = 1 << 15;
const LEAST: usize = 32;

/// Whether planes are shared out, not rows.
fn is_in_groups(rows: &dyn Rows, planes: usize, threads: usize) -> bool {
    rows.len() < threads || row_entries(rows).saturating_mul(planes) > PRODUCTS
}

/// Fills what belongs to the rows, split over the threads.
fn over_threads<T: Send>(
    rows: &dyn Rows,
    planes: usize,
    threads: usize,
    monitor: &dyn Monitor,
    out: &mut [T],
    fill: impl Fn(Range<usize>, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    let (strip, width) = (rows.len().div_ceil(threads).max(1), out.len() / rows.len().max(1));
    each(out.chunks_mut(strip * width.max(1)).enumerate(), threads, monitor, |(i, out)| {
        let first = i * strip;
        in_strips(rows, first..first + out.len() / width, planes, monitor, out, &fill)
    })
}

/// The same for fewer rows than threads, or for very long ones: some planes after another.
fn in_groups(
    rows: &dyn Rows,
    coef: &Arranged,
    intercept: &[f64],
    threads: usize,
    monitor: &dyn Monitor,
    out: &mut [f64],
) -> Result<()> {
    let (n, d, planes) = (rows.len(), rows.columns(), intercept.len());
    let group = (PRODUCTS / row_entries(rows).max(1)).clamp(1, planes.div_ceil(threads));
    let group = group.next_multiple_of(coef.together());
    let mut scores = filled(0.0, n * planes)?;
    each(scores.chunks_mut((n * group).max(1)).enumerate(), threads, monitor, |(i, scores)| {
        let own = i * group..i * group + scores.len() / n;
        let coef = coef.of_planes(own.clone(), d).ok_or_else(arranged_otherwise)?;
        let weights = rows.arrange(coef, own.len(), n, monitor)?;
        in_strips(rows, 0..n, own.len(), monitor, scores, |range, out| {
            rows.scores(range, &weights, &intercept[own.clone()], out)
        })
    })?;
    for (i, scores) in scores.chunks((n * group).max(1)).enumerate() {
        for (out, scores) in out.chunks_mut(planes).zip(scores.chunks(scores.len() / n)) {
            out[i * group..][..scores.len()].copy_from_slice(scores);
        }
    }
    Ok(())
}

/// Rows that are scored together, if that does not take too long: they share what it takes to read the weights.
const TOGETHER: usize = 64;

/// Fills the scores of some rows, or what is made of them, with looks at the monitor in between.
pub(super) fn in_strips<T>(
    rows: &dyn Rows,
    mut range: Range<usize>,
    planes: usize,
    monitor: &dyn Monitor,
    mut out: &mut [T],
    fill: impl Fn(Range<usize>, &mut [T]) -> Result<()>,
) -> Result<()> {
    let width = out.len() / range.len().max(1);
    let row = row_entries(rows).saturating_mul(planes);
    let most = if row > PRODUCTS / 2 { PRODUCTS } else { (TOGETHER * row).clamp(PRODUCTS, 8 * PRODUCTS) };
    while !range.is_empty() {
        let mut strip = range.clone();
        while strip.len() > 1 && rows.entries(strip.clone()).saturating_mul(planes) > most {
            strip.end = strip.start + strip.len() / 2;
        }
        fill(strip.clone(), out.split_off_mut(..strip.len() * width).unwrap_or_default())?;
        range.start = strip.end;
        if !range.is_empty() {
            monitor.pause()?;
        }
    }
    Ok(())
}

/// A number for each row; the monitor is asked between strips of them.
pub(crate) fn of_each_row(
    rows: &dyn Rows,
    threads: usize,
    monitor: &dyn Monitor,
    fill: impl Fn(Range<usize>, &mut [f64]) -> Result<()> + Sync,
) -> Result<Vec<f64>> {
    let (mut all, often) = (filled(0.0, rows.len())?, strip(rows));
    let threads = worthwhile(threads, rows.entries(0..rows.len()));
    each(all.chunks_mut(often).enumerate(), threads, monitor, |(i, out)| {
        fill(i * often..i * often + out.len(), out)
    })?;
    Ok(all)
}
