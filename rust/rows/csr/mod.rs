//! CSR rows with sorted, unique columns, in any of the nine storage types and two index types.

pub mod facts;
pub mod loops;

use std::borrow::Cow;
use std::ops::Range;

use crate::arith::axpy::axpy_entries;
use crate::arith::by_lane::{ByLane, WideRow, are_scored_by_lane, widened};
use crate::arith::dot::{dot_entries, dot_entries_by};
use crate::arith::exact;
use crate::arith::gram::narrow;
use crate::arith::integers::integers_within;
use crate::arith::value::{Index, One, Value};
use crate::audit;
use crate::error::Result;
use crate::memory::Grow;
use crate::monitor::{Monitor, all, mapped};
use crate::rows::ballot::SPARSEST;
use crate::rows::csr::facts::{Facts, Whole, all_ones};
use crate::rows::csr::loops::{Counts, FloatColumns, ManyPlanes, SeveralPlanes, Strip, exact_product};
use crate::rows::pass::learn::Learn;
use crate::rows::pass::visit::{Cursor, Mistake, Stop, Visit};
use crate::rows::survey::{Survey, survey};
use crate::rows::weights::arranged::Arranged;
use crate::rows::weights::planes::{MANY, Magnitude, Planes, Weights};
use crate::rows::weights::table::Layout;
use crate::rows::weights::undo::Undo;
use crate::rows::{BLOCK, Examples, LARGE_BLOCK, Matrix, Rows, arranged_otherwise, rows_in_block};
use crate::rows::{Chosen, Entries, OwnColumns, Renamed};

/// Entries that are scored at once, widened in the cache.
const AT_ONCE: usize = 4096;

/// Scores that stay in the cache while groups of planes pass.
const SCORES_AT_ONCE: usize = 1 << 14;

pub struct Csr<'a, T, I> {
    indptr: &'a [I],
    indices: &'a [I],
    values: &'a [T],
    columns: usize,
    facts: Cow<'a, Facts>,
}

impl<'a, T: Value, I: Index> Csr<'a, T, I> {
    /// Checks the three arrays and learns what the leaves need to know of them.
    pub fn new(indptr: &'a [I], indices: &'a [I], values: &'a [T], columns: usize) -> Result<Self> {
        let facts = Facts::find(indptr, indices, values, columns, &())?;
        Ok(Self::again(indptr, indices, values, columns, Cow::Owned(facts)))
    }

    /// The same arrays again, with what [`Facts::find`] found. If they were changed in between, the
    /// answers are wrong or a bounds check panics; nothing worse.
    pub fn again(
        indptr: &'a [I],
        indices: &'a [I],
        values: &'a [T],
        columns: usize,
        facts: Cow<'a, Facts>,
    ) -> Self {
        Self { indptr, indices, values, columns, facts }
    }

    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What is known of the values, which are looked at if nobody has.
    pub fn whole(&self, monitor: &dyn Monitor) -> Result<Whole> {
        self.facts.whole(self.indptr, self.values, monitor)
    }

    /// The same matrix of ones without its values; `room` is to be empty.
    fn of_ones<'b>(&'b self, room: &'b mut Vec<One>) -> Csr<'b, One, I> {
        room.resize(self.values.len(), One);
        Csr::again(self.indptr, self.indices, room, self.columns, Cow::Borrowed(&self.facts))
    }

    fn strip(&self, rows: Range<usize>) -> Strip<'_, T, I> {
        let ends = &self.indptr[rows.start..=rows.end];
        let own = ends[0].at()..ends[rows.len()].at();
        Strip { ends, columns: &self.indices[own.clone()], values: &self.values[own] }
    }

    /// Activations of some rows for planes one after another.
    fn plane_by_plane(&self, range: Range<usize>, w: &[f64], intercept: &[f64], out: &mut [f64]) {
        for (k, b) in intercept.iter().enumerate() {
            let w = &w[k * self.columns..][..self.columns];
            self.strip(range.clone()).products(w, |row, sum| out[row * intercept.len() + k] = sum + b);
        }
    }

    /// The same for planes that stand by column.
    fn by_column(
        &self,
        range: Range<usize>,
        (w, stride): (&[f64], usize),
        intercept: &[f64],
        out: &mut [f64],
    ) -> Result<()> {
        let (mut room, mut by_lane) = (vec![], ByLane::with_room(self.facts.longest, intercept.len())?);
        let often = AT_ONCE / (self.values.len() / self.len().max(1) + 1);
        let often = often.min(SCORES_AT_ONCE / intercept.len()).max(1);
        for (first, out) in range.clone().step_by(often).zip(out.chunks_mut(often * intercept.len())) {
            let Strip { ends, columns, values } = self.strip(first..range.end.min(first + often));
            room.try_resize(values.len().max(room.len()), 0.0)?;
            let strip = Strip { ends, columns, values: widened(values, &mut room) };
            let entries = strip.columns.len() / (strip.ends.len() - 1).max(1);
            let planes = SeveralPlanes { strip, w, stride, intercept, out };
            if are_scored_by_lane(intercept.len(), entries) {
                ManyPlanes(planes, &mut by_lane).go();
            } else {
                planes.go();
            }
        }
        Ok(())
    }

    /// The same for one plane, exact.
    fn exact_activations(&self, range: Range<usize>, w: &[i32], intercept: f64, out: &mut [f64]) {
        for (row, sum) in self.strip(range).rows().zip(out) {
            *sum = exact_product(row, w) + intercept;
        }
    }

    /// Bytes of the entries.
    pub(in crate::rows) fn size(&self) -> usize {
        size_of_val(self.indices) + size_of_val(self.values)
    }

    #[inline(always)]
    pub(in crate::rows) fn row(&self, i: usize) -> (&'a [I], &'a [T]) {
        let range = self.indptr[i].at()..self.indptr[i + 1].at();
        (&self.indices[range.clone()], &self.values[range])
    }
}

