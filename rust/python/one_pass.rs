//! Passes over few rows, for which reading the arguments would take longer than learning.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::online::{Memory, pairs, parse_joint, parse_tie, read_state, state_to_python};
use super::rows::{shape, with_rows};
use crate::online::pocket::Check;
use crate::online::{self, Problem, Schedule, Snapshot};
use crate::rows::{Spread, Tie, Tolerance};

/// One pass in the given order.
const SCHEDULE: Schedule = Schedule {
    shuffle: None,
    first_epoch: 0,
    max_iter: 1,
    tol: None,
    n_iter_no_change: 1,
    track_mistakes: false,
    threads: 1,
    keep_on_interrupt: false,
    settle: false,
    record: false,
};

/// The arguments of `fit` that stay the same from pass to pass.
#[pyclass(frozen, module = "perceptron_rs._core")]
pub struct OnePass {
    learner: String,
    positive: Vec<u32>,
    class_weight: Vec<[f64; 2]>,
    eta: f64,
    tie: Tie,
    fit_intercept: bool,
    tolerance: Tolerance,
    joint: Option<Spread>,
}

/// The arguments of `fit` that stay the same from pass to pass, read once.
#[pyfunction]
#[pyo3(signature = (*, learner, positive, class_weight, eta0, tie, fit_intercept, margin=0.0, added_feature=0.0,
                    max_mistakes_per_example=None, joint=None))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // one per parameter of the protocol
fn one_pass(
    learner: &str,
    positive: PyReadonlyArray1<'_, u32>,
    class_weight: PyReadonlyArray2<'_, f64>,
    eta0: f64,
    tie: &str,
    fit_intercept: bool,
    margin: f64,
    added_feature: f64,
    max_mistakes_per_example: Option<u64>,
    joint: Option<&str>,
) -> PyResult<OnePass> {
    Ok(OnePass {
        learner: learner.to_owned(),
        positive: positive.as_array().to_vec(),
        class_weight: pairs(&class_weight)?,
        eta: eta0,
        tie: parse_tie(tie)?,
        fit_intercept,
        tolerance: Tolerance { margin, added_feature, max_mistakes: max_mistakes_per_example },
        joint: joint.map(parse_joint).transpose()?,
    })
}

#[pymethods]
impl OnePass {
    /// Learn from the rows in their order. The new state, and the mistakes of each decision.
    #[pyo3(signature = (rows, labels, state))]
    #[allow(clippy::needless_pass_by_value)]
    fn learn<'py>(
        &self,
        rows: &Bound<'py, PyAny>,
        labels: Vec<u32>,
        state: &Bound<'py, PyDict>,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyArray1<i64>>)> {
        let py = rows.py();
        let planes = self.positive.len();
        let (_, columns) = shape(rows)?;
        let start = read_state(state, (planes, columns), false)?;
        let mut memory =
            Memory::read(&self.learner, state, (planes, columns), self.fit_intercept, (Check::Run, &start))?;
        let done = with_rows(rows, |rows| {
            let mut problem = Problem::new(
                rows,
                &labels,
                None,
                &self.positive,
                &self.class_weight,
                self.eta,
                self.tie,
                self.fit_intercept,
            )?
            .tolerant(self.tolerance)?;
            if let Some(spread) = self.joint {
                problem = problem.joint(spread)?;
            }
            online::fit(&problem, &SCHEDULE, start, memory.learner(), &())
        })?;
        let (learnt, report) = done?;
        let learnt = state_to_python(py, &Snapshot { state: &learnt, learner: memory.learner() })?;
        Ok((learnt, PyArray1::from_slice(py, &report.epochs[0].mistakes)))
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<OnePass>()?;
    m.add_function(wrap_pyfunction!(one_pass, m)?)
}
