//! Scores of dense rows, from each form of the weights.

use std::array::from_fn;
use std::ops::Range;

use super::loops::{GROUP, activations, exact_activations};
use crate::arith::dot::{FourSums, LANES, add_columns, dots, folded};
use crate::arith::exact::{self, Halves};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::arith::tile::products;
use crate::arith::value::Value;
use crate::error::Result;
use crate::memory::filled;
use crate::rows::pass::prefetch::{Hints, prefetch, prefetch_into};
use crate::rows::{Dense, arranged_otherwise};

/// Bytes of a row that is scored with others at once.
pub(super) const SHORT: usize = 512;

/// Columns of which the weights of all planes stay in the cache while they are read plane by plane.
const TILE: usize = 128;

/// `w·x` of a row for planes whose weights stand by column. `room` has place for the lanes of all of them.
#[inline(always)]
fn activations_by_column<S: Simd, T: Value>(
    simd: S,
    x: &[T],
    (w, stride): (&[f64], usize),
    room: &mut [FourSums],
    sums: &mut [f64],
) {
    let mut wide = [0.0; TILE];
    room.fill([[0.0; 4]; LANES]);
    for (x, w) in x.chunks(TILE).zip(w.chunks(TILE * stride)) {
        let x = T::widened(x, &mut wide);
        for (four, lanes) in room.iter_mut().enumerate() {
            add_columns(simd, x, w, (stride, 4 * four), lanes);
        }
    }
    for (sums, lanes) in sums.chunks_mut(4).zip(room) {
        sums.copy_from_slice(&folded(lanes)[..sums.len()]);
    }
}

/// Rows and planes from which on tiles pay.
const ROWS: usize = 16;
const PLANES: usize = 3;

/// Numbers of rows, and of their scores, that are worked on at a time: they stay in the second cache.
const CACHED: usize = 1 << 15;

pub(super) fn suits_tiles(rows: usize, planes: usize) -> bool {
    rows >= ROWS && planes >= PLANES
}

/// Scores by tiles of rows and planes, which stand by plane.
pub(super) fn in_tiles<T: Value>(
    rows: &Dense<T>,
    range: Range<usize>,
    vectors: &[f64],
    intercept: &[f64],
    out: &mut [f64],
) -> Result<()> {
    let (columns, planes) = (rows.columns, intercept.len());
    let block = (CACHED / columns.max(planes)).max(ROWS).min(range.len());
    let mut wide = filled(0.0, if size_of::<T>() < size_of::<f64>() { block * columns } else { 0 })?;
    for (start, out) in range.step_by(block).zip(out.chunks_mut(block * planes)) {
        let x = &rows.values[start * columns..][..out.len() / planes * columns];
        let x = dispatch(Widened(x, &mut wide));
        products(x, vectors, columns, out)?;
        for sums in out.chunks_mut(planes) {
            sums.iter_mut().zip(intercept).for_each(|(sum, b)| *sum += b);
        }
    }
    Ok(())
}

struct Widened<'a, T>(&'a [T], &'a mut [f64]);

impl<'a, T: Value> Leaf for Widened<'a, T> {
    type Output = &'a [f64];

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> &'a [f64] {
        T::widened(self.0, self.1)
    }
}

/// One plane in a form that suits dense rows.
trait OnePlane<T>: Copy {
    /// `w·x` of some rows, which are [`OnePlane::reach`] long.
    fn dots<S: Simd, const N: usize>(self, simd: S, rows: [&[T]; N]) -> [f64; N];

    fn reach(columns: usize) -> usize;
}

impl<T: Value> OnePlane<T> for &[f64] {
    #[inline(always)]
    fn dots<S: Simd, const N: usize>(self, simd: S, rows: [&[T]; N]) -> [f64; N] {
        dots(simd, rows, self)
    }

    fn reach(columns: usize) -> usize {
        columns
    }
}

impl<T: Value> OnePlane<T> for &Halves {
    #[inline(always)]
    fn dots<S: Simd, const N: usize>(self, simd: S, rows: [&[T]; N]) -> [f64; N] {
        exact::dots_of_rows(simd, self, rows)
    }

    fn reach(columns: usize) -> usize {
        Halves::reach(columns)
    }
}

