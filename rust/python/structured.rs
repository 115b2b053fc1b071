//! Sequences, and the update for any other structure.

use std::borrow::Cow;

use numpy::{
    PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use super::border::{
    Done, Signals, Vector, call, call_on, caught, copied, counters, get, set_vector, shape, with_rows,
};
use super::settings::attr;
use super::start::EngineRun;
use crate::arith::step::Aggressive;
use crate::base::{Grow, choice, collected, filled};
use crate::error;
use crate::online::Epoch;
use crate::rows::{Matrix, OwnColumns, over};
use crate::structured::{
    self, Chain, ChainState, ChainWeights, CheckedFrame, Limits, Mending, SearchWeights, Sequences, Sparse,
    general,
};

/// A matrix in the form CSR, borrowed.
type SparseArrays<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i32>, PyReadonlyArray1<'py, f64>);

fn sparse<'a>((indptr, indices, data): &'a SparseArrays<'_>) -> PyResult<Sparse<'a>> {
    let (indptr, indices) = (indptr.as_slice()?.into(), indices.as_slice()?.into());
    Ok(Sparse { indptr, indices, data: data.as_slice()?.into() })
}

/// Calls `f` on the weights of a state, which are read in place; each name is followed by `suffix`.
fn with_weights<R>(
    state: &Bound<'_, PyDict>,
    suffix: &str,
    f: impl FnOnce(ChainWeights<'_>) -> PyResult<R>,
) -> PyResult<R> {
    let named = |name: &str| get(&format!("{name}{suffix}"), state);
    let matrix = |name: &str| -> PyResult<SparseArrays<'_>> {
        let part = |part| named(&format!("{name}_{part}"));
        Ok((part("indptr")?.extract()?, part("indices")?.extract()?, part("data")?.extract()?))
    };
    let start: PyReadonlyArray1<f64> = named("start")?.extract()?;
    let end: PyReadonlyArray1<f64> = named("end")?.extract()?;
    let transition: PyReadonlyArray2<f64> = named("transition")?.extract()?;
    let (labels, shape) = (start.len(), transition.shape());
    if shape != [labels, labels] || !transition.is_c_contiguous() {
        return Err(PyValueError::new_err(format!(
            "transition{suffix} must be C-contiguous, {labels} by {labels} for as many labels, got shape {shape:?}"
        )));
    }
    let pair = state.contains("pair_indptr")?.then(|| matrix("pair")).transpose()?;
    f(ChainWeights {
        emission: sparse(&matrix("emission")?)?,
        transition: transition.as_slice()?.into(),
        start: start.as_slice()?.into(),
        end: end.as_slice()?.into(),
        pair: pair.as_ref().map(sparse).transpose()?,
    })
}

/// The same with all that a run goes on from.
fn with_state<R>(state: &Bound<'_, PyDict>, f: impl FnOnce(ChainState<'_>) -> PyResult<R>) -> PyResult<R> {
    let seen = counters(state, 1)?[0];
    with_weights(state, "", |weights| with_weights(state, "_u", |sums| f(ChainState { weights, sums, seen })))
}

fn set_weights(out: &Bound<'_, PyDict>, weights: ChainWeights, suffix: &str) -> PyResult<()> {
    let py = out.py();
    let labels = weights.labels();
    let vector = |name: &str, values: Cow<[f64]>| {
        out.set_item(format!("{name}{suffix}"), PyArray1::from_vec(py, values.into_owned()))
    };
    let matrix = |name: &str, matrix: Sparse| {
        let indptr = PyArray1::from_vec(py, matrix.indptr.into_owned());
        let indices = PyArray1::from_vec(py, matrix.indices.into_owned());
        out.set_item(format!("{name}_indptr{suffix}"), indptr)?;
        out.set_item(format!("{name}_indices{suffix}"), indices)?;
        vector(&format!("{name}_data"), matrix.data)
    };
    matrix("emission", weights.emission)?;
    let transition = PyArray1::from_vec(py, weights.transition.into_owned()).reshape([labels, labels])?;
    out.set_item(format!("transition{suffix}"), transition)?;
    vector("start", weights.start)?;
    vector("end", weights.end)?;
    weights.pair.map_or(Ok(()), |pair| matrix("pair", pair))
}

/// A run of a chain on its rows.
pub(super) struct Sequenced {
    rows: Py<PyAny>,
    run: structured::ChainRun,
    /// The columns that the run is over, if they are few, and how many there are.
    own: Option<OwnColumns>,
    columns: usize,
    track_answers: bool,
}

