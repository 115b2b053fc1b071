//! Readers of text: paths in, arrays out.

use std::path::PathBuf;

use numpy::PyArray1;
use pyo3::prelude::*;

use super::border::signals::Signals;
use crate::text::{self, Base, Rules};

type Parts<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    u64,
    bool,
);

/// Values, columns, row starts and labels of svmlight files, the least number of columns, and whether they
/// are counted from 0.
#[pyfunction]
#[pyo3(signature = (paths, *, zero_based, refuse_query_ids, threads, block=None))]
#[allow(clippy::needless_pass_by_value)]
fn read_svmlight(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    zero_based: Option<bool>,
    refuse_query_ids: bool,
    threads: usize,
    block: Option<usize>,
) -> PyResult<Parts<'_>> {
    let base = match zero_based {
        None => Base::Auto,
        Some(true) => Base::Zero,
        Some(false) => Base::One,
    };
    let signals = Signals::new();
    let (rules, block) = (Rules { base, refuse_query_ids }, block.unwrap_or(text::BLOCK));
    let table = py.detach(|| text::read(&paths, rules, threads, block, &signals));
    let table = signals.settle(table, py, false)?;
    Ok((
        PyArray1::from_vec(py, table.values),
        PyArray1::from_vec(py, table.columns),
        PyArray1::from_vec(py, table.starts),
        PyArray1::from_vec(py, table.labels),
        table.width,
        table.zero_based,
    ))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(read_svmlight, m)?)
}
