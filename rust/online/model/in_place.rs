//! A pass that changes the numbers of a model where they stand, so that its time follows the entries of its rows.

use std::sync::{Arc, OnceLock};

use super::{Memory, Model, Passed, problem_of_pass};
use crate::arith::environment::standard;
use crate::base::{Error, Monitor, Result, copied, filled};
use crate::online::averaged::Averaged;
use crate::online::perceptron::Perceptron;
use crate::online::rule::Learner;
use crate::online::run::problem::{Problem, Settings};
use crate::online::run::{EpochPart, Run, State};
use crate::rows::{Labels, Layout, Matrix, Table};

/// Products of a value and a weight in a pass in place, at most: some milliseconds, in which nobody can read
/// the model.
const PRODUCTS: usize = 1 << 22;

/// Dense rows whose pass changes numbers in place, at most: with more of them, copies cost little.
const FEW: usize = 4;

/// A pass under way. Unless it is kept, the model gets the numbers that it had.
pub(super) struct InPlace<'a> {
    model: &'a mut Model,
    /// `None`: the pass is over.
    pub run: Option<Run>,
    pub sums: Option<Averaged>,
    /// No weight was larger, and no sum u.
    most: [f64; 2],
}

impl InPlace<'_> {
    /// Puts the numbers into the model: those of before, or of now.
    fn put(&mut self, as_before: bool) {
        if let Some(mut run) = self.run.take() {
            let coef = run.take_table(as_before);
            self.model.coef = if as_before { coef.at_most(self.most[0]) } else { coef.looked_at() };
            self.model.coef.share();
        }
        if let (Some(mut sums), Some((to, _))) = (self.sums.take(), &mut self.model.sums) {
            let u = sums.take_table(as_before);
            *to = if as_before { u.at_most(self.most[1]) } else { u.looked_at() };
            to.share();
        }
    }
}

impl Drop for InPlace<'_> {
    fn drop(&mut self) {
        self.put(true);
    }
}

impl Model {
    /// Learns in one pass. After an error nothing has changed.
    pub fn learn<'a>(
        &mut self,
        rows: &dyn Matrix,
        labels: impl Into<Labels<'a>>,
        sample_weight: Option<&[f64]>,
        settings: &Settings,
        monitor: &dyn Monitor,
    ) -> Result<Passed> {
        let labels = labels.into();
        if self.learns_in_place(rows, settings) {
            return standard(|| self.pass_in_place(rows, labels, sample_weight, settings, monitor));
        }
        let mut learnt = self.learnt(rows, labels, sample_weight, settings, monitor)?;
        let passed = learnt.passed();
        self.put_in(learnt, monitor)?;
        Ok(passed)
    }

    /// Whether such a pass takes little time, and copies nothing.
    pub fn learns_in_place(&self, rows: &dyn Matrix, settings: &Settings) -> bool {
        let ([planes, columns], layout) = (self.shape(), rows.layout());
        let products = rows.entries(0..rows.len()).saturating_mul(planes);
        // To change how all weights stand takes as long as so many products.
        let stands = planes == 1 || self.coef.is_empty() || self.coef.layout() == layout;
        let few = rows.len() <= FEW || layout == Layout::ByColumn;
        let known = self.coef.most() + self.sums.as_ref().map_or(0.0, |(u, _)| u.most());
        (settings.threads, settings.penalty.is_some(), self.due.is_some()) == (1, false, false)
            && (few && products <= PRODUCTS && known.is_finite())
            && (stands || planes.saturating_mul(columns) <= products.saturating_mul(16))
    }

    /// Begins a pass of one range of planes where the numbers stand.
    pub(super) fn in_place(
        &mut self,
        problem: &Problem,
        layout: Layout,
        monitor: &dyn Monitor,
    ) -> Result<InPlace<'_>> {
        self.coef.stand(layout, monitor)?;
        self.coef.place()?;
        self.coef.share();
        let (intercept, seen) = (copied(&self.intercept, &())?, copied(&self.seen, &())?);
        let state = State { coef: self.coef.clone(), intercept, seen, ages: None };
        let mut sums = None;
        if let Some((u, intercept)) = &mut self.sums {
            if u.is_empty() {
                u.stand(layout, monitor)?;
            }
            u.place()?;
            u.share();
            let mut averaged =
                Averaged::new(u.clone(), copied(intercept, &())?, problem.settings.fit_intercept)?;
            averaged.keep_undo();
            sums = Some(averaged);
        }
        let mut run = Run::start(problem, state, learner_of(&mut sums, &mut Perceptron), monitor)?;
        run.keep_undo();
        let most = [self.coef.most(), self.sums.as_ref().map_or(0.0, |(u, _)| u.most())];
        // From here on the numbers are those of the run alone.
        self.coef = Table::zero(self.shape());
        if let Some((u, _)) = &mut self.sums {
            *u = Table::zero(u.shape());
        }
        Ok(InPlace { model: self, run: Some(run), sums, most })
    }

    fn pass_in_place(
        &mut self,
        rows: &dyn Matrix,
        labels: Labels,
        sample_weight: Option<&[f64]>,
        settings: &Settings,
        monitor: &dyn Monitor,
    ) -> Result<Passed> {
        let problem = problem_of_pass(rows, labels, sample_weight, settings)?;
        let mut pass = self.in_place(&problem, rows.layout(), monitor)?;
        let (Some(run), sums) = (&mut pass.run, &mut pass.sums) else { return Err(Error::Memory) };
        let (mut plain, losses) = (Perceptron, filled(0.0, settings.decisions())?);
        let EpochPart { mistakes, interrupted, .. } =
            run.part(&problem, learner_of(sums, &mut plain), 0, &losses, monitor)?;
        if interrupted {
            return Err(Error::Interrupted);
        }
        run.end_all(&problem, learner_of(sums, &mut plain), monitor)?;
        let passed = Passed { mistakes, ..run.tracked(settings, monitor)? };
        let (State { intercept, seen, .. }, of_sums) =
            (run.counters(&())?, sums.as_ref().map(Averaged::intercept).transpose()?);
        pass.put(false);
        let model = &mut *pass.model;
        set(&mut model.answer, OnceLock::new());
        set(&mut model.intercept, intercept);
        set(&mut model.seen, seen);
        if let (Some((_, intercept)), Some(now)) = (&mut model.sums, of_sums) {
            set(intercept, now);
        }
        // Without a mistake no weight changes.
        if !model.memory.parts.is_empty() && passed.mistakes.iter().any(|&made| made != 0) {
            set(&mut model.memory, Memory::default());
        }
        Ok(passed)
    }
}

/// Replaces a shared value: in place if nobody else has it, which takes no memory.
fn set<T>(to: &mut Arc<T>, now: T) {
    match Arc::get_mut(to) {
        Some(to) => *to = now,
        None => *to = Arc::new(now),
    }
}

/// The learner of a pass.
pub(super) fn learner_of<'a>(
    sums: &'a mut Option<Averaged>,
    plain: &'a mut Perceptron,
) -> &'a mut dyn Learner {
    match sums {
        Some(sums) => sums,
        None => plain,
    }
}
