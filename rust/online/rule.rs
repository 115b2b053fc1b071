//! What a learner adds to the plain update: a rule over the mistake log.

use std::borrow::Cow;
use std::ops::Range;

use super::fit::State;
use crate::error::Result;
use crate::rows::{Mistake, Rows};

/// The memory of a learner for a range of planes, while it trains.
pub trait Rule: Send {
    /// Takes in the mistakes of a block, in the order they were made. The planes have made the
    /// plain update already, and the rows are still in cache.
    fn absorb(&mut self, rows: &dyn Rows, log: &[Mistake]);

    /// Whether all that it remembers is finite.
    fn is_finite(&self) -> bool;
}

/// Numbers that a learner remembers.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers<'a> {
    Floats(Cow<'a, [f64]>),
    Integers(Cow<'a, [i64]>),
}

/// A learner as a whole: it hands each range of planes its part of the memory.
pub trait Learner {
    /// Refuses a memory that does not fit the state.
    fn check(&self, state: &State) -> Result<()>;

    /// One rule for each range. The ranges are disjoint and increasing, and cover all planes.
    fn split(&mut self, ranges: &[Range<usize>]) -> Vec<Box<dyn Rule + '_>>;

    /// What it remembers besides the state, by name; empty for a learner that needs nothing. What
    /// is called `coef…` has a row of columns for each plane.
    fn memory(&self) -> Vec<(&'static str, Numbers<'_>)>;

    /// Whether the weights may change between mistakes.
    fn allows_penalty(&self) -> bool {
        false
    }

    /// Whether the answer that the learner makes of its memory and of the last weights is finite.
    fn answer_is_finite(&self, state: &State) -> bool;
}
