//! What a linear learner has learnt, and the only one that writes to it.
//!
//! A run, or a pass, takes the numbers out and puts new ones back when all is well, so that an error changes
//! nothing. Of rows with far fewer entries than there are columns these are the numbers of their own columns
//! alone. A model starts as zeros that take no memory. Numbers that others look at are never modified: what
//! is put there goes into a copy.

mod draft;
mod due;
mod in_place;
mod mixed;
mod planes;

use std::sync::{Arc, OnceLock};

use crate::arith::decay::Decay;
use crate::arith::environment::standard;
use crate::error::{Error, Result, bail, ensure};
use crate::memory::{Grow, collected, filled, gathered, matrix};
use crate::monitor::{Monitor, copied};
use crate::online::averaged::Averaged;
use crate::online::perceptron::Perceptron;
use crate::online::rule::Kind;
use crate::online::run::problem::{Problem, Settings};
use crate::online::run::{Run, State};
use crate::rows::{Arranged, Chosen, Labels, Layout, Matrix, OwnColumns, Table, over, weighted_columns};

pub use draft::{Drafted, Excerpt};
use due::Due;
pub use due::Strengths;
use in_place::learner_of;
pub use mixed::Share;

/// Weights of planes, and one number of each.
pub type Hyperplanes = (Table, Arc<Vec<f64>>);

/// Numbers that a learner remembers of its last run.
#[derive(Clone)]
pub enum Part {
    Weights(Table),
    Floats(Arc<Vec<f64>>),
    Integers(Arc<Vec<i64>>),
}

/// All that it remembers, by the names that it gives it.
#[derive(Default)]
pub struct Memory {
    pub parts: Vec<(&'static str, Part)>,
}

impl Memory {
    pub fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|(own, _)| *own == name).map(|(_, part)| part)
    }
}

/// A clone shares all numbers.
#[derive(Clone)]
pub struct Model {
    kind: &'static Kind,
    coef: Table,
    intercept: Arc<Vec<f64>>,
    seen: Arc<Vec<u64>>,
    /// The sums u of the averaged perceptron.
    sums: Option<Hyperplanes>,
    due: Option<Due>,
    memory: Arc<Memory>,
    /// What predicts, once somebody has asked: copies of the model share it.
    answer: Arc<OnceLock<Hyperplanes>>,
}

/// What a pass did.
#[derive(Debug, Clone, Default)]
pub struct Passed {
    pub mistakes: Vec<i64>,
    /// Before the update, n x planes; empty unless they are recorded.
    pub activations: Vec<f64>,
    /// Of each example, n x decisions, if they are tracked.
    pub mistakes_per_example: Option<Vec<i64>>,
}

/// What has been learnt, to be put into the model that it went on from.
#[derive(Default)]
pub struct Learnt {
    pub(in crate::online) state: State,
    pub(in crate::online) sums: Option<(Table, Vec<f64>)>,
    /// What the learner remembers; of weights, the numbers of the own columns.
    pub(in crate::online) memory: Vec<(&'static str, Part)>,
    pub(in crate::online) own: Option<Arc<OwnColumns>>,
    /// The penalty of the run.
    pub(in crate::online) strengths: Option<Strengths>,
    /// Whether weights and sums are as they were.
    pub(in crate::online) unchanged: bool,
    /// Whether there is nothing in other columns.
    pub(in crate::online) alone: bool,
    pub(in crate::online) passed: Passed,
}

impl Learnt {
    /// What the pass did: once.
    pub fn passed(&mut self) -> Passed {
        std::mem::take(&mut self.passed)
    }

    /// How many examples each plane has visited since it was as in the model.
    pub fn visits(&self, model: &Model) -> impl ExactSizeIterator<Item = i64> {
        self.state.seen.iter().zip(&*model.seen).map(|(now, before)| now.wrapping_sub(*before) as i64)
    }
}

pub struct Taken {
    pub state: State,
    pub sums: Option<Averaged>,
}

impl Model {
    /// Of a learner that has seen nothing.
    pub fn zero(kind: &'static Kind, shape: [usize; 2]) -> Result<Self> {
        let (coef, planes) = (Table::zero(shape), shape[0]);
        let sums = if kind.has_sums { Some((coef.clone(), filled(0.0, planes)?)) } else { None };
        Ok(Self::of(kind, coef, filled(0.0, planes)?, filled(0, planes)?, sums))
    }

