//! The kernel perceptron on a budget: arrays in, arrays out.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict};

use super::arrays::{counters, get, matrix, pairs, to_matrix, vector};
use super::choices::{parse_joint, parse_tie};
use super::fit::describe;
use super::kernel::{array, parse};
use super::memory::state_to_python;
use super::rows::{shape, with_rows};
use super::signals::Signals;
use crate::arith::factor::Factor;
use crate::kernel::{Budget, BudgetRows, Kept, Kernel, Policy};
use crate::online::perceptron::Perceptron;
use crate::online::{self, Problem, Schedule, Shuffle, Snapshot, State};
use crate::rows::Tolerance;

fn invalid(text: String) -> PyErr {
    PyValueError::new_err(text)
}

/// The sets of a state, checked.
fn read(
    state: &Bound<'_, PyDict>,
    budget: &Budget,
    sets: usize,
    width: usize,
    rows: usize,
) -> PyResult<Vec<Kept>> {
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
    let steps = matrix("kept_step", &get("kept_step", state)?.extract()?, row.len(), width)?;
    let harm = vector("kept_harm", &get("kept_harm", state)?.extract()?, sets)?;
    let factor = vector("kept_factor", &get("kept_factor", state)?.extract()?, factors)?;
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
        let members: Vec<usize> = row[begin..end].iter().map(|&row| row as usize).collect();
        let steps = steps[begin * width..end * width].to_vec();
        let size = if projects { members.len() * (members.len() + 1) / 2 } else { 0 };
        let (own, rest) = factor.split_at(size);
        factor = rest;
        let mut kept = Kept::new(width);
        (kept.members, kept.steps, kept.factor) = (members, steps, Factor::unpacked(own));
        kept.numbers = number[begin..end].iter().map(|&number| number as u64).collect();
        (kept.mistakes, kept.harm) = (mistakes[g] as u64, harm[g]);
        kept
    });
    Ok(sets.collect())
}

fn write(state: &Bound<'_, PyDict>, sets: &[Kept], width: usize) -> PyResult<()> {
    let py = state.py();
    let (mut start, mut factor) = (vec![0], Vec::new());
    for kept in sets {
        start.push(start[start.len() - 1] + kept.members.len() as i64);
        kept.factor.pack(&mut factor);
    }
    let numbers = sets.iter().flat_map(|kept| &kept.numbers);
    let numbers: Vec<i64> = numbers.map(|&number| number as i64).collect();
    let members = sets.iter().flat_map(|kept| &kept.members);
    let rows: Vec<i64> = members.map(|&member| member as i64).collect();
    let steps: Vec<f64> = sets.iter().flat_map(|kept| &kept.steps).copied().collect();
    let mistakes: Vec<i64> = sets.iter().map(|kept| kept.mistakes as i64).collect();
    let harm: Vec<f64> = sets.iter().map(|kept| kept.harm).collect();
    state.set_item("kept_start", PyArray1::from_vec(py, start))?;
    state.set_item("kept_step", to_matrix(py, &steps, [rows.len(), width])?)?;
    state.set_item("kept_row", PyArray1::from_vec(py, rows))?;
    state.set_item("kept_number", PyArray1::from_vec(py, numbers))?;
    state.set_item("kept_mistakes", PyArray1::from_vec(py, mistakes))?;
    state.set_item("kept_harm", PyArray1::from_vec(py, harm))?;
    state.set_item("kept_factor", PyArray1::from_vec(py, factor))
}

/// Run epochs of the kernel perceptron that keeps at most so many examples; `state` is not modified.
#[pyfunction]
#[pyo3(signature = (rows, stored_rows, labels, sample_weight, *, kernel, budget, policy, policy_seed, distance,
                    state, positive, class_weight, eta0, tie, seed, first_epoch, max_iter, tol,
                    n_iter_no_change, track_mistakes, margin=0.0, max_mistakes_per_example=None, joint=None,
                    on_epoch=None, keep_on_interrupt=false))]
#[allow(clippy::too_many_arguments)] // one per parameter of the protocol
#[allow(clippy::needless_pass_by_value)]
fn kernel_fit_budget<'py>(
    rows: &Bound<'py, PyAny>,
    stored_rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    kernel: &Bound<'py, PyAny>,
    budget: usize,
    policy: &str,
    policy_seed: u64,
    distance: f64,
    state: &Bound<'py, PyDict>,
    positive: PyReadonlyArray1<'py, u32>,
    class_weight: PyReadonlyArray2<'py, f64>,
    eta0: f64,
    tie: &str,
    seed: Option<u64>,
    first_epoch: u64,
    max_iter: u64,
    tol: Option<f64>,
    n_iter_no_change: u64,
    track_mistakes: bool,
    margin: f64,
    max_mistakes_per_example: Option<u64>,
    joint: Option<&str>,
    on_epoch: Option<Py<PyAny>>,
    keep_on_interrupt: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let py = rows.py();
    let (kernel, tie, policy) = (parse(kernel)?, parse_tie(tie)?, Policy::new(policy)?);
    let (planes, (n, _), (m, _)) = (positive.as_slice()?.len(), shape(rows)?, shape(stored_rows)?);
    let budget = Budget { size: budget, policy, seed: policy_seed, distance, eta: eta0 };
    budget.check()?;
    let width = if joint.is_some() { planes } else { 1 };
    let known = if kernel == Kernel::Precomputed { n } else { m };
    let sets = read(state, &budget, if joint.is_some() { 1 } else { planes }, width, known)?;
    let start =
        State { coef: Vec::new(), intercept: vec![0.0; planes], seen: counters(state, planes)?, ages: None };
    let (labels, positive, class_weight) = (labels.as_slice()?, positive.as_slice()?, pairs(&class_weight)?);
    let sample_weight = sample_weight.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let schedule = Schedule {
        shuffle: seed.map(|seed| Shuffle { seed }),
        first_epoch,
        max_iter,
        tol,
        n_iter_no_change,
        track_mistakes,
        threads: 1,
        keep_on_interrupt,
        settle: true,
        record: false,
    };
    let tolerance = Tolerance { margin, added_feature: 0.0, max_mistakes: max_mistakes_per_example };
    let joint = joint.map(parse_joint).transpose()?;
    let signals = Signals::new(on_epoch, false);
    let mut kept = Vec::new();
    let run = |rows: &dyn crate::rows::Table, stored: &dyn crate::rows::Table| {
        let examples = BudgetRows::new(rows, stored, kernel, sets, budget, width)?;
        let mut problem =
            Problem::new(&examples, labels, sample_weight, positive, &class_weight, eta0, tie, false)?
                .tolerant(tolerance)?;
        if let Some(spread) = joint {
            problem = problem.joint(spread)?;
        }
        let done = online::fit(&problem, &schedule, start, &mut Perceptron, &signals);
        kept = examples.into_sets();
        done
    };
    let stored_rows = stored_rows.clone().unbind();
    let done = with_rows(rows, |rows| {
        Python::attach(|py| with_rows(stored_rows.bind(py), |stored| run(rows, stored)))
    })??;
    let (learnt, report) = signals.settle(done, py, keep_on_interrupt)?;
    let state = state_to_python(py, &Snapshot { state: &learnt, learner: &Perceptron })?;
    for name in ["coef", "intercept"] {
        state.del_item(name)?;
    }
    write(&state, &kept, width)?;
    describe(py, &state, &report, track_mistakes.then_some(n), None)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(kernel_fit_budget, m)?)
}
