//! Borrowed matrices.
//!
//! The arrays are read in place, with the interpreter detached if the work is long. Another Python thread
//! may write to them meanwhile: then the results mean nothing, but each index is checked where it is used.

use std::borrow::Cow;

use numpy::ndarray::{Dimension, Ix1, Ix2};
use numpy::{
    Element, PyArray, PyArray1, PyArrayDescr, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyTuple};

use super::call::{call, caught};
use crate::arith::environment::standard;
use crate::arith::value::{Bf16, F16, Index, Value};
use crate::monitor::Monitor;
use crate::rows::{Csr, Dense, Facts, Matrix};

/// A C-contiguous matrix of one of the nine storage types, not copied.
#[pyclass(frozen, module = "perceptron_rs._core")]
pub struct DenseRows {
    values: Py<PyAny>,
    /// Number of examples, number of columns.
    #[pyo3(get)]
    shape: (usize, usize),
}

/// The three arrays of a CSR matrix, not copied.
#[pyclass(frozen, module = "perceptron_rs._core")]
pub struct CsrRows {
    indptr: Py<PyAny>,
    indices: Py<PyAny>,
    values: Py<PyAny>,
    /// Number of examples, number of columns.
    #[pyo3(get)]
    shape: (usize, usize),
    facts: Facts,
}

/// Runs `$body` with a `NumPy` array of `$D` axes, of one of the storage types, or raises what is wrong.
macro_rules! with_value_type {
    ($array:expr, $D:ident, |$typed:ident| $body:expr) => {{
        let array = $array;
        with_value_type!(@ array, $D, $typed, $body, f64, f32, i8, u8, i16, u16, i32);
        if let Some((name, bits)) = halved(array)? {
            let array = &bits;
            match name {
                "float16" => with_value_type!(@ array, $D, $typed, $body, F16),
                _ => with_value_type!(@ array, $D, $typed, $body, Bf16),
            }
        }
        Err(not_stored(array, $D::NDIM)?)
    }};
    (@ $array:ident, $D:ident, $typed:ident, $body:expr, $($T:ty),*) => {
        $(if let Ok($typed) = $array.cast::<PyArray<$T, $D>>() {
            return $body;
        })*
    };
}

/// Numbers of 16 bits that `NumPy` has no type for, or the crate none: a view of their bits, as uint16, and
/// the name of their type.
fn halved<'py>(array: &Bound<'py, PyAny>) -> PyResult<Option<(&'static str, Bound<'py, PyAny>)>> {
    let Ok(untyped) = array.cast::<PyUntypedArray>() else { return Ok(None) };
    let dtype = untyped.dtype();
    // By number: the name is found by Python code, which others may interrupt.
    let name = match (dtype.num(), BFLOAT16.get(array.py())) {
        (HALF, _) => Some("float16"),
        (num, Some(known)) if num == *known => Some("bfloat16"),
        (num, None) if num >= FIRST_OF_OTHERS && dtype.getattr("name")?.eq("bfloat16")? => {
            let _ = BFLOAT16.set(array.py(), num);
            Some("bfloat16")
        }
        _ => None,
    };
    match name {
        Some(name) if dtype.itemsize() == 2 && dtype.is_native_byteorder() != Some(false) => {
            Ok(Some((name, array.call_method1("view", ("uint16",))?)))
        }
        _ => Ok(None),
    }
}

/// `NumPy`'s numbers of types: of float16, the first of those that others register, and which bfloat16 got.
const HALF: i32 = 23;
const FIRST_OF_OTHERS: i32 = 256;
static BFLOAT16: PyOnceLock<i32> = PyOnceLock::new();

/// Arrays of them are views of uint16, made by [`halved`], after which alone they are asked for.
macro_rules! as_bits {
    ($($T:ty),*) => {$(
        // SAFETY: a `$T` is laid out as the u16 in it, and any bits are one. It holds no object of Python.
        unsafe impl Element for $T {
            const IS_COPY: bool = true;

            fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
                u16::get_dtype(py)
            }

            fn clone_ref(&self, _py: Python<'_>) -> Self {
                *self
            }
        }
    )*};
}
as_bits!(F16, Bf16);

