//! Examples in their storage, and the leaves of training and scoring, for each storage and instruction set.
//!
//! A leaf runs over examples until something needs attention, makes the plain update and logs the
//! mistakes. It knows no learner; a learner never sees a storage type.

mod ballot;
mod columns;
mod csr;
mod dense;
mod pass;
mod survey;
mod weights;

use std::ops::Range;

use crate::error::{Error, Result, ensure};
use crate::monitor::{Monitor, NUMBERS};

pub use ballot::{Ballot, Narrow};
pub use columns::{Chosen, Entries, Listed, OwnColumns, Postings, Renamed, RenamedRows, over};
pub use csr::{Csr, facts::Facts};
pub use dense::Dense;
pub use pass::joint::Spread;
pub use pass::labels::{Label, Labels};
pub(crate) use pass::learn::{Learn, LoopBody};
pub use pass::noise::{Noise, Tolerance};
pub(crate) use pass::prefetch::{Hint, prefetch};
pub use pass::visit::{Cursor, Mistake, PassiveAggressive, Stop, Tie, Visit, integer_step};
pub use survey::Survey;
pub use weights::arranged::Arranged;
pub use weights::pending::settle;
pub use weights::planes::{Activations, Head, Magnitude, Planes, Weights};
pub use weights::shared::Shared;
pub use weights::table::{Layout, Table, WIDE, in_tiles};
pub use weights::undo::Undo;
pub use weights::used::weighted_columns;

/// What a run goes over: examples by number, and the weights that suit them. Object safe: everything above
/// this trait is compiled once.
pub trait Examples: Sync {
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn columns(&self) -> usize;

    /// How the weights stand for [`Examples::learn`].
    fn layout(&self) -> Layout {
        Layout::ByPlane
    }

    /// No finite |number| of an example is larger. Infinite: nobody has looked, or one is not finite.
    fn largest(&self) -> f64 {
        f64::INFINITY
    }

    /// How many examples make a block: few enough that those of its log are still in cache.
    fn block(&self, planes: usize) -> usize;

    /// Brings the weights into the form that [`Examples::learn`] is fastest on.
    fn prepare(&self, _visit: &Visit, _planes: &mut Planes, _monitor: &dyn Monitor) -> Result<()> {
        Ok(())
    }

    /// Visits positions `at.pos..end` of the order: updates the planes, which it has prepared, at each
    /// mistake, logs it, and advances the cursor. After an error or [`Stop::Overflow`] the planes are not to
    /// be used further.
    fn learn(
        &self,
        visit: &Visit,
        at: &mut Cursor,
        end: usize,
        planes: &mut Planes,
        log: &mut Vec<Mistake>,
    ) -> Result<Stop>;

    /// These examples, if they are rows of a matrix.
    fn rows(&self) -> Option<&dyn Rows> {
        None
    }
}

/// Checked, immutable rows of a matrix.
pub trait Rows: Examples {
    /// `out += c*x` for one row, column j at `j*step + first` of `out`.
    fn axpy_at(&self, row: usize, c: f64, out: &mut [f64], place: (usize, usize));

    /// Keeps what it will change. False: there is no memory.
    fn keep(&self, row: usize, numbers: &[f64], place: (usize, usize), undo: &mut Undo) -> bool;

    fn axpy(&self, row: usize, c: f64, out: &mut [f64]) {
        self.axpy_at(row, c, out, (1, 0));
    }

    /// Writes a row as f64.
    fn write(&self, row: usize, out: &mut [f64]) {
        out.fill(0.0);
        self.axpy(row, 1.0, out);
    }

    /// Weights in the form that [`Rows::scores`] of `count` rows is fastest on: where they stand, unless
    /// another form pays for being made.
    fn arrange<'a>(
        &self,
        weights: Arranged<'a>,
        planes: usize,
        count: usize,
        monitor: &dyn Monitor,
    ) -> Result<Arranged<'a>>;

    /// How many values of some rows are stored.
    fn entries(&self, rows: Range<usize>) -> usize;

    /// Writes a row as i16 over zeros; false if a value is no whole number of at most
    /// [`LARGEST_VALUE`](crate::arith::gram::LARGEST_VALUE), or if the rows are too sparse for that to pay.
    fn narrow(&self, row: usize, out: &mut [i16]) -> bool;

    /// Activations of some rows under all planes, row by row, by rule 3 (or 10: the same bits).
    fn scores(
        &self,
        rows: Range<usize>,
        weights: &Arranged,
        intercept: &[f64],
        out: &mut [f64],
    ) -> Result<()>;

    /// Dot products by rule 3 of some rows with themselves, each column multiplied by its `unit` before.
    fn squares(&self, rows: Range<usize>, unit: &[f64], out: &mut [f64]) -> Result<()>;
}

