//! The entries of some rows, collected: for learners that read a row many times.

use crate::arith::activation::Row;
use crate::arith::value::Value;

/// Collects the entries of rows that are not 0.
#[derive(Default)]
pub struct Entries {
    columns: Vec<i64>,
    values: Vec<f64>,
    ends: Vec<usize>,
    finite: bool,
}

impl Entries {
    pub fn clear(&mut self) {
        self.columns.clear();
        self.values.clear();
        self.ends.clear();
        self.finite = true;
    }

    #[inline(always)]
    pub fn push<T: Value>(&mut self, column: usize, value: T) {
        let value = value.widen();
        if value != 0.0 {
            self.columns.push(column as i64);
            self.values.push(value);
            self.finite &= value.is_finite();
        }
    }

    pub fn end_row(&mut self) {
        self.ends.push(self.columns.len());
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether every value is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.finite
    }

    #[inline(always)]
    #[must_use]
    pub fn row(&self, i: usize) -> Row<'_> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let range = start..self.ends[i];
        Row { columns: &self.columns[range.clone()], values: &self.values[range] }
    }
}
