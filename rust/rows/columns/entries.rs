//! The entries of some rows, collected: for learners that read a row many times.

use crate::arith::activation::Row;
use crate::arith::value::Value;
use crate::error::{Error, Result};

/// Collects the entries of rows that are not 0.
#[derive(Default)]
pub struct Entries {
    pub(super) columns: Vec<i64>,
    pub(super) values: Vec<f64>,
    pub(super) ends: Vec<usize>,
    finite: bool,
}

impl Entries {
    pub fn clear(&mut self) {
        self.columns.clear();
        self.values.clear();
        self.ends.clear();
        self.finite = true;
    }

    /// Takes in a row.
    #[inline(always)]
    pub(in crate::rows) fn push<T: Value>(
        &mut self,
        row: impl ExactSizeIterator<Item = (usize, T)>,
    ) -> Result<()> {
        // Room for all of it, so that nothing grows in the loop.
        let room = self.columns.try_reserve(row.len()).is_ok()
            && self.values.try_reserve(row.len()).is_ok()
            && self.ends.try_reserve(1).is_ok();
        if !room {
            return Err(Error::Memory);
        }
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

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether every value is finite.
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
