//! Numbers that many may read where they stand, and one may write while nobody else has them.

use std::ops::Deref;
use std::sync::Arc;

use crate::error::Result;
use crate::memory::zeros;
use crate::monitor::{Monitor, copied};

/// Numbers that somebody else keeps, and that nobody writes to.
pub type Foreign = dyn Deref<Target = [f64]> + Send + Sync;

/// What is cloned is the right to read.
#[derive(Clone)]
pub enum Shared {
    Own(Arc<Vec<f64>>),
    /// Such as those of a mapped file: read where they are until the first write.
    Foreign(Arc<Foreign>),
}

impl Shared {
    /// Zeros, of which the system makes a page when it is first written to.
    pub fn zeros(len: usize) -> Result<Self> {
        Ok(zeros(len)?.into())
    }

    /// The numbers, to be written; those of a copy if somebody else has these.
    pub fn own(&mut self, monitor: &dyn Monitor) -> Result<&mut [f64]> {
        let alone = match self {
            Self::Own(numbers) => Arc::get_mut(numbers).is_some(),
            Self::Foreign(_) => false,
        };
        if !alone {
            *self = Self::Own(Arc::new(copied(self, monitor)?));
        }
        Ok(match self {
            Self::Own(numbers) => Arc::get_mut(numbers).map_or(&mut [], Vec::as_mut_slice),
            Self::Foreign(_) => &mut [],
        })
    }
}

impl From<Vec<f64>> for Shared {
    fn from(numbers: Vec<f64>) -> Self {
        Self::Own(Arc::new(numbers))
    }
}

impl Deref for Shared {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match self {
            Self::Own(numbers) => numbers,
            Self::Foreign(numbers) => numbers,
        }
    }
}