    pub fn of(
        kind: &'static Kind,
        coef: Table,
        intercept: Vec<f64>,
        seen: Vec<u64>,
        sums: Option<(Table, Vec<f64>)>,
    ) -> Self {
        let sums = sums.map(|(u, intercept)| (u, Arc::new(intercept)));
        let (intercept, seen) = (Arc::new(intercept), Arc::new(seen));
        Self { kind, coef, intercept, seen, sums, due: None, memory: Arc::default(), answer: Arc::default() }
    }

    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    #[must_use]
    pub fn with_memory(mut self, memory: Memory) -> Self {
        self.memory = Arc::new(memory);
        self
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Columns outside of which a run begins without weights.
    pub fn weighted_columns(&self, monitor: &dyn Monitor) -> Result<Vec<usize>> {
        self.coef.weighted_columns(monitor)
    }

    /// The columns in which anything has been learnt; they rise. What is pending on weights of 0 is nothing, but
    /// for that of the first column if there is nothing else.
    pub fn columns(&self, monitor: &dyn Monitor) -> Result<Vec<usize>> {
        let sums = self.sums.iter().map(|(u, _)| u);
        let kept = self.memory.parts.iter().filter_map(|(_, part)| match part {
            Part::Weights(table) => Some(table),
            _ => None,
        });
        let tables = gathered(std::iter::once(&self.coef).chain(sums).chain(kept))?;
        let mut columns = weighted_columns(&tables, self.shape()[1], monitor)?;
        if columns.is_empty() && self.due.is_some() && self.ages(None)?.iter().any(|&age| age != 0) {
            columns.try_push(0)?;
        }
        Ok(columns)
    }

    /// Puts in what a learner remembers of its run; what predicts takes the place of the last weights.
    fn remember(&mut self, parts: Vec<(&'static str, Part)>, chosen: Option<&Chosen>) -> Result<()> {
        let (mut memory, mut coef, mut intercept) = (Memory::default(), None, None);
        for (name, mut part) in parts {
            if let Part::Weights(table) = &mut part {
                let own = std::mem::replace(table, Table::zero(self.shape()));
                table.put(own, chosen)?;
            }
            match (name, part) {
                ("coef", Part::Weights(table)) => coef = Some(table),
                ("intercept", Part::Floats(numbers)) => intercept = Some(numbers),
                part => memory.parts.try_push(part)?,
            }
        }
        if let (Some(coef), Some(intercept)) = (coef, intercept) {
            memory.parts.try_push(("last_coef", Part::Weights(self.coef.clone())))?;
            memory.parts.try_push(("last_intercept", Part::Floats(self.intercept.clone())))?;
            (self.coef, self.intercept) = (coef, intercept);
        }
        self.memory = Arc::new(memory);
        Ok(())
    }

    pub fn shape(&self) -> [usize; 2] {
        self.coef.shape()
    }

    pub fn intercept(&self) -> &[f64] {
        &self.intercept
    }

    pub fn seen(&self) -> &[u64] {
        &self.seen
    }

    pub fn sums(&self) -> Option<&Hyperplanes> {
        self.sums.as_ref()
    }

    /// The names of its numbers.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let names = ["coef", "intercept", "seen", "coef_u", "intercept_u"];
        let own = names.into_iter().take(if self.sums.is_some() { 5 } else { 3 });
        own.chain(self.memory.parts.iter().map(|(name, _)| *name))
    }

    /// Numbers by name; weights with all that is pending of them applied.
    pub fn part(&self, name: &str, monitor: &dyn Monitor) -> Result<Option<Part>> {
        Ok(match (name, &self.sums) {
            ("coef", _) => Some(Part::Weights(self.weights(monitor)?)),
            ("intercept", _) => Some(Part::Floats(self.intercept.clone())),
            ("seen", _) => {
                let seen = collected(self.seen.iter().map(|&seen| seen as i64))?;
                Some(Part::Integers(Arc::new(seen)))
            }
            ("coef_u", Some((u, _))) => Some(Part::Weights(u.clone())),
            ("intercept_u", Some((_, intercept))) => Some(Part::Floats(intercept.clone())),
            _ => self.memory.part(name).cloned(),
        })
    }

    /// Whether all is as at a start from zeros.
    pub fn is_zero(&self) -> bool {
        let are_zeros =
            |(table, numbers): (&Table, &[f64])| table.is_empty() && numbers.iter().all(|b| *b == 0.0);
        let sums = self.sums.as_ref().map(|(u, intercept)| (u, &intercept[..]));
        let numbers = [Some((&self.coef, &self.intercept[..])), sums];
        self.memory.parts.is_empty()
            && numbers.into_iter().flatten().all(are_zeros)
            && self.seen.iter().all(|&seen| seen == 0)
    }

    /// The weights, with all that is pending of them applied.
    pub fn weights(&self, monitor: &dyn Monitor) -> Result<Table> {
        let mut weights = self.settled(None, self.coef.layout(), monitor)?;
        weights.share();
        Ok(weights)
    }

    /// What a run begins with: the numbers of all columns, or of some, in the layout of its rows.
    pub fn take(
        &self,
        settings: &Settings,
        chosen: Option<&Chosen>,
        layout: Layout,
        monitor: &dyn Monitor,
    ) -> Result<Taken> {
        let strengths = Strengths::of(settings);
        let goes_on = self.due.as_ref().is_some_and(|due| Some(due.strengths) == strengths);
        let coef = if goes_on {
            self.coef.taken(chosen, layout, monitor)?
        } else {
            self.settled(chosen, layout, monitor)?
        };
        let ages = match strengths {
            None => None,
            Some(_) if goes_on => Some(self.ages(chosen)?),
            Some(_) => Some(matrix(0, coef.shape()[0], coef.shape()[1])?),
        };
        let (intercept, seen) = (copied(&self.intercept, &())?, copied(&self.seen, &())?);
        let sums = match &self.sums {
            Some((u, intercept)) => {
                // All of them as they stand: it is for the learner to say how they shall.
                let layout = chosen.map_or(u.layout(), |_| Layout::ByPlane);
                let u = u.taken(chosen, layout, monitor)?;
                Some(Averaged::new(u, copied(intercept, &())?, settings.fit_intercept)?)
            }
            None => None,
        };
        Ok(Taken { state: State { coef, intercept, seen, ages }, sums })
    }

    /// Puts back what has been learnt. After an error nothing has changed, but for the memory of learners that no
    /// pass goes on from.
    pub fn put_in(&mut self, learnt: Learnt, monitor: &dyn Monitor) -> Result<()> {
        let Learnt { state, sums, memory, own, strengths, unchanged, alone, .. } = learnt;
        let (State { coef, intercept, seen, ages }, chosen) = (state, own.as_ref().map(|own| &own.chosen));
        if unchanged {
            (self.answer, self.intercept, self.seen) = (Arc::default(), Arc::new(intercept), Arc::new(seen));
            return Ok(());
        }
        if alone {
            self.coef = Table::zero(self.shape());
        }
        self.coef.make_room(chosen, monitor)?;
        if let Some((u, _)) = &mut self.sums {
            u.make_room(chosen, monitor)?;
        }
        self.due = self.due_after(ages, &seen, strengths, chosen)?;
        // Nothing of a pass fails from here on.
        (self.answer, self.memory) = (Arc::default(), Arc::default());
        (self.intercept, self.seen) = (Arc::new(intercept), Arc::new(seen));
        self.coef.put(coef, chosen)?;
        if let (Some((to, to_intercept)), Some((u, intercept))) = (&mut self.sums, sums) {
            to.put(u, chosen)?;
            *to_intercept = Arc::new(intercept);
        }
        if memory.is_empty() { Ok(()) } else { self.remember(memory, chosen) }
    }

    /// Whether a pass over so many rows neither changes the numbers of other columns than theirs, nor need
    /// look at them.
    fn is_local(&self, settings: &Settings, examples: usize) -> Result<bool> {
        let seen = self.seen.iter().max().map_or(0, |&seen| seen);
        if let Some((u, _)) = &self.sums {
            let most = seen.saturating_add(examples as u64).saturating_add(2);
            return Ok((most as f64 * self.coef.most() + u.most()).is_finite());
        }
        let (Some(due), Some(strengths)) = (&self.due, Strengths::of(settings)) else {
            return Ok(self.due.is_none() && settings.penalty.is_none());
        };
        if due.strengths != strengths {
            return Ok(false);
        }
        let decay = strengths.decay()?;
        if !decay.is_common() {
            return Ok(true);
        }
        // Penalties that are pending on all weights together are settled together.
        let age = seen as i64 - due.settled.first().map_or(0, |at| *at);
        Ok(due.even && decay.factor(age as u64 + examples as u64) > 1.001 * Decay::LEAST_FACTOR)
    }

    /// Whether a run of epochs may be over the columns of its rows alone.
    pub fn is_local_in_epochs(&self, settings: &Settings, examples: usize) -> bool {
        if settings.penalty.is_some() || self.due.is_some() {
            return self.coef.is_empty() && self.due.is_none();
        }
        self.is_local(settings, examples.saturating_mul(1 << 20)).unwrap_or(false)
    }

    /// What a pass makes of the model, which stays as it is.
    pub fn learnt<'a>(
        &self,
        rows: &dyn Matrix,
        labels: impl Into<Labels<'a>>,
        sample_weight: Option<&[f64]>,
        settings: &Settings,
        monitor: &dyn Monitor,
    ) -> Result<Learnt> {
        let labels = labels.into();
        standard(|| {
            self.check_shape([settings.planes(), rows.columns()])?;
            let own = if self.is_local(settings, rows.len())? {
                rows.own_columns(settings.planes(), &[], monitor)?.map(Arc::new)
            } else {
                None
            };
            let work =
                |rows: &dyn Matrix| self.pass(rows, labels, sample_weight, settings, own.as_ref(), monitor);
            over(rows, own.as_deref(), work)
        })
    }

