//! The dataclasses of `perceptron_rs.settings`, read once by the names of their attributes.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*};

use super::border::{copied, pairs, with_rows};
use crate::arith::step::Aggressive;
use crate::base::choice;
use crate::kernel::{Budget, Kernel, Policy};
use crate::online::{Given, Penalty, Settings, pocket::Check};
use crate::rows::{Labels, Spread, Tie, Tolerance};

/// Examples, their classes and weights, as Python holds them.
#[derive(FromPyObject)]
pub(super) struct Data {
    pub rows: Py<PyAny>,
    pub labels: LabelArray,
    pub sample_weight: Option<Py<PyArray1<f64>>>,
    pub stored_rows: Option<Py<PyAny>>,
}

impl Data {
    /// Calls `f` on the rows with their labels and weights, detached from the interpreter.
    pub fn lend<R: Send>(&self, py: Python<'_>, f: impl FnOnce(Given<'_>) -> R + Send) -> PyResult<R> {
        let sample_weight = self.sample_weight.as_ref().map(|weights| weights.bind(py).try_readonly());
        let sample_weight = sample_weight.transpose()?;
        let sample_weight = sample_weight.as_ref().map(|weights| weights.as_slice()).transpose()?;
        self.labels
            .lend(py, |labels| with_rows(self.rows.bind(py), |rows| f(Given { rows, labels, sample_weight })))
    }
}

/// The class of every example, or the words of bits of its set of classes.
#[derive(FromPyObject)]
pub(super) enum LabelArray {
    Classes(Py<PyArray1<u32>>),
    Sets(Py<PyArray2<u32>>),
}

impl LabelArray {
    /// Calls `f` on the labels, which are read where they stand.
    pub fn lend<R>(&self, py: Python<'_>, f: impl FnOnce(Labels<'_>) -> PyResult<R>) -> PyResult<R> {
        match self {
            Self::Classes(classes) => f(Labels::Classes(classes.bind(py).try_readonly()?.as_slice()?)),
            Self::Sets(words) => {
                let words = words.bind(py).try_readonly()?;
                let width = words.shape()[1];
                if width == 0 {
                    return Err(PyValueError::new_err("labels must have a word of bits or more, got none"));
                }
                f(Labels::Sets(words.as_slice()?, width))
            }
        }
    }
}

/// What every learner has.
#[derive(FromPyObject)]
#[expect(clippy::struct_excessive_bools, reason = "one for each attribute")]
pub(super) struct Linear<'py> {
    pub learner: String,
    positive: PyReadonlyArray1<'py, u32>,
    class_weight: PyReadonlyArray2<'py, f64>,
    eta0: f64,
    tie: String,
    fit_intercept: bool,
    seed: Option<u64>,
    partition: u64,
    margin_threshold: f64,
    added_feature: f64,
    max_mistakes_per_example: Option<u64>,
    joint: Option<String>,
    penalty: Option<(f64, f64)>,
    step: String,
    #[pyo3(attribute("C"))]
    c: f64,
    settle: bool,
    check: String,
    average: bool,
    track_mistakes: bool,
    track_activations: bool,
    pub keep_on_interrupt: bool,
    threads: usize,
}

impl Linear<'_> {
    pub(super) fn settings(&self) -> PyResult<Settings> {
        Ok(Settings {
            positive: copied(&self.positive)?,
            class_weight: pairs(&self.class_weight)?,
            eta: self.eta0,
            tie: choice("tie", &self.tie, &Tie::ALL)?,
            fit_intercept: self.fit_intercept,
            tolerance: Tolerance {
                margin_threshold: self.margin_threshold,
                added_feature: self.added_feature,
                max_mistakes: self.max_mistakes_per_example,
            },
            joint: self.joint.as_deref().map(|joint| choice("joint", joint, &Spread::ALL)).transpose()?,
            penalty: self.penalty.map(|(l1, l2)| Penalty { l1, l2 }),
            aggressive: Aggressive::of_step(&self.step, self.c)?,
            seed: self.seed,
            partition: self.partition,
            settle: self.settle,
            check: choice("check", &self.check, &Check::ALL)?,
            average: self.average,
            track_mistakes: self.track_mistakes,
            track_activations: self.track_activations,
            threads: self.threads,
        })
    }
}

/// What the kernel perceptron adds.
#[derive(FromPyObject)]
pub(super) struct InDualForm {
    #[pyo3(from_py_with = kernel)]
    pub kernel: Kernel,
    pub cache_bytes: usize,
    pub ask: Option<Py<PyAny>>,
}

/// What the kernel perceptron on a budget adds.
#[derive(FromPyObject)]
pub(super) struct OnBudget {
    #[pyo3(from_py_with = kernel)]
    pub kernel: Kernel,
    budget: usize,
    policy: String,
    policy_seed: u64,
    distance: f64,
}

impl OnBudget {
    pub(super) fn budget(&self, eta: f64) -> PyResult<Budget> {
        let Self { budget: size, policy_seed: seed, distance, .. } = *self;
        let budget = Budget { size, policy: Policy::new(&self.policy)?, seed, distance, eta };
        budget.check()?;
        Ok(budget)
    }
}

/// The kernel of a `KernelSpec`.
pub(super) fn kernel(spec: &Bound<'_, PyAny>) -> PyResult<Kernel> {
    let name: String = spec.getattr("name")?.extract()?;
    let gamma = spec.getattr("gamma")?.extract()?;
    let coef0 = spec.getattr("coef0")?.extract()?;
    let degree = spec.getattr("degree")?.extract()?;
    Ok(Kernel::new(&name, gamma, coef0, degree)?)
}
