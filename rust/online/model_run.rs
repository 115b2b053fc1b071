//! A run whose state is a model: over the same examples, or over others that come in parts.

use super::model::{Learnt, Model, Passed};
use super::run::problem::Settings;
use super::run::{Epoch, EpochPart};
use super::training::{Given, Training};
use crate::base::{Error, Grow, Monitor, Result, ensure};

/// It is always used with the examples that it was started with, or went on with.
pub struct ModelRun {
    settings: Settings,
    /// The examples are a part of those that follow.
    in_parts: bool,
    /// What the run went on from; once it has ended, what it has learnt.
    model: Model,
    /// `None`: its numbers have been given out, or an error has ended it.
    training: Option<Training>,
    /// What was tracked, once no decision goes on, and the model has the numbers.
    ended: Option<Passed>,
    /// The decisions that have ended.
    decisions: Vec<usize>,
}

fn is_over() -> Error {
    Error::Invalid("a run learns no more once its numbers have been given out, or after an error".into())
}

impl ModelRun {
    pub fn start(model: Model, given: Given, settings: Settings, monitor: &dyn Monitor) -> Result<Self> {
        let training = Some(Training::start(&model, given, settings.clone(), false, monitor)?);
        Ok(Self { settings, in_parts: false, model, training, ended: None, decisions: Vec::new() })
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn training(&mut self) -> Result<&mut Training> {
        self.training.as_mut().ok_or_else(is_over)
    }

    /// Runs the epoch of this number, which chooses its order.
    pub fn epoch(&mut self, given: Given, number: u64, monitor: &dyn Monitor) -> Result<Epoch> {
        if self.ended.is_some() {
            return Epoch::of_none(self.settings.decisions());
        }
        self.training()?.with(given, |run, problem, learner| run.epoch(problem, learner, number, monitor))
    }

    /// Runs a part of an epoch: see [`super::Run::part`].
    pub fn part(
        &mut self,
        given: Given,
        number: u64,
        losses: &[f64],
        monitor: &dyn Monitor,
    ) -> Result<EpochPart> {
        self.training()?
            .with(given, |run, problem, learner| run.part(problem, learner, number, losses, monitor))
    }

    /// A decision goes on no more.
    pub fn end(&mut self, given: Given, decision: usize, monitor: &dyn Monitor) -> Result<()> {
        if self.ended.is_some() {
            return Ok(());
        }
        self.decisions.try_push(decision)?;
        self.training()?.with(given, |run, problem, learner| run.end(problem, learner, decision, monitor))
    }

    /// Draws the orders of the parts that follow from this seed.
    pub fn set_seed(&mut self, seed: Option<u64>) -> Result<()> {
        ensure!(self.model.kind().has_parts, "a run of this learner has no parts; start another one");
        self.settings.seed = seed;
        self.training()?.set_seed(seed);
        Ok(())
    }

    /// The same, of other examples. Nobody can interrupt it: from here on the run is of these.
    pub fn go_on_with(&mut self, given: Given, seed: Option<u64>) -> Result<()> {
        self.set_seed(seed)?;
        if self.training()?.go_on_with(given, seed, &())? {
            return Ok(());
        }
        let learnt = self.finish(&())?;
        self.model.put_in(learnt, &())?;
        self.in_parts = self.decisions.is_empty();
        let (model, settings) = (&mut self.model, self.settings.clone());
        let training = self.training.insert(Training::start(model, given, settings, self.in_parts, &())?);
        if training.is_whole() {
            // Or it would learn in a copy.
            *model = Model::zero(model.kind(), model.shape())?;
        }
        training.with(given, |run, problem, learner| {
            self.decisions.iter().try_for_each(|decision| run.end(problem, learner, *decision, &()))
        })
    }

    /// All that has been learnt, taken out: it learns no more.
    pub fn finish(&mut self, monitor: &dyn Monitor) -> Result<Learnt> {
        self.training.take().ok_or_else(is_over)?.finish(monitor)
    }

    /// What has been learnt so far. Once no decision goes on, nothing is copied that need not be.
    pub fn model(&mut self, monitor: &dyn Monitor) -> Result<Model> {
        if self.ended.is_none() && !self.training()?.has_ended() {
            let (mut model, learnt) = (self.model.clone(), self.training()?.learnt(monitor)?);
            model.put_in(learnt, monitor)?;
            return Ok(model);
        }
        if self.ended.is_none() {
            let mut learnt = self.finish(monitor)?;
            let passed = learnt.passed();
            self.model.put_in(learnt, monitor)?;
            self.ended = Some(passed);
        }
        Ok(self.model.clone())
    }

    /// What the settings track: to be asked for once, when the model has been given out after the end.
    pub fn tracked(&mut self, monitor: &dyn Monitor) -> Result<Passed> {
        match &mut self.ended {
            Some(passed) => Ok(std::mem::take(passed)),
            None => self.training()?.tracked(monitor),
        }
    }

    /// Whether the model has been given out after the end.
    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }
}
