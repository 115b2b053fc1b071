//! Epochs until every plane has stopped.

use std::ops::Range;

use super::feed::{EpochRecord, Monitor, Snapshot};
use super::group::{Group, GroupEpoch};
use super::problem::Problem;
use super::rule::{Learner, Rule};
use super::stopping::{Criterion, Stopped};
use super::threads::share_out;
use crate::arith::environment::standard;
use crate::arith::step::start;
use crate::error::{Error, Result, probe_memory};
use crate::memory::{collected, refill};
use crate::order::shuffle;
use crate::rows::Tolerance;

/// How epochs are ordered and when they end.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools)] // four independent choices
pub struct Schedule {
    pub shuffle: Option<Shuffle>,
    /// Number of the first epoch: it goes on under a warm start.
    pub first_epoch: u64,
    pub max_iter: u64,
    pub tol: Option<f64>,
    pub n_iter_no_change: u64,
    pub track_mistakes: bool,
    pub threads: usize,
    /// What an interrupted run has learnt is its result, instead of [`Error::Interrupted`].
    pub keep_on_interrupt: bool,
    /// Penalties are applied to all weights at the end of each epoch; else they stay pending.
    pub settle: bool,
    /// The activations at the visits of the last epoch are reported.
    pub record: bool,
}

/// A new permutation each epoch, drawn from this seed.
#[derive(Debug, Clone, Copy)]
pub struct Shuffle {
    pub seed: u64,
}

/// The numbers of K planes: `coef` is K x columns.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub coef: Vec<f64>,
    pub intercept: Vec<f64>,
    /// Examples seen since the last cold start.
    pub seen: Vec<u64>,
    /// Examples whose penalty is pending, K x columns, if there is a penalty.
    pub ages: Option<Vec<i64>>,
}

/// What a fit did.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub epochs: Vec<EpochRecord>,
    /// Epochs of each plane.
    pub n_iter: Vec<u64>,
    pub stopped: Vec<Stopped>,
    /// n x K, empty if not tracked.
    pub mistakes_per_example: Vec<i64>,
    /// Activations before the update, n x K; NaN where an example was not visited. Empty if not
    /// recorded.
    pub activations: Vec<f64>,
}

/// Bytes that a fit may need at once: the weights in two forms and as they were frozen, and of each
/// example the counts of its mistakes, of the groups and of all, and what tolerates noise.
fn memory(problem: &Problem, schedule: &Schedule, weights: usize) -> Option<usize> {
    let counts = if schedule.track_mistakes { 16 } else { 0 };
    let each = counts + problem.noise_bytes();
    let examples = problem.rows.len().checked_mul(problem.decisions())?.checked_mul(each)?;
    let recorded = if schedule.record { problem.rows.len().checked_mul(problem.positive.len())? } else { 0 };
    examples.checked_add(recorded.checked_mul(16)?)?.checked_add(weights.checked_mul(24)?)
}

/// Runs epochs until every plane has stopped. After an error the memory of the learner is not to
/// be used further.
pub fn fit(
    problem: &Problem,
    schedule: &Schedule,
    state: State,
    learner: &mut dyn Learner,
    monitor: &dyn Monitor,
) -> Result<(State, Report)> {
    standard(|| run(problem, schedule, state, learner, monitor))
}

