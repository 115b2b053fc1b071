//! Passes on the attributes of an estimator.
//!
//! One crossing does all: for a single example, reading the settings of a run and making its report
//! takes many times longer than learning. The interpreter is held, so this thread runs no Python code while
//! arrays are read in place, nor from the last look for signals on until all that was learnt is published.
//! So other threads find all of a pass or nothing, and a pass finds whether one of them has a turn.
//!
//! A pass over far fewer entries than there are columns copies only the weights of these columns, learns on
//! them, and puts them back when all is well. They go back where they were if no one else has the array.
//!
//! All weights of a large model take long: a first look at them asks for signals, before anything else is
//! read, and what would copy them all is left to a run.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyArithmeticError, PyAttributeError, PyLookupError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use super::attributes::{Changes, Name, check, counts, get, labels, vector};
use super::weights::{Array, Known, Place, Renewed, gathered};
use crate::arith::decay::Decay;
use crate::error::{Error, Result};
use crate::memory::{collected, filled};
use crate::online::averaged::Averaged;
use crate::online::perceptron::Perceptron;
use crate::online::{Learner, Penalty, Problem, Run, Settings, State};
use crate::python::border::arrays::{self, copied, pairs};
use crate::python::border::choices::{parse_joint, parse_tie};
use crate::python::border::in_place::read;
use crate::python::border::rows::{entries, shape, with_arrays, with_many_or_few, with_matrix};
use crate::python::border::signals::Handler;
use crate::rows::{Matrix, Tolerance};

/// Products of a value and a weight in a pass at most, and weights in a pass over all columns: some
/// milliseconds, in which Ctrl-C has to wait.
const MOST: usize = 1 << 22;

/// Weights that are copied at most because somebody has read them.
const COPIED: usize = 4 * MOST;

/// Products in a pass of microseconds, which does not ask for signals.
const SHORT: usize = 1 << 12;

/// What parameters say of a pass, and how an estimator calls what it learns.
#[pyclass(frozen, module = "perceptron_rs._core")]
pub struct OnePass {
    parameters: Vec<(Name, Py<PyAny>)>,
    absent: Vec<Name>,
    caches: Vec<Name>,
    /// One of the parameters.
    classes: Py<PyAny>,
    coef: Name,
    intercept: Name,
    seen: Name,
    /// Of the averaged perceptron: u; under a penalty: when each weight was last settled.
    second: Option<Name>,
    /// Of the averaged perceptron.
    intercept_u: Option<Name>,
    /// If one factor stands for the penalty of all weights.
    common: Option<Decay>,
    report: Report,
    /// The passes of each decision in a call.
    ones: Vec<i64>,
    settings: Settings,
    /// The arrays that the last pass has left on the estimator.
    known: Mutex<Option<Known>>,
}

/// Names of what a call reports.
struct Report {
    n_iter: Name,
    n_iter_per_class: Name,
    n_mistakes: Name,
    mistakes_per_epoch: Name,
    mistakes_per_example: Name,
    converged: Name,
}