impl<T: Value, I: Index> Examples for Csr<'_, T, I> {
    fn len(&self) -> usize {
        self.indptr.len() - 1
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn block(&self, planes: usize) -> usize {
        let block = if planes == 1 { BLOCK } else { LARGE_BLOCK };
        let entries = self.values.len() / self.len().max(1) + 1;
        rows_in_block(entries * (size_of::<T>() + size_of::<I>()), entries * planes, block)
    }

    fn layout(&self) -> Layout {
        Layout::ByColumn
    }

    fn largest(&self) -> f64 {
        self.facts.largest(self.values, &()).unwrap_or(f64::INFINITY) // it was looked for before the first row
    }

    fn prepare(&self, visit: &Visit, planes: &mut Planes, monitor: &dyn Monitor) -> Result<()> {
        if planes.pending.is_none() {
            planes.make_counts(visit.integer_step, self.whole(monitor)?.magnitude, monitor)?;
        } else {
            planes.make_float(Layout::ByColumn, monitor)?;
        }
        self.facts.largest(self.values, monitor).map(|_| ()) // after a look for integers, which finds it, too
    }

    fn learn(
        &self,
        visit: &Visit,
        at: &mut Cursor,
        end: usize,
        planes: &mut Planes,
        log: &mut Vec<Mistake>,
    ) -> Result<Stop> {
        let mut ones = vec![];
        let (limit, heads) = (planes.limit, &mut planes.heads[..]);
        let (noise, activations) = (planes.noise.as_mut(), planes.activations.as_mut());
        let stop = match &mut planes.weights {
            Weights::Counts { w, stride } if self.whole(&())?.ones => {
                let rows = &self.of_ones(&mut ones);
                let body = Counts { rows, weights: w, stride: *stride, limit };
                Learn { body, visit: *visit, at, end, heads, noise, activations, log }.go()
            }
            Weights::Counts { w, stride } => {
                let body = Counts { rows: self, weights: w, stride: *stride, limit };
                Learn { body, visit: *visit, at, end, heads, noise, activations, log }.go()
            }
            Weights::Float(table) if table.layout() == Layout::ByColumn => {
                let (stride, weights) = (heads.len(), table.own(&())?);
                let (undo, wide) =
                    (planes.undo.as_mut(), &mut WideRow::with_room(self.facts.longest, heads.len())?);
                let body = FloatColumns { rows: self, stride, weights, undo, wide };
                let learn = Learn { body, visit: *visit, at, end, heads, noise, activations, log };
                learn.under(&mut planes.pending)
            }
            Weights::Float(_) | Weights::Halves(_) => Err(arranged_otherwise()),
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

impl<T: Value, I: Index> Rows for Csr<'_, T, I> {
    fn axpy_at(&self, row: usize, c: f64, out: &mut [f64], (step, first): (usize, usize)) {
        let (columns, values) = self.row(row);
        // Without columns there are no numbers, whatever the plane.
        axpy_entries(c, columns, values, out.get_mut(first..).unwrap_or_default(), (step, 0));
    }

    fn keep(&self, row: usize, numbers: &[f64], (step, first): (usize, usize), undo: &mut Undo) -> bool {
        undo.keep(self.row(row).0.iter().map(|j| j.at() * step + first), numbers)
    }

    fn arrange<'a>(
        &self,
        weights: Arranged<'a>,
        planes: usize,
        count: usize,
        monitor: &dyn Monitor,
    ) -> Result<Arranged<'a>> {
        let entries = self.values.len() / self.len().max(1);
        let Arranged::ByPlane(coef) = weights else { return Ok(weights) };
        if entries.saturating_mul(count) / MANY < self.columns {
            return Ok(Arranged::ByPlane(coef));
        }
        if planes > 1 {
            return Arranged::ByPlane(coef).standing(Layout::ByColumn, [planes, self.columns], monitor);
        }
        // Short rows take less time in floats, but for those of ones.
        // To look for other integers takes what they gain.
        let limit = f64::from(exact::weight_limit(self.facts.longest as f64, exact::LARGEST));
        if all(self.values, all_ones, monitor)? && all(&coef, |w| integers_within(w, limit), monitor)? {
            return Ok(Arranged::Counts(mapped(&coef, |&w| w as i32, monitor)?));
        }
        Ok(Arranged::ByPlane(coef))
    }

    fn entries(&self, rows: Range<usize>) -> usize {
        self.indptr[rows.end].at() - self.indptr[rows.start].at()
    }

    fn narrow(&self, row: usize, out: &mut [i16]) -> bool {
        let dense = self.values.len() / self.len() * SPARSEST >= self.columns;
        let (columns, values) = self.row(row);
        dense && columns.iter().zip(values).all(|(j, value)| narrow(&[*value], &mut out[j.at()..=j.at()]))
    }

    fn scores(
        &self,
        range: Range<usize>,
        weights: &Arranged,
        intercept: &[f64],
        out: &mut [f64],
    ) -> Result<()> {
        match weights {
            Arranged::ByColumn { w, stride } => self.by_column(range, (w, *stride), intercept, out)?,
            Arranged::ByPlane(w) => self.plane_by_plane(range, w, intercept, out),
            Arranged::Counts(w) => self.of_ones(&mut vec![]).exact_activations(range, w, intercept[0], out),
            Arranged::Halves(_) => return Err(arranged_otherwise()),
        }
        Ok(())
    }

    fn squares(&self, rows: Range<usize>, unit: &[f64], out: &mut [f64]) -> Result<()> {
        let mut scaled = vec![];
        for (row, out) in rows.zip(out) {
            let (columns, values) = self.row(row);
            scaled.clear();
            scaled.try_extend(columns.iter().zip(values).map(|(j, x)| x.widen() * unit[j.at()]))?;
            *out = dot_entries_by(columns, &scaled, |_, x| x);
        }
        Ok(())
    }
}

