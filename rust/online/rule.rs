//! What a learner adds to the plain update: a rule over the mistake log.

use std::{borrow::Cow, iter::once, ops::Range};

use super::{model::Model, run::State};
use crate::base::{Monitor, Result, collected};
use crate::online::model::Taken;
use crate::online::run::problem::{Problem, Settings};
use crate::rows::{Chosen, Head, Mistake, Table, Visit};

/// The memory of a learner for a range of planes, during an epoch or at the end. What takes long asks the
/// monitor now and then, and returns [`crate::error::Error::Interrupted`] if it is to end.
pub trait Rule: Send {
    /// Before an epoch of this number, in which some of the planes are trained.
    fn start_epoch(&mut self, _epoch: u64) {}

    /// Takes in the mistakes of a block, in the order they were made. The planes have made the
    /// plain update already, and the rows are still in cache. `visit` is that of the epoch.
    fn absorb(&mut self, visit: &Visit, log: &[Mistake], monitor: &dyn Monitor) -> Result<()>;

    /// After a whole epoch; `seen` is that of the first plane trained.
    fn end_epoch(&mut self, _visit: &Visit, _seen: u64, _monitor: &dyn Monitor) -> Result<()> {
        Ok(())
    }

    fn is_finite(&self) -> bool;
}

/// Numbers that a learner remembers: pieces that belong one behind the other.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers<'a> {
    /// Of each plane and column.
    Weights(Vec<Cow<'a, [f64]>>),
    Floats(Vec<Cow<'a, [f64]>>),
    Integers(Vec<Cow<'a, [i64]>>),
}

impl<'a> Numbers<'a> {
    pub(super) fn weights(pieces: impl ExactSizeIterator<Item = &'a [f64]>) -> Result<Self> {
        Ok(Self::Weights(collected(pieces.map(Cow::Borrowed))?))
    }

    /// Floats in pieces that stay where they are.
    pub(super) fn floats(pieces: impl ExactSizeIterator<Item = &'a [f64]>) -> Result<Self> {
        Ok(Self::Floats(collected(pieces.map(Cow::Borrowed))?))
    }

    pub(super) fn integers(pieces: impl ExactSizeIterator<Item = &'a [i64]>) -> Result<Self> {
        Ok(Self::Integers(collected(pieces.map(Cow::Borrowed))?))
    }

    /// Floats in one piece, made for this.
    pub(super) fn new_floats(values: Vec<f64>) -> Result<Self> {
        Ok(Self::Floats(collected(once(Cow::Owned(values)))?))
    }

    pub(super) fn new_integers(values: Vec<i64>) -> Result<Self> {
        Ok(Self::Integers(collected(once(Cow::Owned(values)))?))
    }
}

/// What there is to know of a learner by its name: [`super::LEARNERS`] has all of them.
pub struct Kind {
    pub begin: Begin,
    /// What predicts, made of what is learnt; `None`: the weights do.
    pub answer: Option<Answer>,
    /// Whether a model has sums u beside its weights.
    pub has_sums: bool,
    /// Whether whole weight vectors matter, each of a plane that trains alone; else the columns of the rows do.
    pub is_whole: bool,
    /// Whether a run can go on with other examples.
    pub has_parts: bool,
    /// What a state has of its memory.
    pub memory: &'static [(&'static str, Form)],
}

/// Makes the learner of what a run begins with.
pub type Begin = fn(&mut Taken, &Settings, &dyn Monitor) -> Result<Box<dyn Learner>>;

/// Makes weights and intercepts of a model and of its weights: of all columns, or of some.
pub type Answer = fn(&Model, Table, Option<&Chosen>, &dyn Monitor) -> Result<(Table, Vec<f64>)>;

impl Kind {
    /// A learner whose weights are all that it begins with and predicts with.
    pub const fn new(begin: Begin) -> Self {
        Self { begin, answer: None, has_sums: false, is_whole: false, has_parts: false, memory: &[] }
    }
}

/// How the numbers of a part of the memory stand.
#[derive(Clone, Copy)]
pub enum Form {
    Weights,
    Floats,
    Integers,
}

/// A learner as a whole. It hands each range of planes its part of the memory.
pub trait Learner: Send + Sync {
    /// Refuses a memory that does not fit the state.
    fn check(&self, state: &State) -> Result<()>;

    /// Before the first epoch: what it needs to know of all examples. If it is interrupted here, there is
    /// nothing yet that could be kept.
    fn begin(&mut self, _problem: &Problem, _threads: usize, _monitor: &dyn Monitor) -> Result<()> {
        Ok(())
    }

    /// One rule for each range. The ranges are disjoint and increasing, and cover all planes.
    fn split<'a>(
        &'a mut self,
        ranges: &[Range<usize>],
        problem: &'a Problem,
    ) -> Result<Vec<Box<dyn Rule + 'a>>>;

    /// After the last epoch of all planes of a range, unless it was interrupted.
    fn end_training(
        &mut self,
        _problem: &Problem,
        _range: Range<usize>,
        _monitor: &dyn Monitor,
    ) -> Result<()> {
        Ok(())
    }

    /// What it remembers besides the state, by name; empty for a learner that needs nothing. What
    /// is called `coef…` has a row of columns for each plane. What is called `coef` and `intercept` predicts in the
    /// place of the last weights, which a model keeps as `last_coef` and `last_intercept`.
    fn memory(&self) -> Result<Vec<(&'static str, Numbers<'_>)>>;

    /// A copy of the sums u and their intercepts, of an averaged perceptron.
    fn sums(&self, _monitor: &dyn Monitor) -> Result<Option<(Table, Vec<f64>)>> {
        Ok(None)
    }

    /// The same, taken out: nothing is learnt afterwards.
    fn take_sums(&mut self) -> Result<Option<(Table, Vec<f64>)>> {
        Ok(None)
    }

    /// What learning shall lower in this plane, unless it is the mean loss.
    fn objective(&self, _plane: usize) -> Option<f64> {
        None
    }

    /// Whether the weights may change between mistakes.
    fn allows_penalty(&self) -> bool {
        false
    }

    /// Whether each plane is a range of its own, judged by its activations alone: there is no joint
    /// decision, and nothing that tolerates noise.
    fn one_plane_at_a_time(&self) -> bool {
        false
    }

    /// Whether the answer that the learner makes of its memory and of the last weights of a plane is finite. No
    /// |weight| is larger than `most`; who wants the weights themselves asks for them.
    fn answer_is_finite(
        &self,
        head: &Head,
        most: f64,
        weights: &dyn Fn() -> Result<Vec<f64>>,
    ) -> Result<bool>;
}
