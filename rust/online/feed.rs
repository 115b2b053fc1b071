//! The resumable pass: blocks, absorbed while they are in cache, with a monitor between them.

use crate::error::{Error, Result};
use crate::rows::{Cursor, Examples, Mistake, Planes, Stop, Visit};

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

/// Runs from the cursor to position `end`: learn a block, let `absorb` see its log, ask the
/// monitor. The caller computes in the standard environment. After an `Ok` the cursor, the planes and
/// the rule's memory are a checkpoint.
pub fn feed(
    examples: &dyn Examples,
    visit: &Visit,
    at: &mut Cursor,
    end: usize,
    planes: &mut Planes,
    absorb: &mut dyn FnMut(&[Mistake]) -> Result<()>,
    monitor: &dyn Monitor,
) -> Result<Stop> {
    let block = examples.block(planes.heads.len());
    let mut log = Vec::new();
    if at.pos < end {
        planes.level();
    }
    examples.prepare(visit, planes)?;
    while at.pos < end {
        let stop = examples.learn(visit, at, end.min(at.pos + block), planes, &mut log)?;
        absorb(&log)?;
        log.clear();
        if stop != Stop::Block {
            return Ok(stop);
        }
        monitor.pause()?;
    }
    Ok(Stop::Block)
}
