//! A range of planes that train together: one thread runs it, one load of a row serves it.

use std::ops::Range;

use super::feed::feed;
use super::problem::Problem;
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, filled};
use crate::monitor::{self, Monitor, unless_interrupted};
use crate::online::rule::Rule;
use crate::online::run::State;
use crate::rows::{Activations, Cursor, Head, Planes, Stop, Visit, Weights, in_tiles};

/// A plane that goes on no more.
struct Ended {
    head: Head,
    weights: Vec<f64>,
    ages: Option<Vec<i64>>,
}

pub(in crate::online) struct Group {
    /// The first decision.
    first: usize,
    planes: Planes,
    ended: Vec<Ended>,
    /// Mistakes of this epoch and, if tracked, of each example (n x decisions).
    mistakes: Vec<i64>,
    tally: Vec<i64>,
    /// How many examples this epoch has visited, and whether it was broken off.
    visited: usize,
    pub interrupted: bool,
}

impl Group {
    /// `weights` are those of the planes, out of the state.
    pub fn new(
        range: Range<usize>,
        problem: &Problem,
        state: &State,
        weights: Vec<f64>,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let (settings, n, d) = (problem.settings, problem.examples.len(), problem.examples.columns());
        let heads = range.clone().map(|k| Head {
            plane: k as u32,
            positive: settings.positive[k],
            class_weight: settings.class_weight[k],
            intercept: state.intercept[k],
            seen: state.seen[k],
            loss: 0.0,
        });
        let decisions = problem.decision(range.end - 1) + 1 - problem.decision(range.start);
        let mut planes = Planes::new(collected(heads)?, weights, d);
        planes.noise = problem.noise(&range, monitor)?;
        if settings.track_activations {
            let values = monitor::filled(&f64::NAN, n.saturating_mul(range.len()), monitor)?;
            planes.activations = Some(Activations { values, first: range.start, width: range.len() });
        }
        if let (Some(decay), Some(ages)) = (problem.decay()?, &state.ages) {
            planes.put_under(decay, &ages[range.start * d..][..d], monitor)?;
        }
        let tally = if settings.track_mistakes { n.saturating_mul(decisions) } else { 0 };
        Ok(Self {
            first: problem.decision(range.start),
            planes,
            ended: Vec::new(),
            mistakes: filled(0, decisions)?,
            tally: monitor::filled(&0, tally, monitor)?,
            visited: 0,
            interrupted: false,
        })
    }

    pub fn goes_on_with(&self, problem: &Problem, decision: usize) -> bool {
        !self.places_of(problem, decision).is_empty()
    }

    pub fn has_ended(&self) -> bool {
        self.planes.heads.is_empty()
    }

    pub fn has_ended_in_part(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Runs one epoch of the planes that go on.
    pub fn epoch(
        &mut self,
        problem: &Problem,
        rule: &mut dyn Rule,
        visit: Visit,
        epoch: u64,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        // A class weight of 0 takes rows away from one plane; such a plane is a group of its own.
        let own_order = match &self.planes.heads[..] {
            [head] => unless_interrupted(problem.without_weightless(head, visit.order, monitor))?,
            _ => Some(None),
        };
        let Some(own_order) = own_order else {
            (self.visited, self.interrupted) = (0, true);
            return Ok(());
        };
        let visit = Visit { order: own_order.as_deref().or(visit.order), ..visit };
        rule.start_epoch(epoch);
        self.mistakes.fill(0);
        for head in &mut self.planes.heads {
            head.loss = 0.0;
        }
        let (first, width) = (self.first, self.mistakes.len());
        let (mistakes, tally) = (&mut self.mistakes, &mut self.tally);
        let mut at = Cursor::default();
        let fed = feed(
            problem.examples,
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
                rule.absorb(&visit, log, monitor)
            },
            monitor,
        );
        let mut stop = unless_interrupted(fed)?;
        if problem.settings.settle && unless_interrupted(self.planes.settle(monitor))?.is_none() {
            stop = None; // what is pending still stays so
        }
        if stop == Some(Stop::Overflow) || !self.planes.is_finite() || !rule.is_finite() {
            return Err(Error::Overflow { epoch });
        }
        self.visited = at.pos;
        self.interrupted = stop.is_none();
        if !self.interrupted {
            let ended = rule.end_epoch(&visit, self.planes.heads[0].seen, monitor);
            self.interrupted = unless_interrupted(ended)?.is_none();
        }
        Ok(())
    }