/// The forms of [`Arranged`] that suit dense rows.
pub(super) enum DenseWeights<'a> {
    ByPlane(&'a [f64]),
    ByColumn(&'a [f64], usize),
    Halves(&'a [Halves]),
}

pub(super) struct RowScores<'a, T> {
    pub rows: &'a Dense<'a, T>,
    pub range: Range<usize>,
    pub weights: DenseWeights<'a>,
    pub intercept: &'a [f64],
    pub out: &'a mut [f64],
}

impl<T: Value> Leaf for RowScores<'_, T> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Result<()> {
        let Self { rows, range, weights, intercept, out } = self;
        if let [b] = *intercept {
            match weights {
                DenseWeights::ByPlane(w) => return one_plane(simd, rows, range.start, w, b, out),
                // The guard is a constant: the loop is compiled for bytes alone.
                DenseWeights::Halves(w) if T::BYTE => {
                    return one_plane(simd, rows, range.start, &w[0], b, out);
                }
                DenseWeights::Halves(_) => return Err(arranged_otherwise()),
                DenseWeights::ByColumn(..) => {}
            }
        }
        let (columns, fours) = (rows.columns, intercept.len().div_ceil(4));
        let mut wide = filled(0.0, if matches!(weights, DenseWeights::ByPlane(_)) { columns } else { 0 })?;
        let mut lanes =
            filled([[0.0; 4]; LANES], if matches!(weights, DenseWeights::ByColumn(..)) { fours } else { 0 })?;
        let mut spare =
            rows.spare(if matches!(weights, DenseWeights::Halves(_)) { Halves::reach(columns) } else { 0 })?;
        let hints = Hints::of(size_of_val(rows.values), rows.len, true, intercept.len());
        for (row, sums) in range.zip(out.chunks_mut(intercept.len())) {
            if let Some((ahead, hint)) = hints.early
                && row + ahead < rows.len
            {
                prefetch_into(rows.row(row + ahead), hint);
            }
            match weights {
                DenseWeights::Halves(planes) => {
                    exact_activations(simd, rows.row_and_more(row, &mut spare), planes, sums);
                }
                DenseWeights::ByPlane(w) => activations(simd, rows.row(row), &mut wide, w, sums),
                DenseWeights::ByColumn(w, stride) => {
                    activations_by_column(simd, rows.row(row), (w, stride), &mut lanes, sums);
                }
            }
            for (sum, b) in sums.iter_mut().zip(intercept) {
                *sum += b;
            }
        }
        Ok(())
    }
}

/// Scores of one plane, of the rows from `start` on: of short ones four at once, which share each load of
/// the weights, and the additions of one need not wait for each other. Longer rows, and rows for many planes,
/// take longer so.
#[inline(always)]
fn one_plane<S: Simd, T: Value, W: OnePlane<T>>(
    simd: S,
    rows: &Dense<T>,
    start: usize,
    w: W,
    b: f64,
    out: &mut [f64],
) -> Result<()> {
    let d = rows.columns;
    let reach = W::reach(d);
    let mut spare = rows.spare(reach)?;
    let mut values = &rows.values[start * d..];
    let (fours, _) = out.as_chunks_mut::<GROUP>();
    let mut done = 0;
    if 0 < d && d * size_of::<T>() <= SHORT {
        for sums in fours {
            let Some(four) = values.get(..(GROUP - 1) * d + reach) else { break };
            if let Some(soon) = values.get(2 * GROUP * d..3 * GROUP * d) {
                prefetch(soon);
            }
            *sums = w.dots(simd, from_fn(|k| &four[k * d..][..reach])).map(|sum| sum + b);
            values = &values[GROUP * d..];
            done += GROUP;
        }
    }
    let early = Hints::of(size_of_val(rows.values), rows.len, true, 1).early;
    for (row, sum) in (start + done..).zip(&mut out[done..]) {
        if let Some((ahead, hint)) = early
            && row + ahead < rows.len
        {
            prefetch_into(rows.row(row + ahead), hint);
        }
        *sum = w.dots(simd, [rows.row_and_more(row, &mut spare)])[0] + b;
    }
    Ok(())
}
