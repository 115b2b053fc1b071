//! The checks of a CSR matrix, and what its leaves need to know of it.

use std::ops::Range;

use crate::arith::integers::{all_integers, sizes};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::arith::value::{Index, Value};
use crate::error::{Error, Result};
use crate::monitor::{Monitor, pieces};
use crate::rows::check_len;
use crate::rows::weights::planes::Magnitude;

/// What one pass over the arrays found out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// Columns of every row are sorted and unique.
    pub canonical: bool,
    /// Every value is 1.
    pub ones: bool,
    /// Bounds, if every value is an integer (rule 10).
    pub magnitude: Option<Magnitude>,
    /// No finite |value| is larger.
    pub largest: f64,
    /// No row has more entries.
    pub longest: usize,
}

impl Facts {
    /// Refuses arrays that are no CSR matrix of so many columns.
    pub fn find<T: Value, I: Index>(
        indptr: &[I],
        indices: &[I],
        values: &[T],
        columns: usize,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        check_shape(indptr, indices, values, monitor)?;
        let rows = indptr.len() - 1;
        check_len(rows)?;
        let bound = if T::LARGEST.is_finite() { T::LARGEST } else { 0.0 };
        let magnitude = Some(Magnitude::default());
        let mut found = Self { canonical: true, ones: true, magnitude, largest: bound, longest: 0 };
        for range in pieces(rows, values.len() / rows.max(1) + 1, monitor) {
            dispatch(Look { indptr, indices, values, columns, range: range?, found: &mut found })?;
        }
        Ok(found)
    }
}

/// One look at the entries of some rows, of arrays whose shapes fit.
struct Look<'a, T, I> {
    indptr: &'a [I],
    indices: &'a [I],
    values: &'a [T],
    columns: usize,
    range: Range<usize>,
    /// Of all rows before.
    found: &'a mut Facts,
}

impl<T: Value, I: Index> Leaf for Look<'_, T, I> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Result<()> {
        let Self { indptr, indices, values, columns, range, found } = self;
        let first = range.start;
        let indptr = &indptr[first..=range.end];
        found.canonical &= check_columns(indptr, indices, columns, first)?;
        found.longest = longest(indptr).max(found.longest);
        let ones = all_ones(&values[indptr[0].at()..indptr[range.len()].at()]);
        found.ones &= ones;
        if T::LARGEST.is_infinite() {
            found.largest = largest(&values[indptr[0].at()..indptr[range.len()].at()], found.largest);
        }
        if let Some(before) = found.magnitude {
            found.magnitude = magnitude(indptr, values, ones, before);
        }
        Ok(())
    }
}

/// The most entries of a row.
#[inline(always)]
pub(in crate::rows) fn longest<I: Index>(indptr: &[I]) -> usize {
    indptr.iter().zip(indptr.iter().skip(1)).fold(0, |most, (start, end)| most.max(end.at() - start.at()))
}

fn check_shape<T: Value, I: Index>(
    indptr: &[I],
    indices: &[I],
    values: &[T],
    monitor: &dyn Monitor,
) -> Result<()> {
    let invalid = |text: String| Err(Error::Invalid(text));
    if indices.len() != values.len() {
        return invalid(format!(
            "indices and values must have equal lengths, got {} and {}",
            indices.len(),
            values.len()
        ));
    }
    let (Some(first), Some(last)) = (indptr.first(), indptr.last()) else {
        return invalid("indptr must have one entry more than there are rows, got none".into());
    };
    if first.at() != 0 {
        return invalid(format!("indptr must start at 0, got {}", first.at() as isize));
    }
    for rows in pieces(indptr.len() - 1, 1, monitor) {
        if let Some(i) = rows?.find(|&i| indptr[i].at() > indptr[i + 1].at()) {
            return invalid(format!(
                "indptr must not be negative or decrease, got {} after {} at row {i}",
                indptr[i + 1].at() as isize,
                indptr[i].at() as isize
            ));
        }
    }
    if last.at() != indices.len() {
        return invalid(format!(
            "indptr must end at the number of stored entries, {}, got {}",
            indices.len(),
            last.at() as isize
        ));
    }
    Ok(())
}

