//! The checks of a CSR matrix, and what its leaves need to know of it.

use std::ops::Range;
use std::sync::OnceLock;

use crate::arith::integers::{all_integers, sizes};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::arith::value::{Index, Value};
use crate::error::{Error, Result};
use crate::monitor::{Monitor, all, pieces};
use crate::rows::check_len;
use crate::rows::weights::planes::Magnitude;

/// What is known of the arrays: of columns at once; of values when it is asked for, which most predictions do not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Columns of every row are sorted and unique.
    pub canonical: bool,
    /// No row has more entries.
    pub longest: usize,
    whole: OnceLock<Whole>,
    largest: OnceLock<f64>,
}

/// What is known of values as integers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Whole {
    /// Every value is 1.
    pub ones: bool,
    /// Bounds, if every value is an integer (rule 10).
    pub magnitude: Option<Magnitude>,
}

/// Bounds of rows with which weights may be so large that to add up each row would gain nothing.
const SMALL: f64 = 1024.0;

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
        let mut found = Self { canonical: true, ..Self::default() };
        for range in pieces(rows, values.len() / rows.max(1) + 1, monitor) {
            dispatch(Look { indptr, indices, columns, range: range?, found: &mut found })?;
        }
        Ok(found)
    }

    /// Of sound rows with these ends, at whose values nobody has looked.
    pub(in crate::rows) fn of_columns<I: Index>(indptr: &[I]) -> Self {
        let (whole, largest) = (Whole::default().into(), f64::INFINITY.into());
        Self { canonical: true, longest: longest(indptr), whole, largest }
    }

    /// The values as integers: those of the first call.
    pub(super) fn whole<T: Value, I: Index>(
        &self,
        indptr: &[I],
        values: &[T],
        monitor: &dyn Monitor,
    ) -> Result<Whole> {
        if let Some(known) = self.whole.get() {
            return Ok(*known);
        }
        let longest = self.longest as f64;
        let mut found = Whole { ones: all(values, all_ones, monitor)?, magnitude: None };
        if found.ones {
            found.magnitude = Some(Magnitude { value: 1.0, row: longest });
        } else if all(values, |values| dispatch(Integers(values)), monitor)? {
            let value = largest(values, monitor)?;
            let mut size = Magnitude { value, row: value * longest };
            if size.row > SMALL {
                size = Magnitude::default();
                for rows in pieces(indptr.len() - 1, values.len() / indptr.len() + 1, monitor) {
                    for (start, end) in rows?.map(|i| (indptr[i].at(), indptr[i + 1].at())) {
                        size = size.with(sizes(&values[start..end]));
                    }
                }
            }
            found.magnitude = Some(size);
        }
        Ok(*self.whole.get_or_init(|| found))
    }

    /// No finite |value| is larger: of those of the first call.
    pub(super) fn largest<T: Value>(&self, values: &[T], monitor: &dyn Monitor) -> Result<f64> {
        if T::LARGEST.is_finite() {
            return Ok(T::LARGEST);
        }
        if let Some(known) = self.largest.get() {
            return Ok(*known);
        }
        let of_integers = self.whole.get().and_then(|whole| whole.magnitude);
        let found = of_integers.map_or_else(|| largest(values, monitor), |size| Ok(size.value))?;
        Ok(*self.largest.get_or_init(|| found))
    }
}

/// One look at the columns of some rows, of arrays whose shapes fit.
struct Look<'a, I> {
    indptr: &'a [I],
    indices: &'a [I],
    columns: usize,
    range: Range<usize>,
    /// Of all rows before.
    found: &'a mut Facts,
}

