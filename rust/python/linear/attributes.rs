//! Attributes of an estimator, read and replaced with the fewest new objects.

use std::ptr;

use numpy::ndarray::Dimension;
use numpy::npyffi::flags::{
    NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE,
};
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::PyDict_Next;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyDict, PyList, PyListMethods, PyString};

use super::numbers::with_slice;
use crate::error::Error;
use crate::python::border::arrays::{to_matrix, to_vector};

pub type Name = Py<PyString>;

/// The names of what a pass looks at, whether there are such attributes or not.
#[derive(Default)]
pub struct Slots(Vec<Name>);

/// The place of a name among them, and of its value in [`Attributes`].
#[derive(Clone, Copy)]
pub struct Slot(usize);

impl Slots {
    pub fn add(&mut self, name: Name) -> Slot {
        self.0.push(name);
        Slot(self.0.len() - 1)
    }
}

/// The attributes of an estimator, in the order of its dict. While they are the same, one walk through the dict
/// finds all that a pass looks at: to look each name up takes a twentieth of a pass over one row.
pub struct Form {
    attributes: Vec<(Name, Role)>,
    names: Vec<Name>,
    /// Parameters that are dicts, which may change: copies of them, by name.
    dicts: Vec<(Name, Py<PyDict>)>,
}

enum Role {
    /// A parameter has to be this very object.
    Fixed(Py<PyAny>),
    /// What a pass reads or changes.
    At(Slot),
    Other,
}

impl Form {
    pub fn new(
        attributes: &Bound<'_, PyDict>,
        parameters: &Bound<'_, PyDict>,
        slots: Slots,
    ) -> PyResult<Self> {
        let (fixed, mut dicts) = (PyDict::new(attributes.py()), Vec::new());
        for (name, value) in parameters {
            if !attributes.contains(&name)? {
                return Err(PyTypeError::new_err(format!("the estimator lacks its parameter {name}")));
            }
            match value.cast_into::<PyDict>() {
                Ok(dict) => dicts.push((name.extract()?, dict.unbind())),
                Err(error) => fixed.set_item(name, error.into_inner())?,
            }
        }
        let roles = PyDict::new(attributes.py());
        for (i, name) in slots.0.iter().enumerate() {
            roles.set_item(name, i)?;
        }
        let role = |name: &Bound<'_, PyAny>| {
            PyResult::Ok(match (roles.get_item(name)?, fixed.get_item(name)?) {
                (Some(slot), _) => Role::At(Slot(slot.extract()?)),
                (None, Some(value)) => Role::Fixed(value.unbind()),
                (None, None) => Role::Other,
            })
        };
        let attributes = attributes.keys().iter().map(|name| Ok((name.extract()?, role(&name)?)));
        Ok(Self { attributes: attributes.collect::<PyResult<_>>()?, names: slots.0, dicts })
    }

    /// `None`: it has other attributes, or other parameters.
    pub fn read<'a, 'py>(&'a self, dict: &'a Bound<'py, PyDict>) -> PyResult<Option<Attributes<'a, 'py>>> {
        let py = dict.py();
        // First, as a comparison may run code of others.
        for (name, own) in &self.dicts {
            match dict.get_item(name)? {
                Some(value) if value.is_exact_instance_of::<PyDict>() && value.eq(own)? => {}
                _ => return Ok(None),
            }
        }
        let mut values = Vec::new();
        values.try_reserve_exact(self.names.len()).map_err(|_| Error::Memory)?;
        values.resize(self.names.len(), None);
        let fits = with_critical_section(dict, || {
            let (mut at, mut name, mut value) = (0, ptr::null_mut(), ptr::null_mut());
            // SAFETY: all pointers are valid, and nothing changes the dict meanwhile, as no Python code runs.
            // It has what they are set to.
            unsafe {
                for (own, role) in &self.attributes {
                    if PyDict_Next(dict.as_ptr(), &raw mut at, &raw mut name, &raw mut value) == 0
                        || name != own.as_ptr()
                    {
                        return false;
                    }
                    match role {
                        Role::Fixed(own) if value != own.as_ptr() => return false,
                        Role::At(slot) => values[slot.0] = Some(Bound::from_borrowed_ptr(py, value)),
                        Role::Fixed(_) | Role::Other => {}
                    }
                }
                PyDict_Next(dict.as_ptr(), &raw mut at, &raw mut name, &raw mut value) == 0
            }
        });
        if !fits {
            return Ok(None);
        }
        Ok(Some(Attributes { dict, names: &self.names, values }))
    }
}