impl Sequenced {
    pub fn start(
        data: &Bound<'_, PyAny>,
        state: &Bound<'_, PyDict>,
        settings: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let rows: Py<PyAny> = attr!(data, "rows");
        let (n, columns) = shape(rows.bind(data.py()))?;
        let sequences = Sequences::new(attr!(data, "lengths", PyReadonlyArray1<'_, i64>).as_slice()?, n)?;
        let chosen: Option<PyReadonlyArray1<'_, u32>> = attr!(data, "chosen");
        let chosen = chosen.map(|chosen| copied(&chosen)).transpose()?;
        let track_answers = attr!(settings, "track_answers");
        let settings = structured::ChainSettings {
            eta: attr!(settings, "eta0"),
            beam: attr!(settings, "beam"),
            mending: choice("update", &attr!(settings, "update", String), &Mending::ALL)?,
            aggressive: Aggressive::of_step(&attr!(settings, "step", String), attr!(settings, "C"))?,
            seed: attr!(settings, "seed"),
            partition: attr!(settings, "partition"),
            track_answers,
        };
        // A copy, so that another thread that writes to the labels cannot make them too large.
        let labels = copied(&attr!(data, "labels", PyReadonlyArray1<'_, u32>))?;
        let chain = Chain::new(labels, sequences, chosen, settings)?;
        let (run, own) = with_state(state, |begin| {
            call_on(rows.bind(data.py()), |rows, signals| {
                let weighted = begin.weighted(columns, signals)?;
                let own =
                    rows.own_columns(begin.weights.labels(), &weighted, signals)?.map(OwnColumns::sorted);
                let begin = match &own {
                    Some(own) => {
                        begin.check(columns, signals)?;
                        begin.take(&own.chosen, signals)?
                    }
                    None => begin,
                };
                let start = |rows: &dyn Matrix| structured::ChainRun::start(rows, chain, &begin, signals);
                Ok((over(rows, own.as_ref(), start)?, own))
            })
        })?;
        Ok(Self { rows, run, own, columns, track_answers })
    }
}

impl EngineRun for Sequenced {
    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> Done<Epoch> {
        let Self { rows, run, own, .. } = self;
        with_rows(rows.bind(py), |rows| over(rows, own.as_ref(), |rows| run.epoch(rows, number, signals)))
    }

    fn end(&mut self, py: Python<'_>, _: usize, signals: &Signals) -> Done<()> {
        caught(py, true, || self.run.end(signals))
    }

    fn state(&mut self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        let Self { run, own, columns, .. } = self;
        let ChainState { weights, sums, seen } = call(out.py(), |signals| {
            let state = run.state(signals)?;
            match own {
                Some(own) => state.put(&own.chosen, *columns, signals),
                None => Ok(state),
            }
        })?;
        set_weights(out, weights, "")?;
        set_weights(out, sums, "_u")?;
        set_vector(out, "seen", &[seen as i64])
    }

    fn tracked(&mut self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        if self.track_answers {
            set_vector(out, "answers", self.run.answers())?;
        }
        Ok(())
    }
}

/// Averaged weights of a state.
#[pyfunction]
pub fn sequence_average<'py>(state: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let py = state.py();
    let averages = with_state(state, |learnt| call(py, |signals| structured::averages(&learnt, signals)))?;
    let out = PyDict::new(py);
    set_weights(&out, averages, "")?;
    Ok(out)
}

/// The booleans of a matrix, row by row. They are read as bytes: `NumPy` takes every byte but 0 for true,
/// and Rust knows 0 and 1 alone.
fn mask(name: &str, given: &PyReadonlyArray2<bool>, needed: [usize; 2]) -> PyResult<Vec<bool>> {
    let shape = given.shape();
    if shape != needed {
        return Err(PyValueError::new_err(format!("{name} must have the shape {needed:?}, got {shape:?}")));
    }
    let bytes: PyReadonlyArray2<u8> = given.call_method1("view", ("uint8",))?.extract()?;
    Ok(collected(bytes.as_array().iter().map(|byte| *byte != 0))?)
}

/// Where tokens begin, the columns of their attributes in order, and the values of these.
type AttributeRows<'py> = (Vector<'py, i32>, Vector<'py, i32>, Bound<'py, PyAny>);

/// Tokens between two looks at signals.
const TOKENS: usize = 1 << 10;

/// The known attributes of tokens as the arrays of a CSR matrix: values are int8 if all are 1.
///
/// None unless each token is a list of strings, or a dict from strings to strings and numbers, and names no
/// column twice.
#[pyfunction]
pub fn attribute_rows<'py>(
    names: &Bound<'py, PyDict>,
    tokens: &Bound<'py, PyList>,
) -> PyResult<Option<AttributeRows<'py>>> {
    let py = names.py();
    let (mut ends, mut columns, mut values) = (vec![], vec![], vec![]);
    let (mut row, mut text) = (vec![], String::new());
    let mut are_ones = true;
    ends.try_push(0)?;
    for (number, token) in tokens.iter().enumerate() {
        if number % TOKENS == TOKENS - 1 {
            py.check_signals()?;
        }
        row.clear();
        if !collect_token(names, &token, &mut row, &mut text)? {
            return Ok(None);
        }
        row.sort_unstable_by_key(|(column, _)| *column);
        if row.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Ok(None);
        }
        are_ones &= row.iter().all(|(_, x)| *x == 1.0);
        columns.try_extend(row.iter().map(|(column, _)| *column))?;
        values.try_extend(row.iter().map(|(_, x)| *x))?;
        let Ok(end) = i32::try_from(columns.len()) else { return Ok(None) };
        ends.try_push(end)?;
    }
    let values = if are_ones {
        PyArray1::from_vec(py, filled(1_i8, columns.len())?).into_any()
    } else {
        PyArray1::from_vec(py, values).into_any()
    };
    Ok(Some((PyArray1::from_vec(py, ends), PyArray1::from_vec(py, columns), values)))
}

