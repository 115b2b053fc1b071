//! The weights of one or more planes, in the form that scores are computed with.

use std::borrow::Cow;
use std::ops::Range;

use crate::arith::exact::Halves;
use crate::error::Result;
use crate::monitor::{self, Monitor};
use crate::rows::weights::planes::in_tiles;

/// Weights of K planes over d columns for scores alone: where they stand, or in a form that is faster.
pub enum Arranged<'a> {
    /// K x d.
    ByPlane(Cow<'a, [f64]>),
    /// Columns of a stride, which is at least K: what stands between two of them is read by nobody but the
    /// processor. Nothing need follow the last weight of the last column.
    ByColumn { w: Cow<'a, [f64]>, stride: usize },
    /// Exact integers for dense bytes.
    Halves(Vec<Halves>),
    /// Exact integers of one plane, for CSR rows.
    Counts(Vec<i32>),
}

/// Planes whose weights in a column fill what a cache reads at once.
const LINE: usize = 8;

impl<'a> Arranged<'a> {
    /// Weights that stand by column. Those of one plane, one after another, are the same by plane.
    #[must_use]
    pub fn by_column(w: &'a [f64], stride: usize) -> Self {
        match stride {
            1 => w.into(),
            _ => Self::ByColumn { w: Cow::Borrowed(w), stride },
        }
    }

    /// How many numbers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::ByPlane(w) | Self::ByColumn { w, .. } => w.len(),
            Self::Halves(planes) => planes.len(),
            Self::Counts(w) => w.len(),
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether these are weights of so many planes and columns, and stand where they were given.
    #[must_use]
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
    #[must_use]
    pub fn together(&self) -> usize {
        if matches!(self, Self::ByColumn { .. }) { LINE } else { 1 }
    }

    /// The same by plane: a copy, if they do not stand so.
    pub(in crate::rows) fn by_plane(
        self,
        planes: usize,
        columns: usize,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let Self::ByColumn { w, stride } = &self else { return Ok(self) };
        let mut out = monitor::filled(&0.0, planes * columns, monitor)?;
        in_tiles(columns, planes, monitor, |tile| {
            for (k, plane) in out.chunks_mut(columns).enumerate() {
                for j in tile.clone() {
                    plane[j] = w[j * stride + k];
                }
            }
        })?;
        Ok(out.into())
    }

    /// Some of the planes; none of a form that was made for certain rows.
    #[must_use]
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

impl<'a> From<&'a [f64]> for Arranged<'a> {
    fn from(by_plane: &'a [f64]) -> Self {
        Self::ByPlane(Cow::Borrowed(by_plane))
    }
}

impl<'a> From<&'a Vec<f64>> for Arranged<'a> {
    fn from(by_plane: &'a Vec<f64>) -> Self {
        by_plane.as_slice().into()
    }
}

impl From<Vec<f64>> for Arranged<'_> {
    fn from(by_plane: Vec<f64>) -> Self {
        Self::ByPlane(Cow::Owned(by_plane))
    }
}
