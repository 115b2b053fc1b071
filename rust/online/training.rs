//! A run of a model: it takes numbers out of the model, learns epoch by epoch, and says what to put back.
//!
//! Of sparse rows with few entries these are the numbers of the columns alone in which they have any.

use std::sync::Arc;

use crate::arith::environment::standard;
use crate::base::{Grow, Monitor, Result, joined};
use crate::online::model::{Learnt, Model, Part, Passed, Strengths};
use crate::online::rule::{Learner, Numbers};
use crate::online::run::problem::{Prechecked, Problem, Settings};
use crate::online::run::{Run, State};
use crate::rows::{Labels, Layout, Matrix, OwnColumns, Table, over};
use crate::threads::of_planes;

/// Examples with their classes and weights.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    pub rows: &'a dyn Matrix,
    pub labels: Labels<'a>,
    pub sample_weight: Option<&'a [f64]>,
}

/// It is always used with the examples that it was started with, or went on with, and not at all after an error.
pub struct Training {
    run: Run,
    learner: Box<dyn Learner>,
    settings: Settings,
    found: Prechecked,
    /// The columns that the run is over, if these are not all.
    own: Option<Arc<OwnColumns>>,
    /// Whether the model has nothing in others.
    alone: bool,
    layout: Layout,
    /// Whether the entries of a part are few for so many columns, and nothing is to look at all weights.
    is_wide: bool,
    /// Entries that were learnt from since planes have left for the last time.
    entries: usize,
}

impl Training {
    /// Begins with what the model has learnt, which stays as it is. `in_parts`: others follow these examples, of
    /// other columns.
    pub fn start(
        model: &Model,
        given: Given,
        mut settings: Settings,
        in_parts: bool,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let (rows, planes) = (given.rows, settings.planes());
        model.check_shape([planes, rows.columns()])?;
        let is_whole = model.kind().is_whole;
        // Of a pocket all weights count: a vector of zeros gets all examples wrong.
        let weighted = if is_whole { model.weighted_columns(monitor)? } else { Vec::new() };
        let mut own = if is_whole || model.is_local_in_epochs(&settings, rows.len()) {
            rows.own_columns(planes, &weighted, monitor)?.map(Arc::new)
        } else {
            None
        };
        let layout = if is_whole { Layout::ByPlane } else { rows.layout() };
        let products = rows.entries(0..rows.len()).saturating_mul(planes);
        settings.threads = of_planes(settings.threads, products, planes, layout);
        let in_one_group = settings.threads == 1 && !settings.has_zero_class_weight();
        let is_wide = in_parts && own.is_some() && in_one_group;
        if is_wide {
            own = None;
        }
        let (run, learner, found) = standard(|| {
            over(rows, own.as_deref(), |rows| {
                let problem = Self::problem(rows, given, &settings, is_wide)?;
                let chosen = own.as_ref().map(|own| &own.chosen);
                let mut taken = model.take(&settings, chosen, layout, monitor)?;
                if let (true, Some(sums)) = (is_wide, &mut taken.sums) {
                    sums.stay(layout, monitor)?;
                }
                let mut learner = (model.kind().begin)(&mut taken, &settings, monitor)?;
                let run = Run::start(&problem, taken.state, &mut *learner, monitor)?;
                Ok((run, learner, problem.found()))
            })
        })?;
        let alone = is_whole && own.is_some();
        let entries = rows.entries(0..rows.len());
        Ok(Self { run, learner, settings, found, own, alone, layout, is_wide, entries })
    }

    fn problem<'a>(
        rows: &'a dyn Matrix,
        given: Given<'a>,
        settings: &'a Settings,
        is_wide: bool,
    ) -> Result<Problem<'a>> {
        let problem = Problem::new(rows, given.labels, given.sample_weight, settings)?;
        Ok(if is_wide { problem.in_floats() } else { problem })
    }

    /// Goes on with other examples in the place of those of before. False if it cannot: then nothing has changed,
    /// and what it has learnt is to begin another one.
    pub fn go_on_with(&mut self, given: Given, seed: Option<u64>, monitor: &dyn Monitor) -> Result<bool> {
        let (rows, Self { run, settings, found, own, layout, is_wide, entries, .. }) = (given.rows, self);
        // For planes that leave all weights are copied.
        let is_dear = *is_wide && run.has_any_to_leave() && *entries < rows.columns();
        if own.is_some() || rows.layout() != *layout || is_dear {
            return Ok(false);
        }
        *entries =
            rows.entries(0..rows.len()).saturating_add(if run.has_any_to_leave() { 0 } else { *entries });
        settings.seed = seed;
        standard(|| {
            let problem = Self::problem(rows, given, settings, *is_wide)?;
            run.go_on_with(&problem, monitor)?;
            *found = problem.found();
            Ok(true)
        })
    }

    /// Whether it has all numbers of the model.
    pub fn is_whole(&self) -> bool {
        self.own.is_none()
    }

    /// Draws the orders of the epochs that follow from this seed.
    pub fn set_seed(&mut self, seed: Option<u64>) {
        self.settings.seed = seed;
    }

    /// Calls `f` on the run, its problem and its learner.
    pub fn with<R>(
        &mut self,
        given: Given,
        f: impl FnOnce(&mut Run, &Problem, &mut dyn Learner) -> Result<R>,
    ) -> Result<R> {
        let Self { run, learner, settings, found, own, .. } = self;
        over(given.rows, own.as_deref(), |rows| {
            let problem = Problem::again(rows, given.labels, given.sample_weight, settings, *found);
            f(run, &problem, &mut **learner)
        })
    }

    /// Whether no decision goes on.
    pub fn has_ended(&self) -> bool {
        self.run.has_ended()
    }

    /// What has been learnt so far, for [`Model::put_in`].
    pub fn learnt(&self, monitor: &dyn Monitor) -> Result<Learnt> {
        self.learnt_with(self.run.state(monitor)?, self.learner.sums(monitor)?, monitor)
    }

    /// The same at the end: nothing is copied that need not be.
    pub fn finish(mut self, monitor: &dyn Monitor) -> Result<Learnt> {
        let passed = self.run.take_tracked(&self.settings, monitor)?;
        let (state, sums) = (self.run.take(monitor)?, self.learner.take_sums()?);
        Ok(Learnt { passed, ..self.learnt_with(state, sums, monitor)? })
    }

    pub fn tracked(&self, monitor: &dyn Monitor) -> Result<Passed> {
        self.run.tracked(&self.settings, monitor)
    }

    fn learnt_with(
        &self,
        state: State,
        sums: Option<(Table, Vec<f64>)>,
        monitor: &dyn Monitor,
    ) -> Result<Learnt> {
        let (shape, mut memory) = (state.coef.shape(), Vec::new());
        for (name, numbers) in if sums.is_some() { Vec::new() } else { self.learner.memory()? } {
            let part = match numbers {
                Numbers::Weights(pieces) => Part::Weights(Table::new(joined(&pieces, monitor)?, shape)?),
                Numbers::Floats(pieces) => Part::Floats(Arc::new(joined(&pieces, monitor)?)),
                Numbers::Integers(pieces) => Part::Integers(Arc::new(joined(&pieces, monitor)?)),
            };
            memory.try_push((name, part))?;
        }
        let (own, strengths) = (self.own.clone(), Strengths::of(&self.settings));
        Ok(Learnt { state, sums, memory, own, strengths, alone: self.alone, ..Learnt::default() })
    }
}
