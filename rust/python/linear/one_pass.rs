//! Passes over few rows on the attributes of an estimator.
//!
//! One crossing does all: for a single example, reading the settings of a run and making its report
//! takes many times longer than learning. Arrays are copied, which for few rows is cheaper than to
//! borrow them, and the interpreter is not left.

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::attributes::{Changes, Name, get, labels, matrix, vector};
use crate::error::Error;
use crate::memory::{collected, filled};
use crate::online::averaged::Averaged;
use crate::online::perceptron::Perceptron;
use crate::online::{self, Learner, Problem, Settings, State};
use crate::python::border::arrays::{self, copied, pairs};
use crate::python::border::choices::{parse_joint, parse_tie};
use crate::python::border::rows::{dense_rows, with_dense, with_many_or_few};
use crate::rows::{Dense, Matrix, Tolerance};

/// What parameters say of a pass, and how an estimator calls what it learns.
#[pyclass(frozen, module = "perceptron_rs._core")]
pub struct OnePass {
    parameters: Vec<(Name, Py<PyAny>)>,
    absent: Vec<Name>,
    caches: Vec<Name>,
    classes: Name,
    coef: Name,
    intercept: Name,
    seen: Name,
    /// Of the averaged perceptron.
    sums: Option<(Name, Name)>,
    report: Report,
    settings: Settings,
}

/// Names of what a call reports.
struct Report {
    n_iter: Name,
    n_iter_per_class: Name,
    n_mistakes: Name,
    mistakes_per_epoch: Name,
    converged: Name,
}

/// Read the parameters once, for many passes over few rows.
#[pyfunction]
#[pyo3(signature = (*, parameters, absent, caches, stored, learner, positive, class_weight, eta0, tie, fit_intercept,
                    margin_threshold=0.0, added_feature=0.0, max_mistakes_per_example=None, joint=None))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // one per parameter of the protocol
fn one_pass(
    parameters: &Bound<'_, PyDict>,
    absent: Vec<Name>,
    caches: Vec<Name>,
    stored: &Bound<'_, PyDict>,
    learner: &str,
    positive: PyReadonlyArray1<'_, u32>,
    class_weight: PyReadonlyArray2<'_, f64>,
    eta0: f64,
    tie: &str,
    fit_intercept: bool,
    margin_threshold: f64,
    added_feature: f64,
    max_mistakes_per_example: Option<u64>,
    joint: Option<&str>,
) -> PyResult<OnePass> {
    let py = parameters.py();
    let given: PyResult<Vec<(Name, Py<PyAny>)>> =
        parameters.iter().map(|(name, value)| Ok((name.extract::<Name>()?, value.unbind()))).collect();
    let attribute = |name: &str| -> PyResult<Name> { Ok(arrays::get(name, stored)?.extract()?) };
    let own = |name: &str| PyString::intern(py, name).unbind();
    Ok(OnePass {
        parameters: given?,
        absent,
        caches,
        classes: own("classes_"),
        coef: attribute("coef")?,
        intercept: attribute("intercept")?,
        seen: attribute("seen")?,
        sums: match learner {
            "perceptron" => None,
            "averaged" => Some((attribute("coef_u")?, attribute("intercept_u")?)),
            _ => {
                return Err(Error::Invalid(format!(
                    "learner must be \"perceptron\" or \"averaged\" in one_pass, got {learner:?}; use start"
                ))
                .into());
            }
        },
        report: Report {
            n_iter: own("n_iter_"),
            n_iter_per_class: own("n_iter_per_class_"),
            n_mistakes: own("n_mistakes_"),
            mistakes_per_epoch: own("mistakes_per_epoch_"),
            converged: own("converged_"),
        },
        settings: Settings {
            class_weight: pairs(&class_weight)?,
            eta: eta0,
            tie: parse_tie(tie)?,
            fit_intercept,
            tolerance: Tolerance { margin_threshold, added_feature, max_mistakes: max_mistakes_per_example },
            joint: joint.map(parse_joint).transpose()?,
            ..Settings::new(copied(&positive)?)
        },
    })
}

