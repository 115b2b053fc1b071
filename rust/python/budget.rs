//! The sets of a kernel perceptron on a budget: arrays in, arrays out.

use pyo3::{prelude::*, types::PyDict};

use super::border::{numbers, set_matrix, set_vector, slices};
use crate::kernel::{Budget, Kept, SupportSet};

/// The sets of a state, checked.
pub(super) fn read_sets(
    state: &Bound<'_, PyDict>,
    budget: &Budget,
    sets: usize,
    width: usize,
    rows: usize,
) -> PyResult<Vec<SupportSet>> {
    slices!(state, kept_start: i64, kept_row: i64, kept_number: i64, kept_mistakes: i64);
    slices!(state, kept_harm: f64, kept_factor: f64);
    let kept = Kept {
        start: kept_start.into(),
        rows: kept_row.into(),
        numbers: kept_number.into(),
        steps: numbers("kept_step", state, [kept_row.len(), width])?.into(),
        mistakes: kept_mistakes.into(),
        harm: kept_harm.into(),
        factor: kept_factor.into(),
    };
    Ok(kept.sets(budget, sets, width, rows)?)
}

/// What the sets keep, by the names of the protocol.
pub(super) fn write_sets(state: &Bound<'_, PyDict>, sets: &[SupportSet], width: usize) -> PyResult<()> {
    let Kept { start, rows, numbers, steps, mistakes, harm, factor } = Kept::of(sets)?;
    set_vector(state, "kept_start", &start)?;
    set_vector(state, "kept_row", &rows)?;
    set_vector(state, "kept_number", &numbers)?;
    set_matrix(state, "kept_step", &steps, [rows.len(), width])?;
    set_vector(state, "kept_mistakes", &mistakes)?;
    set_vector(state, "kept_harm", &harm)?;
    set_vector(state, "kept_factor", &factor)
}
