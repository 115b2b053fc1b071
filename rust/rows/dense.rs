//! Dense rows, C-contiguous, in any of the nine storage types.

use std::array::from_fn;
use std::ops::Range;

use super::arranged::Arranged;
use super::entries::{Chosen, Entries, Renamed};
use super::learn::{Learn, LoopBody};
use super::pending::{Ages, Settle};
use super::planes::{MANY, Magnitude, Planes, Weights, halves};
use super::prefetch::{Hint, Hints, prefetch, prefetch_into};
use super::survey::{Survey, survey};
use super::visit::{Cursor, Mistake, Stop, Visit};
use super::{BLOCK, Examples, Matrix, Rows, arranged_otherwise, check_len, make_room, rows_in_block};
use crate::arith::axpy::axpy;
use crate::arith::decay::scale;
use crate::arith::dot::{FourSums, LANES, add_columns, dots, fold_four};
use crate::arith::exact::{self, Halves, LARGEST_SUM, weight_limit};
use crate::arith::gram::narrow;
use crate::arith::integers::{all_integers, sizes};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::arith::value::Value;
use crate::audit;
use crate::error::{Error, Result};
use crate::memory::filled;
use crate::monitor::{Monitor, all, pieces};

#[derive(Clone, Copy)]
pub struct Dense<'a, T> {
    values: &'a [T],
    len: usize,
    columns: usize,
}

impl<'a, T: Value> Dense<'a, T> {
    pub fn new(values: &'a [T], len: usize, columns: usize) -> Result<Self> {
        if len.checked_mul(columns) != Some(values.len()) {
            return Err(Error::Invalid(format!(
                "values must hold {len} x {columns} numbers, got {}",
                values.len()
            )));
        }
        check_len(len)?;
        Ok(Self { values, len, columns })
    }

    #[inline(always)]
    fn row(&self, i: usize) -> &'a [T] {
        &self.values[i * self.columns..][..self.columns]
    }

    /// What takes the place of rows that reach past the end of the matrix.
    fn spare(&self, reach: usize) -> Result<Vec<T>> {
        filled(T::default(), if reach > self.columns { reach } else { 0 })
    }

    /// A row and what follows it, as far as the spare one is long.
    #[inline(always)]
    fn row_and_more<'s>(&self, i: usize, spare: &'s mut [T]) -> &'s [T]
    where
        'a: 's,
    {
        let start = i * self.columns;
        if let Some(more) = self.values.get(start..start + spare.len().max(self.columns)) {
            return more;
        }
        spare[..self.columns].copy_from_slice(self.row(i));
        spare
    }

    /// Whether rows take the exact path in training. Bytes are scored by it in less time at any length, but
    /// an update takes longer than in floats where rows are short.
    fn learns_exactly(&self) -> bool {
        T::BYTE && self.columns >= 32
    }

    /// Bounds of bytes, without a look at them.
    fn byte_magnitude(&self) -> Magnitude {
        let value = 255.0;
        Magnitude { value, row: value * self.columns as f64 }
    }
}

/// Planes that share one load (and widening) of a row: eight accumulators of four lanes each.
const GROUP: usize = 4;

/// Bytes of a row that is scored with others at once.
const SHORT: usize = 512;

/// `w·x` of a row for planes stored one after another. The last five are three and two: the additions of
/// one alone would wait for each other.
#[inline(always)]
fn activations<S: Simd, T: Value>(simd: S, x: &[T], wide: &mut [f64], weights: &[f64], sums: &mut [f64]) {
    if let [sum] = sums {
        *sum = dots(simd, [weights], x)[0]; // as it is stored
        return;
    }
    let x = T::widened(x, wide);
    let mut k = 0;
    while k < sums.len() {
        let (w, sums) = (&weights[k * x.len()..], &mut sums[k..]);
        k += match sums.len() {
            2 => group::<2, _>(simd, x, w, sums),
            3 | 5 => group::<3, _>(simd, x, w, sums),
            _ => group::<GROUP, _>(simd, x, w, sums),
        }
    }
}

#[inline(always)]
fn group<const P: usize, S: Simd>(simd: S, x: &[f64], weights: &[f64], sums: &mut [f64]) -> usize {
    let w: [&[f64]; P] = from_fn(|p| &weights[p * x.len()..][..x.len()]);
    sums[..P].copy_from_slice(&dots(simd, w, x));
    P
}