fn not_stored(values: &Bound<'_, PyAny>, axes: Option<usize>) -> PyResult<PyErr> {
    let (dtype, shape) = (values.getattr("dtype")?, values.getattr("shape")?);
    let types = ["float64", "float32", "int8", "uint8", "int16", "uint16", "int32", "float16", "bfloat16"];
    if let (Some(axes), true) = (axes, types.contains(&&*dtype.str()?.to_cow()?)) {
        return Ok(PyValueError::new_err(format!(
            "values must have {axes} axes, got shape {shape}; reshape it"
        )));
    }
    let types = types.join(", ");
    Ok(PyTypeError::new_err(format!("values has dtype {dtype}; convert it to one of {types}")))
}

/// Runs `$body` with `$p` and `$i` the arrays of positions, both int32 or both int64, or raises `TypeError`.
macro_rules! with_index_type {
    ($indptr:expr, $indices:expr, |$p:ident, $i:ident| $body:expr) => {{
        let (indptr, indices) = ($indptr, $indices);
        if let (Ok($p), Ok($i)) = (indptr.cast::<PyArray1<i32>>(), indices.cast::<PyArray1<i32>>()) {
            return $body;
        }
        if let (Ok($p), Ok($i)) = (indptr.cast::<PyArray1<i64>>(), indices.cast::<PyArray1<i64>>()) {
            return $body;
        }
        Err(PyTypeError::new_err(format!(
            "indptr and indices must both be int32 or both int64 vectors, got {} and {}; convert them first",
            indptr.getattr("dtype")?,
            indices.getattr("dtype")?
        )))
    }};
}

fn slice<'a, T: Element, D: Dimension>(
    name: &str,
    array: &'a PyReadonlyArray<'_, T, D>,
) -> PyResult<&'a [T]> {
    match array.as_slice() {
        Ok(values) if array.is_c_contiguous() => Ok(values),
        _ => {
            let strides = array.getattr("strides")?;
            Err(PyValueError::new_err(format!(
                "{name} must be C-contiguous and aligned, got strides {strides}; copy it with np.array(..., order=\"C\")"
            )))
        }
    }
}

/// Number of examples and of columns of a `DenseRows` or a `CsrRows`.
pub fn shape(rows: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
    if let Ok(dense) = rows.cast::<DenseRows>() {
        return Ok(dense.get().shape);
    }
    if let Ok(csr) = rows.cast::<CsrRows>() {
        return Ok(csr.get().shape);
    }
    let kind = rows.get_type();
    Err(PyTypeError::new_err(format!("rows must be made by dense_rows or csr_rows, got {kind}")))
}

/// How many values are stored in a `DenseRows` or a `CsrRows`, and whether it is the latter.
pub fn entries(rows: &Bound<'_, PyAny>) -> PyResult<(usize, bool)> {
    let (len, columns) = shape(rows)?;
    Ok(match rows.cast::<CsrRows>() {
        Ok(csr) => (csr.get().values.bind(rows.py()).len()?, true),
        Err(_) => (len * columns, false),
    })
}

/// Calls `f` on the rows behind a `DenseRows` or a `CsrRows`, detached from the interpreter.
pub fn with_rows<R: Send>(rows: &Bound<'_, PyAny>, f: impl FnOnce(&dyn Matrix) -> R + Send) -> PyResult<R> {
    with_many_or_few(rows, true, f)
}

