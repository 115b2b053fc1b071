//! One pass, in the given order, that nothing interrupts.
//!
//! What a [`super::Run`] does in one epoch of all planes on one thread, without what it needs for more
//! epochs: for a single example that would take longer than learning. Tried: a run, ended and read, with
//! which a call from Python takes 15 to 20 % longer (28 % more instructions).

use super::group::Group;
use super::problem::Problem;
use super::rule::Learner;
use super::run::{Places, State, check_penalty, check_state};
use crate::arith::environment::standard;
use crate::arith::step::start;
use crate::error::{Error, Result};
use crate::memory::collected;
use crate::monitor::{Monitor, NUMBERS};
use crate::rows::Head;

/// The number of the pass, for errors.
const EPOCH: u64 = 0;

/// What a pass did.
#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    /// Of each decision.
    pub mistakes: Vec<i64>,
    /// Before the update, n x planes; empty unless they are recorded.
    pub activations: Vec<f64>,
    /// Of each example, n x decisions; empty unless they are tracked.
    pub mistakes_per_example: Vec<i64>,
}

/// Learns from all rows. After an error neither the state nor the memory of the learner is to be used
/// further.
pub fn one_pass(problem: &Problem, state: &mut State, learner: &mut dyn Learner) -> Result<Passed> {
    standard(|| pass(problem, state, learner))
}

fn pass(problem: &Problem, state: &mut State, learner: &mut dyn Learner) -> Result<Passed> {
    check_state(problem, state)?;
    learner.check(state)?;
    check_penalty(problem, state, learner)?;
    let ranges = problem.ranges(1, state.ages.as_deref().unwrap_or_default())?;
    if !problem.is_plain() || ranges.len() > 1 || learner.one_plane_at_a_time() {
        return Err(Error::Invalid(
            "one_pass needs sample_weight and class_weight above 0 and equal ages for all classes; use start"
                .into(),
        ));
    }
    for w in state.coef.iter_mut().chain(&mut state.intercept) {
        *w = start(*w);
    }
    learner.begin(problem, 1, &())?;
    let planes = 0..problem.settings.planes();
    let weights = std::mem::take(&mut state.coef);
    let mut group = Group::new(planes.clone(), problem, state, weights)?;
    let done = {
        let mut rules = learner.split(std::slice::from_ref(&planes), problem)?;
        group.epoch(problem, &mut *rules[0], None, EPOCH, &())?
    };
    let columns = problem.examples.columns();
    group.write(&mut Places { coef: None, ..state.places() }, columns, &())?;
    state.coef = group.take_weights(&())?;
    let is_finite = |head: &Head| {
        let weights = &state.coef[head.plane as usize * columns..][..columns];
        learner.answer_is_finite(head, weights)
    };
    if !group.heads().iter().all(is_finite) {
        return Err(Error::Overflow { epoch: EPOCH });
    }
    Ok(Passed {
        mistakes: collected(done.decisions.iter().map(|decision| decision.mistakes as i64))?,
        activations: collected(group.activations().0.iter().copied())?,
        mistakes_per_example: collected(group.tally().0.iter().copied())?,
    })
}

/// The largest |number| that a pass may start from, at least 0. `None`: one is not finite, or −0.0.
pub fn largest_if_sound(values: &[f64], monitor: &dyn Monitor) -> Result<Option<f64>> {
    let mut largest = 0.0;
    for piece in values.chunks(NUMBERS) {
        monitor.pause()?;
        if !piece.iter().all(|w| w.is_finite() && w.to_bits() != (-0.0_f64).to_bits()) {
            return Ok(None);
        }
        largest = largest_of(piece, largest);
    }
    Ok(Some(largest))
}

/// The largest |value|, or `least`.
#[must_use]
pub fn largest_of(values: &[f64], least: f64) -> f64 {
    values.iter().fold(least, |most, w| most.max(w.abs()))
}
