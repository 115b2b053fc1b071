//! The pocket perceptron.
//!
//! - Problem: data that no hyperplane separates. The perceptron never settles there; of the vectors
//!   that it goes through, keep the one with the fewest errors on all examples.
//! - Update rule: the perceptron's. At certain moments ([`Check`]) the errors of the vector of that
//!   moment are counted; with strictly fewer than those of the pocket's it takes its place. The
//!   start vector is in the pocket at first. Runs are compared by the weights of their examples, like
//!   errors. With `average`, the mean of all vectors since the start of the run is counted at the end
//!   of each epoch, too. It has no run: what [`Check::Ratchet`] compares with stays that of a vector.
//! - Given: what the perceptron is given.
//! - Result: the pocket's vector, its errors, its run (how many examples in a row it had got right
//!   when it was put there; 0 of an average), and the swaps; the last `(w, b)` beside them.
//! - Paper: Gallant 1990, Perceptron-based learning algorithms (the pocket algorithm, and with
//!   [`Check::Ratchet`] the pocket algorithm with ratchet; without `average` exactly these).

use std::ops::Range;

use super::averaged::average;
use super::errors::count;
use super::rule::{Form, Kind, Learner, Numbers, Rule};
use super::run::State;
use crate::arith::{average::timed, finite::all_finite, step::start};
use crate::base::{Error, Grow, Monitor, Result, boxed, collected, ensure, mapped, tried};
use crate::monitor::filled;
use crate::online::run::problem::{Problem, Settings};
use crate::rows::{Head, Mistake, Rows, Visit};
use crate::threads::share_out;

/// When errors are counted. The vector of an epoch without a mistake is always counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// When a run ends that weighs more than all that were counted before.
    Run,
    /// As soon as a run weighs more than the one recorded with the pocket's vector.
    Ratchet,
    Update,
    Epoch,
}

impl Check {
    /// By their names.
    pub const ALL: [(&'static str, Self); 4] =
        [("run", Self::Run), ("ratchet", Self::Ratchet), ("update", Self::Update), ("epoch", Self::Epoch)];
}

/// A vector that took another one's place in the pocket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swap {
    pub epoch: u64,
    /// Examples seen when it was counted.
    pub t: u64,
    pub errors: f64,
    pub average: bool,
}

pub static KIND: Kind = Kind {
    is_whole: true,
    memory: &[
        ("pocket_errors", Form::Floats),
        ("pocket_run", Form::Integers),
        ("swap_plane", Form::Integers),
        ("swap_epoch", Form::Integers),
        ("swap_t", Form::Integers),
        ("swap_errors", Form::Floats),
        ("swap_average", Form::Integers),
        ("last_coef", Form::Weights),
        ("last_intercept", Form::Floats),
    ],
    ..Kind::new(|taken, &Settings { check, average, fit_intercept, .. }, monitor| {
        Ok(boxed(Pocket::new(check, average, fit_intercept, &taken.state, monitor)?)?)
    })
};

pub struct Pocket {
    check: Check,
    fit_intercept: bool,
    planes: Vec<PlanePocket>,
}

/// Examples in a row that a vector gets right, and the sum of their weights, by which runs are compared.
#[derive(Clone, Copy, Default)]
struct Streak {
    examples: u64,
    length: f64,
}

struct PlanePocket {
    /// What the leaf trains, or trained some entries of the log ago.
    now: (Vec<f64>, f64),
    counted: bool,
    epoch: u64,
    /// Examples seen before this epoch.
    seen: u64,
    /// The run that is going on, up to the position `at` of the epoch.
    going: Streak,
    at: usize,
    /// The longest run of a vector that was counted.
    longest: f64,
    pocket: (Vec<f64>, f64),
    /// Errors of the pocket's vector; infinite before they are counted.
    errors: f64,
    /// Its run when it was put there.
    run: Streak,
    swaps: Vec<Swap>,
    sums: Option<AverageSums>,
}

/// What makes the average of a run: the sums u, and the examples seen before it.
struct AverageSums {
    u: (Vec<f64>, f64),
    started: u64,
    /// False after a t*c that overflowed: a row without entries would hide it.
    finite: bool,
}

impl Pocket {
    /// Of a run that begins with this state.
    pub fn new(
        check: Check,
        average: bool,
        fit_intercept: bool,
        state: &State,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let [_, columns] = state.coef.shape();
        let mut planes = Vec::new();
        for k in 0..state.intercept.len() {
            let coef = || mapped(&state.coef.plane(k, monitor)?, |w| start(*w), monitor);
            let intercept = start(state.intercept[k]);
            let sums = || -> Result<AverageSums> {
                Ok(AverageSums {
                    u: (filled(&0.0, columns, monitor)?, 0.0),
                    started: state.seen[k],
                    finite: true,
                })
            };
            planes.try_push(PlanePocket {
                now: (coef()?, intercept),
                counted: true,
                epoch: 0,
                seen: state.seen[k],
                going: Streak::default(),
                at: 0,
                longest: 0.0,
                pocket: (coef()?, intercept),
                errors: f64::INFINITY,
                run: Streak::default(),
                swaps: Vec::new(),
                sums: average.then(sums).transpose()?,
            })?;
        }
        Ok(Self { check, fit_intercept, planes })
    }

