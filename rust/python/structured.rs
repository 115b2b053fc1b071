//! Sequences, and the update for any other structure.

use std::borrow::Cow;

use numpy::{
    PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use super::border::arrays::{Vector, get, set_vector};
use super::border::call::{call, call_on, caught};
use super::border::choices::{parse_step, parse_update};
use super::border::rows::{shape, with_rows};
use super::border::signals::Signals;
use super::start::EngineRun;
use crate::error;
use crate::memory::{Grow, collected, filled};
use crate::online::Epoch;
use crate::rows::{Matrix, OwnColumns, over};
use crate::structured::{
    self, Chain, ChainState, ChainWeights, CheckedFrame, Limits, SearchWeights, Sequences, Sparse, general,
};

/// A matrix in the form CSR, borrowed: it is read in place.
struct SparseArrays<'py> {
    indptr: PyReadonlyArray1<'py, i64>,
    indices: PyReadonlyArray1<'py, i32>,
    data: PyReadonlyArray1<'py, f64>,
}

impl<'py> SparseArrays<'py> {
    fn of(state: &Bound<'py, PyDict>, name: &str, suffix: &str) -> PyResult<Self> {
        Ok(Self {
            indptr: get(&format!("{name}_indptr{suffix}"), state)?.extract()?,
            indices: get(&format!("{name}_indices{suffix}"), state)?.extract()?,
            data: get(&format!("{name}_data{suffix}"), state)?.extract()?,
        })
    }

    fn view(&self) -> PyResult<Sparse<'_>> {
        Ok(Sparse {
            indptr: self.indptr.as_slice()?.into(),
            indices: self.indices.as_slice()?.into(),
            data: self.data.as_slice()?.into(),
        })
    }
}

/// The arrays of `ChainWeights`.
struct ChainArrays<'py> {
    emission: SparseArrays<'py>,
    transition: PyReadonlyArray2<'py, f64>,
    start: PyReadonlyArray1<'py, f64>,
    end: PyReadonlyArray1<'py, f64>,
    pair: Option<SparseArrays<'py>>,
}

impl<'py> ChainArrays<'py> {
    /// Those of a state, each name followed by `suffix`.
    fn of(state: &Bound<'py, PyDict>, suffix: &str) -> PyResult<Self> {
        let start: PyReadonlyArray1<f64> = get(&format!("start{suffix}"), state)?.extract()?;
        let transition: PyReadonlyArray2<f64> = get(&format!("transition{suffix}"), state)?.extract()?;
        let labels = start.as_array().len();
        if transition.shape() != [labels, labels] || !transition.is_c_contiguous() {
            return Err(PyValueError::new_err(format!(
                "transition{suffix} must be C-contiguous, {labels} by {labels} for as many labels, got shape {:?}",
                transition.shape()
            )));
        }
        Ok(Self {
            emission: SparseArrays::of(state, "emission", suffix)?,
            transition,
            start,
            end: get(&format!("end{suffix}"), state)?.extract()?,
            pair: state
                .contains("pair_indptr")?
                .then(|| SparseArrays::of(state, "pair", suffix))
                .transpose()?,
        })
    }

    fn weights(&self) -> PyResult<ChainWeights<'_>> {
        Ok(ChainWeights {
            emission: self.emission.view()?,
            transition: self.transition.as_slice()?.into(),
            start: self.start.as_slice()?.into(),
            end: self.end.as_slice()?.into(),
            pair: self.pair.as_ref().map(SparseArrays::view).transpose()?,
        })
    }
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

fn seen_of(state: &Bound<'_, PyDict>) -> PyResult<u64> {
    let seen: PyReadonlyArray1<i64> = get("seen", state)?.extract()?;
    match seen.as_slice()? {
        &[seen] if seen >= 0 => Ok(seen as u64),
        other => {
            Err(PyValueError::new_err(format!("seen must hold one number of at least 0, got {other:?}")))
        }
    }
}

/// The attributes of `Sequences`.
#[derive(FromPyObject)]
struct SequenceData<'py> {
    rows: Py<PyAny>,
    labels: PyReadonlyArray1<'py, u32>,
    lengths: PyReadonlyArray1<'py, i64>,
    chosen: Option<PyReadonlyArray1<'py, u32>>,
}

