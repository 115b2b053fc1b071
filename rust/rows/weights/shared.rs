//! Numbers that many may read where they stand, and one may write while nobody else has them.

use std::{ops::Deref, sync::Arc};

use crate::base::{Monitor, Result, copied};

/// What is cloned is the right to read.
#[derive(Clone)]
pub struct Shared(Arc<Vec<f64>>);

impl Shared {
    /// The numbers, to be written; those of a copy if somebody else has these.
    pub fn own(&mut self, monitor: &dyn Monitor) -> Result<&mut [f64]> {
        if Arc::get_mut(&mut self.0).is_none() {
            self.0 = Arc::new(copied(self, monitor)?);
        }
        Ok(Arc::get_mut(&mut self.0).map_or(&mut [], Vec::as_mut_slice))
    }
}

impl From<Vec<f64>> for Shared {
    fn from(numbers: Vec<f64>) -> Self {
        Self(Arc::new(numbers))
    }
}

impl Deref for Shared {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}