/// Access to the elements of a matrix, for what is no linear learner: kernels, margins, layers, digests.
pub trait Matrix: Rows {
    /// Bounds of the values, if all are integers (rule 10). Dense rows are looked at for that.
    fn magnitude(&self, monitor: &dyn Monitor) -> Result<Option<Magnitude>>;

    /// Collects the entries of some rows that are not 0, row by row.
    fn gather(&self, rows: Range<usize>, out: &mut Entries) -> Result<()>;

    /// A row in terms of some columns.
    fn rename(&self, row: usize, chosen: &Chosen, out: &mut Renamed) -> Result<()>;

    /// The columns in which these rows have entries, and some `more`, if to go over these alone is less work
    /// for so many planes.
    fn own_columns(
        &self,
        _planes: usize,
        _more: &[usize],
        _monitor: &dyn Monitor,
    ) -> Result<Option<OwnColumns>> {
        Ok(None)
    }

    /// Calls `work` with these rows over such columns alone, each at its place.
    fn over(&self, _own: &OwnColumns, _work: &mut dyn FnMut(&dyn Matrix) -> Result<()>) -> Result<()> {
        Err(arranged_otherwise())
    }

    /// One value; +0.0 where none is stored.
    fn value(&self, row: usize, column: usize) -> f64;

    fn survey(&self, rows: Range<usize>) -> Survey;

    /// Appends the bytes of a row that are digested.
    fn write_bytes(&self, row: usize, out: &mut Vec<u8>) -> Result<()>;

    /// Dot products of some rows with `w`, by rule 3.
    fn dots(&self, numbers: &[u32], w: &[f64], out: &mut [f64]);
}

/// For weights that rows of another storage have arranged or prepared.
pub(crate) fn arranged_otherwise() -> Error {
    Error::Invalid("weights must be arranged or prepared by the rows that they are to be used with".into())
}

/// Refuses more rows than orders, logs and working sets, which hold row numbers in 32 bits, can name.
fn check_len(len: usize) -> Result<()> {
    ensure!(u32::try_from(len).is_ok(), "rows must be fewer than 2^32, got {len}; feed them in batches");
    Ok(())
}

/// Rows that are read between two looks at the monitor, by a pass over all of them. To read an entry takes as
/// long as to copy four numbers.
pub(crate) fn strip(rows: &dyn Rows) -> usize {
    (NUMBERS / 4 / (row_entries(rows) + 1)).max(16)
}

/// Stored values of a row, on average.
pub(crate) fn row_entries(rows: &dyn Rows) -> usize {
    rows.entries(0..rows.len()) / rows.len().max(1)
}

/// Bytes of a block whose rows are to be in cache when its log is absorbed.
const BLOCK: usize = 128 * 1024;

/// Bytes of a block of CSR rows under many planes: there the sums of a plane are larger than the
/// rows, and stay in cache for all mistakes of the plane in the block.
const LARGE_BLOCK: usize = 8 * 1024 * 1024;

/// How many rows of that many bytes, each with that many products of a value and a weight. Between two blocks
/// the monitor is asked; the products of a block take a tenth of a second at most.
fn rows_in_block(row_bytes: usize, products: usize, block: usize) -> usize {
    (block / row_bytes.max(1)).clamp(16, 1 << 16).min(128 * NUMBERS / products.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_numbers_of_32_bits() {
        let most = u32::MAX as usize;
        assert!(Dense::<f64>::new(&[], most, 0).is_ok());
        // Addresses of 32 bits count no further.
        if let Some(more) = most.checked_add(1) {
            let refused = Dense::<f64>::new(&[], more, 0).err();
            assert!(matches!(refused, Some(Error::Invalid(text)) if text.contains("fewer than 2^32")));
        }
    }
}
