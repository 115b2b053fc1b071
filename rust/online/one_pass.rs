//! One pass over few rows, in the given order.
//!
//! What a [`super::Run`] does in one epoch of all planes on one thread, without what it needs for more
//! epochs: for a single example that would take longer than learning.

use super::group::Group;
use super::problem::Problem;
use super::rule::Learner;
use super::run::{State, check_state};
use crate::arith::environment::standard;
use crate::arith::step::start;
use crate::error::{Error, Result};
use crate::memory::collected;
use crate::rows::Head;

/// The number of the pass, for errors.
const EPOCH: u64 = 0;

/// Learns from all rows and returns the mistakes of each decision. After an error neither the state
/// nor the memory of the learner is to be used further.
pub fn one_pass(problem: &Problem, state: &mut State, learner: &mut dyn Learner) -> Result<Vec<i64>> {
    standard(|| pass(problem, state, learner))
}

fn pass(problem: &Problem, state: &mut State, learner: &mut dyn Learner) -> Result<Vec<i64>> {
    check_state(problem, state)?;
    learner.check(state)?;
    if !problem.is_plain() || state.ages.is_some() || learner.one_plane_at_a_time() {
        return Err(Error::Invalid(
            "sample_weight and penalty must be None and class_weight above 0 in one_pass; use start".into(),
        ));
    }
    for w in state.coef.iter_mut().chain(&mut state.intercept) {
        *w = start(*w);
    }
    learner.begin(problem, 1, &())?;
    let planes = 0..problem.settings.planes();
    let mut group = Group::new(planes.clone(), problem, state)?;
    let done = {
        let mut rules = learner.split(std::slice::from_ref(&planes), problem)?;
        group.epoch(problem, &mut *rules[0], None, EPOCH, &())?
    };
    group.write(state)?;
    let columns = problem.examples.columns();
    let is_finite = |head: &Head| {
        let weights = &state.coef[head.plane as usize * columns..][..columns];
        learner.answer_is_finite(head, weights)
    };
    if !group.heads().iter().all(is_finite) {
        return Err(Error::Overflow { epoch: EPOCH });
    }
    collected(done.decisions.iter().map(|decision| decision.mistakes as i64))
}
