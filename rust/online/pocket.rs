//! The pocket perceptron.
//!
//! - Problem: data that no hyperplane separates. The perceptron never settles there; of the vectors
//!   that it goes through, keep the one with the fewest errors on all examples.
//! - Update rule: the perceptron's. At certain moments ([`Check`]) the errors of the vector of that
//!   moment are counted; with strictly fewer than those of the pocket's it takes its place. The
//!   start vector is in the pocket at first.
//! - Given: what the perceptron is given.
//! - Result: the pocket's vector, its errors, its run (how many examples in a row it had got right
//!   when it was put there), and the swaps; the last `(w, b)` beside them.
//! - Paper: Gallant 1990, Perceptron-based learning algorithms (the pocket algorithm, and with
//!   [`Check::Ratchet`] the pocket algorithm with ratchet).

use std::borrow::Cow;
use std::ops::Range;

use super::count::count;
use super::feed::Monitor;
use super::fit::State;
use super::problem::Problem;
use super::rule::{Learner, Numbers, Rule};
use crate::arith::finite::all_finite;
use crate::arith::step::start;
use crate::error::{Error, Result};
use crate::rows::{Mistake, Rows};

/// When errors are counted. The vector of an epoch without a mistake is always counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// When a run ends that is longer than all that were counted before.
    Run,
    /// As soon as a run is longer than the one recorded with the pocket's vector.
    Ratchet,
    /// After every update.
    Update,
    /// At the end of each epoch.
    Epoch,
}

/// A vector that took another one's place in the pocket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swap {
    pub epoch: u64,
    /// Examples seen when it was counted.
    pub t: u64,
    pub errors: f64,
}

/// The pocket of each plane.
pub struct Pocket {
    check: Check,
    fit_intercept: bool,
    planes: Vec<Plane>,
}

#[derive(Clone)]
struct Plane {
    /// What the leaf trains, or trained some entries of the log ago.
    now: (Vec<f64>, f64),
    /// Examples seen when it came to be; those after it are its run.
    born: u64,
    counted: bool,
    epoch: u64,
    seen: u64,
    /// The longest run of a vector that was counted.
    longest: u64,
    pocket: (Vec<f64>, f64),
    /// Errors of the pocket's vector; not counted yet before the first epoch.
    errors: Option<f64>,
    run: u64,
    swaps: Vec<Swap>,
}

impl Pocket {
    /// Of a run that begins with this state.
    #[must_use]
    pub fn new(check: Check, fit_intercept: bool, state: &State) -> Self {
        let columns = state.coef.len() / state.intercept.len().max(1);
        let plane = |k: usize| {
            let coef: Vec<f64> = state.coef[k * columns..][..columns].iter().map(|&w| start(w)).collect();
            let vector = (coef, start(state.intercept[k]));
            Plane {
                now: vector.clone(),
                born: state.seen[k],
                counted: true,
                epoch: 0,
                seen: state.seen[k],
                longest: 0,
                pocket: vector,
                errors: None,
                run: 0,
                swaps: Vec::new(),
            }
        };
        let planes = (0..state.intercept.len()).map(plane).collect();
        Self { check, fit_intercept, planes }
    }
}

struct Part<'a> {
    check: Check,
    fit_intercept: bool,
    problem: &'a Problem<'a>,
    k: usize,
    plane: &'a mut Plane,
}

impl Part<'_> {
    /// Counts the errors of the vector of now, unless that is done, and swaps if they are fewer.
    fn consider(&mut self, t: u64, run: u64, monitor: &dyn Monitor) -> Result<()> {
        let plane = &mut *self.plane;
        if plane.counted {
            return Ok(());
        }
        let now = (&plane.now.0[..], plane.now.1);
        let best = plane.errors.unwrap_or(f64::INFINITY);
        let found = count(self.problem, self.k, now, best, monitor)?;
        plane.counted = true;
        if let Some(errors) = found {
            plane.pocket.0.copy_from_slice(&plane.now.0);
            plane.pocket.1 = plane.now.1;
            (plane.errors, plane.run) = (Some(errors), run);
            plane.swaps.push(Swap { epoch: plane.epoch, t, errors });
        }
        Ok(())
    }

    /// The run is this long, after `t` examples.
    fn consider_run(&mut self, t: u64, run: u64, monitor: &dyn Monitor) -> Result<()> {
        if run <= self.plane.longest {
            return Ok(());
        }
        self.plane.longest = run;
        self.consider(t, run, monitor)
    }

    /// The run has become longer than the recorded one at one moment, to which this looks back.
    fn consider_ratchet(&mut self, run: u64, monitor: &dyn Monitor) -> Result<()> {
        let longer = self.plane.run + 1;
        if run < longer {
            return Ok(());
        }
        self.consider(self.plane.born + longer, longer, monitor)
    }
}

