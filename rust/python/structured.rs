//! Sequences, and the update for any other structure.

use std::borrow::Cow;

use numpy::{
    PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::border::arrays::{get, set_array};
use super::border::choices::{parse_step, parse_update};
use super::border::rows::{over_own_columns, shape, with_rows};
use super::border::signals::Signals;
use super::start::EngineRun;
use crate::arith::environment::standard;
use crate::error;
use crate::memory::{Grow, collected};
use crate::online::Epoch;
use crate::rows::{Chosen, Matrix};
use crate::structured::{self, Chain, ChainState, ChainWeights, Limits, Sequences, Sparse, general};

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
    /// Those that the run is over, if they are few, and how many there are.
    own: Option<(Chosen, usize)>,
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
        let (py, columns, signals) = (data.py(), shape(rows.bind(data.py()))?.1, Signals::new());
        let weighted = begin.weighted(columns, &signals);
        let weighted = signals.settle(weighted, py, false)?;
        let signals = Signals::new();
        let (rows, begin, own) = match over_own_columns(rows.bind(py), &weighted)? {
            Some((rows, mut chosen)) => {
                chosen.sort();
                let taken = begin.check(columns, &signals).and_then(|()| begin.take(&chosen, &signals));
                (rows, signals.settle(taken, py, false)?, Some((chosen, columns)))
            }
            None => (rows, begin, None),
        };
        let signals = Signals::new();
        let run =
            with_rows(rows.bind(py), |rows| structured::ChainRun::start(rows, chain, &begin, &signals))?;
        let run = signals.settle(run, py, false)?;
        Ok(Self { rows, run, own, track_answers })
    }
}

impl EngineRun for Sequenced {
    fn epoch(&mut self, py: Python<'_>, number: u64, signals: &Signals) -> PyResult<error::Result<Epoch>> {
        let Self { rows, run, .. } = self;
        with_rows(rows.bind(py), |rows| run.epoch(rows, number, signals))
    }

    fn end(&mut self, py: Python<'_>, _: usize, signals: &Signals) -> PyResult<error::Result<()>> {
        Ok(py.detach(|| self.run.end(signals)))
    }

    fn state(&mut self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        let (Self { run, own, .. }, signals) = (self, Signals::new());
        let state = out.py().detach(|| {
            let state = run.state(&signals)?;
            match own {
                Some((chosen, columns)) => state.put(chosen, *columns, &signals),
                None => Ok(state),
            }
        });
        let ChainState { weights, sums, seen } = signals.settle(state, out.py(), false)?;
        set_weights(out, weights, "")?;
        set_weights(out, sums, "_u")?;
        set_array(out, "seen", &[seen as i64], None)
    }

    fn tracked(&self, out: &Bound<'_, PyDict>) -> PyResult<()> {
        if self.track_answers {
            set_array(out, "answers", self.run.answers(), None)?;
        }
        Ok(())
    }
}

/// Averaged weights of a state.
#[pyfunction]
fn sequence_average<'py>(state: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let (weights, sums) = (ChainArrays::of(state, "")?, ChainArrays::of(state, "_u")?);
    let learnt = ChainState { weights: weights.weights()?, sums: sums.weights()?, seen: seen_of(state)? };
    let signals = Signals::new();
    let averages = state.py().detach(|| structured::averages(&learnt, &signals));
    let averages = signals.settle(averages, state.py(), false)?;
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

/// The arguments of a search, borrowed.
struct Searched<'py> {
    sequences: Sequences,
    arrays: ChainArrays<'py>,
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
        weights: &Bound<'py, PyDict>,
        beam: Option<usize>,
        (allowed, forbidden): Masks<'py>,
    ) -> PyResult<Self> {
        let (n, _) = shape(rows)?;
        let sequences = Sequences::new(lengths.as_slice()?, n)?;
        let arrays = ChainArrays::of(weights, "")?;
        let labels = arrays.start.as_array().len();
        let allowed = allowed.map(|given| mask("allowed", &given, [n, labels])).transpose()?;
        let forbidden = forbidden.map(|given| mask("forbidden", &given, [labels, labels])).transpose()?;
        Ok(Self { sequences, arrays, beam, allowed, forbidden })
    }

    /// What a search of the core finds.
    fn run<T: Send>(
        &self,
        rows: &Bound<'py, PyAny>,
        search: impl FnOnce(&dyn Matrix, &Sequences, &ChainWeights, Limits, &Signals) -> error::Result<T> + Send,
    ) -> PyResult<T> {
        let (weights, sequences) = (self.arrays.weights()?, &self.sequences);
        let (allowed, forbidden) = (self.allowed.as_deref(), self.forbidden.as_deref());
        let limits = Limits { beam: self.beam, allowed, forbidden };
        let signals = Signals::new();
        let done = with_rows(rows, |rows| search(rows, sequences, &weights, limits, &signals))?;
        signals.settle(done, rows.py(), false)
    }
}

/// Numbers of all rows, and others.
type LabelsAnd<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// The best labels of every row, and the score of every sequence.
#[pyfunction]
#[pyo3(signature = (rows, lengths, *, weights, threads, beam=None, allowed=None, forbidden=None))]
fn sequence_decode<'py>(
    rows: &Bound<'py, PyAny>,
    lengths: PyReadonlyArray1<'py, i64>,
    weights: &Bound<'py, PyDict>,
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

type PyBest<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>);

/// The k best label sequences of every sequence, one after another, their scores, and how many there are.
#[pyfunction]
#[pyo3(signature = (rows, lengths, *, weights, k, threads, beam=None, allowed=None, forbidden=None))]
#[expect(clippy::too_many_arguments, reason = "the keywords of the engine's function")]
fn sequence_k_best<'py>(
    rows: &Bound<'py, PyAny>,
    lengths: PyReadonlyArray1<'py, i64>,
    weights: &Bound<'py, PyDict>,
    k: usize,
    threads: usize,
    beam: Option<usize>,
    allowed: Option<PyReadonlyArray2<'py, bool>>,
    forbidden: Option<PyReadonlyArray2<'py, bool>>,
) -> PyResult<PyBest<'py>> {
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
fn sequence_margins<'py>(
    rows: &Bound<'py, PyAny>,
    lengths: PyReadonlyArray1<'py, i64>,
    weights: &Bound<'py, PyDict>,
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
fn structured_update<'py>(
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
    Ok(standard(|| general::mend(w, u, (truth, answer), step, t))?)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(sequence_average, m)?)?;
    m.add_function(wrap_pyfunction!(sequence_decode, m)?)?;
    m.add_function(wrap_pyfunction!(sequence_k_best, m)?)?;
    m.add_function(wrap_pyfunction!(sequence_margins, m)?)?;
    m.add_function(wrap_pyfunction!(structured_update, m)?)
}