fn run(
    problem: &Problem,
    schedule: &Schedule,
    mut state: State,
    learner: &mut dyn Learner,
    monitor: &dyn Monitor,
) -> Result<(State, Report)> {
    let (n, planes) = (problem.rows.len(), problem.positive.len());
    check_state(problem, schedule, &state)?;
    learner.check(&state)?;
    check_penalty(problem, schedule, &state, learner)?;
    check_alone(problem, learner)?;
    probe_memory(memory(problem, schedule, state.coef.len()))?;
    for w in state.coef.iter_mut().chain(&mut state.intercept) {
        *w = start(*w);
    }
    learner.begin(problem, schedule.threads, monitor)?;
    let decisions = problem.decisions();
    let mut report = Report {
        epochs: Vec::new(),
        n_iter: vec![0; decisions],
        stopped: vec![Stopped::Interrupt; decisions],
        mistakes_per_example: vec![0; if schedule.track_mistakes { n * decisions } else { 0 }],
        activations: vec![f64::NAN; if schedule.record { n * planes } else { 0 }],
    };
    let mut running = vec![true; decisions];
    let mut criteria = vec![Criterion::new(schedule.tol, schedule.n_iter_no_change); decisions];
    let ranges = ranges(problem, schedule, &state, learner);
    let form = |range: &Range<usize>| Group::new(range.clone(), problem, schedule, &state);
    let mut groups: Vec<Group> = ranges.iter().map(form).collect();
    let kept = problem.kept();
    let mut order = kept.as_ref().map(|kept| collected(kept.iter().copied())).transpose()?;
    let mut epoch = schedule.first_epoch;
    for e in 0..schedule.max_iter {
        epoch = schedule.first_epoch + e;
        if let Some(Shuffle { seed }) = schedule.shuffle {
            // A permutation of positions in the kept rows, so always of a fresh ascending list.
            let order = order.get_or_insert_default();
            match &kept {
                Some(kept) => refill(order, kept.iter().copied())?,
                None => refill(order, 0..n as u32)?,
            }
            shuffle(order, seed, epoch, 0);
        }
        let rules = learner.split(&ranges, problem);
        let done =
            run_epoch(&mut groups, rules, problem, order.as_deref(), epoch, schedule.threads, monitor)?;
        let interrupted = done.iter().any(|group| group.interrupted);
        if interrupted && !schedule.keep_on_interrupt {
            return Err(Error::Interrupted);
        }
        let mut record = EpochRecord { epoch, mistakes: vec![0; decisions], losses: vec![0.0; decisions] };
        for done in done.iter().flat_map(|group| &group.decisions) {
            let k = done.decision;
            (record.mistakes[k], record.losses[k]) = (done.mistakes as i64, done.loss);
            report.n_iter[k] = e + 1;
            let judge = |criterion: &mut Criterion| {
                criterion.judge(done.mistakes, done.loss, e + 1 == schedule.max_iter)
            };
            if let Some(stopped) = if interrupted { None } else { judge(&mut criteria[k]) } {
                (running[k], report.stopped[k]) = (false, stopped);
            }
        }
        report.epochs.push(record.clone());
        if interrupted {
            break;
        }
        let verdict = if monitor.wants_state() {
            groups.iter().for_each(|group| group.write(&mut state));
            monitor.epoch(&record, Some(Snapshot { state: &state, learner }))?
        } else {
            monitor.epoch(&record, None)?
        };
        for (k, stopped) in report.stopped.iter_mut().enumerate() {
            if running[k] && verdict.ends(k) {
                (running[k], *stopped) = (false, Stopped::Monitor);
            }
        }
        let rules = learner.split(&ranges, problem);
        freeze(&mut groups, rules, problem, schedule, &running, monitor, &mut report.stopped)?;
        if groups.iter().all(Group::has_stopped) {
            break;
        }
    }
    for group in groups {
        group.finish(problem, &mut state, &mut report);
    }
    if !learner.answer_is_finite(&state) {
        return Err(Error::Overflow { epoch });
    }
    Ok((state, report))
}

pub(super) fn check_state(problem: &Problem, schedule: &Schedule, state: &State) -> Result<()> {
    let planes = problem.positive.len();
    if state.coef.len() != planes * problem.rows.columns()
        || state.intercept.len() != planes
        || state.seen.len() != planes
    {
        return Err(Error::Invalid(format!(
            "coef must hold {planes} x {} weights, got {}",
            problem.rows.columns(),
            state.coef.len()
        )));
    }
    if schedule.max_iter == 0 {
        return Err(Error::Invalid("max_iter must be at least 1, got 0".into()));
    }
    if planes == 0 {
        return Err(Error::Invalid("positive must name the class of one plane or more, got none".into()));
    }
    Ok(())
}

