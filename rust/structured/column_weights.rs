//! The weights of columns while they are learnt, and their sums beside them.
//!
//! Most columns of a language never take part in a mistake, and most of the others have weights for
//! two or three labels. So a column has nothing until it is first learnt from; then room for two planes,
//! then for twice as many; one that would have
//! room for more than a quarter of all planes gets a row of them all.

use super::frame::Shape;
use super::lattice::Columns;
use super::sparse::{Builder, Sparse};
use crate::arith::activation::{LabelSums, Row, learn};
use crate::arith::number::Number;
use crate::base::{Error, Grow, Monitor, Result, collected, paced, pieces};
use crate::monitor::filled;
use crate::rows::prefetch;

/// A weight and the sum over it.
#[derive(Clone, Copy, Default)]
struct Entry<N> {
    plane: u32,
    w: N,
    u: f64,
}

/// Where the weights of a column are.
#[derive(Clone, Copy, Default)]
struct ColumnHead {
    /// The first of its entries, or the number of its row.
    at: u32,
    len: u8,
    /// 0: it has none. Up to [`LAST`]: room for two to that power. [`ROW`]: a row.
    class: u8,
}

const LAST: u8 = 4;
const ROW: u8 = LAST + 1;

#[derive(Default)]
pub(super) struct ColumnWeights<N> {
    shape: Shape,
    /// Places of a row, the padding counted.
    places: usize,
    heads: Vec<ColumnHead>,
    entries: Vec<Entry<N>>,
    /// Room that columns have outgrown, by class.
    free: [Vec<u32>; ROW as usize],
    rows: Vec<N>,
    row_sums: Vec<f64>,
}

impl<N: Number> ColumnWeights<N> {
    /// `planes` rows of labels, K or 1.
    pub fn new(
        shape: Shape,
        planes: usize,
        (w, u): (&Sparse, &Sparse),
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let columns = w.columns();
        let mut table = Self {
            shape,
            places: planes * shape.stride,
            heads: filled(&ColumnHead::default(), columns, monitor)?,
            entries: Vec::new(),
            free: Default::default(),
            rows: Vec::new(),
            row_sums: Vec::new(),
        };
        for column in paced(columns, w.data.len().max(u.data.len()), monitor) {
            let column = column?;
            for (plane, w) in w.row(column).0.iter().zip(w.row(column).1) {
                *table.at(column, shape.padded(*plane as usize))?.0 = N::of(*w);
            }
            for (plane, u) in u.row(column).0.iter().zip(u.row(column).1) {
                *table.at(column, shape.padded(*plane as usize))?.1 = *u;
            }
        }
        Ok(table)
    }

    /// Adds `c` times a row to a plane, `tc` times it to the sums; returns the largest weight written.
    pub fn learn(&mut self, row: Row, place: usize, factors: (f64, f64)) -> Result<N> {
        let mut largest = N::default();
        for (column, x) in row.columns.iter().zip(row.values) {
            largest = largest.larger(learn(self.at(*column as usize, place)?, factors, *x));
        }
        Ok(largest)
    }

    /// A weight and its sum; made if there are none.
    fn at(&mut self, column: usize, place: usize) -> Result<(&mut N, &mut f64)> {
        let head = self.heads[column];
        if head.class == ROW {
            let i = head.at as usize * self.places + place;
            return Ok((&mut self.rows[i], &mut self.row_sums[i]));
        }
        let first = head.at as usize;
        let known = self.entries[first..][..usize::from(head.len)].iter();
        if let Some(i) = known.clone().position(|entry| entry.plane == place as u32) {
            let entry = &mut self.entries[first + i];
            return Ok((&mut entry.w, &mut entry.u));
        }
        if usize::from(head.len) == room(head.class) {
            self.enlarge(column)?;
            return self.at(column, place);
        }
        self.heads[column].len += 1;
        let entry = &mut self.entries[first + usize::from(head.len)];
        *entry = Entry { plane: place as u32, ..Entry::default() };
        Ok((&mut entry.w, &mut entry.u))
    }

    fn enlarge(&mut self, column: usize) -> Result<()> {
        let old = self.heads[column];
        let (first, len) = (old.at as usize, usize::from(old.len));
        let next = old.class + 1;
        let class = if next > LAST || room(next) * 4 > self.places { ROW } else { next };
        let at = if class == ROW {
            let (at, end) = (self.rows.len() / self.places, self.rows.len() + self.places);
            grow(&mut self.rows, end)?;
            grow(&mut self.row_sums, end)?;
            for entry in &self.entries[first..][..len] {
                let i = at * self.places + entry.plane as usize;
                (self.rows[i], self.row_sums[i]) = (entry.w, entry.u);
            }
            at
        } else {
            let at = self.free[usize::from(class)].pop().map_or(self.entries.len(), |at| at as usize);
            let end = self.entries.len().max(at + room(class));
            grow(&mut self.entries, end)?;
            self.entries.copy_within(first..first + len, at);
            at
        };
        if old.class > 0 {
            self.free[usize::from(old.class)].try_push(old.at)?;
            self.entries[first..][..len].fill(Entry::default());
        }
        let at = u32::try_from(at).map_err(|_| Error::Memory)?; // 64 GB
        self.heads[column] = ColumnHead { at, len: old.len, class };
        Ok(())
    }

