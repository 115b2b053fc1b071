//! The one error type of the core.

use std::fmt;

/// What can go wrong. The text is lower-case and names the argument, the value and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// An argument that cannot be used.
    Invalid(String),
    /// A weight, an activation or an average left the finite numbers.
    Overflow { epoch: u64 },
    /// A result outside the finite numbers.
    TooLarge(String),
    /// The monitor asked to stop.
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
            Self::Interrupted => f.write_str("training was interrupted"),
        }
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;
