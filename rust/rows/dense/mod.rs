//! Dense rows, C-contiguous, in any of the nine storage types.

mod loops;
mod scores;

use loops::{Exact, FloatPlanes, GROUP};
use scores::{DenseWeights, RowScores, SHORT, in_tiles, suits_tiles};

use std::ops::Range;

use crate::arith::axpy::axpy;
use crate::arith::dot::dots;
use crate::arith::exact::{Halves, LARGEST_SUM, weight_limit};
use crate::arith::gram::narrow;
use crate::arith::integers::{all_integers, integers_within, sizes};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::arith::value::Value;
use crate::audit;
use crate::error::{Result, ensure};
use crate::memory::filled;
use crate::monitor::{Monitor, all, pieces};
use crate::rows::pass::learn::Learn;
use crate::rows::pass::prefetch::prefetch;
use crate::rows::pass::visit::{Cursor, Mistake, Stop, Visit};
use crate::rows::survey::{Survey, survey};
use crate::rows::weights::arranged::Arranged;
use crate::rows::weights::planes::{MANY, Magnitude, Planes, Weights, halves};
use crate::rows::weights::table::Layout;
use crate::rows::weights::undo::Undo;
use crate::rows::{BLOCK, Examples, Matrix, Rows, arranged_otherwise, check_len, rows_in_block};
use crate::rows::{Chosen, Entries, Renamed};

#[derive(Clone, Copy)]
pub struct Dense<'a, T> {
    values: &'a [T],
    len: usize,
    columns: usize,
}

impl<'a, T: Value> Dense<'a, T> {
    pub fn new(values: &'a [T], len: usize, columns: usize) -> Result<Self> {
        ensure!(
            len.checked_mul(columns) == Some(values.len()),
            "values must hold {len} x {columns} numbers, got {}",
            values.len()
        );
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

    fn largest(&self) -> f64 {
        T::LARGEST
    }

    fn prepare(&self, visit: &Visit, planes: &mut Planes, monitor: &dyn Monitor) -> Result<()> {
        if self.learns_exactly() && planes.pending.is_none() {
            planes.make_halves(visit.integer_step, self.byte_magnitude(), monitor)
        } else {
            planes.make_float(Layout::ByPlane, monitor)
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
            Weights::Float(table) if table.layout() == Layout::ByPlane => {
                let weights = table.own(&())?;
                // One plane reads each row as it is stored.
                let wide = filled(0.0, if heads.len() > 1 { self.columns } else { 0 })?;
                let body = FloatPlanes { rows: *self, weights, wide, undo: planes.undo.as_mut() };
                let learn = Learn { body, visit: *visit, at, end, heads, noise, activations, log };
                learn.under(&mut planes.pending)
            }
            _ => Err(arranged_otherwise()),
        }?;
        if stop == Stop::Limit {
            planes.stop_at_limit()?;
        }
        Ok(stop)
    }

    fn rows(&self) -> Option<&dyn Rows> {
        Some(self)
    }
}

impl<T: Value> Rows for Dense<'_, T> {
    fn axpy_at(&self, row: usize, c: f64, out: &mut [f64], (step, first): (usize, usize)) {
        if step == 1 {
            return dispatch(Axpy(c, self.row(row), &mut out[first..][..self.columns]));
        }
        for (out, x) in out.iter_mut().skip(first).step_by(step).zip(self.row(row)) {
            *out += c * x.widen();
        }
    }

    fn keep(&self, _row: usize, numbers: &[f64], (step, first): (usize, usize), undo: &mut Undo) -> bool {
        undo.keep((0..self.columns).map(|j| j * step + first), numbers)
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
        let weights = weights.standing(Layout::ByPlane, [planes, self.columns], monitor)?;
        let Arranged::ByPlane(coef) = &weights else { return Ok(weights) };
        let limit = f64::from(weight_limit(self.byte_magnitude().row, LARGEST_SUM));
        let exact = |w: &[f64]| integers_within(w, limit);
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
            Arranged::ByPlane(w) if suits_tiles(rows.len(), intercept.len()) => {
                return in_tiles(self, rows, w, intercept, out);
            }
            Arranged::ByPlane(w) => DenseWeights::ByPlane(w),
            Arranged::ByColumn { w, stride } => DenseWeights::ByColumn(w, *stride),
            Arranged::Halves(w) => DenseWeights::Halves(w),
            Arranged::Counts(_) => return Err(arranged_otherwise()),
        };
        dispatch(RowScores { rows: self, range: rows, weights, intercept, out })
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

    fn value(&self, row: usize, column: usize) -> f64 {
        self.row(row)[column].widen() + 0.0
    }

    fn survey(&self, rows: Range<usize>) -> Survey {
        dispatch(Surveyed(&self.values[rows.start * self.columns..rows.end * self.columns]))
    }

    fn write_bytes(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        audit::write_bytes(0..self.columns, self.row(row), self.columns, out)
    }

    fn dots(&self, numbers: &[u32], w: &[f64], out: &mut [f64]) {
        dispatch(RowDots(self, numbers, w, out));
    }
}