impl<I: Index> Leaf for Look<'_, I> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Result<()> {
        let Self { indptr, indices, columns, range, found } = self;
        let ends = &indptr[range.start..=range.end];
        found.longest = longest(ends).max(found.longest);
        // Some rows at a time, which stay in the cache.
        let often = (BLOCK / ((ends[range.len()].at() - ends[0].at()) / range.len().max(1) + 1)).max(1);
        for first in (0..range.len()).step_by(often) {
            let ends = &ends[first..=range.len().min(first + often)];
            let (sorted, inside) = look(ends, indices, columns);
            found.canonical &= sorted;
            if !inside {
                return Err(outside(ends, indices, columns, range.start + first));
            }
        }
        Ok(())
    }
}

/// The most entries of a row.
#[inline(always)]
fn longest<I: Index>(indptr: &[I]) -> usize {
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
        let mut rows = rows?;
        let pairs = indptr[rows.clone()].iter().zip(&indptr[rows.start + 1..=rows.end]);
        if pairs.fold(0, |falls, (start, end)| falls + u32::from(start > end)) == 0 {
            continue;
        }
        if let Some(i) = rows.find(|&i| indptr[i].at() > indptr[i + 1].at()) {
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

/// Entries that are looked at at once, to stay in the cache while they are.
const BLOCK: usize = 4096;

/// Whether some rows, with these ends, are sorted without duplicates, and have no column outside.
#[inline(always)]
fn look<I: Index>(ends: &[I], indices: &[I], columns: usize) -> (bool, bool) {
    let first = ends[0].at();
    let own = &indices[first..ends[ends.len() - 1].at()];
    let [start, later @ ..] = own else { return (true, true) };
    // One comparison of neighbours over all rows, which vectorises; those that are the last of a row and the
    // first of the next do not count.
    let (mut drops, mut between, mut least, mut most) = (0, 0, *start, *start);
    for (now, later) in own.chunks(BLOCK).zip(later.chunks(BLOCK)) {
        let mut here = 0_u32;
        for (j, next) in now.iter().zip(later) {
            here += u32::from(j >= next);
            (least, most) = (least.min(*next), most.max(*next));
        }
        drops += here as usize;
    }
    if own.len() > 1 {
        for pair in ends.windows(2) {
            let (start, end) = (pair[0].at() - first, pair[1].at() - first);
            // By numbers, not by jumps, which nobody can foresee.
            let at = start.clamp(1, own.len() - 1);
            let counts = usize::from(0 < start) * usize::from(start < end);
            between += counts * usize::from(own[at - 1] >= own[at]);
        }
    }
    // A negative one is huge, too.
    (drops == between, least.at() < columns && most.at() < columns)
}

/// The error of rows of which one has a column outside. The first row has the number `offset`.
#[cold]
fn outside<I: Index>(ends: &[I], indices: &[I], columns: usize, offset: usize) -> Error {
    let found = (offset..).zip(ends.windows(2)).find_map(|(i, pair)| {
        let row = &indices[pair[0].at()..pair[1].at()];
        row.iter().find(|j| j.at() >= columns).map(|j| (i, j.at() as isize))
    });
    let (i, j) = found.unwrap_or_default(); // arrays may be written to meanwhile
    Error::Invalid(format!(
        "indices of row {i} must be at least 0 and below the number of columns, {columns}, got {j}"
    ))
}

struct Integers<'a, T>(&'a [T]);

impl<T: Value> Leaf for Integers<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> bool {
        all_integers(self.0)
    }
}

/// Whether every value is 1, in chunks that vectorise.
pub(super) fn all_ones<T: Value>(values: &[T]) -> bool {
    values.chunks(1024).all(|chunk| chunk.iter().fold(true, |ones, v| ones & (v.widen() == 1.0)))
}

/// The largest |value|; NaN counts for nothing.
fn largest<T: Value>(values: &[T], monitor: &dyn Monitor) -> Result<f64> {
    pieces(values.len(), 1, monitor)
        .try_fold(0.0, |most, piece| Ok(dispatch(Sizes(&values[piece?]))[0].max(most)))
}

struct Sizes<'a, T>(&'a [T]);

impl<T: Value> Leaf for Sizes<'_, T> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> [f64; 2] {
        sizes(self.0)
    }
}