/// What an estimator has at present.
pub struct Attributes<'a, 'py> {
    dict: &'a Bound<'py, PyDict>,
    names: &'a [Name],
    values: Vec<Option<Bound<'py, PyAny>>>,
}

impl<'py> Attributes<'_, 'py> {
    pub fn get(&self, slot: Slot) -> PyResult<&Bound<'py, PyAny>> {
        self.now(slot).ok_or_else(|| {
            PyTypeError::new_err(format!("the estimator lacks {}; fit it first", self.names[slot.0]))
        })
    }

    fn now(&self, slot: Slot) -> Option<&Bound<'py, PyAny>> {
        self.values[slot.0].as_ref()
    }

    /// Whether both are the same objects.
    pub fn are(&self, others: &Self) -> bool {
        self.values
            .iter()
            .map(|value| value.as_ref().map(Bound::as_ptr))
            .eq(others.values.iter().map(|value| value.as_ref().map(Bound::as_ptr)))
    }
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
    attributes: &'a Attributes<'a, 'py>,
    new: Vec<(Slot, Bound<'py, PyAny>)>,
    /// Where the numbers of arrays stand that nobody else has, and what goes there.
    renewed: Vec<(*mut u8, &'a [u8])>,
}

impl<'a, 'py> Changes<'a, 'py> {
    pub fn of(attributes: &'a Attributes<'a, 'py>) -> Self {
        Self { attributes, new: Vec::new(), renewed: Vec::new() }
    }

    pub fn number(&mut self, slot: Slot, value: i64) -> PyResult<()> {
        self.object(slot, value.into_pyobject(self.attributes.dict.py())?.into_any());
        Ok(())
    }

    pub fn truth(&mut self, slot: Slot, value: bool) -> PyResult<()> {
        self.object(slot, value.into_pyobject(self.attributes.dict.py())?.to_owned().into_any());
        Ok(())
    }

    pub fn object(&mut self, slot: Slot, value: Bound<'py, PyAny>) {
        if !self.attributes.now(slot).is_some_and(|now| now.is(&value)) {
            self.new.push((slot, value));
        }
    }

    pub fn vector<T: Scalar>(&mut self, slot: Slot, values: &'a [T]) -> PyResult<()> {
        let now = self.attributes.now(slot).and_then(|now| now.cast::<PyArray1<T>>().ok());
        let now = now.filter(|now| now.len() == values.len());
        self.numbers(slot, now, values, |py| Ok(to_vector(py, values)?.into_any()))
    }

    pub fn matrix<T: Scalar>(&mut self, slot: Slot, values: &'a [T], shape: [usize; 2]) -> PyResult<()> {
        let now = self.attributes.now(slot).and_then(|now| now.cast::<PyArray2<T>>().ok());
        let now = now.filter(|now| now.shape() == shape);
        self.numbers(slot, now, values, |py| Ok(to_matrix(py, values, shape)?.into_any()))
    }

    /// In the array that is there now, if it has the right shape and nobody else has it, else in a new one.
    fn numbers<T: Scalar, D: Dimension>(
        &mut self,
        slot: Slot,
        now: Option<&'a Bound<'py, PyArray<T, D>>>,
        values: &'a [T],
        new: impl FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        match now {
            Some(now) if holds(now, values) => {}
            Some(now) if is_alone(now) => self.renewed.push((now.data().cast(), bytes(values))),
            _ => self.new.push((slot, new(self.attributes.dict.py())?)),
        }
        Ok(())
    }

    /// An empty list.
    pub fn nothing(&mut self, slot: Slot) {
        let now = self.attributes.now(slot);
        if !now.is_some_and(|now| now.cast::<PyList>().is_ok_and(PyListMethods::is_empty)) {
            self.new.push((slot, PyList::empty(self.attributes.dict.py()).into_any()));
        }
    }

    /// No Python code runs meanwhile, so a signal's handler finds all of it done or nothing.
    pub fn publish(self) -> PyResult<()> {
        for (place, bytes) in &self.renewed {
            // SAFETY: the attributes keep the array alive, it has as many numbers of this type, and nobody else
            // has it.
            unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        let Attributes { dict, names, .. } = self.attributes;
        for (Slot(i), value) in self.new {
            dict.set_item(&names[i], value)?;
        }
        Ok(())
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
    with_slice(array, |now| Ok(bytes(now) == bytes(values))).unwrap_or(false)
}
