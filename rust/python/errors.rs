//! The one translation of the core's errors.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOverflowError, PyValueError};
use pyo3::prelude::*;

use crate::error::Error;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Invalid(_) => PyValueError::new_err(text),
            Error::Overflow { .. } | Error::TooLarge(_) => PyOverflowError::new_err(text),
            Error::Memory => PyMemoryError::new_err(text),
            Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        }
    }
}
