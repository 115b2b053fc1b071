//! Borrowed matrices.
//!
//! The arrays are read in place, with the interpreter detached if the work is long. Another Python thread
//! may write to them meanwhile: then the results mean nothing, but each index is checked where it is used.

use std::{borrow::Cow, sync::Arc};

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
use crate::base::Monitor;
use crate::rows::{Csr, Dense, Facts, Matrix};

/// Examples, not copied: a C-contiguous matrix of one of the nine storage types, or the arrays of a CSR matrix.
#[pyclass(name = "CoreRows", frozen, module = "perceptron_rs._core")]
pub struct CoreRows {
    source: Source,
    /// Number of examples, number of columns.
    #[pyo3(get)]
    shape: (usize, usize),
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

fn own<'a>(rows: &'a Bound<'_, PyAny>) -> PyResult<&'a CoreRows> {
    let made = rows.cast::<CoreRows>().map(Bound::get);
    made.map_err(|_| {
        let kind = rows.get_type();
        PyTypeError::new_err(format!("rows must be made by dense_rows or csr_rows, got {kind}"))
    })
}

/// Number of examples and of columns of rows of the engine.
pub fn shape(rows: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
    Ok(own(rows)?.shape)
}

/// Calls `f` on rows of the engine, detached from the interpreter.
pub fn with_rows<R: Send>(rows: &Bound<'_, PyAny>, f: impl FnOnce(&dyn Matrix) -> R + Send) -> PyResult<R> {
    Source::of(rows)?.read(rows.py(), true, f)
}

/// What is done with rows, behind a pointer: what reads them is compiled for each storage type, and would be
/// for each caller as well.
type Reader<'a> = &'a mut (dyn FnMut(&dyn Matrix) + Send);

/// Rows as a call reads them.
pub enum Source {
    /// With the shape that it had when it was checked, if it was.
    Dense(Py<PyAny>, Option<(usize, usize)>),
    Csr(Arrays),
}

impl Source {
    /// Rows of the engine.
    pub fn of<'a>(rows: &'a Bound<'_, PyAny>) -> PyResult<&'a Self> {
        Ok(&own(rows)?.source)
    }

    /// A C-contiguous matrix, or a tuple of the arguments of `csr_rows`.
    pub fn given(rows: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if rows.cast::<PyUntypedArray>().is_ok() {
            return Ok(Some(Self::Dense(rows.clone().unbind(), None)));
        }
        let Ok(arrays) = rows.cast::<PyTuple>() else { return Ok(None) };
        let array = |i| arrays.get_item(i).map(Bound::unbind);
        let (indptr, indices, values) = (array(0)?, array(1)?, array(2)?);
        // Of any other object, Python code would be asked for its number.
        let columns = arrays.get_borrowed_item(3)?.cast_exact::<PyInt>()?.extract()?;
        Ok(Some(Self::Csr(Arrays { indptr, indices, values, columns, facts: None })))
    }

    pub fn is_sparse(&self) -> bool {
        matches!(self, Self::Csr(_))
    }

    /// How many values are stored, and about how many rows.
    pub fn size(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let len = |array: &Py<PyAny>| PyResult::Ok(array.bind(py).cast::<PyUntypedArray>()?.len());
        Ok(match self {
            Self::Dense(values, _) => {
                let shape = values.bind(py).cast::<PyUntypedArray>()?.shape();
                (shape.iter().product(), shape.first().copied().unwrap_or(0))
            }
            Self::Csr(Arrays { indptr, values, .. }) => (len(values)?, len(indptr)?),
        })
    }

    /// Calls `f` on the rows; detached from the interpreter or not, which for few rows would take longer than
    /// the work.
    pub fn read<R: Send>(
        &self,
        py: Python<'_>,
        detached: bool,
        f: impl FnOnce(&dyn Matrix) -> R + Send,
    ) -> PyResult<R> {
        let (mut f, mut found) = (Some(f), None);
        let mut read = |rows: &dyn Matrix| found = f.take().map(|f| f(rows));
        match self {
            Self::Dense(values, shape) => read_dense(values.bind(py), *shape, detached, &mut read)?,
            Self::Csr(arrays) => drop(arrays.read(py, detached, Some(&mut read))?),
        }
        found.ok_or_else(|| PyRuntimeError::new_err("rows were not read"))
    }
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
        let rows = Dense::new(slice("values", &borrowed)?, len, columns)?;
        caught(values.py(), detached, || f(&rows))
    })
}

