//! Sequences that are not learnt from: they tell which epoch was the best.

use super::decode::{Limits, Prepared, decode_all};
use super::{Chain, Learnt, Weights};
use crate::error::Result;
use crate::memory::collected;
use crate::online::Monitor;

/// What is held out, and how long a better epoch is waited for.
#[derive(Debug, Clone, Copy)]
pub struct HeldOut<'a> {
    /// Numbers of the sequences.
    pub sequences: &'a [u32],
    /// Epochs without a better one that end the run.
    pub patience: u64,
    pub threads: usize,
}

impl HeldOut<'_> {
    /// The held-out tokens whose label is wrong by these weights.
    pub(super) fn errors(&self, chain: &Chain, weights: &Weights, monitor: &dyn Monitor) -> Result<i64> {
        let parts = collected(self.sequences.iter().map(|i| chain.sequences.rows(*i as usize)))?;
        let limits = Limits { beam: chain.beam, ..Limits::default() };
        let prepared = Prepared::new(weights, limits)?;
        let (path, _) = decode_all(chain.rows, &parts, &prepared, self.threads, monitor)?;
        let truth = parts.iter().cloned().flatten().map(|row| chain.labels[row]);
        Ok(truth.zip(path).filter(|(y, z)| y != z).count() as i64)
    }
}

/// The best epoch so far.
#[derive(Default)]
pub(super) struct Best {
    pub learnt: Option<Learnt>,
    fewest: i64,
    idle: u64,
}

impl Best {
    /// Takes note of an epoch; `learnt` is asked for if it is the best.
    pub fn note(&mut self, errors: i64, learnt: impl FnOnce() -> Result<Option<Learnt>>) -> Result<()> {
        if self.learnt.is_none() || errors < self.fewest {
            self.learnt = None; // two at a time would be the peak of memory
            (self.learnt, self.fewest, self.idle) = (learnt()?, errors, 0);
        } else {
            self.idle += 1;
        }
        Ok(())
    }

    /// Whether nobody waits any longer.
    pub fn is_over(&self, patience: u64) -> bool {
        self.learnt.is_some() && self.idle >= patience
    }
}
