//! Epochs until every plane has stopped.

use super::feed::{EpochRecord, Flow, Monitor};
use super::group::{Group, PlaneEpoch};
use super::problem::Problem;
use super::rule::Learner;
use super::stopping::Stopped;
use super::threads::share_out;
use crate::arith::environment::Standard;
use crate::arith::step::start;
use crate::error::{Error, Result, probe_memory};
use crate::order::shuffle;

/// How epochs are ordered and when they end.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    pub shuffle: Option<Shuffle>,
    /// Number of the first epoch: it goes on under a warm start.
    pub first_epoch: u64,
    pub max_iter: u64,
    pub tol: Option<f64>,
    pub n_iter_no_change: u64,
    pub track_mistakes: bool,
    pub threads: usize,
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
}

/// Bytes that a fit may need at once: the weights in two forms and as they were frozen, and the
/// counts of mistakes of each example, of the groups and of all.
fn memory(weights: usize, counts: Option<(usize, usize)>) -> Option<usize> {
    let (n, planes) = counts.unwrap_or((0, 0));
    n.checked_mul(planes)?.checked_mul(16)?.checked_add(weights.checked_mul(24)?)
}

/// Runs epochs until every plane has stopped. After an error the memory of the learner is not to
/// be used further.
pub fn fit(
    problem: &Problem,
    schedule: &Schedule,
    mut state: State,
    learner: &mut dyn Learner,
    monitor: &dyn Monitor,
) -> Result<(State, Report)> {
    let _standard = Standard::enter();
    let (n, planes) = (problem.rows.len(), problem.positive.len());
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
    learner.check(&state)?;
    probe_memory(memory(state.coef.len(), schedule.track_mistakes.then_some((n, planes))))?;
    for w in state.coef.iter_mut().chain(&mut state.intercept) {
        *w = start(*w);
    }
    let ranges = problem.ranges(schedule.threads);
    let rules = learner.split(&ranges);
    let mut groups: Vec<Group> = ranges
        .into_iter()
        .zip(rules)
        .map(|(range, rule)| Group::new(range, problem, schedule, &state, rule))
        .collect();
    let kept = problem.kept();
    let mut order: Option<Vec<u32>> = kept.clone();
    let mut report = Report {
        epochs: Vec::new(),
        n_iter: vec![0; planes],
        stopped: vec![Stopped::Monitor; planes],
        mistakes_per_example: vec![0; if schedule.track_mistakes { n * planes } else { 0 }],
    };
    let mut epoch = schedule.first_epoch;
    for e in 0..schedule.max_iter {
        epoch = schedule.first_epoch + e;
        if let Some(Shuffle { seed }) = schedule.shuffle {
            // A permutation of positions in the kept rows, so always of a fresh ascending list.
            let order = order.get_or_insert_default();
            match &kept {
                Some(kept) => order.clone_from(kept),
                None => *order = (0..n as u32).collect(),
            }
            shuffle(order, seed, epoch, 0);
        }
        let last = e + 1 == schedule.max_iter;
        let done =
            run_epoch(&mut groups, problem, order.as_deref(), (epoch, last), schedule.threads, monitor)?;
        let mut record = EpochRecord { epoch, mistakes: vec![0; planes], losses: vec![0.0; planes] };
        for plane in done {
            record.mistakes[plane.plane] = plane.mistakes as i64;
            record.losses[plane.plane] = plane.loss;
            report.n_iter[plane.plane] = e + 1;
            if let Some(stopped) = plane.stopped {
                report.stopped[plane.plane] = stopped;
            }
        }
        let flow = monitor.epoch(&record);
        report.epochs.push(record);
        groups.iter_mut().filter(|_| flow == Flow::Break).for_each(Group::freeze);
        if groups.iter().all(Group::has_stopped) {
            break;
        }
    }
    for group in groups {
        group.finish(&mut state, &mut report.mistakes_per_example);
    }
    if !learner.answer_is_finite(&state) {
        return Err(Error::Overflow { epoch });
    }
    Ok((state, report))
}

/// One epoch of all groups that go on.
fn run_epoch(
    groups: &mut [Group],
    problem: &Problem,
    order: Option<&[u32]>,
    epoch: (u64, bool),
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<PlaneEpoch>> {
    let running = groups.iter_mut().filter(|group| !group.has_stopped());
    let threads = threads.min(problem.positive.len());
    let work = |group: &mut Group| group.epoch(problem, order, epoch, monitor);
    // The monitor is asked while waiting too, so that an interrupt is seen while others still work.
    let done = share_out(running, threads, work, || {
        let _ = monitor.block();
    });
    Ok(done.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}