/// The same in exact integers.
#[inline(always)]
fn exact_activations<S: Simd, T: Value>(simd: S, x: &[T], planes: &[Halves], sums: &mut [f64]) {
    let (fours, planes) = planes.as_chunks::<GROUP>();
    let (four_sums, sums) = sums.as_chunks_mut::<GROUP>();
    for (sums, planes) in four_sums.iter_mut().zip(fours) {
        *sums = exact::dots(simd, planes.each_ref(), x);
    }
    let (pairs, planes) = planes.as_chunks::<2>();
    let (pair_sums, sums) = sums.as_chunks_mut::<2>();
    for (sums, planes) in pair_sums.iter_mut().zip(pairs) {
        *sums = exact::dots(simd, planes.each_ref(), x);
    }
    if let ([sum], [plane]) = (sums, planes) {
        [*sum] = exact::dots(simd, [plane], x);
    }
}

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
        sums.copy_from_slice(&fold_four(lanes)[..sums.len()]);
    }
}

struct FloatPlanes<'a, T> {
    rows: Dense<'a, T>,
    weights: &'a mut [f64],
    wide: Vec<f64>,
}

impl<T: Value> LoopBody for FloatPlanes<'_, T> {
    const EXACT: bool = false;

    #[inline(always)]
    fn activate<S: Simd>(&mut self, simd: S, row: usize, sums: &mut [f64]) {
        activations(simd, self.rows.row(row), &mut self.wide, self.weights, sums);
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        let d = self.rows.columns;
        axpy(c, self.rows.row(row), &mut self.weights[plane * d..][..d]);
        true
    }

    fn size(&self) -> usize {
        size_of_val(self.rows.values)
    }

    #[inline(always)]
    fn prefetch(&self, row: usize, hint: Hint) {
        prefetch_into(self.rows.row(row), hint);
    }
}

impl<T: Value> Settle for FloatPlanes<'_, T> {
    #[inline(always)]
    fn settle(&mut self, row: usize, ages: &mut Ages) {
        let d = self.rows.columns;
        for (j, _) in self.rows.row(row).iter().enumerate().filter(|(_, x)| x.widen() != 0.0) {
            ages.settle(j, self.weights.iter_mut().skip(j).step_by(d));
        }
    }

    fn scale(&mut self, factor: f64) {
        scale(self.weights, factor);
    }
}

struct Exact<'a, T> {
    rows: Dense<'a, T>,
    weights: &'a mut [Halves],
    limit: i32,
    spare: Vec<T>,
}

impl<T: Value> LoopBody for Exact<'_, T> {
    const EXACT: bool = true;

    #[inline(always)]
    fn activate<S: Simd>(&mut self, simd: S, row: usize, sums: &mut [f64]) {
        exact_activations(simd, self.rows.row_and_more(row, &mut self.spare), self.weights, sums);
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        let x = self.rows.row_and_more(row, &mut self.spare);
        self.weights[plane].axpy(c as i32, x) <= self.limit
    }

    fn size(&self) -> usize {
        size_of_val(self.rows.values)
    }

    #[inline(always)]
    fn prefetch(&self, row: usize, hint: Hint) {
        prefetch_into(self.rows.row(row), hint);
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
enum DenseWeights<'a> {
    ByPlane(&'a [f64]),
    ByColumn(&'a [f64], usize),
    Halves(&'a [Halves]),
}

struct RowScores<'a, T> {
    rows: &'a Dense<'a, T>,
    range: Range<usize>,
    weights: DenseWeights<'a>,
    intercept: &'a [f64],
    out: &'a mut [f64],
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
/// the weights, and the additions of one need not wait for each other. Longer rows, and rows for many planes, take longer so.
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

struct Axpy<'a, T>(f64, &'a [T], &'a mut [f64]);

impl<T: Value> Leaf for Axpy<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        axpy(self.0, self.1, self.2);
    }
}

struct Narrowed<'a, T>(&'a [T], &'a mut [i16]);

impl<T: Value> Leaf for Narrowed<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> bool {
        narrow(self.0, self.1)
    }
}

struct Surveyed<'a, T>(&'a [T]);

impl<T: Value> Leaf for Surveyed<'_, T> {
    type Output = Survey;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Survey {
        survey(self.0)
    }
}

