//! The structured perceptron on linear chains, for label sequences.
//!
//! - Problem: rows x1 ... xn in a sequence, labels y1 ... yn. Choose the labels with the largest score,
//!   the sum over tokens of `e[t][y_t] = emission[y_t].x_t` and `pair[y_(t-1)][y_t]`, plus a start and an
//!   end weight; pair is the transition, plus `pair[y'][y].x_t` where there are pair weights.
//! - Update rule: if the choice z is wrong, add c to all that y has and z has not, take c from all that z has
//!   and y has not, c = eta0; at the t-th sequence also t c to the sums u. Token by token, y before z.
//! - Given: rows, labels, lengths; eta0, a seed or none, epochs; the weights and sums to start from.
//! - Result: weights, sums, T; for each epoch the wrong sequences and wrong tokens.
//! - Paper: M. Collins, "Discriminative training methods for hidden Markov models", EMNLP 2002: figure 1,
//!   with the averaged parameters of section 2.5.

pub use super::prefix::Mending;

use super::epochs::Run;
use super::held_out::{Best, HeldOut};
use super::{EpochErrors, Report, Sequences, State, Stopped, Weights};
use crate::arith::environment::standard;
use crate::error::{Error, Result};
use crate::memory::{collected, refill};
use crate::online::{Flow, Monitor};
use crate::order::shuffle;
use crate::rows::Matrix;

/// What is to be learnt.
pub struct Chain<'a> {
    pub(super) rows: &'a dyn Matrix,
    pub(super) labels: &'a [u32],
    pub(super) sequences: &'a Sequences,
    /// Those to learn from.
    chosen: Vec<u32>,
    held_out: Option<HeldOut<'a>>,
    pub(super) eta: f64,
    pub(super) beam: Option<usize>,
    pub(super) mending: Mending,
}

/// How long, and in what order.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    pub seed: Option<u64>,
    pub first_epoch: u64,
    pub max_iter: u64,
    /// What an interrupted run has learnt is its result, instead of [`Error::Interrupted`].
    pub keep_on_interrupt: bool,
}

/// What is wanted of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Weights and sums: all that another run needs.
    State,
    /// The averages alone.
    Average,
    /// The last weights alone.
    Last,
}

/// Weights or, if that was wanted, averages; the sums u.
#[derive(Debug, Clone, PartialEq)]
pub struct Learnt {
    pub weights: Weights<'static>,
    pub sums: Option<Weights<'static>>,
    pub seen: u64,
}

impl<'a> Chain<'a> {
    pub fn new(
        rows: &'a dyn Matrix,
        labels: &'a [u32],
        sequences: &'a Sequences,
        eta: f64,
        beam: Option<usize>,
        mending: Mending,
    ) -> Result<Self> {
        if labels.len() != rows.len() {
            return Err(Error::Invalid(format!(
                "labels must have {} entries, one for each row, got {}",
                rows.len(),
                labels.len()
            )));
        }
        if !(eta.is_finite() && eta > 0.0) {
            return Err(Error::Invalid(format!("eta0 must be finite and above 0, got {eta}")));
        }
        check_beam(beam)?;
        if mending != Mending::Full && beam.is_none() {
            return Err(Error::Invalid("update must be \"full\" without a beam; give a beam".into()));
        }
        let chosen = collected(0..sequences.len() as u32)?;
        Ok(Self { rows, labels, sequences, chosen, held_out: None, eta, beam, mending })
    }

    /// Learns from some of the sequences alone: the orders are permutations of this list.
    pub fn only(mut self, chosen: &[u32]) -> Result<Self> {
        self.check_numbers("chosen", chosen)?;
        self.chosen = collected(chosen.iter().copied())?;
        Ok(self)
    }

    /// Returns what the best epoch has learnt, judged by other sequences, and stops when none is better.
    pub fn judged_by(mut self, held_out: HeldOut<'a>) -> Result<Self> {
        self.check_numbers("held_out", held_out.sequences)?;
        self.held_out = Some(held_out);
        Ok(self)
    }

    fn check_numbers(&self, name: &str, numbers: &[u32]) -> Result<()> {
        if let Some(i) = numbers.iter().find(|i| **i as usize >= self.sequences.len()) {
            return Err(Error::Invalid(format!(
                "{name} must be below the number of sequences, {}, got {i}",
                self.sequences.len()
            )));
        }
        Ok(())
    }