impl<T: Value, I: Index> Matrix for Csr<'_, T, I> {
    fn magnitude(&self, monitor: &dyn Monitor) -> Result<Option<Magnitude>> {
        Ok(self.whole(monitor)?.magnitude)
    }

    fn gather(&self, rows: Range<usize>, out: &mut Entries) -> Result<()> {
        for i in rows {
            let (columns, values) = self.row(i);
            out.push(columns.iter().zip(values).map(|(j, value)| (j.at(), *value)))?;
        }
        Ok(())
    }

    fn rename(&self, row: usize, chosen: &Chosen, out: &mut Renamed) -> Result<()> {
        let (columns, values) = self.row(row);
        out.clear(columns.len())?;
        for (j, value) in columns.iter().zip(values) {
            out.push(chosen, j.at(), value.widen());
        }
        Ok(())
    }

    fn own_columns(
        &self,
        planes: usize,
        more: &[usize],
        monitor: &dyn Monitor,
    ) -> Result<Option<OwnColumns>> {
        let found = Chosen::of(self.indices, more, [planes, self.columns], monitor)?;
        found.map(|(chosen, places)| OwnColumns::new(chosen, places)).transpose()
    }

    fn over(&self, own: &OwnColumns, work: &mut dyn FnMut(&dyn Matrix) -> Result<()>) -> Result<()> {
        let indices = own.places().filter(|places: &&[I]| places.len() == self.indices.len());
        let (indices, facts) = (indices.ok_or_else(arranged_otherwise)?, Cow::Borrowed(&*self.facts));
        work(&Csr::again(self.indptr, indices, self.values, own.chosen.places(), facts))
    }

    fn value(&self, row: usize, column: usize) -> f64 {
        let (columns, values) = self.row(row);
        columns.binary_search_by_key(&column, |j| j.at()).map_or(0.0, |place| values[place].widen() + 0.0)
    }

    fn survey(&self, rows: Range<usize>) -> Survey {
        survey(&self.values[self.indptr[rows.start].at()..self.indptr[rows.end].at()])
    }

    fn write_bytes(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let (columns, values) = self.row(row);
        audit::write_bytes(columns.iter().map(|j| j.at()), values, self.columns, out)
    }

    fn dots(&self, numbers: &[u32], w: &[f64], out: &mut [f64]) {
        for (&row, out) in numbers.iter().zip(out) {
            let (columns, values) = self.row(row as usize);
            *out = dot_entries(columns, values, w);
        }
    }
}