    /// The number, the mistakes and the mean loss of each decision that goes on, in this epoch.
    pub fn results(&self, problem: &Problem) -> impl Iterator<Item = (usize, i64, f64)> {
        let visited = self.visited.max(1) as f64;
        // Of a joint decision the first plane keeps the loss.
        let heads = self.planes.heads.iter().take(if problem.is_joint() { 1 } else { usize::MAX });
        heads.map(move |head| {
            let decision = problem.decision(head.plane as usize);
            (decision, self.mistakes[decision - self.first], head.loss / visited)
        })
    }

    /// Before planes are looked at or end.
    pub fn bring_by_plane(&mut self, monitor: &dyn Monitor) -> Result<()> {
        self.planes.make_by_plane(monitor)
    }

    /// Some of the planes that go on, with their weights.
    pub fn planes(&self, places: Range<usize>, d: usize) -> impl Iterator<Item = (&Head, &[f64])> {
        let Weights::ByPlane(w) = &self.planes.weights else { unreachable!("brought into that form before") };
        places.map(move |i| (&self.planes.heads[i], &w[i * d..][..d]))
    }

    /// Moves planes to those that have ended. After an interrupt this can go on.
    pub fn end(&mut self, places: Range<usize>, monitor: &dyn Monitor) -> Result<()> {
        for i in places.rev() {
            monitor.pause()?;
            let ages = self.planes.ages(monitor)?;
            let (head, weights) = self.planes.remove(i)?;
            self.ended.try_push(Ended { head, weights, ages })?;
        }
        Ok(())
    }

    /// Those that go on.
    pub fn places(&self) -> Range<usize> {
        0..self.planes.heads.len()
    }

    /// Where the planes of a decision stand among those that go on, which are in order.
    pub fn places_of(&self, problem: &Problem, decision: usize) -> Range<usize> {
        let heads = &self.planes.heads;
        let first = heads.partition_point(|head| problem.decision(head.plane as usize) < decision);
        let last = heads.partition_point(|head| problem.decision(head.plane as usize) <= decision);
        first..last
    }

    /// Puts the numbers of the planes where they belong; weights only where there is room for them.
    pub fn write(&self, state: &mut State, d: usize, monitor: &dyn Monitor) -> Result<()> {
        let wanted = !state.coef.is_empty();
        for Ended { head, weights, ages } in &self.ended {
            write_head(head, ages.as_deref(), state, monitor)?;
            if wanted {
                let coef = &mut state.coef[head.plane as usize * d..][..d];
                in_tiles(d, 1, monitor, |tile| coef[tile.clone()].copy_from_slice(&weights[tile]))?;
            }
        }
        let ages = self.planes.ages(monitor)?;
        for head in &self.planes.heads {
            monitor.pause()?;
            write_head(head, ages.as_deref(), state, monitor)?;
        }
        if !wanted {
            return Ok(());
        }
        in_tiles(d, self.planes.heads.len(), monitor, |tile| {
            for (i, head) in self.planes.heads.iter().enumerate() {
                let plane = &mut state.coef[head.plane as usize * d..][..d];
                self.planes.copy_plane(i, tile.clone(), &mut plane[tile.clone()]);
            }
        })
    }

    /// The weights of the planes that go on, K x d; nothing else is done with the group afterwards.
    pub fn take_weights(&mut self, monitor: &dyn Monitor) -> Result<Vec<f64>> {
        self.planes.take_by_plane(monitor)
    }

    /// Mistakes of each example, and how many decisions there are.
    pub fn tally(&self) -> (&[i64], usize) {
        (&self.tally, self.mistakes.len())
    }

    /// Activations of each example, and how many planes there are.
    pub fn activations(&self) -> (&[f64], usize) {
        self.planes.activations.as_ref().map_or((&[], 1), |kept| (&kept.values, kept.width))
    }
}

/// All but the weights of a plane.
fn write_head(head: &Head, ages: Option<&[i64]>, state: &mut State, monitor: &dyn Monitor) -> Result<()> {
    let k = head.plane as usize;
    (state.intercept[k], state.seen[k]) = (head.intercept, head.seen);
    if let (Some(all), Some(ages)) = (&mut state.ages, ages) {
        let all = &mut all[k * ages.len()..][..ages.len()];
        in_tiles(ages.len(), 1, monitor, |tile| all[tile.clone()].copy_from_slice(&ages[tile]))?;
    }
    Ok(())
}