    fn check_labels(&self, labels: usize) -> Result<()> {
        match self.labels.iter().find(|label| **label as usize >= labels) {
            Some(label) => Err(Error::Invalid(format!("labels must be below {labels}, got {label}"))),
            None => Ok(()),
        }
    }
}

pub(super) fn check_beam(beam: Option<usize>) -> Result<()> {
    if beam == Some(0) {
        return Err(Error::Invalid("beam must be at least 1, got 0; None looks at all labels".into()));
    }
    Ok(())
}

/// Runs epochs until one is clean, no better one is waited for, `watch` breaks, or their number is up.
pub fn fit(
    chain: &Chain,
    schedule: &Schedule,
    state: &State,
    answer: Answer,
    monitor: &dyn Monitor,
    watch: &mut dyn FnMut(&EpochErrors) -> Result<Flow>,
) -> Result<(Learnt, Report)> {
    standard(|| run(chain, schedule, state, answer, monitor, watch))
}

fn run(
    chain: &Chain,
    schedule: &Schedule,
    state: &State,
    answer: Answer,
    monitor: &dyn Monitor,
    watch: &mut dyn FnMut(&EpochErrors) -> Result<Flow>,
) -> Result<(Learnt, Report)> {
    state.check(chain.rows.columns())?;
    chain.check_labels(state.weights.labels())?;
    let mut run = Run::new(chain, state)?;
    let mut report = Report::default();
    let mut best = Best::default();
    let mut order: Vec<u32> = Vec::new();
    let mut epoch = schedule.first_epoch;
    for number in schedule.first_epoch..schedule.first_epoch.saturating_add(schedule.max_iter) {
        epoch = number;
        refill(&mut order, chain.chosen.iter().copied())?;
        if let Some(seed) = schedule.seed {
            shuffle(&mut order, seed, epoch, 0);
        }
        let errors = run.epoch(&order, epoch, monitor)?;
        if errors.interrupted && !schedule.keep_on_interrupt {
            return Err(Error::Interrupted);
        }
        let mut told = EpochErrors::new(epoch, &errors);
        if errors.interrupted {
            report.add(&told, Stopped::Interrupt)?;
            break;
        }
        if let Some(held_out) = &chain.held_out {
            let overflow = || Error::Overflow { epoch };
            let predicting = if answer == Answer::Last { run.weights(|w, _| w) } else { run.averages() };
            let predicting = predicting?.ok_or_else(overflow)?;
            let wrong = match held_out.errors(chain, &predicting, monitor) {
                Err(Error::Interrupted) if schedule.keep_on_interrupt => {
                    report.add(&told, Stopped::Interrupt)?;
                    break;
                }
                wrong => wrong?,
            };
            told.held_out = Some(wrong);
            best.note(wrong, || match answer {
                Answer::State => learnt(&run, answer),
                Answer::Average | Answer::Last => {
                    Ok(Some(Learnt { weights: predicting, sums: None, seen: run.seen }))
                }
            })?;
        }
        let is_last = watch(&told)? == Flow::Break;
        let is_idle = chain.held_out.is_some_and(|held_out| best.is_over(held_out.patience));
        let stopped = match (errors.sequences == 0, is_idle, is_last) {
            (true, _, _) => Stopped::Clean,
            (_, true, _) => Stopped::HeldOut,
            (_, _, true) => Stopped::Callback,
            _ => Stopped::MaxIter,
        };
        report.add(&told, stopped)?;
        if stopped != Stopped::MaxIter {
            break;
        }
    }
    report.seen = run.seen;
    let learnt = match best.learnt {
        None => learnt(&run, answer)?,
        best => best,
    };
    learnt.map(|learnt| (learnt, report)).ok_or(Error::Overflow { epoch })
}

/// What has been learnt; `None`: an average is not finite.
fn learnt(run: &Run, answer: Answer) -> Result<Option<Learnt>> {
    let weights = if answer == Answer::Average { run.averages()? } else { run.weights(|w, _| w)? };
    let Some(weights) = weights else { return Ok(None) };
    let sums = if answer == Answer::State { run.weights(|_, u| u)? } else { None };
    Ok(Some(Learnt { weights, sums, seen: run.seen }))
}
