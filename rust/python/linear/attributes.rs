//! Attributes of an estimator, read and replaced with the fewest new objects.

use numpy::ndarray::Dimension;
use numpy::npyffi::flags::{
    NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE,
};
use numpy::{
    Element, PyArray, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyListMethods, PyString};

use crate::error::Result;
use crate::memory::{collected, filled};
use crate::python::border::arrays::{to_matrix, to_vector};

pub type Name = Py<PyString>;

pub fn get<'py>(attributes: &Bound<'py, PyDict>, name: &Name) -> PyResult<Bound<'py, PyAny>> {
    attributes
        .get_item(name.bind(attributes.py()))?
        .ok_or_else(|| PyTypeError::new_err(format!("the estimator lacks {name}; fit it first")))
}

pub fn matrix<T: Element + Copy>(
    array: &Bound<'_, PyAny>,
    planes: usize,
    columns: usize,
) -> PyResult<Vec<T>> {
    let array = array.cast::<PyArray2<T>>()?;
    if array.shape() != [planes, columns] || !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("an array has another shape or order than one_pass takes"));
    }
    with_slice(array, |values| collected(values.iter().copied()))
}

/// The numbers of a matrix where they stand.
///
/// # Safety
/// Nothing may write to the array, and no Python code may run, while they are read.
pub unsafe fn numbers<'a>(array: &'a Bound<'_, PyAny>, planes: usize, columns: usize) -> PyResult<&'a [f64]> {
    let array = array.cast::<PyArray2<f64>>()?;
    if array.shape() != [planes, columns] || !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("an array has another shape or order than one_pass takes"));
    }
    // SAFETY: the caller promises it.
    Ok(unsafe { array.as_slice() }?)
}

pub fn vector<T: Element + Copy>(array: &Bound<'_, PyAny>, planes: usize) -> PyResult<Vec<T>> {
    let array = array.cast::<PyArray1<T>>()?;
    if array.shape() != [planes] {
        return Err(PyTypeError::new_err("an array has another shape than one_pass takes"));
    }
    with_slice(array, |values| collected(values.iter().copied()))
}

/// Calls `f` on the numbers of an array, which for few of them takes less time than to borrow it.
fn with_slice<T: Element, D: Dimension, R>(
    array: &Bound<'_, PyArray<T, D>>,
    f: impl FnOnce(&[T]) -> Result<R>,
) -> PyResult<R> {
    // SAFETY: as in `PyArrayMethods::to_vec`: no reference outlives this call, in which no Python code runs.
    Ok(f(unsafe { array.as_slice() }?)?)
}

/// Index of each label among the classes; both hold the same kind of labels.
pub fn labels(classes: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let unknown = || PyTypeError::new_err("y holds a label that is not in classes_");
    if let (Ok(classes), Ok(y)) = (classes.cast::<PyArray1<i64>>(), y.cast::<PyArray1<i64>>()) {
        let (classes, y) = (vector::<i64>(classes, classes.len())?, vector::<i64>(y, y.len())?);
        let mut labels = filled(0, y.len())?;
        for (place, label) in labels.iter_mut().zip(&y) {
            *place = classes.iter().position(|class| class == label).ok_or_else(unknown)? as u32;
        }
        return Ok(labels);
    }
    let (classes, y) = (classes.cast::<PyUntypedArray>()?, y.cast::<PyUntypedArray>()?);
    if y.ndim() != 1 || classes.dtype().kind() != y.dtype().kind() {
        return Err(unknown());
    }
    let classes = classes.call_method0("tolist")?.cast_into::<PyList>()?;
    let y = y.call_method0("tolist")?.cast_into::<PyList>()?;
    let mut labels = filled(0, y.len())?;
    for (place, label) in labels.iter_mut().zip(&y) {
        *place = classes.index(label)? as u32;
    }
    Ok(labels)
}

/// Numbers that attributes hold.
pub trait Scalar: Element + Copy {
    fn bits(self) -> u64;
}

impl Scalar for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Scalar for i64 {
    fn bits(self) -> u64 {
        self as u64
    }
}

/// New values of attributes, put aside until all are there. Those that are what they were are left out.
pub struct Changes<'a, 'py> {
    attributes: &'a Bound<'py, PyDict>,
    new: Vec<(&'a Name, Bound<'py, PyAny>)>,
    /// Numbers that go into arrays that nobody else has: bits, where each array's end, and the arrays.
    bits: Vec<u64>,
    places: Vec<(usize, *mut u64, Bound<'py, PyAny>)>,
}

impl<'a, 'py> Changes<'a, 'py> {
    pub fn of(attributes: &'a Bound<'py, PyDict>) -> Self {
        let (new, bits, places) = (Vec::with_capacity(16), Vec::with_capacity(16), Vec::with_capacity(4));
        Self { attributes, new, bits, places }
    }