/// The same; `detached` or not, which for few rows would take longer than the work.
pub fn with_many_or_few<R: Send>(
    rows: &Bound<'_, PyAny>,
    detached: bool,
    f: impl FnOnce(&dyn Matrix) -> R + Send,
) -> PyResult<R> {
    once(f, |f| {
        if let Ok(dense) = rows.cast::<DenseRows>() {
            let dense = dense.get();
            return read_dense(dense.values.bind(rows.py()), Some(dense.shape), detached, f);
        }
        shape(rows)?;
        read_csr(&mut rows.cast::<CsrRows>()?.get().arrays(rows.py()), detached, Some(f))
    })
}

/// The same for these, a C-contiguous matrix, or a tuple of the arguments of `csr_rows`.
pub fn with_any<R: Send>(
    rows: &Bound<'_, PyAny>,
    detached: bool,
    f: impl FnOnce(&dyn Matrix) -> R + Send,
) -> PyResult<R> {
    if rows.cast::<PyUntypedArray>().is_ok() {
        return once(f, |f| read_dense(rows, None, detached, f));
    }
    if let Ok(arrays) = rows.cast::<PyTuple>() {
        let item = |i| arrays.get_borrowed_item(i);
        // Of any other object, Python code would be asked for its number.
        let columns = item(3)?.cast_exact::<PyInt>()?.extract()?;
        let (indptr, indices, values) = (&item(0)?, &item(1)?, &item(2)?);
        return once(f, |f| {
            read_csr(&mut Arrays { indptr, indices, values, columns, facts: None }, detached, Some(f))
        });
    }
    with_many_or_few(rows, detached, f)
}

fn refuse_unsorted(facts: &Facts) -> PyResult<()> {
    if facts.canonical {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "rows: the columns must be sorted and unique in every row; call sort_indices and sum_duplicates",
    ))
}

/// What is done with rows, behind a pointer: what reads them is compiled for each storage type, and would be
/// for each caller as well.
type Reader<'a> = &'a mut (dyn FnMut(&dyn Matrix) + Send);

/// Has `read` call `f`, and returns what `f` does.
fn once<R: Send>(
    f: impl FnOnce(&dyn Matrix) -> R + Send,
    read: impl FnOnce(Reader) -> PyResult<()>,
) -> PyResult<R> {
    let (mut f, mut found) = (Some(f), None);
    read(&mut |rows| found = f.take().map(|f| f(rows)))?;
    found.ok_or_else(|| PyRuntimeError::new_err("rows were not read"))
}

fn guarded(py: Python<'_>, detached: bool, rows: &dyn Matrix, f: Reader) -> PyResult<()> {
    caught(py, detached, || f(rows))
}

fn read_dense(
    values: &Bound<'_, PyAny>,
    shape: Option<(usize, usize)>,
    detached: bool,
    f: Reader,
) -> PyResult<()> {
    with_value_type!(values, Ix2, |values| {
        let (len, columns) = shape.unwrap_or_else(|| (values.dims()[0], values.dims()[1]));
        let borrowed = values.try_readonly().map_err(PyErr::from)?;
        guarded(values.py(), detached, &Dense::new(slice("values", &borrowed)?, len, columns)?, f)
    })
}

/// The arrays of a CSR matrix, and what is known of them: `None` until they are checked.
struct Arrays<'a, 'py> {
    indptr: &'a Bound<'py, PyAny>,
    indices: &'a Bound<'py, PyAny>,
    values: &'a Bound<'py, PyAny>,
    columns: usize,
    facts: Option<Cow<'a, Facts>>,
}

/// Checks the arrays, unless that has been done, and calls `f`.
fn read_csr(arrays: &mut Arrays, detached: bool, f: Option<Reader>) -> PyResult<()> {
    with_value_type!(arrays.values, Ix1, |values| {
        let values = values.try_readonly().map_err(PyErr::from)?;
        let values = slice("values", &values)?;
        with_index_type!(arrays.indptr, arrays.indices, |p, i| {
            read_indices(p, i, values, (arrays.columns, &mut arrays.facts), detached, f)
        })
    })
}

