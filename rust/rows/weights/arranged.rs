//! The weights of one or more planes, in the form that scores are computed with.

use std::{borrow::Cow, ops::Range};

use crate::arith::exact::Halves;
use crate::base::{Error, Monitor, Result};
use crate::memory::zeros_to_write;
use crate::rows::weights::table::{Layout, Table, fill};

/// Weights of K planes over d columns for scores alone: where they stand, or in a form that is faster.
pub enum Arranged<'a> {
    /// K x d.
    ByPlane(Cow<'a, [f64]>),
    /// Columns of a stride, which is at least K: what stands between two of them is read by nobody but the
    /// processor. Nothing need follow the last weight of the last column.
    ByColumn { w: Cow<'a, [f64]>, stride: usize },
    /// Exact integers for dense bytes.
    Halves(Vec<Halves>),
    /// Exact integers of one plane, for CSR rows of ones.
    Counts(Vec<i32>),
}

/// Planes whose weights in a column fill what a cache reads at once.
const LINE: usize = 8;

impl<'a> Arranged<'a> {
    /// Weights that stand by column. Those of one plane, one after another, are the same by plane.
    pub fn by_column(w: &'a [f64], stride: usize) -> Self {
        match stride {
            1 => w.into(),
            _ => Self::ByColumn { w: Cow::Borrowed(w), stride },
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Self::ByPlane(w) | Self::ByColumn { w, .. } => w.len(),
            Self::Halves(planes) => planes.len(),
            Self::Counts(w) => w.len(),
        }
    }

    /// Whether these are weights of so many planes and columns, and stand where they were given.
    pub fn has_shape(&self, planes: usize, columns: usize) -> bool {
        match self {
            Self::ByPlane(w) => planes.checked_mul(columns) == Some(w.len()),
            Self::ByColumn { w, stride } => {
                let before = columns.saturating_sub(1).saturating_mul(*stride);
                *stride >= planes && w.len() >= before.saturating_add(if columns == 0 { 0 } else { planes })
            }
            Self::Halves(_) | Self::Counts(_) => false,
        }
    }

    /// How many planes belong together, where some of them are scored after others.
    pub fn together(&self) -> usize {
        if matches!(self, Self::ByColumn { .. }) { LINE } else { 1 }
    }

    /// The same by plane or by column: a copy, if they do not stand so.
    pub(in crate::rows) fn standing(
        self,
        to: Layout,
        [planes, columns]: [usize; 2],
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let (w, from, [per_plane, per_column]) = match (&self, to) {
            (Self::ByColumn { w, stride }, Layout::ByPlane) => (w, Layout::ByColumn, [1, *stride]),
            (Self::ByPlane(w), Layout::ByColumn) => (w, Layout::ByPlane, [columns, 1]),
            _ => return Ok(self),
        };
        let (all, number) =
            ((0..planes).map(|k| (k, k)), |k: usize, j: usize| w[k * per_plane + j * per_column]);
        let mut out = zeros_to_write(planes.checked_mul(columns).ok_or(Error::Memory)?)?;
        fill((&mut out, (to, to.steps([planes, columns]))), columns, all, from, number, |_| false, monitor)?;
        Ok(match to {
            Layout::ByPlane => out.into(),
            Layout::ByColumn => Self::ByColumn { w: out.into(), stride: planes },
        })
    }

    /// Some of the planes; none of a form that was made for certain rows.
    pub fn of_planes(&self, planes: Range<usize>, columns: usize) -> Option<Arranged<'_>> {
        match self {
            Self::ByPlane(w) => Some(w[planes.start * columns..planes.end * columns].into()),
            Self::ByColumn { w, stride } => {
                let w = Cow::Borrowed(w.get(planes.start..).unwrap_or_default());
                Some(Arranged::ByColumn { w, stride: *stride })
            }
            Self::Halves(_) | Self::Counts(_) => None,
        }
    }
}

impl<'a> From<&'a Table> for Arranged<'a> {
    /// Where they stand; nothing, of zeros that have no place.
    fn from(table: &'a Table) -> Self {
        let numbers = table.numbers().unwrap_or_default();
        match table.layout() {
            Layout::ByPlane => numbers.into(),
            Layout::ByColumn => Self::by_column(numbers, table.shape()[0]),
        }
    }
}

impl<'a, T: AsRef<[f64]> + ?Sized> From<&'a T> for Arranged<'a> {
    fn from(by_plane: &'a T) -> Self {
        Self::ByPlane(Cow::Borrowed(by_plane.as_ref()))
    }
}

impl From<Vec<f64>> for Arranged<'_> {
    fn from(by_plane: Vec<f64>) -> Self {
        Self::ByPlane(Cow::Owned(by_plane))
    }
}
