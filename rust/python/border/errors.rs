//! The one translation of the core's errors.

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyValueError};
use pyo3::prelude::*;

use crate::base::Error;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Invalid(_) => PyValueError::new_err(text),
            Error::Overflow { .. } | Error::TooLarge(_) => PyOverflowError::new_err(text),
            Error::File { path, code, text } => {
                let path = path.into_os_string();
                // Python turns the system's number into the class, FileNotFoundError for instance.
                if cfg!(windows) {
                    PyOSError::new_err((0, text, path, code))
                } else {
                    PyOSError::new_err((code, text, path))
                }
            }
            Error::Memory | Error::FileTooLarge(_) => PyMemoryError::new_err(text),
            Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        }
    }
}
