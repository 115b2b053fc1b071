//! The one error type of the core.

use std::collections::TryReserveError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong. The text is lower-case and names the argument, the value and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// An argument that cannot be used.
    Invalid(String),
    /// A weight, an activation or an average left the finite numbers.
    Overflow {
        epoch: u64,
    },
    /// A result outside the finite numbers.
    TooLarge(String),
    Memory,
    FileTooLarge(PathBuf),
    /// The system could not open or read a file: its number for that, and its words.
    File {
        path: PathBuf,
        code: i32,
        text: String,
    },
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(text) | Self::TooLarge(text) => f.write_str(text),
            Self::Overflow { epoch } => write!(
                f,
                "training overflowed in epoch {epoch} (counted from 0): a weight, an activation or an average \
                 is not finite; scale the features or lower eta0"
            ),
            Self::Memory => f.write_str(
                "not enough memory for weights, logs or results; pass fewer rows at a time, or use fewer columns \
                 or classes",
            ),
            Self::FileTooLarge(path) => {
                write!(
                    f,
                    "not enough memory for the examples of {}; read them in blocks, by open_svmlight and \
                     fit_stream or by train --stream",
                    path.display()
                )
            }
            Self::File { path, text, .. } => write!(f, "{}: {text}", path.display()),
            Self::Interrupted => f.write_str("training was interrupted"),
        }
    }
}

impl std::error::Error for Error {}

impl From<TryReserveError> for Error {
    fn from(_: TryReserveError) -> Self {
        Self::Memory
    }
}

/// Returns [`Error::Invalid`] with this text.
macro_rules! bail {
    ($($text:tt)+) => {
        return Err($crate::error::Error::Invalid(format!($($text)+)))
    };
}

/// The same unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if $condition {
        } else {
            $crate::error::bail!($($text)+);
        }
    };
}

pub(crate) use {bail, ensure};

/// The choice that a word names, for an argument that is one of a few words.
pub fn choice<T: Copy>(argument: &str, word: &str, choices: &[(&str, T)]) -> Result<T> {
    if let Some((_, found)) = choices.iter().find(|(known, _)| *known == word) {
        return Ok(*found);
    }
    let words: Vec<_> = choices.iter().map(|(known, _)| format!("'{known}'")).collect();
    Err(Error::Invalid(format!("{argument} must be one of {}, got '{word}'", words.join(", "))))
}

impl Error {
    /// What happened to a file. What is no error of the system is one of the file's content.
    pub fn of_file(path: &Path, error: &io::Error) -> Self {
        let text = error.to_string();
        match error.raw_os_error() {
            _ if error.kind() == io::ErrorKind::OutOfMemory => Self::FileTooLarge(path.to_owned()),
            None => Self::Invalid(format!("{}: {text}", path.display())),
            Some(code) => {
                let text = text.trim_end_matches(&format!(" (os error {code})")).to_owned();
                Self::File { path: path.to_owned(), code, text }
            }
        }
    }
}

pub type Result<T> = std::result::Result<T, Error>;

/// [`Error::Memory`] if the allocator would refuse so many bytes: asked before work starts, so that what must
/// fail in its midst does not begin.
pub fn probe_memory(bytes: Option<usize>) -> Result<()> {
    const LITTLE: usize = 1 << 16; // to ask for it takes longer than to learn from an example
    let fits = |bytes| bytes < LITTLE || Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    let fits = bytes.is_some_and(fits);
    if fits { Ok(()) } else { Err(Error::Memory) }
}