    fn rules<'a>(
        &'a mut self,
        problem: &'a Problem,
        range: Range<usize>,
    ) -> Result<impl Iterator<Item = PocketRule<'a>>> {
        let (check, fit_intercept, rows) = (self.check, self.fit_intercept, problem.rows()?);
        let planes = self.planes[range.clone()].iter_mut();
        Ok(range.zip(planes).map(move |(k, plane)| PocketRule {
            check,
            fit_intercept,
            problem,
            rows,
            k,
            plane,
        }))
    }

    /// A number of each swap, plane by plane.
    fn of_swaps<T>(&self, number: impl Fn(usize, &Swap) -> T) -> Result<Vec<T>> {
        let mut numbers = Vec::new();
        for (k, plane) in self.planes.iter().enumerate() {
            numbers.try_extend(plane.swaps.iter().map(|swap| number(k, swap)))?;
        }
        Ok(numbers)
    }
}

struct PocketRule<'a> {
    check: Check,
    fit_intercept: bool,
    problem: &'a Problem<'a>,
    rows: &'a dyn Rows,
    k: usize,
    plane: &'a mut PlanePocket,
}

impl PocketRule<'_> {
    /// Counts the errors of the vector of now, unless that is done, and swaps if they are fewer.
    fn consider(&mut self, t: u64, run: Streak, monitor: &dyn Monitor) -> Result<()> {
        let plane = &mut *self.plane;
        if plane.counted {
            return Ok(());
        }
        let now = (&plane.now.0[..], plane.now.1);
        let found = count(self.problem, self.k, now, plane.errors, monitor)?;
        plane.counted = true;
        if let Some(errors) = found {
            plane.swaps.try_push(Swap { epoch: plane.epoch, t, errors, average: false })?;
            plane.pocket.0.copy_from_slice(&plane.now.0);
            plane.pocket.1 = plane.now.1;
            (plane.errors, plane.run) = (errors, run);
        }
        Ok(())
    }

    /// Counts the errors of the average after `t` examples, and swaps if they are fewer.
    fn consider_average(&mut self, t: u64, monitor: &dyn Monitor) -> Result<()> {
        let plane = &mut *self.plane;
        let Some(sums) = &plane.sums else { return Ok(()) };
        let (columns, seen) = (plane.now.0.len(), [t - sums.started]);
        let (mut coef, mut intercept) = (filled(&0.0, columns, monitor)?, [0.0]);
        average([&plane.now.0, &sums.u.0], &seen, columns, monitor, &mut coef)?;
        average([&[plane.now.1], &[sums.u.1]], &seen, 1, monitor, &mut intercept)?;
        let [intercept] = intercept;
        if !(all_finite(&coef) && intercept.is_finite()) {
            return Err(Error::Overflow { epoch: plane.epoch });
        }
        if let Some(errors) = count(self.problem, self.k, (&coef, intercept), plane.errors, monitor)? {
            plane.swaps.try_push(Swap { epoch: plane.epoch, t, errors, average: true })?;
            (plane.pocket, plane.errors) = ((coef, intercept), errors);
            plane.run.examples = 0;
        }
        Ok(())
    }

    /// The run has ended, after `t` examples.
    fn consider_run(&mut self, t: u64, monitor: &dyn Monitor) -> Result<()> {
        let run = self.plane.going;
        if run.length <= self.plane.longest {
            return Ok(());
        }
        self.plane.longest = run.length;
        self.consider(t, run, monitor)
    }

    /// Adds the examples up to this position of the epoch to the run. With the ratchet, this looks back
    /// to the one that made it longer than the recorded run.
    fn extend(&mut self, visit: &Visit, end: usize, monitor: &dyn Monitor) -> Result<()> {
        let (problem, k, plane) = (self.problem, self.k, &mut *self.plane);
        let (positive, class_weight) = (problem.settings.positive[k], problem.settings.class_weight[k]);
        let weighted = problem.sample_weight.is_some() || class_weight != [1.0; 2];
        let ratchet = self.check == Check::Ratchet && !plane.counted;
        let mut longer = None;
        for pos in plane.at..end {
            plane.going.examples += 1;
            plane.going.length +=
                if weighted { problem.weight(class_weight, positive, visit.row(pos)) } else { 1.0 };
            if ratchet && longer.is_none() && plane.going.length > plane.run.length {
                longer = Some((plane.seen + pos as u64 + 1, plane.going));
            }
        }
        plane.at = end;
        longer.map_or(Ok(()), |(t, run)| self.consider(t, run, monitor))
    }
}

