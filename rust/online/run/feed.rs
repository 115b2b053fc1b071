//! The resumable pass: blocks, absorbed while they are in cache, with a monitor between them.

use crate::error::Result;
use crate::monitor::Monitor;
use crate::rows::{Cursor, Examples, Mistake, Planes, Stop, Visit};

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
        planes.level(monitor)?;
    }
    examples.prepare(visit, planes, monitor)?;
    while at.pos < end {
        let stop = examples.learn(visit, at, end.min(at.pos + block), planes, &mut log)?;
        absorb(&log)?;
        log.clear();
        match stop {
            Stop::Block => {}
            Stop::Limit => examples.prepare(visit, planes, monitor)?,
            Stop::Overflow | Stop::Memory => return Ok(stop),
        }
        monitor.pause()?;
    }
    Ok(Stop::Block)
}
