//! Texts as hashed rows, and such rows side by side.

use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyList};

use super::border::{Signals, Vector, call, caught, to_vector};
use super::settings::attr;
use crate::base::{Error, choice, collected};
use crate::text::{self, Analyzer, Grams, Hashing, Letters, Met, Norm, SparseRows, SparseView};

type PyRows<'py, I> = (Vector<'py, f64>, Vector<'py, I>, Vector<'py, i64>);

/// N-grams that were met, each hash once.
#[pyclass(module = "perceptron_rs._core")]
pub struct NGrams(Met);

/// Hashes, counts, the n-grams end to end, and where each ends.
type PyMet<'py> = (Vector<'py, i32>, Vector<'py, i64>, Vector<'py, u8>, Vector<'py, i64>);

#[pymethods]
impl NGrams {
    #[new]
    fn new() -> Self {
        Self(Met::default())
    }

    /// Counts names as n-grams, each so often.
    fn add(&mut self, names: Vec<PyBackedBytes>, counts: Vec<i64>) -> PyResult<()> {
        for (name, times) in names.iter().zip(counts) {
            self.0.count(text::hash(name), &[], name, times)?;
        }
        Ok(())
    }

    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<PyMet<'py>> {
        let (hashes, counts, text, ends) = self.0.arrays()?;
        let (hashes, counts) = (PyArray1::from_vec(py, hashes), PyArray1::from_vec(py, counts));
        Ok((hashes, counts, to_vector(py, text)?, to_vector(py, ends)?))
    }
}

/// Values, columns and row starts of the n-grams of texts; `met` is told of those that are hashed.
#[pyfunction]
#[pyo3(signature = (texts, options, *, letters, stop_words, columns, before, known, met))]
pub fn hashed_texts<'py>(
    py: Python<'py>,
    texts: Vec<PyBackedStr>,
    options: Bound<'py, PyAny>,
    letters: PyBackedStr,
    stop_words: Vec<String>,
    columns: u32,
    before: PyBackedBytes,
    known: Option<Bound<'py, PyDict>>,
    mut met: Option<PyRefMut<'py, NGrams>>,
) -> PyResult<PyRows<'py, i32>> {
    let (sizes, lowercase) = (attr!(options, "ngrams"), attr!(options, "lowercase"));
    let binary = attr!(options, "binary");
    let kinds = [("word", Analyzer::Word), ("char", Analyzer::Char), ("char_wb", Analyzer::CharWb)];
    let analyzer = choice("analyzer", &attr!(options, "analyzer", String), &kinds)?;
    let stop_words = stop_words.into_iter().collect();
    let grams = Grams { analyzer, sizes, lowercase, letters: Letters::new(&letters)?, stop_words };
    let rows = if let Some(known) = known {
        let known = known.unbind();
        Signals::ask(py, false, |signals| {
            let column = |gram: &[u8]| {
                let found = Python::attach(|py| match known.bind(py).get_item(PyBytes::new(py, gram))? {
                    Some(column) => Ok::<_, PyErr>(Some(column.extract::<u32>()? << 1)),
                    None => Ok(None),
                });
                found.map_err(|error| {
                    signals.keep_error(error);
                    Error::Interrupted
                })
            };
            caught(py, false, || text::counted(&texts, &grams, binary, signals, column))
        })?
    } else {
        let hashing = Hashing { columns, before: &before, binary };
        let met = met.as_mut().map(|met| &mut met.0);
        call(py, |signals| text::hashed(&texts, &grams, hashing, met, signals))?
    };
    Ok(arrays(py, rows))
}

/// `MurmurHash3` of each text.
#[pyfunction]
pub fn murmur3<'py>(py: Python<'py>, texts: &Bound<'py, PyList>) -> PyResult<Vector<'py, u32>> {
    let texts: Vec<PyBackedBytes> = texts.extract()?;
    let hashes = call(py, |_| collected(texts.iter().map(|text| text::hash(text))))?;
    Ok(PyArray1::from_vec(py, hashes))
}

/// Values of rows that have the norm "l1" or "l2".
#[pyfunction]
pub fn normalized<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, f64>,
    ends: PyReadonlyArray1<'py, i64>,
    norm: &str,
) -> PyResult<Vector<'py, f64>> {
    let norm = choice("norm", norm, &[("l1", Norm::L1), ("l2", Norm::L2)])?;
    let (values, ends) = (values.as_slice()?, ends.as_slice()?);
    Ok(PyArray1::from_vec(py, call(py, |signals| text::normalized(values, ends, norm, signals))?))
}

/// A matrix: values, columns, row starts.
type Part<'py, I> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, I>, PyReadonlyArray1<'py, i64>);

/// The sums of the rows of matrices whose columns are all of 32 bits, or of 64.
#[pyfunction]
pub fn added_rows<'py>(py: Python<'py>, parts: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyAny>> {
    match parts.extract::<Vec<Part<'py, i32>>>() {
        Ok(parts) => Ok(added(py, &parts)?.into_pyobject(py)?.into_any()),
        Err(_) => Ok(added::<i64>(py, &parts.extract::<Vec<_>>()?)?.into_pyobject(py)?.into_any()),
    }
}

fn added<'py, I: Element + Copy + Ord>(py: Python<'py>, parts: &[Part<'py, I>]) -> PyResult<PyRows<'py, I>> {
    let mut views = Vec::new();
    for (values, columns, ends) in parts {
        let (values, columns, ends) = (values.as_slice()?, columns.as_slice()?, ends.as_slice()?);
        views.push(SparseView { values, columns, ends });
    }
    Ok(arrays(py, call(py, |signals| text::added(&views, signals))?))
}

fn arrays<I: Element>(py: Python<'_>, rows: SparseRows<I>) -> PyRows<'_, I> {
    let SparseRows { values, columns, ends } = rows;
    (PyArray1::from_vec(py, values), PyArray1::from_vec(py, columns), PyArray1::from_vec(py, ends))
}