/// Read the parameters once, for many passes.
#[pyfunction]
#[pyo3(signature = (*, parameters, absent, caches, stored, learner, positive, class_weight, eta0, tie, fit_intercept,
                    margin_threshold=0.0, added_feature=0.0, max_mistakes_per_example=None, joint=None,
                    penalty=None, track_mistakes=false))]
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
    penalty: Option<(f64, f64)>,
    track_mistakes: bool,
) -> PyResult<OnePass> {
    let py = parameters.py();
    let given: PyResult<Vec<(Name, Py<PyAny>)>> =
        parameters.iter().map(|(name, value)| Ok((name.extract::<Name>()?, value.unbind()))).collect();
    let attribute = |name: &str| -> PyResult<Name> { Ok(arrays::get(name, stored)?.extract()?) };
    let own = |name: &str| PyString::intern(py, name).unbind();
    let averaged = match learner {
        "perceptron" => false,
        "averaged" => true,
        _ => {
            return Err(Error::Invalid(format!(
                "learner must be \"perceptron\" or \"averaged\" in one_pass, got {learner:?}; use start"
            ))
            .into());
        }
    };
    let second = if averaged { Some("coef_u") } else { penalty.map(|_| "settled") };
    let decay = penalty.map(|(l1, l2)| Decay::new(eta0, l1, l2, 0)).transpose()?;
    let joint = joint.map(parse_joint).transpose()?;
    let positive = copied(&positive)?;
    Ok(OnePass {
        parameters: given?,
        absent,
        caches,
        classes: arrays::get("classes_", parameters)?.unbind(),
        coef: attribute("coef")?,
        intercept: attribute("intercept")?,
        seen: attribute("seen")?,
        second: second.map(attribute).transpose()?,
        intercept_u: averaged.then(|| attribute("intercept_u")).transpose()?,
        common: decay.filter(Decay::is_common),
        report: Report {
            n_iter: own("n_iter_"),
            n_iter_per_class: own("n_iter_per_class_"),
            n_mistakes: own("n_mistakes_"),
            mistakes_per_epoch: own("mistakes_per_epoch_"),
            mistakes_per_example: own("mistakes_per_example_"),
            converged: own("converged_"),
        },
        ones: filled(1, if joint.is_some() { 1 } else { positive.len() })?,
        settings: Settings {
            class_weight: pairs(&class_weight)?,
            eta: eta0,
            tie: parse_tie(tie)?,
            fit_intercept,
            tolerance: Tolerance { margin_threshold, added_feature, max_mistakes: max_mistakes_per_example },
            joint,
            penalty: penalty.map(|(l1, l2)| Penalty { l1, l2 }),
            settle: false,
            track_mistakes,
            ..Settings::new(positive)
        },
        known: Mutex::new(None),
    })
}

#[pymethods]
impl OnePass {
    /// Learn from the rows in their order and replace the attributes that change. False: nothing was done.
    /// The attributes are not those that this was made for, the pass takes long, or something is wrong; a run
    /// says what. What a signal's handler raises is raised.
    #[pyo3(signature = (estimator, rows, y, encoded=false, activations=None, sample_weight=None, also=None,
                        turns=None))]
    #[allow(clippy::too_many_arguments)] // those of the protocol
    fn learn(
        &self,
        estimator: &Bound<'_, PyAny>,
        rows: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        encoded: bool,
        activations: Option<&Bound<'_, PyArray2<f64>>>,
        sample_weight: Option<&Bound<'_, PyAny>>,
        also: Option<&Bound<'_, PyDict>>,
        turns: Option<&Bound<'_, PyList>>,
    ) -> PyResult<bool> {
        let handler = Handler::default();
        let call = Call { estimator, rows, y, encoded, activations, sample_weight, also, turns };
        match self.pass(&call, &handler) {
            Err(error) if !handler.has_raised() && is_ordinary(&error, estimator.py()) => Ok(false),
            done => done,
        }
    }
}

/// The arguments of a pass.
struct Call<'a, 'py> {
    estimator: &'a Bound<'py, PyAny>,
    rows: &'a Bound<'py, PyAny>,
    y: &'a Bound<'py, PyAny>,
    encoded: bool,
    activations: Option<&'a Bound<'py, PyArray2<f64>>>,
    sample_weight: Option<&'a Bound<'py, PyAny>>,
    also: Option<&'a Bound<'py, PyDict>>,
    /// Of those that change estimators, unless the caller has the turn of this one.
    turns: Option<&'a Bound<'py, PyList>>,
}