/// Where each row begins and ends.
#[inline(always)]
fn extents<I: Index>(indptr: &[I]) -> impl Iterator<Item = (usize, usize)> {
    indptr.windows(2).map(|pair| (pair[0].at(), pair[1].at()))
}

/// Entries that are looked at at once, to stay in the cache while they are.
const BLOCK: usize = 4096;

/// The ends of some rows at a time, with the number of the first row.
#[inline(always)]
fn blocks<I: Index>(indptr: &[I]) -> impl Iterator<Item = (usize, &[I])> {
    let rows = indptr.len() - 1;
    let often = (BLOCK / ((indptr[rows].at() - indptr[0].at()) / rows.max(1) + 1)).max(1);
    (0..rows).step_by(often).map(move |first| (first, &indptr[first..=rows.min(first + often)]))
}

/// Refuses columns out of range; true if every row is sorted without duplicates. The first row has the number
/// `offset`.
#[inline(always)]
fn check_columns<I: Index>(indptr: &[I], indices: &[I], columns: usize, offset: usize) -> Result<bool> {
    let mut canonical = true;
    for (first, block) in blocks(indptr) {
        let sorted = are_sorted(block, indices);
        canonical &= sorted;
        for (i, (start, end)) in extents(block).enumerate() {
            let row = &indices[start..end];
            let outside = |j: &&I| j.at() >= columns;
            // Of a sorted row the first and the last column tell all.
            let outside = match row {
                [first, .., last] if sorted => [first, last].into_iter().find(outside),
                row => row.iter().find(outside),
            };
            if let Some(j) = outside {
                return Err(Error::Invalid(format!(
                    "indices of row {} must be at least 0 and below the number of columns, {columns}, got {}",
                    offset + first + i,
                    j.at() as isize
                )));
            }
        }
    }
    Ok(canonical)
}

/// Whether some rows, with these ends, are sorted without duplicates.
#[inline(always)]
fn are_sorted<I: Index>(indptr: &[I], indices: &[I]) -> bool {
    let (first, last) = (indptr[0].at(), indptr[indptr.len() - 1].at());
    let own = &indices[first..last];
    // One comparison of neighbours over all rows, which vectorises; those that are the last of a row and the
    // first of the next do not count.
    let mut drops = 0_usize;
    for (now, later) in own.chunks(BLOCK).zip(own.get(1..).unwrap_or(&[]).chunks(BLOCK)) {
        drops += now.iter().zip(later).fold(0_u32, |n, (j, next)| n + u32::from(j >= next)) as usize;
    }
    let starts = extents(indptr).filter(|&(start, end)| first < start && start < end);
    drops == starts.filter(|&(start, _)| indices[start - 1] >= indices[start]).count()
}

/// Whether every value is 1, in chunks that vectorise.
#[inline(always)]
fn all_ones<T: Value>(values: &[T]) -> bool {
    values.chunks(4096).all(|chunk| chunk.iter().fold(true, |ones, v| ones & (v.widen() == 1.0)))
}

/// The largest |value|, in chunks that vectorise; NaN counts for nothing.
#[inline(always)]
fn largest<T: Value>(values: &[T], least: f64) -> f64 {
    let mut lanes = [least; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for (lane, v) in lanes.iter_mut().zip(chunk) {
            let size = v.widen().abs();
            *lane = if size > *lane { size } else { *lane };
        }
    }
    let rest = rest.iter().fold(least, |most, v| most.max(v.widen().abs()));
    lanes.iter().fold(rest, |most, lane| most.max(*lane))
}

/// Bounds of the values and of those before, if all are integers.
#[inline(always)]
fn magnitude<T: Value, I: Index>(
    indptr: &[I],
    values: &[T],
    ones: bool,
    mut found: Magnitude,
) -> Option<Magnitude> {
    // Loops: a closure would be compiled without the instruction set of the leaf.
    for (_, block) in blocks(indptr) {
        if !ones && !all_integers(&values[block[0].at()..block[block.len() - 1].at()]) {
            return None;
        }
        for (start, end) in extents(block) {
            found = found.with(if ones { [1.0, (end - start) as f64] } else { sizes(&values[start..end]) });
        }
    }
    Some(found)
}