fn read_indices<T: Value, I: Index + Element>(
    indptr: &Bound<'_, PyArray1<I>>,
    indices: &Bound<'_, PyArray1<I>>,
    values: &[T],
    (columns, known): (usize, &mut Option<Cow<Facts>>),
    detached: bool,
    f: Option<Reader>,
) -> PyResult<()> {
    let py = indptr.py();
    let indptr = indptr.try_readonly().map_err(PyErr::from)?;
    let indices = indices.try_readonly().map_err(PyErr::from)?;
    let (p, i) = (slice("indptr", &indptr)?, slice("indices", &indices)?);
    let check = |monitor: &dyn Monitor| standard(|| Facts::find(p, i, values, columns, monitor));
    let facts = &**match known {
        Some(facts) => facts,
        // Of few entries, by a caller who may hold a lock that a handler waits for.
        None if !detached => known.insert(Cow::Owned(check(&())?)),
        None => known.insert(Cow::Owned(call(py, |signals| check(signals))?)),
    };
    let Some(f) = f else { return Ok(()) };
    refuse_unsorted(facts)?;
    guarded(py, detached, &Csr::again(p, i, values, columns, Cow::Borrowed(facts)), f)
}

impl CsrRows {
    fn arrays<'a, 'py>(&'a self, py: Python<'py>) -> Arrays<'a, 'py> {
        Arrays {
            indptr: self.indptr.bind(py),
            indices: self.indices.bind(py),
            values: self.values.bind(py),
            columns: self.shape.1,
            facts: Some(Cow::Borrowed(&self.facts)),
        }
    }
}

/// Wrap a C-contiguous matrix of one of the nine storage types, without copying it.
#[pyfunction]
pub fn dense_rows(values: &Bound<'_, PyAny>) -> PyResult<DenseRows> {
    let Ok(array) = values.cast::<PyUntypedArray>() else {
        return Err(PyTypeError::new_err(format!("values must be a NumPy array, got {}", values.get_type())));
    };
    let [len, columns] = *array.shape() else { return Err(not_stored(values, Some(2))?) };
    with_value_type!(values, Ix2, |typed| {
        slice("values", &typed.try_readonly().map_err(PyErr::from)?)?;
        Ok(DenseRows { values: values.clone().unbind(), shape: (len, columns) })
    })
}

/// Wrap the three arrays of a CSR matrix, without copying them.
#[pyfunction]
pub fn csr_rows(
    indptr: &Bound<'_, PyAny>,
    indices: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    n_columns: usize,
) -> PyResult<CsrRows> {
    let mut arrays = Arrays { indptr, indices, values, columns: n_columns, facts: None };
    read_csr(&mut arrays, true, None)?;
    let Some(facts) = arrays.facts else { return Err(PyRuntimeError::new_err("rows were not checked")) };
    Ok(CsrRows {
        indptr: indptr.clone().unbind(),
        indices: indices.clone().unbind(),
        values: values.clone().unbind(),
        shape: (indptr.len()? - 1, n_columns),
        facts: facts.into_owned(),
    })
}

#[pymethods]
impl DenseRows {
    /// Dense rows always are.
    #[getter]
    fn canonical(&self) -> bool {
        let _ = self;
        true
    }

    /// Address of the first value: tests prove with it that nothing was copied.
    #[getter]
    fn _address(&self, py: Python<'_>) -> PyResult<usize> {
        address(self.values.bind(py))
    }
}

#[pymethods]
impl CsrRows {
    /// Whether the columns of every row are sorted and unique.
    #[getter]
    fn canonical(&self) -> bool {
        self.facts.canonical
    }

    /// Addresses of indptr, indices and data.
    #[getter]
    fn _addresses(&self, py: Python<'_>) -> PyResult<[usize; 3]> {
        let [p, i, v] = [&self.indptr, &self.indices, &self.values].map(|array| address(array.bind(py)));
        Ok([p?, i?, v?])
    }
}

fn address(array: &Bound<'_, PyAny>) -> PyResult<usize> {
    array.getattr("ctypes")?.getattr("data")?.extract()
}