    /// Refuses rows and planes of another shape.
    pub(in crate::online) fn check_shape(&self, needed: [usize; 2]) -> Result<()> {
        let shape = self.shape();
        ensure!(
            shape == needed,
            "coef must have the shape {needed:?} for these rows and planes, got {shape:?}"
        );
        Ok(())
    }

    fn pass(
        &self,
        rows: &dyn Matrix,
        labels: Labels,
        sample_weight: Option<&[f64]>,
        settings: &Settings,
        own: Option<&Arc<OwnColumns>>,
        monitor: &dyn Monitor,
    ) -> Result<Learnt> {
        let problem = problem_of_pass(rows, labels, sample_weight, settings)?;
        let Taken { state, mut sums } =
            self.take(settings, own.map(|own| &own.chosen), rows.layout(), monitor)?;
        let mut plain = Perceptron;
        let learner = learner_of(&mut sums, &mut plain);
        let mut run = Run::start(&problem, state, learner, monitor)?;
        let epoch = run.epoch(&problem, learner, 0, monitor)?;
        if epoch.interrupted {
            return Err(Error::Interrupted);
        }
        let passed = Passed { mistakes: epoch.mistakes, ..run.take_tracked(settings, monitor)? };
        run.end_all(&problem, learner, monitor)?;
        let (state, sums) = (run.take(monitor)?, learner.take_sums()?);
        // Without a mistake no weight changes, but for penalties.
        let unchanged =
            state.ages.is_none() && self.due.is_none() && passed.mistakes.iter().all(|&made| made == 0);
        let (own, strengths) = (own.cloned(), Strengths::of(settings));
        Ok(Learnt { state, sums, own, strengths, unchanged, passed, ..Learnt::default() })
    }

