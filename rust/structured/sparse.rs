//! Weights that are mostly 0, row by row: a column's weights for the planes where it has some.

use std::borrow::Cow;

use crate::base::{Error, Grow, Monitor, Result, filled, pieces, with_room};
use crate::rows::Chosen;

/// A matrix in the form CSR, of columns by planes.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse<'a> {
    /// d + 1: where the weights of each column begin, and the end.
    pub indptr: Cow<'a, [i64]>,
    /// The planes, rising within each column.
    pub indices: Cow<'a, [i32]>,
    pub data: Cow<'a, [f64]>,
}

impl Sparse<'_> {
    pub fn empty(columns: usize) -> Result<Self> {
        let indptr = filled(0, columns + 1)?.into();
        Ok(Self { indptr, indices: Cow::default(), data: Cow::default() })
    }

    pub fn columns(&self) -> usize {
        self.indptr.len().saturating_sub(1)
    }

    /// Refuses what is no matrix of that shape; of the columns, all are looked at, or some.
    pub fn check(
        &self,
        name: &str,
        (columns, planes): (usize, usize),
        some: Option<&Chosen>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let (ends, len) = (&self.indptr[..], self.indices.len());
        let refuse = |text: String| Err(Error::Invalid(format!("{name}{text}")));
        if ends.len() != columns + 1 {
            return refuse(format!("_indptr must have {} entries, got {}", columns + 1, ends.len()));
        }
        let rises = match some {
            None => ends.is_sorted(),
            Some(chosen) => {
                let mut columns = chosen.columns.iter().map(|&(column, _)| [ends[column], ends[column + 1]]);
                columns.all(|[start, end]| 0 <= start && start <= end && end <= len as i64)
            }
        };
        if ends[0] != 0 || ends[columns] != len as i64 || !rises || self.data.len() != len {
            return refuse(format!("_indptr must rise from 0 to the number of weights, {len}"));
        }
        let mut is_good = true;
        let mut look = |column| {
            let row = self.row(column).0;
            is_good &= row.windows(2).all(|pair| pair[0] < pair[1]);
            is_good &= row.first().is_none_or(|first| *first >= 0);
            is_good &= row.last().is_none_or(|last| (*last as usize) < planes);
        };
        match some {
            None => {
                for piece in pieces(columns, work(columns, len), monitor) {
                    piece?.filter(|column| ends[*column] < ends[column + 1]).for_each(&mut look);
                }
            }
            Some(chosen) => chosen.columns.iter().for_each(|&(column, _)| look(column)),
        }
        if is_good {
            return Ok(());
        }
        refuse(format!("_indices must rise within each column, from 0 to at most {}", planes - 1))
    }

    #[inline(always)]
    pub fn row(&self, column: usize) -> (&[i32], &[f64]) {
        let range = self.indptr[column] as usize..self.indptr[column + 1] as usize;
        (&self.indices[range.clone()], &self.data[range])
    }

    /// Another matrix of the same shape, from the weights of both; 0 by its bits is left out.
    pub fn merge(
        &self,
        other: &Sparse,
        value: impl Fn(f64, f64) -> f64,
        monitor: &dyn Monitor,
    ) -> Result<Sparse<'static>> {
        let len = self.data.len().max(other.data.len());
        let mut out = Builder::with_room(self.columns(), len)?;
        for piece in pieces(self.columns(), work(self.columns(), len), monitor) {
            for column in piece? {
                let [(a, w), (b, u)] = [self, other].map(|table| table.row(column));
                let (mut i, mut j) = (0, 0);
                while let Some(plane) = a.get(i).into_iter().chain(b.get(j)).min().copied() {
                    let (in_a, in_b) = (a.get(i) == Some(&plane), b.get(j) == Some(&plane));
                    out.push(plane, value(if in_a { w[i] } else { 0.0 }, if in_b { u[j] } else { 0.0 }))?;
                    (i, j) = (i + usize::from(in_a), j + usize::from(in_b));
                }
                out.end_column()?;
            }
        }
        Ok(out.done())
    }

    /// Those of some columns, each at its place; places of no column have none.
    pub fn take(&self, chosen: &Chosen, monitor: &dyn Monitor) -> Result<Sparse<'static>> {
        const NONE: usize = usize::MAX;
        let mut columns = filled(NONE, chosen.places())?;
        for &(column, place) in &chosen.columns {
            columns[place as usize] = column;
        }
        let mut out = Builder::with_room(columns.len(), self.data.len())?;
        for piece in pieces(columns.len(), work(columns.len(), self.data.len()), monitor) {
            for &column in &columns[piece?] {
                if column != NONE {
                    out.extend(self.row(column))?;
                }
                out.end_column()?;
            }
        }
        Ok(out.done())
    }

    /// The matrix of so many columns from which [`take`](Self::take) has taken these, but for weights in
    /// others; the chosen columns are sorted.
    pub fn put(&self, chosen: &Chosen, columns: usize, monitor: &dyn Monitor) -> Result<Sparse<'static>> {
        let mut out = Builder::with_room(columns, self.data.len())?;
        for piece in pieces(chosen.columns.len(), work(chosen.columns.len(), self.data.len()), monitor) {
            for &(column, place) in &chosen.columns[piece?] {
                out.end_columns(column);
                out.extend(self.row(place as usize))?;
            }
        }
        out.end_columns(columns);
        Ok(out.done())
    }
}

/// What a column costs of so many that hold `len` weights.
fn work(columns: usize, len: usize) -> usize {
    const COLUMN: usize = 8; // what takes long besides
    COLUMN * (len / columns.max(1) + 1)
}

/// A matrix that is written column by column.
pub(super) struct Builder {
    indptr: Vec<i64>,
    indices: Vec<i32>,
    data: Vec<f64>,
}

impl Builder {
    pub fn with_room(columns: usize, len: usize) -> Result<Self> {
        let mut indptr = with_room(columns + 1)?;
        indptr.push(0);
        Ok(Self { indptr, indices: with_room(len)?, data: with_room(len)? })
    }

    pub fn push(&mut self, plane: i32, w: f64) -> Result<()> {
        if w.to_bits() != 0 {
            self.indices.try_push(plane)?;
            self.data.try_push(w)?;
        }
        Ok(())
    }

    /// Weights that are not 0, of a column.
    fn extend(&mut self, (planes, data): (&[i32], &[f64])) -> Result<()> {
        self.indices.try_extend(planes.iter().copied())?;
        self.data.try_extend(data.iter().copied())
    }

    /// Ends columns until so many have ended; there is room for them.
    fn end_columns(&mut self, columns: usize) {
        self.indptr.resize(columns + 1, self.data.len() as i64);
    }

    pub fn end_column(&mut self) -> Result<()> {
        self.indptr.try_push(self.data.len() as i64)
    }

    pub fn done(self) -> Sparse<'static> {
        Sparse { indptr: self.indptr.into(), indices: self.indices.into(), data: self.data.into() }
    }
}