impl<'py> Call<'_, 'py> {
    fn attributes(&self) -> PyResult<Bound<'py, PyDict>> {
        Ok(self.estimator.getattr(intern!(self.estimator.py(), "__dict__"))?.cast_into()?)
    }

    /// Whether a call has a turn to change the estimator, which would take away what a pass learns.
    fn is_another_turn(&self) -> PyResult<bool> {
        let Some(turns) = self.turns.filter(|turns| !turns.is_empty()) else { return Ok(false) };
        for turn in turns {
            if turn.getattr(intern!(turns.py(), "estimator"))?.is(self.estimator) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a signal's handler has left the attributes as they were.
    fn is_still(&self, before: &Held, attributes: &Bound<'_, PyDict>) -> PyResult<bool> {
        for (name, value) in before {
            if !get(attributes, name)?.is(value) {
                return Ok(false);
            }
        }
        Ok(self.attributes()?.is(attributes))
    }
}

/// Whether an error says that something is wrong with what was given.
fn is_ordinary(error: &PyErr, py: Python<'_>) -> bool {
    error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyArithmeticError>(py)
        || error.is_instance_of::<PyLookupError>(py)
        || error.is_instance_of::<PyAttributeError>(py)
}

impl OnePass {
    fn pass(&self, call: &Call, handler: &Handler) -> PyResult<bool> {
        let Call { rows, y, encoded, activations, sample_weight, also, .. } = *call;
        let attributes = &call.attributes()?;
        let planes = self.settings.planes();
        let products = size(rows)?.saturating_mul(planes);
        if products > MOST {
            return Ok(false); // before the weights are looked at, which takes long where there are many
        }
        let Some((coef, second, known)) = self.weights(call, attributes, handler)? else { return Ok(false) };
        let columns = coef.shape()[1];
        let labels = self.labels(y, encoded)?;
        let of_examples = sample_weight.map(|weights| vector::<f64>(weights, labels.len())).transpose()?;
        let intercept_u = self
            .intercept_u
            .as_ref()
            .map(|intercept| vector(&get(attributes, intercept)?, planes))
            .transpose()?;
        let seen = counts(&get(attributes, &self.seen)?, planes)?;
        let second = second.as_ref();
        let intercept = vector(&get(attributes, &self.intercept)?, planes)?;
        let before = if products > SHORT { Some(self.state(attributes)?) } else { None };
        let learn = |weights: &[f64], beside: &[f64]| {
            let given = Given {
                weights,
                beside,
                intercept,
                intercept_u,
                few: known.as_ref().is_some_and(|known| self.is_local(known, &seen, labels.len())),
                seen,
                columns,
                labels: &labels,
                sample_weight: of_examples.as_deref(),
                settings: &self.settings_of(activations.is_some()),
            };
            given.learn_from(rows)
        };
        let Some(learnt) = with_numbers(&coef, second, planes, learn)? else {
            return Ok(false);
        };
        if let Some(before) = before {
            // Now, as nothing has been changed. A handler that sets parameters is as one after the pass.
            handler.noted(attributes.py().check_signals())?;
            if !call.is_still(&before, attributes)? {
                return Ok(false);
            }
        }
        if call.is_another_turn()? {
            return Ok(false);
        }

        let ours = known.is_some();
        let renewed = |array, values: &[f64]| Renewed::new(array, columns, values, &learnt.place, ours);
        let new = renewed(&coef, &learnt.state.coef)?;
        let new_second = second.map(|second| renewed(second, &learnt.beside)).transpose()?.flatten();
        let copied = |new: &Renewed| !new.in_place;
        let copies = new.as_ref().is_some_and(copied) || new_second.as_ref().is_some_and(copied);
        if copies && planes.saturating_mul(columns) > COPIED {
            return Ok(false);
        }
        let new = new.map(Renewed::copied).transpose()?;
        let new_second = new_second.map(Renewed::copied).transpose()?;
        if learnt.state.seen.iter().any(|&seen| i64::try_from(seen).is_err()) {
            return Ok(false);
        }
        let seen = collected(learnt.state.seen.iter().map(|&seen| seen as i64))?;
        if let Some(activations) = activations {
            activations.try_readwrite()?.as_slice_mut()?.copy_from_slice(&learnt.passed.activations);
        }
        let mut changes = Changes::of(attributes);
        changes.vector(&self.seen, &seen)?;
        changes.vector(&self.intercept, &learnt.state.intercept)?;
        if let Some((name, values)) = self.intercept_u.as_ref().zip(learnt.intercept_u.as_ref()) {
            changes.vector(name, values)?;
        }
        for (name, new) in [(self.second.as_ref(), &new_second), (Some(&self.coef), &new)] {
            if let Some((name, new)) = name.zip(new.as_ref().filter(|new| copied(new))) {
                changes.object(name, new.array.clone().into_any())?;
            }
        }
        self.tell(&mut changes, &learnt.passed)?;
        let stays = |new: &Option<Renewed>| new.as_ref().is_none_or(|new| new.in_place);
        let next = if ours && second.is_none() && stays(&new) {
            None // what is known of the array stays true
        } else {
            Some(Known::after(
                known.as_ref(),
                &learnt.place,
                (new.as_ref().map_or(&coef, |new| &new.array), &learnt.state.coef),
                second.map(|array| (new_second.as_ref().map_or(array, |new| &new.array), &learnt.beside[..])),
            )?)
        };
        // Nothing fails from here on but for the dict, whose keys are there.
        if let Some(new) = new_second {
            new.write(&learnt.beside, &learnt.place);
        }
        if let Some(new) = new {
            new.write(&learnt.state.coef, &learnt.place);
        }
        changes.publish()?;
        if let Some(also) = also {
            attributes.update(also.as_mapping())?;
        }
        *self.known() = next.or(known);
        Ok(true)
    }

    fn settings_of(&self, track_activations: bool) -> Cow<'_, Settings> {
        if track_activations {
            Cow::Owned(Settings { track_activations, ..self.settings.clone() })
        } else {
            Cow::Borrowed(&self.settings)
        }
    }

    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The arrays of weights, and what is known of them: much, if there are many. `None`: they are not those
    /// that this was made for, or not sound, or a signal's handler has changed them.
    fn weights<'py>(
        &self,
        call: &Call<'_, 'py>,
        attributes: &Bound<'py, PyDict>,
        handler: &Handler,
    ) -> PyResult<Option<Weights<'py>>> {
        if !self.fits(attributes)? {
            return Ok(None);
        }
        let coef: Array = get(attributes, &self.coef)?.cast_into()?;
        let second = self.second.as_ref().map(|name| get(attributes, name)).transpose()?;
        let second: Option<Array> = second.map(Bound::cast_into).transpose()?;
        // Taken away, as handlers may learn with this, too.
        let known = self.known().take().filter(|known| known.are(&coef, second.as_ref()));
        let shape = [self.settings.planes(), coef.shape()[1]];
        if known.is_some() || shape[0].saturating_mul(shape[1]) <= MOST {
            return Ok(Some((coef, second, known)));
        }
        let before = self.state(attributes)?;
        let known = Known::look(&coef, second.as_ref(), shape, handler)?;
        let same = call.is_still(&before, attributes)? && self.fits(attributes)?;
        Ok(if known.is_some() && same { Some((coef, second, known)) } else { None })
    }

    /// The attributes that a pass goes on from. While they are held, no other pass changes them in place.
    fn state<'a, 'py>(&'a self, attributes: &Bound<'py, PyDict>) -> PyResult<Held<'a, 'py>> {
        let names = [&self.coef, &self.intercept, &self.seen].into_iter();
        let names = names.chain(self.second.as_ref()).chain(self.intercept_u.as_ref());
        names.map(|name| Ok((name, get(attributes, name)?))).collect()
    }

    /// Whether a pass over so many examples neither changes the weights of other columns than theirs, nor
    /// need look at them.
    fn is_local(&self, known: &Known, seen: &[u64], examples: usize) -> bool {
        if self.intercept_u.is_some() {
            return known.average_is_finite(seen, examples);
        }
        let Some(decay) = &self.common else { return true };
        // Penalties that are pending on all weights together are settled together, first those of the plane
        // that has seen most examples.
        let (Some(settled), Some(&most)) = (known.even, seen.iter().max()) else { return false };
        let age = (most as f64 - settled) as u64;
        decay.factor(age.saturating_add(examples as u64)) > 1.001 * Decay::LEAST_FACTOR
    }

    fn labels(&self, y: &Bound<'_, PyAny>, encoded: bool) -> PyResult<Vec<u32>> {
        if !encoded {
            return labels(self.classes.bind(y.py()), y);
        }
        let y = y.cast::<PyArray1<u32>>()?;
        vector(y, y.len())
    }

    /// What a call leaves besides its numbers.
    fn tell<'a>(&'a self, changes: &mut Changes<'a, '_>, passed: &'a Passed) -> PyResult<()> {
        for name in &self.caches {
            changes.nothing(name)?;
        }
        let (report, mistakes) = (&self.report, &passed.mistakes[..]);
        let number = mistakes.iter().sum::<i64>();
        changes.matrix(&report.mistakes_per_epoch, mistakes, [1, mistakes.len()])?;
        if self.settings.track_mistakes {
            let (of_each, width) = (&passed.mistakes_per_example, mistakes.len());
            changes.matrix(&report.mistakes_per_example, of_each, [of_each.len() / width, width])?;
        }
        changes.vector(&report.n_iter_per_class, &self.ones)?;
        changes.number(&report.n_iter, 1)?;
        changes.number(&report.n_mistakes, number)?;
        changes.truth(&report.converged, number == 0)
    }

    /// A dict may have been changed: it is compared with a copy.
    ///
    /// Tried: a walk through all attributes, which have to stand in the same order; no faster than look-ups,
    /// and any attribute that somebody adds has it made anew.
    fn fits(&self, attributes: &Bound<'_, PyDict>) -> PyResult<bool> {
        let py = attributes.py();
        for (name, value) in &self.parameters {
            // Only compared, so it needs no reference.
            // SAFETY: the dict and the name are alive, and what is returned is not read.
            let now = unsafe { ffi::PyDict_GetItemWithError(attributes.as_ptr(), name.as_ptr()) };
            if now == value.as_ptr() {
                continue;
            }
            let Some(now) = attributes.get_item(name.bind(py))? else { return Ok(false) };
            if !(now.is_exact_instance_of::<PyDict>() && now.eq(value)?) {
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
}

/// Calls `f` on the numbers of the weights, and of the second matrix if there is one.
fn with_numbers<R>(
    coef: &Array<'_>,
    second: Option<&Array<'_>>,
    planes: usize,
    f: impl FnOnce(&[f64], &[f64]) -> PyResult<R>,
) -> PyResult<R> {
    let columns = coef.shape()[1];
    check(coef, planes, columns)?;
    second.map_or(Ok(()), |second| check(second, planes, columns))?;
    read(coef, |weights| match second {
        Some(second) => read(second, |beside| f(weights, beside)),
        None => f(weights, &[]),
    })
}

/// Attributes by name.
type Held<'a, 'py> = Vec<(&'a Name, Bound<'py, PyAny>)>;

/// Weights, the second matrix, and what is known of them.
type Weights<'py> = (Array<'py>, Option<Array<'py>>, Option<Known>);

/// What a pass goes on from. The weights are those of the arrays.
struct Given<'a> {
    weights: &'a [f64],
    /// The second matrix, if there is one.
    beside: &'a [f64],
    intercept: Vec<f64>,
    /// Of the averaged perceptron.
    intercept_u: Option<Vec<f64>>,
    seen: Vec<u64>,
    columns: usize,
    /// Whether the weights of other columns than those of the rows need not be looked at.
    few: bool,
    labels: &'a [u32],
    sample_weight: Option<&'a [f64]>,
    settings: &'a Settings,
}

/// What a pass has learnt, on all columns or on some.
struct Learnt {
    state: State,
    beside: Vec<f64>,
    intercept_u: Option<Vec<f64>>,
    passed: Passed,
    place: Place,
}

impl Given<'_> {
    /// `None`: it would take long.
    fn learn_from(mut self, rows: &Bound<'_, PyAny>) -> PyResult<Option<Learnt>> {
        let mut learnt = None;
        let work = |rows: &dyn Matrix| -> Result<()> {
            let few = self.few && rows.columns() == self.columns;
            let done = few
                && rows.over_own_columns(&mut |rows, chosen| {
                    learnt = Some(self.learn(rows, Place::Own(chosen))?);
                    Ok(())
                })?;
            if !done && self.weights.len() <= MOST {
                learnt = Some(self.learn(rows, Place::All)?);
            }
            Ok(())
        };
        if rows.cast::<PyUntypedArray>().is_ok() {
            with_matrix(rows, work)??;
        } else if let Ok(arrays) = rows.cast::<PyTuple>() {
            with_arrays(arrays, work)??;
        } else {
            with_many_or_few(rows, false, work)??;
        }
        Ok(learnt)
    }

    /// Takes the vectors for what it returns.
    fn learn(&mut self, rows: &dyn Matrix, place: Place) -> Result<Learnt> {
        let shape = [self.settings.planes(), self.columns];
        let problem = Problem::new(rows, self.labels, self.sample_weight, self.settings)?;
        if !problem.visits_all() {
            return Err(Error::Invalid(
                "sample_weight and class_weight must be above 0 in one_pass; use start".into(),
            ));
        }
        let mut beside = gathered(self.beside, shape, &place, |plane| plane[0])?;
        let mut state = State {
            coef: gathered(self.weights, shape, &place, |_| 0.0)?,
            intercept: std::mem::take(&mut self.intercept),
            seen: std::mem::take(&mut self.seen),
            ages: None,
        };
        let mut plain = Perceptron;
        let mut sums = self.intercept_u.take().map(|intercept| Averaged {
            coef: std::mem::take(&mut beside),
            intercept,
            fit_intercept: self.settings.fit_intercept,
        });
        if self.settings.penalty.is_some() {
            state.ages = Some(back(&beside, &state.seen, |seen, at| (seen as f64 - at) as i64)?);
        }
        let learner: &mut dyn Learner = match &mut sums {
            Some(sums) => sums,
            None => &mut plain,
        };
        let mut run = Run::start(&problem, state, learner, &())?;
        let mistakes = run.epoch(&problem, learner, 0, &())?.mistakes;
        let passed = Passed {
            mistakes,
            activations: run.activations(&())?,
            mistakes_per_example: run.mistakes_per_example(&())?,
        };
        let state = run.finish(&problem, learner, &())?;
        let (beside, intercept_u) = match (sums, &state.ages) {
            (Some(sums), _) => (sums.coef, Some(sums.intercept)),
            (None, Some(ages)) => (back(ages, &state.seen, |seen, age| (seen as i64 - age) as f64)?, None),
            (None, None) => (beside, None),
        };
        Ok(Learnt { state, beside, intercept_u, passed, place })
    }
}