/// The arrays of a CSR matrix, and what is known of them: `None` until they are checked.
pub struct Arrays {
    indptr: Py<PyAny>,
    indices: Py<PyAny>,
    values: Py<PyAny>,
    columns: usize,
    facts: Option<Arc<Facts>>,
}

impl Arrays {
    /// Checks the arrays, unless that has been done, and calls `f`.
    fn read(&self, py: Python<'_>, detached: bool, f: Option<Reader>) -> PyResult<Arc<Facts>> {
        with_value_type!(self.values.bind(py), Ix1, |values| {
            let values = values.try_readonly().map_err(PyErr::from)?;
            let values = slice("values", &values)?;
            with_index_type!(self.indptr.bind(py), self.indices.bind(py), |p, i| {
                self.read_typed(p, i, values, detached, f)
            })
        })
    }

    fn read_typed<T: Value, I: Index + Element>(
        &self,
        indptr: &Bound<'_, PyArray1<I>>,
        indices: &Bound<'_, PyArray1<I>>,
        values: &[T],
        detached: bool,
        f: Option<Reader>,
    ) -> PyResult<Arc<Facts>> {
        let (py, columns) = (indptr.py(), self.columns);
        let indptr = indptr.try_readonly().map_err(PyErr::from)?;
        let indices = indices.try_readonly().map_err(PyErr::from)?;
        let (p, i) = (slice("indptr", &indptr)?, slice("indices", &indices)?);
        let check = |monitor: &dyn Monitor| standard(|| Facts::find(p, i, values, columns, monitor));
        let facts = match &self.facts {
            Some(facts) => facts.clone(),
            // Of few entries, by a caller who may hold a lock that a handler waits for.
            None if !detached => Arc::new(check(&())?),
            None => Arc::new(call(py, |signals| check(signals))?),
        };
        let Some(f) = f else { return Ok(facts) };
        if !facts.canonical {
            return Err(PyValueError::new_err(
                "rows: the columns must be sorted and unique in every row; call sort_indices and sum_duplicates",
            ));
        }
        let rows = Csr::again(p, i, values, columns, Cow::Borrowed(&*facts));
        caught(py, detached, || f(&rows))?;
        Ok(facts)
    }
}

/// Wrap a C-contiguous matrix of one of the nine storage types, without copying it.
#[pyfunction]
pub fn dense_rows(values: Bound<'_, PyAny>) -> PyResult<CoreRows> {
    let Ok(array) = values.cast::<PyUntypedArray>() else {
        return Err(PyTypeError::new_err(format!("values must be a NumPy array, got {}", values.get_type())));
    };
    let [len, columns] = *array.shape() else { return Err(not_stored(&values, Some(2))?) };
    read_dense(&values, None, false, &mut |_| ())?;
    let shape = (len, columns);
    Ok(CoreRows { source: Source::Dense(values.unbind(), Some(shape)), shape })
}

/// Wrap the three arrays of a CSR matrix, without copying them.
#[pyfunction]
pub fn csr_rows(
    py: Python<'_>,
    indptr: Py<PyAny>,
    indices: Py<PyAny>,
    values: Py<PyAny>,
    n_columns: usize,
) -> PyResult<CoreRows> {
    let mut arrays = Arrays { indptr, indices, values, columns: n_columns, facts: None };
    arrays.facts = Some(arrays.read(py, true, None)?);
    let shape = (arrays.indptr.bind(py).len()? - 1, n_columns);
    Ok(CoreRows { source: Source::Csr(arrays), shape })
}

#[pymethods]
impl CoreRows {
    /// Whether the columns of every row are sorted and unique; those of a matrix always are.
    #[getter]
    fn canonical(&self) -> bool {
        let Source::Csr(Arrays { facts, .. }) = &self.source else { return true };
        facts.as_ref().is_some_and(|facts| facts.canonical)
    }

    /// Addresses of what is stored, indptr and indices first: tests prove with them that nothing was copied.
    #[getter]
    fn _addresses(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        let arrays = match &self.source {
            Source::Dense(values, _) => vec![values],
            Source::Csr(Arrays { indptr, indices, values, .. }) => vec![indptr, indices, values],
        };
        let address = |array: &Py<PyAny>| array.bind(py).getattr("ctypes")?.getattr("data")?.extract();
        arrays.into_iter().map(address).collect()
    }
}
