//! A range of planes that train together: one thread runs it, one load of a row serves it.

use std::ops::Range;

use super::feed::{Monitor, feed};
use super::fit::{Report, Schedule, State};
use super::problem::Problem;
use super::rule::Rule;
use crate::error::{Error, Result};
use crate::rows::{Cursor, Head, Planes, Record, Stop, Visit};

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

pub(super) struct Group {
    first: usize,
    planes: Planes,
    /// Planes that have stopped, with their weights.
    frozen: Vec<(Head, Vec<f64>)>,
    /// Mistakes of this epoch and, if tracked, of each example (n x planes).
    mistakes: Vec<u64>,
    tally: Vec<i64>,
    settle: bool,
}

/// Whether the run was interrupted; any other error is one.
fn was_interrupted(done: Result<()>) -> Result<bool> {
    match done {
        Ok(()) => Ok(false),
        Err(Error::Interrupted) => Ok(true),
        Err(error) => Err(error),
    }
}

impl Group {
    pub fn new(range: Range<usize>, problem: &Problem, schedule: &Schedule, state: &State) -> Self {
        let d = problem.rows.columns();
        let heads = range.clone().map(|k| Head {
            plane: k as u32,
            positive: problem.positive[k],
            class_weight: problem.class_weight[k],
            intercept: state.intercept[k],
            seen: state.seen[k],
            loss: 0.0,
        });
        let width = problem.decision(range.end - 1) + 1 - problem.decision(range.start);
        let weights = state.coef[range.start * d..range.end * d].to_vec();
        let mut planes = Planes::new(heads.collect(), weights, d);
        planes.noise = problem.noise(&range);
        planes.record = schedule.record.then(|| Record {
            activations: vec![f64::NAN; problem.rows.len() * range.len()],
            first: range.start,
            width: range.len(),
        });
        if let (Some(decay), Some(ages)) = (problem.decay(), &state.ages) {
            planes.put_under(decay, &ages[range.start * d..][..d]);
        }
        let tally = if schedule.track_mistakes { problem.rows.len() * width } else { 0 };
        Self {
            first: problem.decision(range.start),
            planes,
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
        rule: &mut dyn Rule,
        problem: &Problem,
        order: Option<&[u32]>,
        epoch: u64,
        monitor: &dyn Monitor,
    ) -> Result<GroupEpoch> {
        // A class weight of 0 takes rows away from one plane; such a plane is a group of its own.
        let own_order = self.planes.heads.iter().find_map(|head| problem.without_weightless(head, order));
        let visit = Visit { order: own_order.as_deref().or(order), ..problem.visit() };
        rule.start_epoch(epoch);
        self.mistakes.fill(0);
        for head in &mut self.planes.heads {
            head.loss = 0.0;
        }
        let (first, width) = (self.first, self.mistakes.len());
        let (mistakes, tally) = (&mut self.mistakes, &mut self.tally);
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
        let mut interrupted = match stop {
            Ok(Stop::Block) => false,
            Ok(Stop::Overflow) => return Err(Error::Overflow { epoch }),
            Ok(Stop::Failed | Stop::Limit) => unreachable!("feed and the rows go on after these, or fail"),
            Err(error) => was_interrupted(Err(error))?,
        };
        if self.settle {
            self.planes.settle();
        }
        if !self.planes.is_finite() || !rule.is_finite() {
            return Err(Error::Overflow { epoch });
        }
        if !interrupted {
            let clean = self.mistakes.iter().all(|&mistakes| mistakes == 0);
            let ended = rule.end_epoch(&visit, self.planes.heads[0].seen, clean, monitor);
            interrupted = was_interrupted(ended)?;
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
    pub fn end_training(&self, rule: &mut dyn Rule, monitor: &dyn Monitor) -> Result<Option<usize>> {
        Ok(was_interrupted(rule.end_training(monitor))?.then_some(self.first))
    }

    /// Writes the planes into the state as they are now.
    pub fn write(&self, state: &mut State) {
        let ages = self.planes.ages();
        let mut put = |head: &Head, weights: &[f64]| {
            let (k, d) = (head.plane as usize, weights.len());
            state.coef[k * d..][..d].copy_from_slice(weights);
            if let (Some(all), Some(ages)) = (&mut state.ages, &ages) {
                all[k * d..][..d].copy_from_slice(ages);
            }
            state.intercept[k] = head.intercept;
            state.seen[k] = head.seen;
        };
        self.frozen.iter().for_each(|(head, weights)| put(head, weights));
        for (i, head) in self.planes.heads.iter().enumerate() {
            put(head, &self.planes.plane(i));
        }
    }

    /// Writes the planes into the state, adds the counts of mistakes (n x all decisions) and puts
    /// down the activations (n x all planes).
    pub fn finish(self, problem: &Problem, state: &mut State, report: &mut Report) {
        self.write(state);
        let (width, all) = (self.mistakes.len(), problem.decisions());
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
    }
}