    /// Weights and sums, whether or not they are in use.
    fn pairs(&self) -> impl Iterator<Item = (N, f64)> {
        let rows = self.rows.iter().copied().zip(self.row_sums.iter().copied());
        self.entries.iter().map(|entry| (entry.w, entry.u)).chain(rows)
    }

    /// Whether `good` holds for all weights and sums.
    pub fn all(&self, good: impl Fn(N, f64) -> bool, monitor: &dyn Monitor) -> Result<bool> {
        let mut pairs = self.pairs();
        for piece in pieces(self.entries.len() + self.rows.len(), 2, monitor) {
            if !pairs.by_ref().take(piece?.len()).all(|(w, u)| good(w, u)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The weights as a matrix without padding; `value` of a weight and its sum.
    pub fn matrix(&self, value: impl Fn(f64, f64) -> f64, monitor: &dyn Monitor) -> Result<Sparse<'static>> {
        let value = |w: N, u: f64| value(w.wide(), u);
        let (mut pairs, mut len, most) = (self.pairs(), 0, self.entries.len() + self.rows.len());
        for piece in pieces(most, 2, monitor) {
            let some = pairs.by_ref().take(piece?.len());
            len += some.filter(|(w, u)| value(*w, *u).to_bits() != 0).count();
        }
        let mut out = Builder::with_room(self.heads.len(), len)?;
        for column in paced(self.heads.len(), most, monitor) {
            let head = &self.heads[column?];
            if head.class == ROW {
                let range = head.at as usize * self.places..(head.at as usize + 1) * self.places;
                let row = self.rows[range.clone()].iter().zip(&self.row_sums[range]).enumerate();
                for (place, (w, u)) in row {
                    out.push(self.shape.cut(place) as i32, value(*w, *u))?;
                }
            } else {
                let mut entries = [Entry::default(); 1 << LAST];
                let entries = &mut entries[..usize::from(head.len)];
                entries.copy_from_slice(&self.entries[head.at as usize..][..entries.len()]);
                entries.sort_unstable_by_key(|entry| entry.plane);
                for entry in entries {
                    out.push(self.shape.cut(entry.plane as usize) as i32, value(entry.w, entry.u))?;
                }
            }
            out.end_column()?;
        }
        Ok(out.done())
    }

    /// The same in float64.
    pub fn widened(self) -> Result<ColumnWeights<f64>> {
        let widen = |Entry { plane, w, u }: Entry<N>| Entry { plane, w: w.wide(), u };
        Ok(ColumnWeights {
            shape: self.shape,
            places: self.places,
            heads: self.heads,
            entries: collected(self.entries.into_iter().map(widen))?,
            free: self.free,
            rows: collected(self.rows.into_iter().map(N::wide))?,
            row_sums: self.row_sums,
        })
    }
}

/// Entries that a class has room for.
fn room(class: u8) -> usize {
    if class == 0 { 0 } else { 1 << class }
}

/// Makes a vector longer, with a quarter to spare: twice its length would be the peak of memory.
fn grow<T: Clone + Default>(values: &mut Vec<T>, len: usize) -> Result<()> {
    if len > values.capacity() {
        values.try_reserve_exact(len - values.len() + len / 4)?;
    }
    values.resize(len, T::default());
    Ok(())
}

impl<N: Number> Columns<N> for ColumnWeights<N> {
    #[inline(always)]
    fn activate(&self, row: Row, sums: &mut LabelSums<N>) {
        for (column, x) in row.columns.iter().zip(row.values) {
            let head = self.heads[*column as usize];
            let first = head.at as usize;
            if head.class == ROW {
                sums.add_all(*column, *x, &self.rows[first * self.places..][..self.places]);
            } else {
                let entries = self.entries[first..][..usize::from(head.len)].iter();
                sums.add_some(*column, *x, entries.map(|entry| (entry.plane as usize, entry.w)));
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, column: i64) {
        let head = self.heads[column as usize];
        let first = head.at as usize;
        if head.class == ROW {
            prefetch(&self.rows[first * self.places..][..self.places]);
        } else {
            prefetch(&self.entries[first..][..usize::from(head.len)]);
        }
    }
}
