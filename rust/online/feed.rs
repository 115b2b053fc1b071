//! The resumable pass: blocks, absorbed while they are in cache, with a monitor between them.

use super::fit::State;
use super::rule::Learner;
use crate::error::{Error, Result};
use crate::rows::{Cursor, Mistake, Planes, Rows, Stop, Visit};

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Break,
}

/// One epoch of all decisions (a plane each, or all planes together); 0 for one that has stopped
/// before.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochRecord {
    pub epoch: u64,
    pub mistakes: Vec<i64>,
    pub losses: Vec<f64>,
}

/// What a learner has learnt so far.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    pub state: &'a State,
    pub learner: &'a dyn Learner,
}

/// What a monitor makes of an epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Continue,
    Break,
    /// Ends the decisions that are marked.
    BreakSome(Vec<bool>),
}

impl Verdict {
    pub(super) fn ends(&self, plane: usize) -> bool {
        match self {
            Self::Continue => false,
            Self::Break => true,
            Self::BreakSome(marked) => marked.get(plane) == Some(&true),
        }
    }
}

/// Watches a run from outside: interrupts, progress, callbacks.
pub trait Monitor: Sync {
    /// Between two blocks, on any thread. `Break` interrupts the run.
    fn block(&self) -> Flow {
        Flow::Continue
    }

    /// Whether [`Monitor::epoch`] is to see what has been learnt: that costs a copy an epoch.
    fn wants_state(&self) -> bool {
        false
    }

    /// After a whole epoch, on the thread that called [`super::fit`]. An error ends the run with it.
    fn epoch(&self, _record: &EpochRecord, _learnt: Option<Snapshot>) -> Result<Verdict> {
        Ok(Verdict::Continue)
    }
}

/// The monitor that watches nothing.
impl Monitor for () {}

/// Runs from the cursor to position `end`: learn a block, let `absorb` see its log, ask the
/// monitor. The caller computes in the standard environment. After an `Ok` the cursor, the planes and
/// the rule's memory are a checkpoint.
pub fn feed(
    rows: &dyn Rows,
    visit: &Visit,
    at: &mut Cursor,
    end: usize,
    planes: &mut Planes,
    absorb: &mut dyn FnMut(&[Mistake]) -> Result<()>,
    monitor: &dyn Monitor,
) -> Result<Stop> {
    let block = rows.block(planes.heads.len());
    let mut log = Vec::new();
    if at.pos < end {
        planes.level();
    }
    rows.prepare(visit, planes);
    while at.pos < end {
        let stop = rows.learn(visit, at, end.min(at.pos + block), planes, &mut log);
        if stop == Stop::Failed {
            return Err(Error::Invalid("a row of the Gram matrix could not be had from its source".into()));
        }
        absorb(&log)?;
        log.clear();
        if stop != Stop::Block {
            return Ok(stop);
        }
        if monitor.block() == Flow::Break {
            return Err(Error::Interrupted);
        }
    }
    Ok(Stop::Block)
}