/// Adds the columns and values of a token. False if it is another one than `attribute_rows` reads.
fn collect_token(
    names: &Bound<'_, PyDict>,
    token: &Bound<'_, PyAny>,
    row: &mut Vec<(i32, f64)>,
    text: &mut String,
) -> PyResult<bool> {
    let mut add = |name: &Bound<'_, PyString>, value: f64| -> PyResult<()> {
        if let Some(column) = names.get_item(name)? {
            row.try_push((column.extract()?, value))?;
        }
        Ok(())
    };
    if let Ok(list) = token.cast_exact::<PyList>() {
        for name in list {
            let Ok(name) = name.cast_exact::<PyString>() else { return Ok(false) };
            add(name, 1.0)?;
        }
        return Ok(true);
    }
    let Ok(dict) = token.cast_exact::<PyDict>() else { return Ok(false) };
    // Copies: code that a garbage collection runs may change the dict.
    let (keys, values) = (dict.keys(), dict.values());
    if keys.len() != values.len() {
        return Ok(false);
    }
    for (name, value) in keys.iter().zip(values) {
        let Ok(name) = name.cast_exact::<PyString>() else { return Ok(false) };
        if let Ok(value) = value.cast_exact::<PyString>() {
            let (Ok(name), Ok(value)) = (name.to_cow(), value.to_cow()) else { return Ok(false) };
            text.clear();
            text.try_reserve(name.len() + value.len() + 1).map_err(|_| error::Error::Memory)?;
            text.push_str(&name);
            text.push('=');
            text.push_str(&value);
            add(&PyString::new(names.py(), text), 1.0)?;
        } else {
            let is_number = value.is_exact_instance_of::<PyFloat>()
                || value.is_exact_instance_of::<PyBool>()
                || value.is_exact_instance_of::<PyInt>();
            match value.extract::<f64>() {
                Ok(value) if is_number && value.is_finite() => add(name, value)?,
                _ => return Ok(false),
            }
        }
    }
    Ok(true)
}

/// What predicts, for many searches: arrays that are read in place, and what was made of them.
#[pyclass(frozen, module = "perceptron_rs._core")]
pub struct SequenceWeights {
    /// Nobody else has this dict.
    arrays: Py<PyDict>,
    checked: CheckedFrame,
}

/// Makes weights ready for searches.
#[pyfunction]
pub fn sequence_weights(weights: &Bound<'_, PyDict>) -> PyResult<SequenceWeights> {
    let (py, own) = (weights.py(), weights.copy()?);
    let checked = with_weights(&own, "", |weights| call(py, |signals| CheckedFrame::new(&weights, signals)))?;
    Ok(SequenceWeights { arrays: own.unbind(), checked })
}

/// The labels that each row may have, and those that may not follow another one.
type Masks<'py> = (Option<PyReadonlyArray2<'py, bool>>, Option<PyReadonlyArray2<'py, bool>>);

/// What a search of the core finds.
fn searched<'py, T: Send>(
    rows: &Bound<'py, PyAny>,
    lengths: &PyReadonlyArray1<'py, i64>,
    weights: &Bound<'py, PyAny>,
    (beam, (allowed, forbidden)): (Option<usize>, Masks<'py>),
    search: impl FnOnce(&dyn Matrix, &Sequences, SearchWeights, Limits, &Signals) -> error::Result<T> + Send,
) -> PyResult<T> {
    let (n, _) = shape(rows)?;
    let sequences = Sequences::new(lengths.as_slice()?, n)?;
    let ready = weights.cast::<SequenceWeights>().ok().map(Bound::get);
    let arrays = ready.map_or_else(|| weights.cast(), |ready| Ok(ready.arrays.bind(rows.py())))?;
    with_weights(arrays, "", |weights| {
        let labels = weights.labels();
        let allowed = allowed.map(|given| mask("allowed", &given, [n, labels])).transpose()?;
        let forbidden = forbidden.map(|given| mask("forbidden", &given, [labels, labels])).transpose()?;
        let limits = Limits { beam, allowed: allowed.as_deref(), forbidden: forbidden.as_deref() };
        let weights = SearchWeights { weights: &weights, checked: ready.map(|ready| &ready.checked) };
        call_on(rows, |rows, signals| search(rows, &sequences, weights, limits, signals))
    })
}

