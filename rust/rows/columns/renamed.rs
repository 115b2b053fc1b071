//! Rows in terms of some columns.

use std::borrow::Cow;

use super::Chosen;
use crate::base::{Grow, Monitor, Pace, Result, filled};
use crate::rows::{Csr, Facts, Matrix, row_entries};

/// A row in terms of [`Chosen`] columns.
#[derive(Default)]
pub struct Renamed {
    pub(super) places: Vec<i32>,
    pub(super) values: Vec<f64>,
    /// The sum of what the other entries add to any dot product: 0, or NaN if one of them is not finite.
    pub(super) others: f64,
    /// Entries in other columns are finite, so that nobody looks at them.
    pub(in crate::rows) others_are_finite: bool,
}

impl Renamed {
    /// Empties it, and makes room for so many entries.
    pub(in crate::rows) fn clear(&mut self, most: usize) -> Result<()> {
        self.places.clear();
        self.values.clear();
        self.others = 0.0;
        self.places.try_reserve(most)?;
        Ok(self.values.try_reserve(most)?)
    }

    /// Takes in an entry, of larger columns than all before.
    #[inline(always)]
    pub(in crate::rows) fn push(&mut self, chosen: &Chosen, column: usize, value: f64) {
        match chosen.place(column) {
            Some(place) => self.put(place, value),
            None => self.others += value * 0.0,
        }
    }

    #[inline(always)]
    pub(in crate::rows) fn put(&mut self, place: u32, value: f64) {
        self.places.push(place as i32);
        self.values.push(value);
    }

    #[inline(always)]
    pub(in crate::rows) fn put_other(&mut self, value: f64) {
        self.others += value * 0.0;
    }
}

/// Rows of finite numbers in terms of [`Chosen`] columns.
pub struct RenamedRows {
    indptr: Vec<i64>,
    places: Vec<i64>,
    values: Vec<f64>,
    columns: usize,
}

impl RenamedRows {
    /// `chosen` is sorted.
    pub fn new(rows: &dyn Matrix, chosen: &Chosen, monitor: &dyn Monitor) -> Result<Self> {
        let mut all =
            Self { indptr: filled(0, 1)?, places: Vec::new(), values: Vec::new(), columns: chosen.places() };
        let mut one = Renamed { others_are_finite: true, ..Renamed::default() };
        let mut pace = Pace::new(monitor);
        for row in 0..rows.len() {
            pace.spend(4 * (row_entries(rows) + 1))?;
            rows.rename(row, chosen, &mut one)?;
            all.places.try_extend(one.places.iter().map(|place| i64::from(*place)))?;
            all.values.try_extend(one.values.iter().copied())?;
            all.indptr.try_push(all.places.len() as i64)?;
        }
        Ok(all)
    }

    pub fn view(&self) -> Csr<'_, f64, i64> {
        let facts = Cow::Owned(Facts::of_columns(&self.indptr));
        Csr::again(&self.indptr, &self.places, &self.values, self.columns, facts)
    }
}
