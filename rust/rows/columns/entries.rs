//! The entries of some rows, collected: for learners that read a row many times.

use crate::arith::{activation::Row, value::Value};
use crate::base::Result;
use crate::rows::Matrix;

/// Collects the entries of rows that are not 0.
#[derive(Default)]
pub struct Entries {
    pub(super) columns: Vec<i64>,
    pub(super) values: Vec<f64>,
    pub(super) ends: Vec<usize>,
    finite: bool,
}

impl Entries {
    /// Those of some rows.
    pub fn of(rows: &dyn Matrix, numbers: &[u32]) -> Result<Self> {
        let mut entries = Self { finite: true, ..Self::default() };
        for &row in numbers {
            rows.gather(row as usize..row as usize + 1, &mut entries)?;
        }
        Ok(entries)
    }

    /// Those of one row, in the place of all before.
    pub fn only(&mut self, rows: &dyn Matrix, row: usize) -> Result<Row<'_>> {
        self.clear();
        rows.gather(row..row + 1, self)?;
        Ok(self.row(0))
    }

    pub fn clear(&mut self) {
        self.columns.clear();
        self.values.clear();
        self.ends.clear();
        self.finite = true;
    }

    #[inline(always)]
    pub(in crate::rows) fn push<T: Value>(
        &mut self,
        row: impl ExactSizeIterator<Item = (usize, T)>,
    ) -> Result<()> {
        // Room for all of it, so that nothing grows in the loop.
        self.columns.try_reserve(row.len())?;
        self.values.try_reserve(row.len())?;
        self.ends.try_reserve(1)?;
        for (column, value) in row {
            let value = value.widen();
            if value != 0.0 {
                self.columns.push(column as i64);
                self.values.push(value);
                self.finite &= value.is_finite();
            }
        }
        self.ends.push(self.columns.len());
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_finite(&self) -> bool {
        self.finite
    }

    #[inline(always)]
    pub fn row(&self, i: usize) -> Row<'_> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let range = start..self.ends[i];
        Row { columns: &self.columns[range.clone()], values: &self.values[range] }
    }
}
