//! Epochs until every plane has stopped.

use std::thread;

use super::feed::{EpochRecord, Flow, Monitor};
use super::group::{Group, PlaneEpoch};
use super::problem::Problem;
use super::rule::Learner;
use super::stopping::Stopped;
use crate::arith::environment::Standard;
use crate::arith::step::start;
use crate::error::{Error, Result};
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
    learner.check(&state)?;
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

/// One epoch of all groups, the first share on this thread.
fn run_epoch(
    groups: &mut [Group],
    problem: &Problem,
    order: Option<&[u32]>,
    epoch: (u64, bool),
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<PlaneEpoch>> {
    let mut running: Vec<&mut Group> = groups.iter_mut().filter(|group| !group.has_stopped()).collect();
    let run = |share: &mut [&mut Group]| -> Result<Vec<PlaneEpoch>> {
        let mut done = Vec::new();
        for group in share {
            done.extend(group.epoch(problem, order, epoch, monitor)?);
        }
        Ok(done)
    };
    let share = running.len().div_ceil(threads.max(1)).max(1);
    let mut shares = running.chunks_mut(share);
    let caller = thread::current();
    let work = |share: &mut [&mut Group]| {
        let _standard = Standard::enter();
        let done = run(share);
        caller.unpark();
        done
    };
    thread::scope(|scope| {
        let own = shares.next();
        let workers: Vec<_> = shares.map(|share| scope.spawn(|| work(share))).collect();
        let mut done = own.map_or(Ok(Vec::new()), run);
        for worker in workers {
            // The monitor is asked here too, so that an interrupt is seen while others still work.
            while !worker.is_finished() && monitor.block() == Flow::Continue {
                thread::park_timeout(std::time::Duration::from_millis(2));
            }
            let theirs = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done = match (done, theirs) {
                (Ok(mut done), Ok(theirs)) => {
                    done.extend(theirs);
                    Ok(done)
                }
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
        }
        done
    })
}
