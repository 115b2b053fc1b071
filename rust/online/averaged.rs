//! The averaged perceptron.
//!
//! - Problem: a weight vector that depends less on the last examples: the mean of all that the run
//!   went through, `(w_0 + w_1 + … + w_T)/(T+1)`, `w_t` being the vector after example t.
//! - Update rule: the perceptron's; on the mistake at example t also `u += (t*c)*x`, the intercept
//!   alike. `w_T − u/(T+1)` is the mean, so `u` is touched on mistakes only.
//! - Given: what the perceptron is given, and `u` of an earlier call.
//! - Result: `u`; [`average`] makes the mean of it, `w` and `T`.
//! - Paper: Freund, Schapire 1999, Large margin classification using the perceptron algorithm
//!   (section 5, "average"); the lazy sum after Daumé 2006, Practical structured learning
//!   techniques (figure 2.3), with the step in it.

use std::iter::once;
use std::ops::Range;

use super::rule::{Learner, Numbers, Rule};
use super::run::State;
use crate::arith::average::{average as mean, averages_are_finite, timed};
use crate::arith::finite::all_finite;
use crate::arith::step::start;
use crate::error::{Error, Result};
use crate::memory::{Grow, boxed, collected};
use crate::monitor::{Monitor, copied, each, pieces};
use crate::online::run::problem::Problem;
use crate::rows::{Head, Mistake, Rows, Visit};

/// The sums u of all planes: `coef` is K x columns.
pub struct Averaged {
    pub coef: Vec<f64>,
    pub intercept: Vec<f64>,
    pub fit_intercept: bool,
}

struct AveragedRule<'a> {
    rows: &'a dyn Rows,
    first: usize,
    columns: usize,
    coef: &'a mut [f64],
    intercept: &'a mut [f64],
    fit_intercept: bool,
    /// False after a t*c that overflowed: a row without entries would hide it.
    finite: bool,
    by_plane: ByPlane,
}

/// Places of a log plane by plane, so that one u stays in cache; those of a plane in the order of the log.
#[derive(Default)]
struct ByPlane {
    places: Vec<usize>,
    /// Where the next mistake of each plane goes.
    next: Vec<usize>,
}

impl ByPlane {
    fn sort(&mut self, log: &[Mistake], first: usize, planes: usize) -> Result<()> {
        self.places.clear();
        self.places.try_resize(log.len(), 0)?;
        self.next.clear();
        self.next.try_resize(planes + 1, 0)?;
        for mistake in log {
            self.next[mistake.plane as usize - first + 1] += 1;
        }
        for k in 1..planes {
            self.next[k] += self.next[k - 1];
        }
        for (place, mistake) in log.iter().enumerate() {
            let next = &mut self.next[mistake.plane as usize - first];
            self.places[*next] = place;
            *next += 1;
        }
        Ok(())
    }
}

impl Rule for AveragedRule<'_> {
    fn absorb(&mut self, _visit: &Visit, log: &[Mistake], _monitor: &dyn Monitor) -> Result<()> {
        self.by_plane.sort(log, self.first, self.intercept.len())?;
        for &place in &self.by_plane.places {
            let mistake = &log[place];
            let k = mistake.plane as usize - self.first;
            let tc = timed(mistake.t, mistake.c);
            self.finite &= tc.is_finite();
            self.rows.axpy(mistake.row as usize, tc, &mut self.coef[k * self.columns..][..self.columns]);
            if self.fit_intercept {
                self.intercept[k] += tc;
            }
        }
        Ok(())
    }

    fn is_finite(&self) -> bool {
        self.finite && all_finite(self.coef) && all_finite(self.intercept)
    }
}

impl Learner for Averaged {
    fn check(&self, state: &State) -> Result<()> {
        if self.coef.len() == state.coef.len() && self.intercept.len() == state.intercept.len() {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "coef_u and intercept_u must have the shapes of coef and intercept, got {} and {} numbers for {} and {}",
            self.coef.len(),
            self.intercept.len(),
            state.coef.len(),
            state.intercept.len()
        )))
    }

    fn begin(&mut self, _problem: &Problem, _threads: usize, monitor: &dyn Monitor) -> Result<()> {
        self.intercept.iter_mut().for_each(|u| *u = start(*u));
        each(&mut self.coef, |u| *u = start(*u), monitor)
    }

    fn split<'a>(
        &'a mut self,
        ranges: &[Range<usize>],
        problem: &'a Problem,
    ) -> Result<Vec<Box<dyn Rule + 'a>>> {
        let rows = problem.rows()?;
        let columns = rows.columns();
        let fit_intercept = self.fit_intercept;
        let (mut coef, mut intercept) = (&mut self.coef[..], &mut self.intercept[..]);
        let mut rules: Vec<Box<dyn Rule + 'a>> = Vec::new();
        for range in ranges {
            let (coef_here, coef_rest) = coef.split_at_mut(range.len() * columns);
            let (intercept_here, intercept_rest) = intercept.split_at_mut(range.len());
            (coef, intercept) = (coef_rest, intercept_rest);
            rules.try_push(boxed(AveragedRule {
                rows,
                first: range.start,
                columns,
                coef: coef_here,
                intercept: intercept_here,
                fit_intercept,
                finite: true,
                by_plane: ByPlane::default(),
            })?)?;
        }
        Ok(rules)
    }

    fn memory(&self) -> Result<Vec<(&'static str, Numbers<'_>)>> {
        let floats = |values| Numbers::floats(once(values));
        let memory = [("coef_u", floats(&self.coef[..])?), ("intercept_u", floats(&self.intercept)?)];
        collected(memory.into_iter())
    }

    fn sums(&self, monitor: &dyn Monitor) -> Result<Option<(Vec<f64>, Vec<f64>)>> {
        Ok(Some((copied(&self.coef, monitor)?, copied(&self.intercept, &())?)))
    }

    fn take_sums(&mut self) -> Option<(Vec<f64>, Vec<f64>)> {
        Some((std::mem::take(&mut self.coef), std::mem::take(&mut self.intercept)))
    }

    fn answer_is_finite(&self, head: &Head, weights: &[f64]) -> bool {
        let (k, d, seen) = (head.plane as usize, weights.len(), head.seen);
        averages_are_finite(weights, &self.coef[k * d..][..d], seen)
            && mean(head.intercept, self.intercept[k], seen).is_finite()
    }
}

/// Averages of values `w` with sums `u`, `columns` of them for each plane of `seen`, into `out`.
///
/// # Panics
/// If the lengths differ.
pub fn average(
    [w, u]: [&[f64]; 2],
    seen: &[u64],
    columns: usize,
    monitor: &dyn Monitor,
    out: &mut [f64],
) -> Result<()> {
    assert!(w.len() == out.len() && u.len() == out.len() && seen.len() * columns == out.len());
    let columns = columns.max(1);
    for (k, out) in out.chunks_mut(columns).enumerate() {
        let (w, u) = (&w[k * columns..][..out.len()], &u[k * columns..][..out.len()]);
        for piece in pieces(out.len(), 1, monitor) {
            let piece = piece?;
            for (mean_here, (&w, &u)) in
                out[piece.clone()].iter_mut().zip(w[piece.clone()].iter().zip(&u[piece]))
            {
                *mean_here = mean(w, u, seen[k]);
            }
        }
    }
    Ok(())
}
