//! Readers of text: paths in, arrays out.

use std::path::PathBuf;

use numpy::PyArray1;
use pyo3::{prelude::*, pybacked::PyBackedBytes};

use super::border::{Vector, call};
use crate::text::{self, Base, CsrArrays, Rules};

type Parts<'py> = (Vector<'py, f64>, Vector<'py, i32>, Vector<'py, i64>, Vector<'py, f64>, u64, bool);

/// Values, columns, row starts and labels of svmlight files, the least number of columns, and whether they
/// are counted from 0.
#[pyfunction]
#[pyo3(signature = (paths, *, zero_based, refuse_query_ids, threads, max_ratio, block=None))]
pub fn read_svmlight(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    zero_based: Option<bool>,
    refuse_query_ids: bool,
    threads: usize,
    max_ratio: f64,
    block: Option<usize>,
) -> PyResult<Parts<'_>> {
    let (rules, block) = (rules(zero_based, refuse_query_ids, max_ratio), block.unwrap_or(text::BLOCK));
    Ok(parts(py, call(py, |signals| text::read(&paths, rules, threads, block, signals))?))
}

/// The same of a part of the file of this name: whole lines, with so many before them.
#[pyfunction]
#[pyo3(signature = (part, *, path, lines_before, zero_based, refuse_query_ids))]
pub fn read_svmlight_part(
    py: Python<'_>,
    part: PyBackedBytes,
    path: PathBuf,
    lines_before: usize,
    zero_based: Option<bool>,
    refuse_query_ids: bool,
) -> PyResult<Parts<'_>> {
    let rules = rules(zero_based, refuse_query_ids, f64::INFINITY);
    Ok(parts(py, call(py, |_| text::read_part(&path, &part, lines_before, rules))?))
}

fn rules(zero_based: Option<bool>, refuse_query_ids: bool, max_ratio: f64) -> Rules {
    let base = match zero_based {
        None => Base::Auto,
        Some(true) => Base::Zero,
        Some(false) => Base::One,
    };
    Rules { base, refuse_query_ids, max_ratio }
}

fn parts(py: Python<'_>, table: CsrArrays) -> Parts<'_> {
    let CsrArrays { values, columns, starts, labels, width, zero_based } = table;
    let (values, columns) = (PyArray1::from_vec(py, values), PyArray1::from_vec(py, columns));
    (values, columns, PyArray1::from_vec(py, starts), PyArray1::from_vec(py, labels), width, zero_based)
}