    /// What a function makes of rows and what predicts, over their own columns if that is less work.
    pub fn with_answer<T>(
        &self,
        rows: &dyn Matrix,
        monitor: &dyn Monitor,
        work: impl FnOnce(&dyn Matrix, Arranged, &[f64]) -> Result<T>,
    ) -> Result<T> {
        if self.is_computed() && self.answer.get().is_none() {
            let own = rows.own_columns(self.shape()[0], &[], monitor)?;
            if let Some(own) = own {
                let (mut coef, intercept) = self.answer_of(Some(&own.chosen), monitor)?;
                coef.place()?;
                return over(rows, Some(&own), |rows| work(rows, (&coef).into(), &intercept));
            }
        }
        let (mut table, intercept) = self.find_answer(monitor)?;
        table.place()?;
        work(rows, (&table).into(), &intercept)
    }

    /// Whether what predicts is computed from what is learnt.
    fn is_computed(&self) -> bool {
        self.kind.answer.is_some() || self.due.is_some()
    }

    /// Weights and intercepts that predict: of all columns, or of some.
    fn answer_of(&self, chosen: Option<&Chosen>, monitor: &dyn Monitor) -> Result<(Table, Vec<f64>)> {
        let coef = self.settled(chosen, self.coef.layout(), monitor)?;
        match self.kind.answer {
            Some(answer) => standard(|| answer(self, coef, chosen, monitor)),
            None => Ok((coef, copied(&self.intercept, &())?)),
        }
    }

    /// Weights and intercepts that predict.
    pub fn answer(&self, monitor: &dyn Monitor) -> Result<Hyperplanes> {
        standard(|| self.find_answer(monitor))
    }

    fn find_answer(&self, monitor: &dyn Monitor) -> Result<Hyperplanes> {
        if !self.is_computed() {
            return Ok((self.coef.clone(), self.intercept.clone()));
        }
        if let Some(answer) = self.answer.get() {
            return Ok(answer.clone());
        }
        let (mut coef, intercept) = self.answer_of(None, monitor)?;
        coef.share();
        let answer = (coef, Arc::new(intercept));
        Ok(self.answer.get_or_init(|| answer).clone())
    }
}

/// That of a pass over all the rows.
fn problem_of_pass<'a>(
    rows: &'a dyn Matrix,
    labels: Labels<'a>,
    sample_weight: Option<&'a [f64]>,
    settings: &'a Settings,
) -> Result<Problem<'a>> {
    let problem = Problem::new(rows, labels, sample_weight, settings)?;
    if problem.visits_all() {
        return Ok(problem);
    }
    bail!("sample_weight and class_weight must be above 0 in a pass of a model; use start");
}
