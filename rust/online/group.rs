//! A range of planes that train together: one thread runs it, one load of a row serves it.

use std::ops::Range;

use super::feed::{Monitor, feed};
use super::fit::{Schedule, State};
use super::problem::Problem;
use super::rule::Rule;
use super::stopping::{Criterion, Stopped};
use crate::error::{Error, Result};
use crate::rows::{Cursor, Head, Planes, Stop, Visit};

/// What a plane did in one epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlaneEpoch {
    pub plane: usize,
    pub mistakes: u64,
    pub loss: f64,
    pub stopped: Option<Stopped>,
}

pub(super) struct Group<'a> {
    first: usize,
    planes: Planes,
    rule: Box<dyn Rule + 'a>,
    criteria: Vec<Criterion>,
    /// Planes that have stopped, with their weights.
    frozen: Vec<(Head, Vec<f64>)>,
    /// Mistakes of this epoch and, if tracked, of each example (n x planes).
    mistakes: Vec<u64>,
    tally: Vec<i64>,
}

impl<'a> Group<'a> {
    pub fn new(
        range: Range<usize>,
        problem: &Problem,
        schedule: &Schedule,
        state: &State,
        rule: Box<dyn Rule + 'a>,
    ) -> Self {
        let d = problem.rows.columns();
        let heads = range.clone().map(|k| Head {
            plane: k as u32,
            positive: problem.positive[k],
            class_weight: problem.class_weight[k],
            intercept: state.intercept[k],
            seen: state.seen[k],
            loss: 0.0,
        });
        let tally = if schedule.track_mistakes { problem.rows.len() * range.len() } else { 0 };
        Self {
            first: range.start,
            planes: Planes::new(heads.collect(), state.coef[range.start * d..range.end * d].to_vec(), d),
            rule,
            criteria: vec![Criterion::new(schedule.tol, schedule.n_iter_no_change); range.len()],
            frozen: Vec::new(),
            mistakes: vec![0; range.len()],
            tally: vec![0; tally],
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
        (epoch, last): (u64, bool),
        monitor: &dyn Monitor,
    ) -> Result<Vec<PlaneEpoch>> {
        // A class weight of 0 takes rows away from one plane; such a plane is a group of its own.
        let own_order = self.planes.heads.iter().find_map(|head| problem.without_weightless(head, order));
        let visit = Visit { order: own_order.as_deref().or(order), ..problem.visit() };
        self.mistakes.fill(0);
        for head in &mut self.planes.heads {
            head.loss = 0.0;
        }
        let (first, width) = (self.first, self.mistakes.len());
        let (rule, mistakes, tally) = (&mut self.rule, &mut self.mistakes, &mut self.tally);
        let stop = feed(
            problem.rows,
            &visit,
            &mut Cursor::default(),
            visit.len(),
            &mut self.planes,
            &mut |log| {
                rule.absorb(problem.rows, log);
                for mistake in log {
                    let k = mistake.plane as usize - first;
                    mistakes[k] += 1;
                    if let Some(count) = tally.get_mut(mistake.row as usize * width + k) {
                        *count += 1;
                    }
                }
            },
            monitor,
        )?;
        if stop == Stop::Overflow || !self.planes.is_finite() || !self.rule.is_finite() {
            return Err(Error::Overflow { epoch });
        }
        Ok(self.judge(visit.len(), last))
    }

    fn judge(&mut self, visited: usize, last: bool) -> Vec<PlaneEpoch> {
        let mut done = Vec::new();
        for i in (0..self.planes.heads.len()).rev() {
            let head = &self.planes.heads[i];
            let plane = head.plane as usize;
            let loss = head.loss / visited.max(1) as f64;
            let mistakes = self.mistakes[plane - self.first];
            let stopped = self.criteria[plane - self.first].judge(mistakes, loss, last);
            if stopped.is_some() {
                self.frozen.push(self.planes.remove(i));
            }
            done.push(PlaneEpoch { plane, mistakes, loss, stopped });
        }
        done
    }

    /// Freezes what still goes on.
    pub fn freeze(&mut self) {
        while let Some(i) = self.planes.heads.len().checked_sub(1) {
            self.frozen.push(self.planes.remove(i));
        }
    }

    /// Writes the planes into the state and the counts into `tally` (n x all planes).
    pub fn finish(self, state: &mut State, tally: &mut [i64]) {
        let (width, all) = (self.mistakes.len(), state.intercept.len());
        for (head, weights) in self.frozen {
            let k = head.plane as usize;
            state.coef[k * weights.len()..][..weights.len()].copy_from_slice(&weights);
            state.intercept[k] = head.intercept;
            state.seen[k] = head.seen;
        }
        for (out, counts) in tally.chunks_mut(all).zip(self.tally.chunks(width)) {
            out[self.first..][..width].copy_from_slice(counts);
        }
    }
}