/// What a pass did.
struct Passed {
    /// Of each decision.
    mistakes: Vec<i64>,
    /// Before the update, n x planes; empty unless they are recorded.
    activations: Vec<f64>,
    /// Of each example, n x decisions; empty unless they are tracked.
    mistakes_per_example: Vec<i64>,
}

/// How many values are stored, and rows.
fn size(rows: &Bound<'_, PyAny>) -> PyResult<usize> {
    if let Ok(matrix) = rows.cast::<PyUntypedArray>() {
        return Ok(matrix.len().saturating_add(matrix.shape().first().copied().unwrap_or(0)));
    }
    if let Ok(arrays) = rows.cast::<PyTuple>() {
        let len = |i| PyResult::Ok(arrays.get_item(i)?.cast::<PyUntypedArray>()?.len());
        return Ok(len(0)?.saturating_add(len(2)?));
    }
    Ok(entries(rows)?.0.saturating_add(shape(rows)?.0))
}

/// From numbers of each plane and the count of its examples.
fn back<T: Copy, U>(numbers: &[T], seen: &[u64], turned: impl Fn(u64, T) -> U) -> Result<Vec<U>> {
    let width = (numbers.len() / seen.len().max(1)).max(1);
    collected(numbers.iter().enumerate().map(|(i, &number)| turned(seen[i / width], number)))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<OnePass>()?;
    m.add_function(wrap_pyfunction!(one_pass, m)?)
}
