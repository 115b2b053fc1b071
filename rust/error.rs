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
    /// The allocator refused.
    Memory,
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
            Self::Memory => {
                f.write_str("not enough memory for the weights or counts; use fewer columns or classes")
            }
            Self::Interrupted => f.write_str("training was interrupted"),
        }
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// [`Error::Memory`] if the allocator would refuse so many bytes: asked before work starts, where
/// a failing allocation in its midst would end the process.
pub fn probe_memory(bytes: Option<usize>) -> Result<()> {
    let fits = bytes.is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if fits { Ok(()) } else { Err(Error::Memory) }
}
