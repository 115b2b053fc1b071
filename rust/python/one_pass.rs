//! Passes over few rows on the attributes of an estimator.
//!
//! One crossing does all: for a single example, reading the arguments of `fit` and making its report
//! takes many times longer than learning. Arrays are copied, which for few rows is cheaper than to
//! borrow them, and the interpreter is not left.

use numpy::{
    Element, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::arrays::{self, pairs};
use super::choices::{parse_joint, parse_tie};
use super::rows::{dense_rows, with_dense, with_many_or_few};
use crate::error::Error;
use crate::online::averaged::Averaged;
use crate::online::perceptron::Perceptron;
use crate::online::{self, Learner, Problem, State};
use crate::rows::{Dense, Spread, Table, Tie, Tolerance};

type Name = Py<PyString>;

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
    positive: Vec<u32>,
    class_weight: Vec<[f64; 2]>,
    eta: f64,
    tie: Tie,
    fit_intercept: bool,
    tolerance: Tolerance,
    joint: Option<Spread>,
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
                    margin=0.0, added_feature=0.0, max_mistakes_per_example=None, joint=None))]
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
    margin: f64,
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
                    "learner must be \"perceptron\" or \"averaged\" in one_pass, got {learner:?}; use fit"
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
        let planes = self.positive.len();
        let columns = coef.cast::<PyUntypedArray>()?.shape().get(1).copied().unwrap_or(0);
        let start = State {
            coef: matrix(&coef, planes, columns)?,
            intercept: vector(&get(attributes, &self.intercept)?, planes)?,
            seen: {
                let seen: Vec<i64> = vector(&get(attributes, &self.seen)?, planes)?;
                seen.into_iter().map(u64::try_from).collect::<Result<_, _>>()?
            },
            ages: Vec::new(),
        };
        let sums = self.sums.as_ref().map(|(coef, intercept)| -> PyResult<Averaged> {
            Ok(Averaged {
                coef: matrix(&get(attributes, coef)?, planes, columns)?,
                intercept: vector(&get(attributes, intercept)?, planes)?,
                fit_intercept: self.fit_intercept,
            })
        });
        let (mut state, mut sums) = (start.clone(), sums.transpose()?);
        let before = sums.as_ref().map(|sums| (sums.coef.clone(), sums.intercept.clone()));
        let mut plain = Perceptron;
        let learner: &mut (dyn Learner + Send) = match &mut sums {
            Some(sums) => sums,
            None => &mut plain,
        };
        let mistakes = self.run(rows, &labels, &mut state, learner)?;

        let py = attributes.py();
        let mut new: Vec<(&Name, Bound<'_, PyAny>)> = Vec::with_capacity(16);
        let shape = [planes, columns];
        let seen: Vec<i64> = state.seen.iter().map(|&seen| seen as i64).collect();
        new.push((&self.seen, PyArray1::from_slice(py, &seen).into_any()));
        changed(py, &self.coef, &start.coef, &state.coef, Some(shape), &mut new)?;
        changed(py, &self.intercept, &start.intercept, &state.intercept, None, &mut new)?;
        if let (Some(names), Some(before), Some(sums)) = (&self.sums, &before, &sums) {
            changed(py, &names.0, &before.0, &sums.coef, Some(shape), &mut new)?;
            changed(py, &names.1, &before.1, &sums.intercept, None, &mut new)?;
        }
        for name in &self.caches {
            new.push((name, PyList::empty(py).into_any()));
        }
        let (report, number) = (&self.report, mistakes.iter().sum::<i64>());
        let table = PyArray1::from_slice(py, &mistakes);
        let table = if mistakes.len() == 1 {
            table.into_any()
        } else {
            table.reshape([1, mistakes.len()])?.into_any()
        };
        new.push((&report.mistakes_per_epoch, table));
        new.push((
            &report.n_iter_per_class,
            PyArray1::from_slice(py, &vec![1_i64; mistakes.len()]).into_any(),
        ));
        new.push((&report.n_iter, 1_i64.into_pyobject(py)?.into_any()));
        new.push((&report.n_mistakes, number.into_pyobject(py)?.into_any()));
        new.push((&report.converged, (number == 0).into_pyobject(py)?.to_owned().into_any()));
        // No Python code runs from here on, so a signal finds all of it done or nothing.
        for (name, value) in new {
            attributes.set_item(name.bind(py), value)?;
        }
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
        learner: &mut (dyn Learner + Send),
    ) -> PyResult<Vec<i64>> {
        let mut work = |rows: &dyn Table| {
            let mut problem = Problem::new(
                rows,
                labels,
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

fn get<'py>(attributes: &Bound<'py, PyDict>, name: &Name) -> PyResult<Bound<'py, PyAny>> {
    attributes
        .get_item(name.bind(attributes.py()))?
        .ok_or_else(|| PyTypeError::new_err(format!("the estimator lacks {name}; fit it first")))
}

fn matrix<T: Element + Copy>(array: &Bound<'_, PyAny>, planes: usize, columns: usize) -> PyResult<Vec<T>> {
    let array = array.cast::<PyArray2<T>>()?;
    if array.shape() != [planes, columns] || !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("an array has another shape or order than one_pass takes"));
    }
    Ok(array.to_vec()?)
}

fn vector<T: Element + Copy>(array: &Bound<'_, PyAny>, planes: usize) -> PyResult<Vec<T>> {
    let array = array.cast::<PyArray1<T>>()?;
    if array.shape() != [planes] {
        return Err(PyTypeError::new_err("an array has another shape than one_pass takes"));
    }
    Ok(array.to_vec()?)
}

/// Index of each label among the classes; both hold the same kind of labels.
fn labels(classes: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let unknown = || PyTypeError::new_err("y holds a label that is not in classes_");
    if let (Ok(classes), Ok(y)) = (classes.cast::<PyArray1<i64>>(), y.cast::<PyArray1<i64>>()) {
        let (classes, y) = (classes.to_vec()?, y.to_vec()?);
        let index = |label: &i64| classes.iter().position(|class| class == label).map(|k| k as u32);
        return y.iter().map(|label| index(label).ok_or_else(unknown)).collect();
    }
    let (classes, y) = (classes.cast::<PyUntypedArray>()?, y.cast::<PyUntypedArray>()?);
    if y.ndim() != 1 || classes.dtype().kind() != y.dtype().kind() {
        return Err(unknown());
    }
    let classes = classes.call_method0("tolist")?.cast_into::<PyList>()?;
    let y = y.call_method0("tolist")?.cast_into::<PyList>()?;
    y.iter().map(|label| Ok(classes.index(label)? as u32)).collect()
}

/// Adds the array to the `new` ones unless its bits are those from before.
fn changed<'py, 'a>(
    py: Python<'py>,
    name: &'a Name,
    before: &[f64],
    after: &[f64],
    shape: Option<[usize; 2]>,
    new: &mut Vec<(&'a Name, Bound<'py, PyAny>)>,
) -> PyResult<()> {
    if before.iter().map(|w| w.to_bits()).eq(after.iter().map(|w| w.to_bits())) {
        return Ok(());
    }
    let array = PyArray1::from_slice(py, after);
    let array = match shape {
        Some(shape) => array.reshape(shape)?.into_any(),
        None => array.into_any(),
    };
    new.push((name, array));
    Ok(())
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<OnePass>()?;
    m.add_function(wrap_pyfunction!(one_pass, m)?)
}