/// The settings `Chain`.
#[derive(FromPyObject)]
struct ChainAttributes {
    eta0: f64,
    beam: Option<usize>,
    update: String,
    step: String,
    #[pyo3(attribute("C"))]
    c: f64,
    seed: Option<u64>,
    partition: u64,
    track_answers: bool,
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
        let SequenceData { rows, labels, lengths, chosen } = data.extract()?;
        let ChainAttributes { eta0: eta, beam, update, step, c, seed, partition, track_answers } =
            settings.extract()?;
        let sequences = Sequences::new(lengths.as_slice()?, shape(rows.bind(data.py()))?.0)?;
        let chosen = chosen.map(|chosen| collected(chosen.as_array().iter().copied())).transpose()?;
        let mending = parse_update(&update)?;
        let aggressive = parse_step(&step, c)?;
        let settings =
            structured::ChainSettings { eta, beam, mending, aggressive, seed, partition, track_answers };
        // A copy, so that another thread that writes to the labels cannot make them too large.
        let labels = collected(labels.as_array().iter().copied())?;
        let chain = Chain::new(labels, sequences, chosen, settings)?;
        let (weights, sums) = (ChainArrays::of(state, "")?, ChainArrays::of(state, "_u")?);
        let begin = ChainState { weights: weights.weights()?, sums: sums.weights()?, seen: seen_of(state)? };
        let (py, columns) = (data.py(), shape(rows.bind(data.py()))?.1);
        let weighted = call(py, |signals| begin.weighted(columns, signals))?;
        let (run, own) = call_on(rows.bind(py), |rows, signals| {
            let own = rows.own_columns(begin.weights.labels(), &weighted, signals)?.map(OwnColumns::sorted);
            let begin = match &own {
                Some(own) => {
                    begin.check(columns, signals)?;
                    begin.take(&own.chosen, signals)?
                }
                None => begin,
            };
            let start = |rows: &dyn Matrix| structured::ChainRun::start(rows, chain, &begin, signals);
            Ok((over(rows, own.as_ref(), start)?, own))
        })?;
        Ok(Self { rows, run, own, columns, track_answers })
    }
}

impl EngineRun for Sequenced {
    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> PyResult<error::Result<Epoch>> {
        let Self { rows, run, own, .. } = self;
        with_rows(rows.bind(py), |rows| over(rows, own.as_ref(), |rows| run.epoch(rows, number, signals)))
    }

    fn end(&mut self, py: Python<'_>, _: usize, signals: &Signals) -> PyResult<error::Result<()>> {
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

    fn tracked(&self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        if self.track_answers {
            set_vector(out, "answers", self.run.answers())?;
        }
        Ok(())
    }
}

/// Averaged weights of a state.
#[pyfunction]
pub fn sequence_average<'py>(state: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let (weights, sums) = (ChainArrays::of(state, "")?, ChainArrays::of(state, "_u")?);
    let learnt = ChainState { weights: weights.weights()?, sums: sums.weights()?, seen: seen_of(state)? };
    let averages = call(state.py(), |signals| structured::averages(&learnt, signals))?;
    let out = PyDict::new(state.py());
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
    let arrays = ChainArrays::of(&own, "")?;
    let view = arrays.weights()?;
    let checked = call(py, |signals| CheckedFrame::new(&view, signals))?;
    Ok(SequenceWeights { arrays: own.unbind(), checked })
}

/// The arguments of a search, borrowed.
struct Searched<'py> {
    sequences: Sequences,
    arrays: ChainArrays<'py>,
    ready: Option<Bound<'py, SequenceWeights>>,
    beam: Option<usize>,
    allowed: Option<Vec<bool>>,
    forbidden: Option<Vec<bool>>,
}

/// The labels that each row may have, and those that may not follow another one.
type Masks<'py> = (Option<PyReadonlyArray2<'py, bool>>, Option<PyReadonlyArray2<'py, bool>>);

impl<'py> Searched<'py> {
    fn new(
        rows: &Bound<'py, PyAny>,
        lengths: &PyReadonlyArray1<'py, i64>,
        weights: &Bound<'py, PyAny>,
        beam: Option<usize>,
        (allowed, forbidden): Masks<'py>,
    ) -> PyResult<Self> {
        let (n, _) = shape(rows)?;
        let sequences = Sequences::new(lengths.as_slice()?, n)?;
        let ready = weights.cast::<SequenceWeights>().ok().cloned();
        let arrays = match &ready {
            Some(ready) => ChainArrays::of(ready.get().arrays.bind(rows.py()), "")?,
            None => ChainArrays::of(weights.cast()?, "")?,
        };
        let labels = arrays.start.as_array().len();
        let allowed = allowed.map(|given| mask("allowed", &given, [n, labels])).transpose()?;
        let forbidden = forbidden.map(|given| mask("forbidden", &given, [labels, labels])).transpose()?;
        Ok(Self { sequences, arrays, ready, beam, allowed, forbidden })
    }

    /// What a search of the core finds.
    fn run<T: Send>(
        &self,
        rows: &Bound<'py, PyAny>,
        search: impl FnOnce(&dyn Matrix, &Sequences, SearchWeights, Limits, &Signals) -> error::Result<T> + Send,
    ) -> PyResult<T> {
        let (weights, sequences) = (self.arrays.weights()?, &self.sequences);
        let checked = self.ready.as_ref().map(|ready| &ready.get().checked);
        let weights = SearchWeights { weights: &weights, checked };
        let (allowed, forbidden) = (self.allowed.as_deref(), self.forbidden.as_deref());
        let limits = Limits { beam: self.beam, allowed, forbidden };
        call_on(rows, |rows, signals| search(rows, sequences, weights, limits, signals))
    }
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
    let searched = Searched::new(rows, &lengths, weights, beam, (allowed, forbidden))?;
    let (path, scores) = searched.run(rows, |rows, sequences, weights, limits, signals| {
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
    let searched = Searched::new(rows, &lengths, weights, beam, (allowed, forbidden))?;
    let best = searched.run(rows, |rows, sequences, weights, limits, signals| {
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
    let searched = Searched::new(rows, &lengths, weights, beam, (allowed, forbidden))?;
    let (path, margins) = searched.run(rows, |rows, sequences, weights, limits, signals| {
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