/// Four rows at once share each load of the weights, and the additions of one need not wait for each other:
/// float64 of 784 columns takes 0.6 times as long as row by row.
struct RowDots<'a, T>(&'a Dense<'a, T>, &'a [u32], &'a [f64], &'a mut [f64]);

impl<T: Value> Leaf for RowDots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self(rows, numbers, w, out) = self;
        let (fours, rest) = numbers.as_chunks::<GROUP>();
        let (four_outs, rest_out) = out.as_chunks_mut::<GROUP>();
        for (i, (numbers, out)) in fours.iter().zip(four_outs).enumerate() {
            for &later in fours.get(i + 2).into_iter().flatten() {
                let row = rows.row(later as usize);
                prefetch(&row[..row.len().min(SHORT / size_of::<T>())]);
            }
            *out = dots(simd, numbers.map(|row| rows.row(row as usize)), w);
        }
        for (&row, out) in rest.iter().zip(rest_out) {
            *out = dots(simd, [w], rows.row(row as usize))[0];
        }
    }
}

struct Squares<'a, T>(&'a Dense<'a, T>, Range<usize>, &'a [f64], &'a mut [f64]);

impl<T: Value> Leaf for Squares<'_, T> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Result<()> {
        let Self(rows, range, unit, out) = self;
        let mut scaled = filled(0.0, rows.columns)?;
        for (row, out) in range.zip(out) {
            for ((scaled, x), unit) in scaled.iter_mut().zip(rows.row(row)).zip(unit) {
                *scaled = x.widen() * unit;
            }
            *out = dots(simd, [&scaled], &scaled)[0];
        }
        Ok(())
    }
}

impl<T: Value> Examples for Dense<'_, T> {
    fn len(&self) -> usize {
        self.len
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn block(&self, planes: usize) -> usize {
        rows_in_block(self.columns * size_of::<T>(), self.columns * planes, BLOCK)
    }

    fn prepare(&self, visit: &Visit, planes: &mut Planes, monitor: &dyn Monitor) -> Result<()> {
        if self.learns_exactly() && planes.pending.is_none() {
            planes.make_halves(visit.integer_step, self.byte_magnitude(), monitor)
        } else {
            planes.make_by_plane(monitor)
        }
    }

    fn learn(
        &self,
        visit: &Visit,
        at: &mut Cursor,
        end: usize,
        planes: &mut Planes,
        log: &mut Vec<Mistake>,
    ) -> Result<Stop> {
        let (limit, heads) = (planes.limit, &mut planes.heads[..]);
        let (noise, activations) = (planes.noise.as_mut(), planes.activations.as_mut());
        let stop = match &mut planes.weights {
            // The guard is a constant: the loop is compiled for bytes alone.
            Weights::Halves(weights) if T::BYTE => {
                let spare = self.spare(Halves::reach(self.columns))?;
                let body = Exact { rows: *self, weights, limit, spare };
                Learn { body, visit: *visit, at, end, heads, noise, activations, log }.go()
            }
            Weights::ByPlane(weights) => {
                // One plane reads each row as it is stored.
                let wide = filled(0.0, if heads.len() > 1 { self.columns } else { 0 })?;
                let body = FloatPlanes { rows: *self, weights, wide };
                let learn = Learn { body, visit: *visit, at, end, heads, noise, activations, log };
                learn.under(&mut planes.pending)
            }
            _ => Err(arranged_otherwise()),
        }?;
        if stop == Stop::Limit {
            planes.leave_exact();
        }
        Ok(stop)
    }

    fn rows(&self) -> Option<&dyn Rows> {
        Some(self)
    }
}