/// Numbers of all rows, and others.
type LabelsAnd<'py> = (Vector<'py, u32>, Vector<'py, f64>);

/// The best labels of every row, and the score of every sequence.
#[pyfunction]
#[pyo3(signature = (rows, lengths, *, weights, threads, beam=None, allowed=None, forbidden=None))]
pub fn sequence_decode<'py>(
    rows: &Bound<'py, PyAny>,
    lengths: PyReadonlyArray1<'py, i64>,
    weights: &Bound<'py, PyAny>,
    threads: usize,
    beam: Option<usize>,
    allowed: Option<PyReadonlyArray2<'py, bool>>,
    forbidden: Option<PyReadonlyArray2<'py, bool>>,
) -> PyResult<LabelsAnd<'py>> {
    let limits = (beam, (allowed, forbidden));
    let (path, scores) =
        searched(rows, &lengths, weights, limits, |rows, sequences, weights, limits, signals| {
            structured::decode(rows, sequences, weights, limits, threads, signals)
        })?;
    Ok((PyArray1::from_vec(rows.py(), path), PyArray1::from_vec(rows.py(), scores)))
}

/// The k best label sequences of every sequence, one after another, their scores, and how many there are.
#[pyfunction]
#[pyo3(signature = (rows, lengths, *, weights, k, threads, beam=None, allowed=None, forbidden=None))]
pub fn sequence_k_best<'py>(
    rows: &Bound<'py, PyAny>,
    lengths: PyReadonlyArray1<'py, i64>,
    weights: &Bound<'py, PyAny>,
    k: usize,
    threads: usize,
    beam: Option<usize>,
    allowed: Option<PyReadonlyArray2<'py, bool>>,
    forbidden: Option<PyReadonlyArray2<'py, bool>>,
) -> PyResult<(Vector<'py, u32>, Vector<'py, f64>, Vector<'py, i64>)> {
    let limits = (beam, (allowed, forbidden));
    let best = searched(rows, &lengths, weights, limits, |rows, sequences, weights, limits, signals| {
        structured::k_best(rows, sequences, weights, k, limits, threads, signals)
    })?;
    let py = rows.py();
    let counts = collected(best.iter().map(|best| best.scores.len() as i64))?;
    let (mut labels, mut scores) = (Vec::new(), Vec::new());
    for best in best {
        labels.try_extend(best.labels.into_iter())?;
        scores.try_extend(best.scores.into_iter())?;
    }
    Ok((PyArray1::from_vec(py, labels), PyArray1::from_vec(py, scores), PyArray1::from_vec(py, counts)))
}

/// The best labels of every row, and how far the best ones with another label there are behind.
#[pyfunction]
#[pyo3(signature = (rows, lengths, *, weights, threads, beam=None, allowed=None, forbidden=None))]
pub fn sequence_margins<'py>(
    rows: &Bound<'py, PyAny>,
    lengths: PyReadonlyArray1<'py, i64>,
    weights: &Bound<'py, PyAny>,
    threads: usize,
    beam: Option<usize>,
    allowed: Option<PyReadonlyArray2<'py, bool>>,
    forbidden: Option<PyReadonlyArray2<'py, bool>>,
) -> PyResult<LabelsAnd<'py>> {
    let limits = (beam, (allowed, forbidden));
    let (path, margins) =
        searched(rows, &lengths, weights, limits, |rows, sequences, weights, limits, signals| {
            structured::margins(rows, sequences, weights, limits, threads, signals)
        })?;
    Ok((PyArray1::from_vec(rows.py(), path), PyArray1::from_vec(rows.py(), margins)))
}

type PyFeatures<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);

/// Learn from one wrong answer: changes `w` and `u`.
#[pyfunction]
#[pyo3(signature = (w, u, truth, answer, *, step, t))]
pub fn structured_update<'py>(
    py: Python<'py>,
    mut w: PyReadwriteArray1<'py, f64>,
    mut u: PyReadwriteArray1<'py, f64>,
    truth: PyFeatures<'py>,
    answer: PyFeatures<'py>,
    step: f64,
    t: u64,
) -> PyResult<()> {
    let truth = (truth.0.as_slice()?, truth.1.as_slice()?);
    let answer = (answer.0.as_slice()?, answer.1.as_slice()?);
    let (w, u) = (w.as_slice_mut()?, u.as_slice_mut()?);
    call(py, |_| general::mend(w, u, (truth, answer), step, t))
}
