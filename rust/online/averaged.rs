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

use std::{iter::once, ops::Range};

use super::model::Model;
use super::rule::{Kind, Learner, Numbers, Rule};
use super::run::State;
use crate::arith::average::{average as mean, averages_are_finite, timed};
use crate::arith::finite::{LARGE, all_finite};
use crate::arith::step::start;
use crate::base::{Error, Grow, Monitor, Result, boxed, collected, copied, ensure, filled, pieces, tried};
use crate::monitor::each;
use crate::online::run::problem::Problem;
use crate::rows::{Chosen, Head, Layout, Mistake, Rows, Table, Undo, Visit};

/// The sums u of all planes: by plane, for the log is absorbed so, unless their layout is kept.
pub struct Averaged {
    coef: Table,
    intercept: Vec<f64>,
    fit_intercept: bool,
    /// No |number| of the plane is larger.
    most: Vec<f64>,
    /// What the sums were, if all that is learnt may be taken back.
    undo: Option<Undo>,
    /// Whether their layout is kept.
    stay: bool,
}

pub static KIND: Kind = Kind {
    answer: Some(answer),
    has_sums: true,
    has_parts: true,
    ..Kind::new(|taken, _, _| {
        let sums = taken.sums.take();
        Ok(boxed(sums.ok_or_else(|| Error::Invalid("the model must have sums u".into()))?)?)
    })
};

fn answer(
    model: &Model,
    coef: Table,
    chosen: Option<&Chosen>,
    monitor: &dyn Monitor,
) -> Result<(Table, Vec<f64>)> {
    let Some((u, intercept_u)) = model.sums() else { return Ok((coef, copied(model.intercept(), &())?)) };
    let u = u.taken(chosen, u.layout(), monitor)?;
    let mut intercept = filled(0.0, model.seen().len())?;
    average([model.intercept(), intercept_u], model.seen(), 1, monitor, &mut intercept)?;
    Ok((coef.zipped(&u, |k, w, u| mean(w, u, model.seen()[k]), monitor)?, intercept))
}

struct AveragedRule<'a> {
    rows: &'a dyn Rows,
    first: usize,
    /// How far apart two planes are, and two columns.
    steps: [usize; 2],
    coef: &'a mut [f64],
    intercept: &'a mut [f64],
    fit_intercept: bool,
    /// False after a t*c that overflowed: a row without entries would hide it.
    finite: bool,
    by_plane: ByPlane,
    most: &'a mut [f64],
    /// No finite |number| of a row is larger.
    largest: f64,
    undo: Option<&'a mut Undo>,
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
            // Two products and a sum are rounded, each by less than one part in 2^52.
            self.most[k] = (self.most[k] + tc.abs() * self.largest) * (1.0 + 4.0 * f64::EPSILON);
            let (row, place) = (mistake.row as usize, (self.steps[1], k * self.steps[0]));
            if let Some(undo) = &mut self.undo
                && !self.rows.keep(row, self.coef, place, undo)
            {
                return Err(Error::Memory);
            }
            self.rows.axpy_at(row, tc, self.coef, place);
            if self.fit_intercept {
                self.intercept[k] += tc;
            }
        }
        Ok(())
    }

    fn is_finite(&self) -> bool {
        let bounded = self.most.iter().all(|most| *most <= LARGE);
        self.finite && (bounded || all_finite(self.coef)) && all_finite(self.intercept)
    }
}

impl Averaged {
    /// Goes on from the sums of an earlier call, or from zeros.
    pub fn new(coef: Table, intercept: Vec<f64>, fit_intercept: bool) -> Result<Self> {
        let most = filled(coef.most(), intercept.len())?;
        Ok(Self { most, coef, intercept, fit_intercept, undo: None, stay: false })
    }

    /// Gives the sums this layout, which they keep: for one range of planes alone.
    pub fn stay(&mut self, layout: Layout, monitor: &dyn Monitor) -> Result<()> {
        self.stay = true;
        self.coef.stand(layout, monitor)
    }

    /// The sums keep their layout, and all that is learnt can be taken back.
    pub fn keep_undo(&mut self) {
        (self.undo, self.stay) = (Some(Undo::default()), true);
    }

