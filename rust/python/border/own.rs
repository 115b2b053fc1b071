//! Runs over CSR rows with far fewer entries than there are columns: they learn on the columns where there
//! are entries or weights, and what they have learnt is put in its place among the weights of all columns.

use std::borrow::Cow;

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::arrays::{borrowed, check_shape, copied};
use super::rows::{over_own_columns, shape};
use super::signals::Signals;
use crate::error::{Error, Result};
use crate::memory::{filled, gathered, matrix, zeros};
use crate::monitor::{Monitor, pieces};
use crate::rows::Chosen;

/// A `DenseRows` or a `CsrRows`.
type Rows = Py<PyAny>;

/// The columns of a run. The weights of all others are 0 before it, and so after it.
pub struct Own {
    chosen: Chosen,
    /// Planes and columns, all of them.
    shape: [usize; 2],
}

impl Own {
    /// The rows over the columns where they have entries or a plane has a weight, and these weights, K x the
    /// columns; `None` if there are not far more columns.
    pub fn of(
        rows: &Bound<'_, PyAny>,
        coef: &PyReadonlyArray2<f64>,
        planes: usize,
    ) -> PyResult<Option<(Rows, Vec<f64>, Self)>> {
        let shape = [planes, shape(rows)?.1];
        check_shape("coef", coef.shape(), &shape)?;
        let Some((rows, chosen)) = over_own_columns(rows, &weighted_columns(coef)?)? else { return Ok(None) };
        Ok(Some((rows, taken(coef, &chosen)?, Self { chosen, shape })))
    }

    /// An array (K, d) of the weights of the run, which come in pieces, and zeros. It stands by column, so
    /// that few pages of it are written to.
    pub fn set(&self, out: &Bound<'_, PyAny>, name: &str, pieces: &[Cow<[f64]>]) -> PyResult<()> {
        let (signals, [planes, columns]) = (Signals::new(), self.shape);
        let width = self.chosen.places().max(1);
        let learnt = gathered(pieces.iter().flat_map(|piece| piece.chunks_exact(width)))?;
        let mut all = zeros(planes.checked_mul(columns).ok_or(Error::Memory)?)?;
        let done = self.chosen.put(&learnt, |k, j, w| all[j * planes + k] = w, &signals);
        signals.settle(done, out.py(), false)?;
        let by_column = PyArray1::from_vec(out.py(), all).reshape([columns, planes])?;
        out.set_item(name, by_column.getattr("T")?)
    }
}

/// Weights (K, d) where they stand, to be read; of zeros that take no memory, as many, on pages that nobody
/// has touched.
pub fn standing<'a>(
    coef: &'a PyReadonlyArray2<f64>,
    planes: usize,
    columns: usize,
) -> PyResult<Cow<'a, [f64]>> {
    if coef.shape() == [planes, columns] && are_zeros(coef) {
        return Ok(zeros(planes.checked_mul(columns).ok_or(Error::Memory)?)?.into());
    }
    borrowed("coef", coef, planes, columns)
}

/// The weights of some columns, each at its place.
fn taken(coef: &PyReadonlyArray2<f64>, chosen: &Chosen) -> PyResult<Vec<f64>> {
    let (planes, signals) = (coef.shape()[0], Signals::new());
    if are_zeros(coef) {
        return Ok(matrix(0.0, planes, chosen.places())?);
    }
    let all = coef.as_array();
    let taken = chosen.take(planes, |k, j| all[[k, j]], &signals);
    signals.settle(taken, coef.py(), false)
}

/// Whether an array repeats one 0, as `zeros` of Python makes it: it takes no memory, and no time to look at.
pub fn are_zeros(array: &PyReadonlyArray2<f64>) -> bool {
    array.strides().iter().all(|&stride| stride == 0) && array.as_array().first() == Some(&0.0)
}

/// The columns where a plane has a weight.
fn weighted_columns(coef: &PyReadonlyArray2<f64>) -> PyResult<Vec<usize>> {
    if are_zeros(coef) {
        return Ok(Vec::new());
    }
    let (signals, [planes, columns]) = (Signals::new(), [coef.shape()[0], coef.shape()[1]]);
    let numbers = match coef.as_slice() {
        Ok(numbers) => Cow::Borrowed(numbers),
        Err(_) => Cow::Owned(copied(coef)?),
    };
    let by_column = matches!(numbers, Cow::Borrowed(_)) && !coef.is_c_contiguous();
    let strides = if by_column { [1, planes] } else { [columns, 1] };
    let found = find_weighted(&numbers, [planes, columns], strides, &signals);
    signals.settle(found, coef.py(), false)
}

fn find_weighted(
    numbers: &[f64],
    [planes, columns]: [usize; 2],
    [of_plane, of_column]: [usize; 2],
    monitor: &dyn Monitor,
) -> Result<Vec<usize>> {
    let mut weighted = filled(false, columns)?;
    // In the order in which they stand: some planes of a column, or some columns of a plane.
    let (often, at_once) = if of_plane == 1 { (1, planes) } else { (planes, 1) };
    for k in 0..often {
        for piece in pieces(columns, at_once, monitor) {
            for j in piece? {
                let first = k * of_plane + j * of_column;
                weighted[j] |= numbers[first..][..at_once].iter().any(|w| *w != 0.0);
            }
        }
    }
    gathered((0..columns).filter(|j| weighted[*j]))
}
