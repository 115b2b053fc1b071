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

use crate::memory::{collected, filled};
use crate::python::border::arrays::{to_matrix, to_vector};
use crate::python::border::in_place::read;

pub type Name = Py<PyString>;

pub fn get<'py>(attributes: &Bound<'py, PyDict>, name: &Name) -> PyResult<Bound<'py, PyAny>> {
    attributes
        .get_item(name.bind(attributes.py()))?
        .ok_or_else(|| PyTypeError::new_err(format!("the estimator lacks {name}; fit it first")))
}

/// Refuses an array that is no matrix of that shape in C order.
pub fn check(array: &Bound<'_, PyArray2<f64>>, planes: usize, columns: usize) -> PyResult<()> {
    if array.shape() == [planes, columns] && array.is_c_contiguous() {
        return Ok(());
    }
    Err(PyTypeError::new_err("an array has another shape or order than one_pass takes"))
}

pub fn vector<T: Element + Copy>(array: &Bound<'_, PyAny>, planes: usize) -> PyResult<Vec<T>> {
    mapped(array, planes, |value: T| value)
}

/// Numbers of at least 0.
pub fn counts(array: &Bound<'_, PyAny>, planes: usize) -> PyResult<Vec<u64>> {
    let counts = mapped(array, planes, |count: i64| count as u64)?;
    if counts.iter().any(|&count| i64::try_from(count).is_err()) {
        return Err(PyTypeError::new_err("a counter is below 0"));
    }
    Ok(counts)
}

fn mapped<T: Element + Copy, U>(
    array: &Bound<'_, PyAny>,
    planes: usize,
    f: impl Fn(T) -> U,
) -> PyResult<Vec<U>> {
    let array = array.cast::<PyArray1<T>>()?;
    if array.shape() != [planes] {
        return Err(PyTypeError::new_err("an array has another shape than one_pass takes"));
    }
    read(array, |values| Ok(collected(values.iter().map(|&value| f(value)))?))
}

/// Index of each label among the classes; both hold the same kind of labels.
pub fn labels(classes: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let unknown = || PyTypeError::new_err("y holds a label that is not in classes_");
    if let (Ok(classes), Ok(y)) = (classes.cast::<PyArray1<i64>>(), y.cast::<PyArray1<i64>>()) {
        return read(classes, |classes| {
            read(y, |y| {
                let mut labels = filled(0, y.len())?;
                for (place, label) in labels.iter_mut().zip(y) {
                    *place = classes.iter().position(|class| class == label).ok_or_else(unknown)? as u32;
                }
                Ok(labels)
            })
        });
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

/// Numbers that attributes hold; none has padding.
pub trait Scalar: Element + Copy {}

impl Scalar for f64 {}

impl Scalar for i64 {}

fn bytes<T: Scalar>(numbers: &[T]) -> &[u8] {
    // SAFETY: these are all the bytes of the numbers.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

/// New values of attributes, put aside until all are there. Those that are what they were are left out.
pub struct Changes<'a, 'py> {
    attributes: &'a Bound<'py, PyDict>,
    new: Vec<(&'a Name, Bound<'py, PyAny>)>,
    /// Arrays that nobody else has, where their numbers stand, and what goes there.
    renewed: Vec<(Bound<'py, PyAny>, *mut u8, &'a [u8])>,
}

impl<'a, 'py> Changes<'a, 'py> {
    pub fn of(attributes: &'a Bound<'py, PyDict>) -> Self {
        Self { attributes, new: Vec::new(), renewed: Vec::new() }
    }

    pub fn number(&mut self, name: &'a Name, value: i64) -> PyResult<()> {
        self.object(name, value.into_pyobject(self.attributes.py())?.into_any())
    }

    pub fn truth(&mut self, name: &'a Name, value: bool) -> PyResult<()> {
        self.object(name, value.into_pyobject(self.attributes.py())?.to_owned().into_any())
    }

    pub fn object(&mut self, name: &'a Name, value: Bound<'py, PyAny>) -> PyResult<()> {
        if !self.now(name)?.is_some_and(|now| now.is(&value)) {
            self.new.push((name, value));
        }
        Ok(())
    }

    pub fn vector<T: Scalar>(&mut self, name: &'a Name, values: &'a [T]) -> PyResult<()> {
        let now = self.now(name)?.and_then(|now| now.cast_into::<PyArray1<T>>().ok());
        let now = now.filter(|now| now.len() == values.len());
        self.numbers(name, now, values, |py| Ok(to_vector(py, values)?.into_any()))
    }

    pub fn matrix<T: Scalar>(&mut self, name: &'a Name, values: &'a [T], shape: [usize; 2]) -> PyResult<()> {
        let now = self.now(name)?.and_then(|now| now.cast_into::<PyArray2<T>>().ok());
        let now = now.filter(|now| now.shape() == shape);
        self.numbers(name, now, values, |py| Ok(to_matrix(py, values, shape)?.into_any()))
    }

    /// In the array that is there now, if it has the right shape and nobody else has it, else in a new one.
    fn numbers<T: Scalar, D: Dimension>(
        &mut self,
        name: &'a Name,
        now: Option<Bound<'py, PyArray<T, D>>>,
        values: &'a [T],
        new: impl FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        match now {
            Some(now) if holds(&now, values) => {}
            Some(now) if is_alone(&now) => {
                let place = now.data().cast();
                self.renewed.push((now.into_any(), place, bytes(values)));
            }
            _ => self.new.push((name, new(self.attributes.py())?)),
        }
        Ok(())
    }

    /// An empty list.
    pub fn nothing(&mut self, name: &'a Name) -> PyResult<()> {
        let now = self.now(name)?;
        if !now.is_some_and(|now| now.cast::<PyList>().is_ok_and(PyListMethods::is_empty)) {
            self.new.push((name, PyList::empty(self.attributes.py()).into_any()));
        }
        Ok(())
    }

    /// No Python code runs meanwhile, so a signal's handler and other threads find all of it done or nothing.
    pub fn publish(self) -> PyResult<()> {
        // What is replaced is held until the end: what goes may run code.
        let mut replaced = Vec::with_capacity(self.new.len());
        for (_array, place, bytes) in &self.renewed {
            // SAFETY: the array is alive and has as many numbers of this type, and nobody else has it.
            unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        for (name, value) in self.new {
            let name = name.bind(self.attributes.py());
            replaced.push(self.attributes.get_item(name)?);
            self.attributes.set_item(name, value)?;
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
    // past, and another thread may ask the estimator for the array while it is written to.
    // SAFETY: the array is alive.
    let (references, flags) =
        unsafe { (pyo3::ffi::Py_REFCNT(array.as_ptr()), (*array.as_array_ptr()).fields.flags) };
    cfg!(not(Py_GIL_DISABLED)) && references == 2 && flags & NEEDED == NEEDED
}

/// Whether an array of as many values, in C order, has these bits.
fn holds<T: Scalar, D: Dimension>(array: &Bound<'_, PyArray<T, D>>, values: &[T]) -> bool {
    read(array, |now| Ok(bytes(now) == bytes(values))).unwrap_or(false)
}
