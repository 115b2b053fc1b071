//! One pass over few rows, in the given order.
//!
//! What [`super::fit`] does in one epoch of all planes on one thread, without what it needs for more
//! epochs: for a single example that would take longer than learning.

use super::fit::{Report, Schedule, State, check_state};
use super::group::Group;
use super::problem::Problem;
use super::rule::Learner;
use crate::arith::environment::standard;
use crate::arith::step::start;
use crate::error::{Error, Result};

const SCHEDULE: Schedule = Schedule {
    shuffle: None,
    first_epoch: 0,
    max_iter: 1,
    tol: None,
    n_iter_no_change: 1,
    track_mistakes: false,
    threads: 1,
    keep_on_interrupt: false,
    settle: false,
    record: false,
};

/// Learns from all rows and returns the mistakes of each decision. After an error neither the state
/// nor the memory of the learner is to be used further.
pub fn one_pass(problem: &Problem, state: &mut State, learner: &mut dyn Learner) -> Result<Vec<i64>> {
    standard(|| run(problem, state, learner))
}

fn run(problem: &Problem, state: &mut State, learner: &mut dyn Learner) -> Result<Vec<i64>> {
    check_state(problem, &SCHEDULE, state)?;
    learner.check(state)?;
    if !problem.is_plain() || state.ages.is_some() || learner.one_plane_at_a_time() {
        return Err(Error::Invalid(
            "sample_weight and penalty must be None and class_weight above 0 in one_pass; use fit".into(),
        ));
    }
    for w in state.coef.iter_mut().chain(&mut state.intercept) {
        *w = start(*w);
    }
    learner.begin(problem, SCHEDULE.threads, &())?;
    let planes = 0..problem.positive.len();
    let mut group = Group::new(planes.clone(), problem, &SCHEDULE, state);
    let mut rules = learner.split(&[planes], problem);
    let done = group.epoch(&mut *rules[0], problem, None, SCHEDULE.first_epoch, &())?;
    drop(rules);
    let mut nothing = Report {
        epochs: Vec::new(),
        n_iter: Vec::new(),
        stopped: Vec::new(),
        mistakes_per_example: Vec::new(),
        activations: Vec::new(),
    };
    group.finish(problem, state, &mut nothing);
    if !learner.answer_is_finite(state) {
        return Err(Error::Overflow { epoch: SCHEDULE.first_epoch });
    }
    Ok(done.decisions.iter().map(|decision| decision.mistakes as i64).collect())
}
