//! A range of planes that train together: one thread runs it, one load of a row serves it.

use std::ops::Range;

use super::feed::{Monitor, feed};
use super::fit::{Report, Schedule, State};
use super::problem::Problem;
use super::rule::Rule;
use crate::error::{Error, Result};
use crate::rows::{Cursor, Head, Noise, Planes, Record, Stop, Visit};

/// What a decision (a plane, or all of them) did in one epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DecisionEpoch {
    pub decision: usize,
    pub mistakes: u64,
    pub loss: f64,
}

/// What a group did in one epoch.
pub(super) struct GroupEpoch {
    pub decisions: Vec<DecisionEpoch>,
    pub interrupted: bool,
}

pub(super) struct Group<'a> {
    first: usize,
    planes: Planes,
    rule: Box<dyn Rule + 'a>,
    /// Planes that have stopped, with their weights.
    frozen: Vec<(Head, Vec<f64>)>,
    /// Mistakes of this epoch and, if tracked, of each example (n x planes).
    mistakes: Vec<u64>,
    tally: Vec<i64>,
    settle: bool,
}

impl<'a> Group<'a> {
    /// Takes those planes of the range that are `running`.
    pub fn new(
        range: Range<usize>,
        running: &[bool],
        problem: &Problem,
        schedule: &Schedule,
        state: &State,
        rule: Box<dyn Rule + 'a>,
        noise: Option<Noise>,
    ) -> Self {
        let d = problem.rows.columns();
        let planes: Vec<usize> = range.clone().filter(|&k| running[problem.decision(k)]).collect();
        let heads = planes.iter().map(|&k| Head {
            plane: k as u32,
            positive: problem.positive[k],
            class_weight: problem.class_weight[k],
            intercept: state.intercept[k],
            seen: state.seen[k],
            loss: 0.0,
        });
        let width = problem.decision(range.end - 1) + 1 - problem.decision(range.start);
        let mut weights = Vec::with_capacity(planes.len() * d);
        for k in &planes {
            weights.extend_from_slice(&state.coef[k * d..][..d]);
        }
        let mut planes = Planes::new(heads.collect(), weights, d);
        planes.noise = noise;
        planes.record = schedule.record.then(|| Record {
            activations: vec![f64::NAN; problem.rows.len() * range.len()],
            first: range.start,
            width: range.len(),
        });
        if let Some(decay) = problem.decay() {
            planes.put_under(decay, &state.ages[range.start * d..][..d]);
        }
        let tally = if schedule.track_mistakes { problem.rows.len() * width } else { 0 };
        Self {
            first: problem.decision(range.start),
            planes,
            rule,
            frozen: Vec::new(),
            mistakes: vec![0; width],
            tally: vec![0; tally],
            settle: schedule.settle,
        }
    }

    pub fn has_stopped(&self) -> bool {
        self.planes.heads.is_empty()
    }

    /// Runs one epoch of the planes that go on.
    pub fn epoch(
        &mut self,
        problem: &Problem,
        order: Option<&[u32]>,
        epoch: u64,
        monitor: &dyn Monitor,
    ) -> Result<GroupEpoch> {
        // A class weight of 0 takes rows away from one plane; such a plane is a group of its own.
        let own_order = self.planes.heads.iter().find_map(|head| problem.without_weightless(head, order));
        let visit = Visit { order: own_order.as_deref().or(order), ..problem.visit() };
        self.rule.start_epoch(epoch);
        self.mistakes.fill(0);
        for head in &mut self.planes.heads {
            head.loss = 0.0;
        }
        let (first, width) = (self.first, self.mistakes.len());
        let (rule, mistakes, tally) = (&mut self.rule, &mut self.mistakes, &mut self.tally);
        let mut at = Cursor::default();
        let stop = feed(
            problem.rows,
            &visit,
            &mut at,
            visit.len(),
            &mut self.planes,
            &mut |log| {
                for mistake in log.iter().filter(|mistake| problem.counts(mistake)) {
                    let k = problem.decision(mistake.plane as usize) - first;
                    mistakes[k] += 1;
                    if let Some(count) = tally.get_mut(mistake.row as usize * width + k) {
                        *count += 1;
                    }
                }
                rule.absorb(problem.rows, &visit, log, monitor)
            },
            monitor,
        );
        if let Err(Error::Invalid(text)) = stop {
            return Err(Error::Invalid(text));
        }
        let mut interrupted = stop == Err(Error::Interrupted);
        if self.settle {
            self.planes.settle();
        }
        if stop == Ok(Stop::Overflow) || !self.planes.is_finite() || !self.rule.is_finite() {
            return Err(Error::Overflow { epoch });
        }
        if !interrupted {
            let clean = self.mistakes.iter().all(|&mistakes| mistakes == 0);
            let ended = self.rule.end_epoch(&visit, self.planes.heads[0].seen, clean, monitor);
            interrupted = ended == Err(Error::Interrupted);
        }
        let visited = at.pos.max(1) as f64;
        // Of a joint decision the first plane keeps the loss.
        let heads = self.planes.heads.iter().take(if problem.is_joint() { 1 } else { usize::MAX });
        let decisions = heads.map(|head| {
            let decision = problem.decision(head.plane as usize);
            let mistakes = self.mistakes[decision - first];
            DecisionEpoch { decision, mistakes, loss: head.loss / visited }
        });
        Ok(GroupEpoch { decisions: decisions.collect(), interrupted })
    }

    /// Freezes the planes that run no more. True if these were the last.
    pub fn freeze(&mut self, problem: &Problem, running: &[bool]) -> bool {
        let stopped = self.has_stopped();
        for i in (0..self.planes.heads.len()).rev() {
            if !running[problem.decision(self.planes.heads[i].plane as usize)] {
                self.frozen.push(self.planes.remove(i));
            }
        }
        !stopped && self.has_stopped()
    }

    /// Lets the rule know that no plane goes on. The first decision, if it was interrupted in this.
    pub fn end_training(&mut self, monitor: &dyn Monitor) -> Option<usize> {
        self.rule.end_training(monitor).is_err().then_some(self.first)
    }

    /// Writes the planes into the state, adds the counts of mistakes (n x all decisions) and puts
    /// down the activations (n x all planes).
    /// Returns what was kept of the examples.
    pub fn finish(mut self, problem: &Problem, state: &mut State, report: &mut Report) -> Option<Noise> {
        let (width, all) = (self.mistakes.len(), problem.decisions());
        let _ = self.freeze(problem, &vec![false; all]);
        let ages = self.planes.ages();
        for (head, weights) in self.frozen {
            let (k, d) = (head.plane as usize, weights.len());
            state.coef[k * d..][..d].copy_from_slice(&weights);
            if !ages.is_empty() {
                state.ages[k * d..][..d].copy_from_slice(&ages);
            }
            state.intercept[k] = head.intercept;
            state.seen[k] = head.seen;
        }
        for (out, counts) in report.mistakes_per_example.chunks_mut(all).zip(self.tally.chunks(width)) {
            for (out, count) in out[self.first..][..width].iter_mut().zip(counts) {
                *out += count;
            }
        }
        if let Some(Record { activations, first, width }) = self.planes.record {
            let rows = report.activations.chunks_mut(state.intercept.len());
            for (out, row) in rows.zip(activations.chunks(width)) {
                out[first..][..width].copy_from_slice(row);
            }
        }
        self.planes.noise
    }
}