impl Rule for PocketRule<'_> {
    fn start_epoch(&mut self, epoch: u64) {
        (self.plane.epoch, self.plane.at) = (epoch, 0);
    }

    fn absorb(&mut self, visit: &Visit, log: &[Mistake], monitor: &dyn Monitor) -> Result<()> {
        for &Mistake { row, t, c, .. } in log {
            let pos = (t - 1 - self.plane.seen) as usize;
            self.extend(visit, pos, monitor)?;
            if self.check == Check::Run {
                self.consider_run(t, monitor)?;
            }
            self.rows.axpy(row as usize, c, &mut self.plane.now.0);
            if self.fit_intercept {
                self.plane.now.1 += c;
            }
            if let Some(sums) = &mut self.plane.sums {
                let tc = timed(t - sums.started, c);
                sums.finite &= tc.is_finite();
                self.rows.axpy(row as usize, tc, &mut sums.u.0);
                if self.fit_intercept {
                    sums.u.1 += tc;
                }
            }
            (self.plane.counted, self.plane.going, self.plane.at) = (false, Streak::default(), pos + 1);
            if self.check == Check::Update {
                self.consider(t, Streak::default(), monitor)?;
            }
        }
        Ok(())
    }

    fn end_epoch(&mut self, visit: &Visit, seen: u64, monitor: &dyn Monitor) -> Result<()> {
        self.extend(visit, visit.len(), monitor)?;
        self.plane.seen = seen;
        self.consider(seen, self.plane.going, monitor)?;
        self.consider_average(seen, monitor)
    }

    fn is_finite(&self) -> bool {
        let of_sums = |sums: &AverageSums| sums.finite && all_finite(&sums.u.0) && sums.u.1.is_finite();
        all_finite(&self.plane.pocket.0)
            && self.plane.pocket.1.is_finite()
            && self.plane.sums.as_ref().is_none_or(of_sums)
    }
}

impl Learner for Pocket {
    fn check(&self, state: &State) -> Result<()> {
        let first = self.planes.first().map_or(0, |plane| plane.now.0.len());
        ensure!(
            state.coef.shape() == [self.planes.len(), first],
            "the pocket must be made of the state that the run begins with"
        );
        Ok(())
    }

    fn begin(&mut self, problem: &Problem, threads: usize, monitor: &dyn Monitor) -> Result<()> {
        let count_start = |(k, plane): (usize, &mut PlanePocket)| -> Result<()> {
            let pocket = (&plane.pocket.0[..], plane.pocket.1);
            let found = count(problem, k, pocket, f64::INFINITY, monitor)?;
            plane.errors = found.unwrap_or(f64::INFINITY);
            Ok(())
        };
        let threads = threads.min(self.planes.len());
        share_out(self.planes.iter_mut().enumerate(), threads, monitor, count_start)
    }

    fn split<'a>(
        &'a mut self,
        ranges: &[Range<usize>],
        problem: &'a Problem,
    ) -> Result<Vec<Box<dyn Rule + 'a>>> {
        debug_assert!(ranges.iter().all(|range| range.len() == 1));
        let rules = self.rules(problem, 0..self.planes.len())?;
        tried(rules.map(|rule| Ok(boxed(rule)? as Box<dyn Rule>)))
    }

    fn end_training(&mut self, problem: &Problem, range: Range<usize>, monitor: &dyn Monitor) -> Result<()> {
        if self.check == Check::Run {
            for mut rule in self.rules(problem, range)? {
                rule.consider_run(rule.plane.seen, monitor)?;
            }
        }
        Ok(())
    }

    fn memory(&self) -> Result<Vec<(&'static str, Numbers<'_>)>> {
        let planes = || self.planes.iter();
        let runs = planes().map(|plane| plane.run.examples as i64);
        let memory = [
            ("coef", Numbers::weights(planes().map(|plane| &plane.pocket.0[..]))?),
            ("intercept", Numbers::new_floats(collected(planes().map(|plane| plane.pocket.1))?)?),
            ("pocket_errors", Numbers::new_floats(collected(planes().map(|plane| plane.errors))?)?),
            ("pocket_run", Numbers::new_integers(collected(runs)?)?),
            ("swap_plane", Numbers::new_integers(self.of_swaps(|k, _| k as i64)?)?),
            ("swap_epoch", Numbers::new_integers(self.of_swaps(|_, swap| swap.epoch as i64)?)?),
            ("swap_t", Numbers::new_integers(self.of_swaps(|_, swap| swap.t as i64)?)?),
            ("swap_errors", Numbers::new_floats(self.of_swaps(|_, swap| swap.errors)?)?),
            ("swap_average", Numbers::new_integers(self.of_swaps(|_, swap| i64::from(swap.average))?)?),
        ];
        collected(memory.into_iter())
    }

    fn objective(&self, plane: usize) -> Option<f64> {
        Some(self.planes[plane].errors)
    }

    fn one_plane_at_a_time(&self) -> bool {
        true
    }

    fn answer_is_finite(&self, head: &Head, _: f64, _: &dyn Fn() -> Result<Vec<f64>>) -> Result<bool> {
        Ok(self.planes[head.plane as usize].errors.is_finite())
    }
}
