//! Epochs until every plane has stopped.

use std::ops::Range;
use std::thread;

use super::feed::{EpochRecord, Flow, Monitor};
use super::group::{Group, PlaneEpoch};
use super::rule::Learner;
use super::stopping::Stopped;
use crate::arith::environment::Standard;
use crate::arith::step::{start, weight};
use crate::error::{Error, Result};
use crate::order::shuffle;
use crate::rows::{Head, Rows, Tie, Visit, integer_step};

/// What is to be learnt.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    pub rows: &'a dyn Rows,
    /// Class index of every row.
    pub labels: &'a [u32],
    pub sample_weight: Option<&'a [f64]>,
    /// For each plane, the class index that is its +1.
    pub positive: &'a [u32],
    /// For each plane, the weights of its negatives and positives.
    pub class_weight: &'a [[f64; 2]],
    pub eta: f64,
    pub tie: Tie,
    pub fit_intercept: bool,
    integer_step: Option<f64>,
}

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

impl<'a> Problem<'a> {
    #[allow(clippy::too_many_arguments)] // each is one plain input of the problem
    pub fn new(
        rows: &'a dyn Rows,
        labels: &'a [u32],
        sample_weight: Option<&'a [f64]>,
        positive: &'a [u32],
        class_weight: &'a [[f64; 2]],
        eta: f64,
        tie: Tie,
        fit_intercept: bool,
    ) -> Result<Self> {
        let n = rows.len();
        let same = |name: &str, got: usize, want: usize| {
            if got == want {
                Ok(())
            } else {
                Err(Error::Invalid(format!("{name} must have {want} entries, got {got}")))
            }
        };
        if u32::try_from(n).is_err() {
            return Err(Error::Invalid(format!(
                "rows must be fewer than 2^32, got {n}; feed them in batches"
            )));
        }
        same("labels", labels.len(), n)?;
        same("sample_weight", sample_weight.map_or(n, <[f64]>::len), n)?;
        same("class_weight", class_weight.len(), positive.len())?;
        let mut weights = sample_weight.unwrap_or(&[]).iter().chain(class_weight.as_flattened());
        if let Some(weight) = weights.find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(Error::Invalid(format!(
                "sample_weight and class_weight must be finite and at least 0, got {weight}"
            )));
        }
        if !(eta.is_finite() && eta > 0.0) {
            return Err(Error::Invalid(format!("eta0 must be finite and above 0, got {eta}")));
        }
        let integer_step = integer_step(eta, sample_weight, class_weight);
        Ok(Self {
            rows,
            labels,
            sample_weight,
            positive,
            class_weight,
            eta,
            tie,
            fit_intercept,
            integer_step,
        })
    }

    /// A pass over all rows in their order.
    #[must_use]
    pub fn visit(&self) -> Visit<'a> {
        Visit {
            order: None,
            labels: self.labels,
            sample_weight: self.sample_weight,
            eta: self.eta,
            tie: self.tie,
            fit_intercept: self.fit_intercept,
            integer_step: self.integer_step,
        }
    }

    fn weight(&self, class_weight: [f64; 2], positive: u32, row: usize) -> f64 {
        let sample = self.sample_weight.map(|weights| weights[row]);
        weight(sample, class_weight[usize::from(self.labels[row] == positive)])
    }

    /// Rows with a weight above 0 for at least one plane; `None`: all of them.
    fn kept(&self) -> Option<Vec<u32>> {
        let weightless = |row: usize| {
            let mut planes = self.class_weight.iter().zip(self.positive);
            planes.all(|(&class_weight, &positive)| self.weight(class_weight, positive, row) == 0.0)
        };
        if self.sample_weight.is_none() && !self.has_zero_class_weight() {
            return None;
        }
        let kept: Vec<u32> =
            (0..self.rows.len()).filter(|&row| !weightless(row)).map(|row| row as u32).collect();
        (kept.len() < self.rows.len()).then_some(kept)
    }

    fn has_zero_class_weight(&self) -> bool {
        self.class_weight.iter().any(|weights| weights.contains(&0.0))
    }

    /// The order without the rows that weigh 0 for this plane alone; `None`: there are none.
    pub(super) fn without_weightless(&self, head: &Head, order: Option<&[u32]>) -> Option<Vec<u32>> {
        let weighs = |row: &u32| self.weight(head.class_weight, head.positive, *row as usize) != 0.0;
        if !head.class_weight.contains(&0.0) {
            return None;
        }
        Some(match order {
            Some(order) => order.iter().copied().filter(weighs).collect(),
            None => (0..self.rows.len() as u32).filter(weighs).collect(),
        })
    }

    /// Ranges of planes that train together: one for each thread, and each plane with a class
    /// weight of 0 alone.
    fn ranges(&self, threads: usize) -> Vec<Range<usize>> {
        let planes = self.positive.len();
        let width = planes.div_ceil(threads.max(1)).max(1);
        let alone = |k: usize| self.class_weight[k].contains(&0.0);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for k in 0..planes {
            match ranges.last_mut() {
                Some(range) if range.len() < width && !alone(k) && !alone(k - 1) => range.end = k + 1,
                _ => ranges.push(k..k + 1),
            }
        }
        ranges
    }
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