impl<T: Value> Rows for Dense<'_, T> {
    fn axpy(&self, row: usize, c: f64, out: &mut [f64]) {
        dispatch(Axpy(c, self.row(row), out));
    }

    fn write(&self, row: usize, out: &mut [f64]) {
        for (out, x) in out.iter_mut().zip(self.row(row)) {
            *out = x.widen() + 0.0; // no -0.0, as in a sparse row
        }
    }

    fn arrange<'a>(
        &self,
        weights: Arranged<'a>,
        planes: usize,
        count: usize,
        monitor: &dyn Monitor,
    ) -> Result<Arranged<'a>> {
        if count < MANY {
            return Ok(weights);
        }
        // By column, a row of several planes takes twice as long.
        let weights = weights.by_plane(planes, self.columns, monitor)?;
        let Arranged::ByPlane(coef) = &weights else { return Ok(weights) };
        let limit = f64::from(weight_limit(self.byte_magnitude().row, LARGEST_SUM));
        let exact = |w: &f64| w.fract() == 0.0 && w.abs() <= limit;
        if T::BYTE && !coef.is_empty() && all(coef, exact, monitor)? {
            return Ok(Arranged::Halves(halves(coef, self.columns, monitor)?));
        }
        Ok(weights)
    }

    fn entries(&self, rows: Range<usize>) -> usize {
        rows.len() * self.columns
    }

    fn narrow(&self, row: usize, out: &mut [i16]) -> bool {
        dispatch(Narrowed(self.row(row), out))
    }

    fn scores(
        &self,
        rows: Range<usize>,
        weights: &Arranged,
        intercept: &[f64],
        out: &mut [f64],
    ) -> Result<()> {
        let weights = match weights {
            Arranged::ByPlane(w) => DenseWeights::ByPlane(w),
            Arranged::ByColumn { w, stride } => DenseWeights::ByColumn(w, *stride),
            Arranged::Halves(w) => DenseWeights::Halves(w),
            Arranged::Counts(_) => return Err(arranged_otherwise()),
        };
        dispatch(RowScores { rows: self, range: rows, weights, intercept, out })
    }

    fn scores_of_one(&self, rows: Range<usize>, w: &[f64], b: f64, out: &mut [f64]) -> Result<()> {
        dispatch(RowScores {
            rows: self,
            range: rows,
            weights: DenseWeights::ByPlane(w),
            intercept: &[b],
            out,
        })
    }

    fn squares(&self, rows: Range<usize>, unit: &[f64], out: &mut [f64]) -> Result<()> {
        dispatch(Squares(self, rows, unit, out))
    }
}

impl<T: Value> Matrix for Dense<'_, T> {
    fn magnitude(&self, monitor: &dyn Monitor) -> Result<Option<Magnitude>> {
        let mut found = Magnitude::default();
        for rows in pieces(self.len, self.columns, monitor) {
            for row in rows?.map(|i| self.row(i)) {
                if !all_integers(row) {
                    return Ok(None);
                }
                found = found.with(sizes(row));
            }
        }
        Ok(Some(found))
    }

    fn gather(&self, rows: Range<usize>, out: &mut Entries) -> Result<()> {
        for i in rows {
            out.push(self.row(i).iter().copied().enumerate())?;
        }
        Ok(())
    }

    fn rename(&self, row: usize, chosen: &Chosen, out: &mut Renamed) -> Result<()> {
        let x = self.row(row);
        out.clear(chosen.columns.len())?;
        if out.others_are_finite {
            chosen.columns.iter().for_each(|&(column, place)| out.put(place, x[column].widen()));
            return Ok(());
        }
        let mut before = 0;
        for &(column, place) in &chosen.columns {
            x[before..column].iter().for_each(|value| out.put_other(value.widen()));
            out.put(place, x[column].widen());
            before = column + 1;
        }
        x[before..].iter().for_each(|value| out.put_other(value.widen()));
        Ok(())
    }

    fn over_own_columns(&self, _work: &mut dyn FnMut(&dyn Matrix, Chosen) -> Result<()>) -> Result<bool> {
        Ok(false)
    }

    fn value(&self, row: usize, column: usize) -> f64 {
        self.row(row)[column].widen() + 0.0
    }

    fn survey(&self, rows: Range<usize>) -> Survey {
        dispatch(Surveyed(&self.values[rows.start * self.columns..rows.end * self.columns]))
    }

    fn read(&self, row: usize, columns: &mut Vec<i64>, values: &mut Vec<f64>) -> Result<()> {
        make_room(columns, values, self.columns)?;
        for (j, x) in self.row(row).iter().enumerate().filter(|(_, x)| x.widen() != 0.0) {
            columns.push(j as i64);
            values.push(x.widen());
        }
        Ok(())
    }

    fn write_bytes(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        audit::write_bytes(0..self.columns, self.row(row), self.columns, out)
    }

    fn dots(&self, numbers: &[u32], w: &[f64], out: &mut [f64]) {
        dispatch(RowDots(self, numbers, w, out));
    }
}
