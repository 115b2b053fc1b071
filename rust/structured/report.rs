//! The story of a run.

use super::epochs::Errors;
use crate::error::Result;
use crate::memory::Grow;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stopped {
    Clean,
    /// No epoch was better on what is held out.
    HeldOut,
    #[default]
    MaxIter,
    Callback,
    Interrupt,
}

impl Stopped {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::HeldOut => "held_out",
            Self::MaxIter => "max_iter",
            Self::Callback => "callback",
            Self::Interrupt => "interrupt",
        }
    }
}

/// One epoch: the sequences that made an update, the labels in which what it compared differed, and
/// the held-out tokens that are wrong after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpochErrors {
    pub epoch: u64,
    pub sequences: i64,
    pub tokens: i64,
    pub held_out: Option<i64>,
}

impl EpochErrors {
    pub(super) fn new(epoch: u64, errors: &Errors) -> Self {
        Self { epoch, sequences: errors.sequences, tokens: errors.tokens, held_out: None }
    }
}

/// All epochs; an interrupted one counts as far as it went, without its held-out tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    pub sequence_errors: Vec<i64>,
    pub token_errors: Vec<i64>,
    pub held_out_errors: Vec<i64>,
    pub stopped: Stopped,
    /// Sequences seen in the end, which may be more than the best epoch had.
    pub seen: u64,
}

impl Report {
    pub(super) fn add(&mut self, errors: &EpochErrors, stopped: Stopped) -> Result<()> {
        self.sequence_errors.try_push(errors.sequences)?;
        self.token_errors.try_push(errors.tokens)?;
        self.held_out_errors.try_extend(errors.held_out.into_iter())?;
        self.stopped = stopped;
        Ok(())
    }
}