impl Rule for Part<'_> {
    fn start_epoch(&mut self, epoch: u64) {
        self.plane.epoch = epoch;
        if self.plane.errors.is_none() {
            let pocket = (&self.plane.pocket.0[..], self.plane.pocket.1);
            // Not to be interrupted: without it a run that is kept would have no answer.
            let found = count(self.problem, self.k, pocket, f64::INFINITY, &());
            self.plane.errors = Some(found.ok().flatten().unwrap_or(f64::INFINITY));
        }
    }

    fn absorb(&mut self, rows: &dyn Rows, log: &[Mistake], monitor: &dyn Monitor) -> Result<()> {
        for &Mistake { row, t, c, .. } in log {
            let run = t - 1 - self.plane.born;
            match self.check {
                Check::Run => self.consider_run(t, run, monitor)?,
                Check::Ratchet => self.consider_ratchet(run, monitor)?,
                Check::Update | Check::Epoch => {}
            }
            rows.axpy(row as usize, c, &mut self.plane.now.0);
            if self.fit_intercept {
                self.plane.now.1 += c;
            }
            (self.plane.born, self.plane.counted) = (t, false);
            if self.check == Check::Update {
                self.consider(t, 0, monitor)?;
            }
        }
        Ok(())
    }

    fn end_epoch(&mut self, seen: u64, clean: bool, monitor: &dyn Monitor) -> Result<()> {
        self.plane.seen = seen;
        let run = seen - self.plane.born;
        if self.check == Check::Ratchet {
            self.consider_ratchet(run, monitor)?;
        }
        if clean || self.check == Check::Epoch {
            self.consider(seen, run, monitor)?;
        }
        Ok(())
    }

    fn end_training(&mut self, monitor: &dyn Monitor) -> Result<()> {
        if self.check == Check::Run {
            self.consider_run(self.plane.seen, self.plane.seen - self.plane.born, monitor)?;
        }
        Ok(())
    }

    fn is_finite(&self) -> bool {
        all_finite(&self.plane.pocket.0) && self.plane.pocket.1.is_finite()
    }
}

impl Learner for Pocket {
    fn check(&self, state: &State) -> Result<()> {
        let first = self.planes.first().map_or(0, |plane| plane.now.0.len());
        if self.planes.len() == state.intercept.len() && first * self.planes.len() == state.coef.len() {
            return Ok(());
        }
        Err(Error::Invalid("the pocket must be made of the state that the run begins with".into()))
    }

    fn split<'a>(&'a mut self, ranges: &[Range<usize>], problem: &'a Problem) -> Vec<Box<dyn Rule + 'a>> {
        debug_assert!(ranges.iter().all(|range| range.len() == 1));
        let (check, fit_intercept) = (self.check, self.fit_intercept);
        let part = |(k, plane)| Box::new(Part { check, fit_intercept, problem, k, plane }) as Box<dyn Rule>;
        self.planes.iter_mut().enumerate().map(part).collect()
    }

    fn memory(&self) -> Vec<(&'static str, Numbers<'_>)> {
        let planes = &self.planes;
        let swaps = || planes.iter().enumerate().flat_map(|(k, p)| p.swaps.iter().map(move |swap| (k, swap)));
        let floats = |values: Vec<f64>| Numbers::Floats(Cow::Owned(values));
        let integers = |values: Vec<i64>| Numbers::Integers(Cow::Owned(values));
        vec![
            ("coef_pocket", floats(planes.iter().flat_map(|plane| plane.pocket.0.iter().copied()).collect())),
            ("intercept_pocket", floats(planes.iter().map(|plane| plane.pocket.1).collect())),
            (
                "pocket_errors",
                floats(planes.iter().map(|plane| plane.errors.unwrap_or(f64::INFINITY)).collect()),
            ),
            ("pocket_run", integers(planes.iter().map(|plane| plane.run as i64).collect())),
            ("swap_plane", integers(swaps().map(|(k, _)| k as i64).collect())),
            ("swap_epoch", integers(swaps().map(|(_, swap)| swap.epoch as i64).collect())),
            ("swap_t", integers(swaps().map(|(_, swap)| swap.t as i64).collect())),
            ("swap_errors", floats(swaps().map(|(_, swap)| swap.errors).collect())),
        ]
    }

    fn one_plane_at_a_time(&self) -> bool {
        true
    }

    fn answer_is_finite(&self, _state: &State) -> bool {
        self.planes.iter().all(|plane| plane.errors.is_some_and(f64::is_finite))
    }
}