#[pymethods]
impl OnePass {
    /// Learn from the rows in their order and replace the attributes that change. False: the
    /// attributes are not those that this was made for, and nothing was done.
    #[pyo3(signature = (attributes, rows, y))]
    fn learn(
        &self,
        attributes: &Bound<'_, PyDict>,
        rows: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        if !self.fits(attributes)? {
            return Ok(false);
        }
        let labels = labels(&get(attributes, &self.classes)?, y)?;
        let coef = get(attributes, &self.coef)?;
        let planes = self.settings.planes();
        let columns = coef.cast::<PyUntypedArray>()?.shape().get(1).copied().unwrap_or(0);
        let start = State {
            coef: matrix(&coef, planes, columns)?,
            intercept: vector(&get(attributes, &self.intercept)?, planes)?,
            seen: {
                let seen: Vec<i64> = vector(&get(attributes, &self.seen)?, planes)?;
                let mut counts = filled(0, planes)?;
                for (count, seen) in counts.iter_mut().zip(seen) {
                    *count = u64::try_from(seen)?;
                }
                counts
            },
            ages: None,
        };
        let sums = self.sums.as_ref().map(|(coef, intercept)| -> PyResult<Averaged> {
            Ok(Averaged {
                coef: matrix(&get(attributes, coef)?, planes, columns)?,
                intercept: vector(&get(attributes, intercept)?, planes)?,
                fit_intercept: self.settings.fit_intercept,
            })
        });
        let (mut state, mut sums) = (start, sums.transpose()?);
        let mut plain = Perceptron;
        let learner: &mut dyn Learner = match &mut sums {
            Some(sums) => sums,
            None => &mut plain,
        };
        let mistakes = self.run(rows, &labels, &mut state, learner)?;

        let (py, shape) = (attributes.py(), [planes, columns]);
        let mut changes = Changes::of(attributes);
        let seen = collected(state.seen.iter().map(|&seen| seen as i64))?;
        changes.vector(&self.seen, &seen)?;
        changes.matrix(&self.coef, &state.coef, shape)?;
        changes.vector(&self.intercept, &state.intercept)?;
        if let (Some(names), Some(sums)) = (&self.sums, &sums) {
            changes.matrix(&names.0, &sums.coef, shape)?;
            changes.vector(&names.1, &sums.intercept)?;
        }
        for name in &self.caches {
            changes.nothing(name)?;
        }
        let (report, number) = (&self.report, mistakes.iter().sum::<i64>());
        changes.matrix(&report.mistakes_per_epoch, &mistakes, [1, mistakes.len()])?;
        changes.vector(&report.n_iter_per_class, &filled(1_i64, mistakes.len())?)?;
        changes.object(&report.n_iter, 1_i64.into_pyobject(py)?.into_any());
        changes.object(&report.n_mistakes, number.into_pyobject(py)?.into_any());
        changes.object(&report.converged, (number == 0).into_pyobject(py)?.to_owned().into_any());
        changes.publish()?;
        Ok(true)
    }
}

impl OnePass {
    fn fits(&self, attributes: &Bound<'_, PyDict>) -> PyResult<bool> {
        let py = attributes.py();
        for (name, value) in &self.parameters {
            if !attributes.get_item(name.bind(py))?.is_some_and(|now| now.is(value)) {
                return Ok(false);
            }
        }
        for name in &self.absent {
            if attributes.contains(name.bind(py))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn run(
        &self,
        rows: &Bound<'_, PyAny>,
        labels: &[u32],
        state: &mut State,
        learner: &mut dyn Learner,
    ) -> PyResult<Vec<i64>> {
        let mut work = |rows: &dyn Matrix| {
            let problem = Problem::new(rows, labels, None, &self.settings)?;
            online::one_pass(&problem, state, learner)
        };
        if let Ok(values) = rows.cast::<PyArray2<f64>>() {
            let shape = values.shape();
            let values: Vec<f64> = matrix(rows, shape[0], shape[1])?;
            return Ok(work(&Dense::new(&values, shape[0], shape[1])?)?);
        }
        if rows.cast::<PyUntypedArray>().is_ok() {
            return Ok(with_dense(rows.py(), &dense_rows(rows)?, false, work)??);
        }
        Ok(with_many_or_few(rows, false, work)??)
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<OnePass>()?;
    m.add_function(wrap_pyfunction!(one_pass, m)?)
}