    /// The sums as they are, or as they were when undo began to be kept.
    pub fn take_table(&mut self, as_before: bool) -> Table {
        if let (true, Some(undo)) = (as_before, &mut self.undo)
            && let (false, Ok(sums)) = (undo.is_empty(), self.coef.own(&()))
        {
            undo.take_back(sums);
        }
        let most = self.largest();
        std::mem::take(&mut self.coef).at_most(most)
    }

    /// What has changed since undo began to be kept.
    pub(in crate::online) fn undo(&self) -> Option<&Undo> {
        self.undo.as_ref()
    }

    pub(in crate::online) fn numbers(&self) -> Option<&[f64]> {
        self.coef.numbers()
    }

    pub fn intercept(&self) -> Result<Vec<f64>> {
        copied(&self.intercept, &())
    }

    /// No |number| is larger.
    fn largest(&self) -> f64 {
        let bound = |most: f64, plane: &f64| if *plane <= LARGE { most.max(*plane) } else { f64::INFINITY };
        self.most.iter().fold(0.0, bound)
    }
}

impl Learner for Averaged {
    fn check(&self, state: &State) -> Result<()> {
        let ([planes, columns], [u, d]) = (state.coef.shape(), self.coef.shape());
        ensure!(
            [self.intercept.len(), u, d] == [planes, planes, columns],
            "coef_u and intercept_u must have the shapes of coef and intercept, got {u} x {d} and {} numbers for {planes} x {columns} and {planes}",
            self.intercept.len()
        );
        Ok(())
    }

    fn begin(&mut self, _problem: &Problem, _threads: usize, monitor: &dyn Monitor) -> Result<()> {
        self.intercept.iter_mut().for_each(|u| *u = start(*u));
        if !self.stay {
            self.coef.stand(Layout::ByPlane, monitor)?;
        }
        if self.coef.most().is_infinite() {
            each(self.coef.own(monitor)?, |u| *u = start(*u), monitor)?;
        }
        Ok(())
    }

    fn split<'a>(
        &'a mut self,
        ranges: &[Range<usize>],
        problem: &'a Problem,
    ) -> Result<Vec<Box<dyn Rule + 'a>>> {
        let rows = problem.rows()?;
        let columns = rows.columns();
        let (fit_intercept, steps, mut undo) = (self.fit_intercept, self.coef.steps(), self.undo.as_mut());
        let (mut coef, mut intercept) = (self.coef.own(&())?, &mut self.intercept[..]);
        let (mut most, largest) = (&mut self.most[..], problem.examples.largest());
        tried(ranges.iter().map(|range| {
            let rule = AveragedRule {
                rows,
                first: range.start,
                steps,
                coef: coef.split_off_mut(..range.len() * columns).unwrap_or_default(),
                intercept: intercept.split_off_mut(..range.len()).unwrap_or_default(),
                fit_intercept,
                finite: true,
                by_plane: ByPlane::default(),
                most: most.split_off_mut(..range.len()).unwrap_or_default(),
                largest,
                undo: undo.take(), // only ever kept of one range
            };
            Ok(boxed(rule)? as Box<dyn Rule>)
        }))
    }

    fn memory(&self) -> Result<Vec<(&'static str, Numbers<'_>)>> {
        let coef = Numbers::weights(once(self.coef.numbers().unwrap_or_default()))?;
        let memory = [("coef_u", coef), ("intercept_u", Numbers::floats(once(&self.intercept[..]))?)];
        collected(memory.into_iter())
    }

    fn sums(&self, monitor: &dyn Monitor) -> Result<Option<(Table, Vec<f64>)>> {
        Ok(Some((self.coef.copy(monitor)?.at_most(self.largest()), self.intercept()?)))
    }

    fn take_sums(&mut self) -> Result<Option<(Table, Vec<f64>)>> {
        let intercept = self.intercept()?;
        Ok(Some((self.take_table(false), intercept)))
    }

    fn answer_is_finite(
        &self,
        head: &Head,
        most: f64,
        weights: &dyn Fn() -> Result<Vec<f64>>,
    ) -> Result<bool> {
        let (k, seen) = (head.plane as usize, head.seen);
        let sums = (seen + 2) as f64 * most + self.most[k];
        let finite = sums <= LARGE || averages_are_finite(&weights()?, &self.coef.plane(k, &())?, seen);
        Ok(finite && mean(head.intercept, self.intercept[k], seen).is_finite())
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