    pub fn number(&mut self, name: &'a Name, value: i64) -> PyResult<()> {
        let value = value.into_pyobject(self.attributes.py())?.into_any();
        self.object(name, value);
        Ok(())
    }

    pub fn truth(&mut self, name: &'a Name, value: bool) -> PyResult<()> {
        let value = value.into_pyobject(self.attributes.py())?.to_owned().into_any();
        self.object(name, value);
        Ok(())
    }

    pub fn object(&mut self, name: &'a Name, value: Bound<'py, PyAny>) {
        self.new.push((name, value));
    }

    pub fn vector<T: Scalar>(&mut self, name: &'a Name, values: &[T]) -> PyResult<()> {
        let now = self.now(name)?;
        let now = now.as_ref().and_then(|now| now.cast::<PyArray1<T>>().ok());
        match now.filter(|now| now.len() == values.len()) {
            Some(now) if holds(now, values) => {}
            Some(now) if is_alone(now) => self.write(now, values),
            _ => self.new.push((name, to_vector(self.attributes.py(), values)?.into_any())),
        }
        Ok(())
    }

    pub fn matrix<T: Scalar>(&mut self, name: &'a Name, values: &[T], shape: [usize; 2]) -> PyResult<()> {
        let now = self.now(name)?;
        let now = now.as_ref().and_then(|now| now.cast::<PyArray2<T>>().ok());
        match now.filter(|now| now.shape() == shape) {
            Some(now) if holds(now, values) => {}
            Some(now) if is_alone(now) => self.write(now, values),
            _ => self.new.push((name, to_matrix(self.attributes.py(), values, shape)?.into_any())),
        }
        Ok(())
    }

    fn write<T: Scalar, D: Dimension>(&mut self, array: &Bound<'py, PyArray<T, D>>, values: &[T]) {
        self.bits.extend(values.iter().map(|v| v.bits()));
        self.places.push((self.bits.len(), array.data().cast(), array.clone().into_any()));
    }

    /// An empty list.
    pub fn nothing(&mut self, name: &'a Name) -> PyResult<()> {
        let now = self.now(name)?;
        if !now.is_some_and(|now| now.cast::<PyList>().is_ok_and(PyListMethods::is_empty)) {
            self.new.push((name, PyList::empty(self.attributes.py()).into_any()));
        }
        Ok(())
    }

    /// No Python code runs meanwhile, so a signal finds all of it done or nothing.
    pub fn publish(self) -> PyResult<()> {
        let mut start = 0;
        for (end, place, _array) in &self.places {
            let bits = &self.bits[start..*end];
            // SAFETY: the array is alive and has as many numbers of eight bytes, and nobody else has it.
            unsafe { place.copy_from_nonoverlapping(bits.as_ptr(), bits.len()) };
            start = *end;
        }
        for (name, value) in self.new {
            self.attributes.set_item(name.bind(self.attributes.py()), value)?;
        }
        Ok(())
    }

    fn now(&self, name: &Name) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.attributes.get_item(name.bind(self.attributes.py()))
    }
}

/// Whether nobody but the estimator has the array, so that new numbers may be written where the old ones
/// stand: an array that was read before never changes.
pub fn is_alone<T: Element, D: Dimension>(array: &Bound<'_, PyArray<T, D>>) -> bool {
    const NEEDED: i32 = NPY_ARRAY_WRITEABLE | NPY_ARRAY_OWNDATA | NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    // References of the estimator and of the caller. Without the interpreter's lock the count may be of the
    // past.
    // SAFETY: the array is alive.
    let (references, flags) =
        unsafe { (pyo3::ffi::Py_REFCNT(array.as_ptr()), (*array.as_array_ptr()).fields.flags) };
    cfg!(feature = "abi3") && references == 2 && flags & NEEDED == NEEDED
}

/// Whether an array of as many values, in C order, has these bits.
fn holds<T: Scalar, D: Dimension>(array: &Bound<'_, PyArray<T, D>>, values: &[T]) -> bool {
    let same = |now: &[T]| now.iter().map(|v| v.bits()).eq(values.iter().map(|v| v.bits()));
    with_slice(array, |now| Ok(same(now))).unwrap_or(false)
}
