//! What takes long asks now and then whether it is to go on.

use crate::error::{Error, Result};
use crate::memory::Grow;

/// Numbers that are copied between two questions: some milliseconds.
pub const NUMBERS: usize = 1 << 20;

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Break,
}

/// Can interrupt what takes long.
pub trait Monitor: Sync {
    /// Between two blocks, on any thread. `Break` interrupts the work.
    fn block(&self) -> Flow {
        Flow::Continue
    }

    /// The same, as an error.
    fn pause(&self) -> Result<()> {
        if self.block() == Flow::Break { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// The monitor that watches nothing.
impl Monitor for () {}

/// A copy of some numbers.
pub fn copied<T: Copy>(values: &[T], monitor: &dyn Monitor) -> Result<Vec<T>> {
    mapped(values, |&value| value, monitor)
}

/// What a function makes of some numbers.
pub fn mapped<T, U>(values: &[T], f: impl Fn(&T) -> U, monitor: &dyn Monitor) -> Result<Vec<U>> {
    let mut made = Vec::new();
    made.try_reserve_exact(values.len()).map_err(|_| Error::Memory)?;
    for piece in values.chunks(NUMBERS) {
        monitor.pause()?;
        made.extend(piece.iter().map(&f));
    }
    Ok(made)
}

/// Whether all numbers are as they should be.
pub fn all<T>(values: &[T], f: impl Fn(&T) -> bool, monitor: &dyn Monitor) -> Result<bool> {
    for piece in values.chunks(NUMBERS) {
        monitor.pause()?;
        if !piece.iter().all(&f) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A vector of `len` copies of a value.
pub fn filled<T: Clone>(value: &T, len: usize, monitor: &dyn Monitor) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| Error::Memory)?;
    while values.len() < len {
        monitor.pause()?;
        values.try_resize(len.min(values.len() + NUMBERS), value.clone())?;
    }
    Ok(values)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts the questions.
    #[derive(Default)]
    pub struct Asked(AtomicUsize);

    impl Asked {
        pub fn times(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    impl Monitor for Asked {
        fn block(&self) -> Flow {
            self.0.fetch_add(1, Ordering::Relaxed);
            Flow::Continue
        }
    }
}
