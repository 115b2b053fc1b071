//! The sets of a kernel perceptron on a budget: arrays in, arrays out.

use numpy::{PyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::border::arrays::{array, numbers, to_array};
use crate::arith::factor::Factor;
use crate::kernel::{Budget, Policy, SupportSet};
use crate::memory::{Grow, collected, gathered, tried};

fn invalid(text: String) -> PyErr {
    PyValueError::new_err(text)
}

/// The sets of a state, checked.
pub(super) fn read_sets(
    state: &Bound<'_, PyDict>,
    budget: &Budget,
    sets: usize,
    width: usize,
    rows: usize,
) -> PyResult<Vec<SupportSet>> {
    let (start, row) = (array::<i64>("kept_start", state)?, array::<i64>("kept_row", state)?);
    let (start, row) = (start.as_slice()?, row.as_slice()?);
    let ends = start.first() == Some(&0) && start.last() == Some(&(row.len() as i64));
    if start.len() != sets + 1 || !ends || start.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(invalid(format!(
            "kept_start must rise from 0 to {}, the number of members, in {} numbers",
            row.len(),
            sets + 1
        )));
    }
    let sizes = || start.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
    let largest = sizes().max().unwrap_or(0);
    if largest > budget.size {
        return Err(invalid(format!(
            "budget must be at least {largest}, what is kept already, got {}",
            budget.size
        )));
    }
    let projects = budget.policy == Policy::Projectron;
    let factors = if projects { sizes().map(|size| size * (size + 1) / 2).sum() } else { 0 };
    let steps = numbers("kept_step", state, row.len(), Some(width))?;
    let harm = numbers("kept_harm", state, sets, None)?;
    let factor = numbers("kept_factor", state, factors, None)?;
    let (mistakes, number) = (array::<i64>("kept_mistakes", state)?, array::<i64>("kept_number", state)?);
    for (name, array, needed) in [("kept_mistakes", &mistakes, sets), ("kept_number", &number, row.len())] {
        if array.shape() != [needed] {
            let shape = array.shape();
            return Err(invalid(format!("{name} must have the shape [{needed}], got {shape:?}")));
        }
    }
    let (mistakes, number) = (mistakes.as_slice()?, number.as_slice()?);
    for (name, numbers) in [("kept_step", &steps), ("kept_harm", &harm), ("kept_factor", &factor)] {
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err(invalid(format!("{name} must be finite")));
        }
    }
    if let Some(least) = mistakes.iter().min().filter(|&&least| least < 0) {
        return Err(invalid(format!("kept_mistakes must be at least 0, got {least}")));
    }
    if let Some(row) = row.iter().find(|&&row| row < 0 || row as usize >= rows) {
        return Err(invalid(format!("kept_row must name one of {rows} rows, got {row}")));
    }
    let mut factor = &factor[..];
    let sets = start.windows(2).enumerate().map(|(g, pair)| {
        let (begin, end) = (pair[0] as usize, pair[1] as usize);
        let members = collected(row[begin..end].iter().map(|&row| row as usize))?;
        let steps = collected(steps[begin * width..end * width].iter().copied())?;
        let size = if projects { members.len() * (members.len() + 1) / 2 } else { 0 };
        let (own, rest) = factor.split_at(size);
        factor = rest;
        let mut kept = SupportSet::new(width)?;
        (kept.members, kept.steps, kept.factor) = (members, steps, Factor::unpacked(own)?);
        kept.numbers = collected(number[begin..end].iter().map(|&number| number as u64))?;
        (kept.mistakes, kept.harm) = (mistakes[g] as u64, harm[g]);
        Ok(kept)
    });
    Ok(tried(sets)?)
}

/// What the sets keep, by the names of the protocol.
pub(super) fn write_sets(state: &Bound<'_, PyDict>, sets: &[SupportSet], width: usize) -> PyResult<()> {
    let py = state.py();
    let (mut start, mut factor) = (vec![0], Vec::new());
    for kept in sets {
        start.try_push(start[start.len() - 1] + kept.members.len() as i64)?;
        kept.factor.pack(&mut factor)?;
    }
    let numbers = sets.iter().flat_map(|kept| &kept.numbers);
    let numbers = gathered(numbers.map(|&number| number as i64))?;
    let members = sets.iter().flat_map(|kept| &kept.members);
    let rows = gathered(members.map(|&member| member as i64))?;
    let steps = gathered(sets.iter().flat_map(|kept| &kept.steps).copied())?;
    let mistakes = collected(sets.iter().map(|kept| kept.mistakes as i64))?;
    let harm = collected(sets.iter().map(|kept| kept.harm))?;
    state.set_item("kept_start", PyArray1::from_vec(py, start))?;
    state.set_item("kept_step", to_array(py, &steps, [rows.len(), width])?)?;
    state.set_item("kept_row", PyArray1::from_vec(py, rows))?;
    state.set_item("kept_number", PyArray1::from_vec(py, numbers))?;
    state.set_item("kept_mistakes", PyArray1::from_vec(py, mistakes))?;
    state.set_item("kept_harm", PyArray1::from_vec(py, harm))?;
    state.set_item("kept_factor", PyArray1::from_vec(py, factor))
}
