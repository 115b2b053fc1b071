//! Passes that are tried.

use numpy::PyReadonlyArray1;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use super::{model::PyModel, run::write_tracked};
use crate::base::{Error, collected, tried};
use crate::online::{self, Excerpt};
use crate::python::border::{Signals, call, copied, counters, numbers, set_vector};
use crate::python::settings::{self, Data, attr};
use crate::python::start::report;

/// A copy of a model on which passes are tried: see `perceptron_rs.mixing.shares.DraftState`.
#[pyclass(name = "Draft", module = "perceptron_rs._core")]
pub struct PyDraft {
    model: online::Model,
}

#[pymethods]
impl PyDraft {
    #[new]
    fn new(model: &Bound<'_, PyModel>) -> PyResult<Self> {
        let (py, model) = (model.py(), model.get().cloned()?);
        let model = call(py, |signals| model.for_drafts(signals))?;
        let pending = || PyValueError::new_err("model must have no penalty that is pending");
        Ok(Self { model: model.ok_or_else(pending)? })
    }

    fn learn<'py>(
        &mut self,
        data: &Bound<'py, PyAny>,
        settings: &Bound<'py, PyAny>,
        number: u64,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let (py, data, keep) = (data.py(), data.extract::<Data>()?, attr!(settings, "keep_on_interrupt"));
        let (settings, model) = (settings::linear(settings)?, &mut self.model);
        let done = Signals::ask(py, keep, |signals| {
            data.lend(py, |given| model.drafted(given, &settings, number, signals))
        })?;
        let tracked = PyDict::new(py);
        write_tracked(&tracked, done.passed, &settings)?;
        Ok((report(py, &done.epoch)?, state(py, &done.now)?, tracked))
    }

    fn at<'py>(&self, places: PyReadonlyArray1<'py, i64>) -> PyResult<Bound<'py, PyDict>> {
        state(places.py(), &self.model.excerpt(places_of(&places)?)?)
    }

    fn put(&mut self, now: &Bound<'_, PyDict>) -> PyResult<()> {
        let places = places_of(&now.get_item("places")?.ok_or_else(no_places)?.extract()?)?;
        let (planes, len) = (self.model.shape()[0], places.len());
        let weights = |name| numbers(name, now, [len]);
        let of_planes = |name| numbers(name, now, [planes]);
        let sums = match self.model.sums() {
            Some(_) => Some((weights("coef_u")?, of_planes("intercept_u")?)),
            None => None,
        };
        let (coef, intercept, seen) = (weights("coef")?, of_planes("intercept")?, counters(now, planes)?);
        Ok(self.model.put_excerpt(Excerpt { places, coef, intercept, seen, sums })?)
    }

    fn model(&self) -> PyModel {
        PyModel::of(self.model.clone())
    }
}

fn no_places() -> PyErr {
    PyValueError::new_err("an excerpt must have places")
}

fn places_of(places: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    let place = |place: i64| {
        usize::try_from(place).map_err(|_| Error::Invalid(format!("places must be at least 0, got {place}")))
    };
    Ok(tried(copied(places)?.into_iter().map(place))?)
}

fn state<'py>(py: Python<'py>, now: &Excerpt) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    set_vector(&out, "places", &collected(now.places.iter().map(|place| *place as i64))?)?;
    set_vector(&out, "coef", &now.coef)?;
    set_vector(&out, "intercept", &now.intercept)?;
    set_vector(&out, "seen", &collected(now.seen.iter().map(|seen| *seen as i64))?)?;
    if let Some((u, intercept)) = &now.sums {
        set_vector(&out, "coef_u", u)?;
        set_vector(&out, "intercept_u", intercept)?;
    }
    Ok(out)
}