fn check_penalty(problem: &Problem, schedule: &Schedule, state: &State, learner: &dyn Learner) -> Result<()> {
    let invalid = |text: &str| Err(Error::Invalid(text.into()));
    if problem.decay().is_none() {
        return if state.ages.iter().flatten().any(|&age| age != 0) {
            invalid("state has pending penalties; pass the penalty that it was learnt with")
        } else {
            Ok(())
        };
    }
    if !learner.allows_penalty() {
        return invalid("penalty must be None for a learner that is a function of the mistakes");
    }
    if !schedule.settle && schedule.max_iter != 1 {
        return invalid("settle may be False in a run of one epoch only; set max_iter to 1");
    }
    let fit = |ages: &&Vec<i64>| ages.len() == state.coef.len() && ages.iter().all(|&age| age >= 0);
    let Some(ages) = state.ages.as_ref().filter(fit) else {
        return invalid("ages must have the shape of coef and hold whole numbers of at least 0");
    };
    let mut planes = ages.chunks(problem.rows.columns().max(1));
    if problem.is_joint() && planes.any(|plane| plane != &ages[..plane.len()]) {
        return invalid("ages must be the same for all classes of a joint decision");
    }
    Ok(())
}

fn check_alone(problem: &Problem, learner: &dyn Learner) -> Result<()> {
    if learner.one_plane_at_a_time() && (problem.is_joint() || problem.tolerance != Tolerance::default()) {
        return Err(Error::Invalid(
            "joint, margin, added_feature and max_mistakes_per_example must not be set for this learner"
                .into(),
        ));
    }
    Ok(())
}

fn ranges(problem: &Problem, schedule: &Schedule, state: &State, learner: &dyn Learner) -> Vec<Range<usize>> {
    let most = if learner.one_plane_at_a_time() { problem.positive.len() } else { schedule.threads };
    problem.ranges(most, state.ages.as_deref().unwrap_or_default())
}

/// Freezes the planes that run no more, and ends the training of the groups that have none left.
fn freeze(
    groups: &mut [Group],
    rules: Vec<Box<dyn Rule + '_>>,
    problem: &Problem,
    schedule: &Schedule,
    running: &[bool],
    monitor: &dyn Monitor,
    stopped: &mut [Stopped],
) -> Result<()> {
    let mut ended = Vec::new();
    for (group, rule) in groups.iter_mut().zip(rules) {
        if group.freeze(problem, running) {
            ended.push((group, rule));
        }
    }
    let threads = schedule.threads.min(ended.len());
    let interrupted = share_out(
        ended.into_iter(),
        threads,
        |(group, mut rule)| group.end_training(&mut *rule, monitor),
        || {
            let _ = monitor.block();
        },
    );
    for done in interrupted {
        if let Some(k) = done? {
            if !schedule.keep_on_interrupt {
                return Err(Error::Interrupted);
            }
            stopped[k] = Stopped::Interrupt;
        }
    }
    Ok(())
}

/// One epoch of all groups that go on.
fn run_epoch(
    groups: &mut [Group],
    rules: Vec<Box<dyn Rule + '_>>,
    problem: &Problem,
    order: Option<&[u32]>,
    epoch: u64,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<GroupEpoch>> {
    let going = groups.iter_mut().zip(rules).filter(|(group, _)| !group.has_stopped());
    let threads = threads.min(problem.positive.len());
    let work = |(group, mut rule): (&mut Group, Box<dyn Rule + '_>)| {
        group.epoch(&mut *rule, problem, order, epoch, monitor)
    };
    // The monitor is asked while waiting too, so that an interrupt is seen while others still work.
    let done = share_out(going, threads, work, || {
        let _ = monitor.block();
    });
    done.into_iter().collect()
}
