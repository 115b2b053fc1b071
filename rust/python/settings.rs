//! The dataclasses of `perceptron_rs.settings`, read once by the names of their attributes.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
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

/// An attribute of a dataclass.
macro_rules! attr {
    ($of:expr, $name:literal) => {
        attr!($of, $name, _)
    };
    ($of:expr, $name:literal, $T:ty) => {
        $of.getattr(pyo3::intern!($of.py(), $name))?.extract::<$T>()?
    };
}
pub(in crate::python) use attr;

/// What every learner of planes has.
pub(super) fn linear(given: &Bound<'_, PyAny>) -> PyResult<Settings> {
    let joint: Option<String> = attr!(given, "joint");
    let penalty: Option<(f64, f64)> = attr!(given, "penalty");
    Ok(Settings {
        positive: copied(&attr!(given, "positive", PyReadonlyArray1<'_, u32>))?,
        class_weight: pairs(&attr!(given, "class_weight"))?,
        eta: attr!(given, "eta0"),
        tie: choice("tie", &attr!(given, "tie", String), &Tie::ALL)?,
        fit_intercept: attr!(given, "fit_intercept"),
        tolerance: Tolerance {
            margin_threshold: attr!(given, "margin_threshold"),
            added_feature: attr!(given, "added_feature"),
            max_mistakes: attr!(given, "max_mistakes_per_example"),
        },
        joint: joint.map(|joint| choice("joint", &joint, &Spread::ALL)).transpose()?,
        penalty: penalty.map(|(l1, l2)| Penalty { l1, l2 }),
        aggressive: Aggressive::of_step(&attr!(given, "step", String), attr!(given, "C"))?,
        seed: attr!(given, "seed"),
        partition: attr!(given, "partition"),
        settle: attr!(given, "settle"),
        check: choice("check", &attr!(given, "check", String), &Check::ALL)?,
        average: attr!(given, "average"),
        track_mistakes: attr!(given, "track_mistakes"),
        track_activations: attr!(given, "track_activations"),
        threads: attr!(given, "threads"),
    })
}

/// What the kernel perceptron on a budget adds.
pub(super) fn budget(given: &Bound<'_, PyAny>, eta: f64) -> PyResult<Budget> {
    let (size, policy) = (attr!(given, "budget"), Policy::new(&attr!(given, "policy", String))?);
    let budget =
        Budget { size, policy, seed: attr!(given, "policy_seed"), distance: attr!(given, "distance"), eta };
    budget.check()?;
    Ok(budget)
}

/// The kernel of a `KernelSpec`.
pub(super) fn kernel(spec: &Bound<'_, PyAny>) -> PyResult<Kernel> {
    let name = attr!(spec, "name", String);
    Ok(Kernel::new(&name, attr!(spec, "gamma"), attr!(spec, "coef0"), attr!(spec, "degree"))?)
}
