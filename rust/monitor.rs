//! What takes long asks now and then whether it is to go on.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::memory::with_room;

/// Numbers that are copied between two questions: some milliseconds.
pub const NUMBERS: usize = 1 << 20;

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

impl Monitor for () {}

/// The pace of loops that may be long: ranges of `len` items, of which each takes as long as to copy `cost`
/// numbers. The monitor is asked before each range is given out, so that a loop cannot forget it.
pub fn pieces(len: usize, cost: usize, monitor: &dyn Monitor) -> impl Iterator<Item = Result<Range<usize>>> {
    let most = (NUMBERS / cost.max(1)).max(1);
    (0..len).step_by(most).map(move |start| monitor.pause().map(|()| start..len.min(start + most)))
}

/// The same pace in a loop whose steps take one more, another less.
pub struct Pace<'a> {
    spent: usize,
    monitor: &'a dyn Monitor,
}

impl<'a> Pace<'a> {
    pub fn new(monitor: &'a dyn Monitor) -> Self {
        Self { spent: 0, monitor }
    }

    /// Before each step, which takes as long as to copy `cost` numbers.
    pub fn spend(&mut self, cost: usize) -> Result<()> {
        self.spent = self.spent.saturating_add(cost);
        if self.spent <= NUMBERS {
            return Ok(());
        }
        self.spent = cost;
        self.monitor.pause()
    }
}

/// The numbers below `len`, at the pace of items that hold `all` numbers together.
pub fn paced(len: usize, all: usize, monitor: &dyn Monitor) -> impl Iterator<Item = Result<usize>> {
    const ITEM: usize = 8; // what takes long besides
    pieces(len, ITEM * (all / len.max(1) + 1), monitor).flat_map(|piece| {
        let (range, error) = match piece {
            Ok(range) => (range, None),
            Err(error) => (0..0, Some(Err(error))),
        };
        range.map(Ok).chain(error)
    })
}

pub fn copied<T: Copy>(values: &[T], monitor: &dyn Monitor) -> Result<Vec<T>> {
    mapped(values, |&value| value, monitor)
}

/// What a function makes of some numbers.
pub fn mapped<T, U>(values: &[T], mut f: impl FnMut(&T) -> U, monitor: &dyn Monitor) -> Result<Vec<U>> {
    let mut made = with_room(values.len())?;
    for piece in pieces(values.len(), 1, monitor) {
        made.extend(values[piece?].iter().map(&mut f));
    }
    Ok(made)
}

/// Pieces one behind the other.
pub fn joined<T: Copy>(parts: &[Cow<[T]>], monitor: &dyn Monitor) -> Result<Vec<T>> {
    let mut all = with_room(parts.iter().fold(0, |len, part| len + part.len()))?;
    for part in parts {
        for piece in pieces(part.len(), 1, monitor) {
            all.extend_from_slice(&part[piece?]);
        }
    }
    Ok(all)
}

/// Replaces what a vector holds by what a function makes of the numbers from 0 on, in the room that it has.
pub fn refill<T>(
    values: &mut Vec<T>,
    len: usize,
    f: impl Fn(usize) -> T,
    monitor: &dyn Monitor,
) -> Result<()> {
    values.clear();
    values.try_reserve_exact(len)?;
    for piece in pieces(len, 1, monitor) {
        values.extend(piece?.map(&f));
    }
    Ok(())
}

/// Changes numbers where they stand.
pub fn each<T>(values: &mut [T], f: impl Fn(&mut T), monitor: &dyn Monitor) -> Result<()> {
    for piece in pieces(values.len(), 1, monitor) {
        values[piece?].iter_mut().for_each(&f);
    }
    Ok(())
}

/// Whether what is asked of a piece holds for all of them.
pub fn all<T>(values: &[T], holds: impl Fn(&[T]) -> bool, monitor: &dyn Monitor) -> Result<bool> {
    for piece in pieces(values.len(), 1, monitor) {
        if !holds(&values[piece?]) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub fn same<T: PartialEq>(values: &[T], others: &[T], monitor: &dyn Monitor) -> Result<bool> {
    for piece in pieces(values.len(), 1, monitor) {
        let piece = piece?;
        if values[piece.clone()] != others[piece] {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A vector of `len` copies of a value.
pub fn filled<T: Clone>(value: &T, len: usize, monitor: &dyn Monitor) -> Result<Vec<T>> {
    let mut values = with_room(len)?;
    refill(&mut values, len, |_| value.clone(), monitor)?;
    Ok(values)
}

/// What an interrupt has left undone is `None`.
pub fn unless_interrupted<T>(done: Result<T>) -> Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(Error::Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

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
