//! A range of planes that train together: one thread runs it, one load of a row serves it.

use std::ops::Range;

use super::problem::Problem;
use crate::arith::finite::LARGE;
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, filled};
use crate::monitor::{self, Monitor, copied, unless_interrupted};
use crate::online::rule::Rule;
use crate::online::run::State;
use crate::rows::{
    Activations, Cursor, Examples, Head, Mistake, Planes, Stop, Table, Undo, Visit, WIDE, Weights, in_tiles,
};

pub(in crate::online) struct Group {
    first: usize,
    range: Range<usize>,
    /// Planes that have not left, and which of them go on: the others leave before the next epoch.
    planes: Planes,
    going: Vec<bool>,
    /// Planes that have left, with their ages.
    left: Vec<(Head, Option<Vec<i64>>)>,
    /// Once some have left, the weights of all planes of the range: of the others as they were then.
    all: Option<Table>,
    /// No weight is larger; infinite: nobody has looked.
    most: f64,
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
        weights: Table,
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
        let most = weights.most();
        let mut planes = Planes::new(collected(heads)?, weights);
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
            going: filled(true, range.len())?,
            range,
            planes,
            left: Vec::new(),
            all: None,
            most,
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
        !self.going.contains(&true)
    }

    pub fn has_any_to_leave(&self) -> bool {
        self.going.contains(&false)
    }

    /// Runs one epoch of the planes that go on, or a part of one; `losses` are the sums before it, by decisions.
    pub fn epoch(
        &mut self,
        problem: &Problem,
        rule: &mut dyn Rule,
        visit: Visit,
        (epoch, losses): (u64, &[f64]),
        monitor: &dyn Monitor,
    ) -> Result<()> {
        (self.visited, self.interrupted) = (0, true);
        self.mistakes.fill(0);
        for head in &mut self.planes.heads {
            head.loss = losses[problem.decision(head.plane as usize)];
        }
        if unless_interrupted(self.part(monitor))?.is_none() {
            return Ok(());
        }
        // A class weight of 0 takes rows away from one plane; such a plane is a group of its own.
        let own_order = match &self.planes.heads[..] {
            [head] => unless_interrupted(problem.without_weightless(head, visit.order, monitor))?,
            _ => Some(None),
        };
        let Some(own_order) = own_order else { return Ok(()) };
        let visit = Visit { order: own_order.as_deref().or(visit.order), ..visit };
        rule.start_epoch(epoch);
        let (first, width) = (self.first, self.mistakes.len());
        let (mistakes, tally) = (&mut self.mistakes, &mut self.tally);
        let (mut at, mut moved, mut updates) = (Cursor::default(), 0.0, 0_usize);
        let fed = feed(
            problem.examples,
            &visit,
            &mut at,
            visit.len(),
            &mut self.planes,
            &mut |log| {
                moved += log.iter().fold(0.0, |moved, mistake| moved + mistake.c.abs());
                updates += log.len();
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
        // Each of the sums is rounded, each time by less than one part in 2^52.
        let rounded = 1.0 + (updates + 4) as f64 * f64::EPSILON;
        let most = (self.most + moved * problem.examples.largest()) * rounded;
        self.most = if problem.settings.penalty.is_none() && most <= LARGE { most } else { f64::INFINITY };
        if stop == Some(Stop::Overflow) || !self.is_finite() || !rule.is_finite() {
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

    /// How many examples each decision that goes on has visited in this epoch.
    pub fn visited(&self) -> usize {
        self.visited
    }

    /// The number, the mistakes and the sum of losses of each decision that goes on, in this epoch.
    pub fn results(&self, problem: &Problem) -> impl Iterator<Item = (usize, i64, f64)> {
        // Of a joint decision the first plane keeps the loss.
        let heads = self.going(self.places()).take(if problem.is_joint() { 1 } else { usize::MAX });
        heads.map(move |(_, head)| {
            let decision = problem.decision(head.plane as usize);
            (decision, self.mistakes[decision - self.first], head.loss)
        })
    }

    /// Whether all weights and intercepts are finite: known by their bound, or by a look at them.
    fn is_finite(&self) -> bool {
        let intercepts = self.planes.heads.iter().all(|head| head.intercept.is_finite());
        intercepts && (self.most.is_finite() || self.planes.is_finite())
    }

    /// Before an epoch: planes that have ended leave. After an interrupt this can go on.
    fn part(&mut self, monitor: &dyn Monitor) -> Result<()> {
        if !self.has_any_to_leave() {
            return Ok(());
        }
        let ages = self.planes.ages(monitor)?;
        let (mut heads, mut left) = (Vec::new(), Vec::new());
        for (head, going) in self.planes.heads.iter().zip(&self.going) {
            if *going {
                heads.try_push(head.clone())?;
            } else {
                left.try_push((head.clone(), ages.as_ref().map(|ages| copied(ages, monitor)).transpose()?))?;
            }
        }
        let (count, going) = (heads.len(), filled(true, heads.len())?);
        self.left.try_reserve(left.len())?;
        self.write_back(monitor)?;
        let (all, is_first) = match self.all.take() {
            Some(all) => (all, false),
            None => (self.planes.take(monitor)?, true),
        };
        let places = heads.iter().map(|head| head.plane as usize - self.range.start);
        match all.some(places.zip(0..), count, all.layout(), monitor) {
            Ok(weights) => {
                self.left.extend(left);
                self.planes.replace(heads, weights);
                (self.going, self.all) = (going, Some(all));
                Ok(())
            }
            Err(error) => {
                if is_first {
                    let heads = std::mem::take(&mut self.planes.heads);
                    self.planes.replace(heads, all);
                } else {
                    self.all = Some(all);
                }
                Err(error)
            }
        }
    }

    /// Once some have left: the weights of the others are among all.
    fn write_back(&mut self, monitor: &dyn Monitor) -> Result<()> {
        let Some(all) = &mut self.all else { return Ok(()) };
        let places = self.planes.heads.iter().map(|head| head.plane as usize - self.range.start);
        self.planes.write((0..).zip(places), all, monitor)
    }

    /// Those of some planes that go on, with their places.
    pub fn going(&self, places: Range<usize>) -> impl Iterator<Item = (usize, &Head)> {
        places.filter(|i| self.going[*i]).map(|i| (i, &self.planes.heads[i]))
    }

    pub fn most(&self) -> f64 {
        self.most
    }

    pub fn plane(&self, place: usize) -> Result<Vec<f64>> {
        self.planes.plane(place)
    }

    pub fn end(&mut self, places: Range<usize>) {
        self.going[places].fill(false);
    }

    /// Those that have not left.
    pub fn places(&self) -> Range<usize> {
        0..self.planes.heads.len()
    }

    /// Where the planes of a decision that goes on stand among those, which are in order.
    pub fn places_of(&self, problem: &Problem, decision: usize) -> Range<usize> {
        let heads = &self.planes.heads;
        let first = heads.partition_point(|head| problem.decision(head.plane as usize) < decision);
        let last = heads.partition_point(|head| problem.decision(head.plane as usize) <= decision);
        if self.going.get(first) == Some(&true) { first..last } else { first..first }
    }

    /// Puts all but the weights where they belong.
    pub fn write_heads(&self, state: &mut State, monitor: &dyn Monitor) -> Result<()> {
        for (head, ages) in &self.left {
            write_head(head, ages.as_deref(), state, monitor)?;
        }
        let ages = self.planes.ages(monitor)?;
        for head in &self.planes.heads {
            monitor.pause()?;
            write_head(head, ages.as_deref(), state, monitor)?;
        }
        Ok(())
    }

    /// Puts the weights of its planes where they belong in a table that begins with this plane.
    pub fn write(&self, start: usize, to: &mut Table, monitor: &dyn Monitor) -> Result<()> {
        if let Some(all) = &self.all {
            let left = self.left.iter().map(|(head, _)| head.plane as usize);
            all.write(left.map(|k| (k - self.range.start, k - start)), to, monitor)?;
        }
        let places = self.planes.heads.iter().map(|head| head.plane as usize - start);
        self.planes.write((0..).zip(places), to, monitor)
    }

    /// A copy of the weights of all its planes.
    pub fn table(&self, monitor: &dyn Monitor) -> Result<Table> {
        let mut table = match &self.all {
            Some(all) => all.copy(monitor)?,
            None => return Ok(self.planes.table(monitor)?.at_most(self.most)),
        };
        self.write(self.range.start, &mut table, monitor)?;
        Ok(table.at_most(self.most))
    }

    /// The same, taken out: nothing else is done with the group afterwards.
    pub fn take(&mut self, monitor: &dyn Monitor) -> Result<Table> {
        self.write_back(monitor)?;
        let all = self.all.take();
        let table = all.map_or_else(|| self.planes.take(monitor), Ok)?;
        Ok(table.at_most(self.most))
    }

    pub fn keep_undo(&mut self) {
        self.planes.keep_undo();
    }

    /// What has changed since then.
    pub fn undo(&self) -> Option<&Undo> {
        self.planes.undo.as_ref()
    }

    /// The weights of those that have not left, as they stand, if they are floats.
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.planes.weights {
            Weights::Float(table) => table.numbers(),
            _ => None,
        }
    }

    /// The weights, of which none has left, as they are, or as they were when undo began to be kept.
    pub fn take_table(&mut self, as_before: bool) -> Table {
        if as_before {
            self.planes.take_back();
        }
        self.planes.take(&()).unwrap_or_default().at_most(self.most) // these are floats, of which nothing is made
    }

    /// Mistakes of each example, and how many decisions there are.
    pub fn tally(&self) -> (&[i64], usize) {
        (&self.tally, self.mistakes.len())
    }

    /// All of both, at the end.
    pub fn take_tracked(&mut self) -> (Vec<i64>, Vec<f64>) {
        let activations = self.planes.activations.take().map(|kept| kept.values);
        (std::mem::take(&mut self.tally), activations.unwrap_or_default())
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
        in_tiles(ages.len(), [1, WIDE], monitor, |tile| all[tile.clone()].copy_from_slice(&ages[tile]))?;
    }
    Ok(())
}

/// Runs from the cursor to position `end`: learn a block, let `absorb` see its log, ask the
/// monitor. The caller computes in the standard environment. After an `Ok` the cursor, the planes and
/// the rule's memory are a checkpoint.
pub fn feed(
    examples: &dyn Examples,
    visit: &Visit,
    at: &mut Cursor,
    end: usize,
    planes: &mut Planes,
    absorb: &mut dyn FnMut(&[Mistake]) -> Result<()>,
    monitor: &dyn Monitor,
) -> Result<Stop> {
    let block = examples.block(planes.heads.len());
    let mut log = Vec::new();
    if at.pos < end {
        planes.level(monitor)?;
    }
    examples.prepare(visit, planes, monitor)?;
    while at.pos < end {
        let stop = examples.learn(visit, at, end.min(at.pos + block), planes, &mut log)?;
        absorb(&log)?;
        log.clear();
        match stop {
            Stop::Block => {}
            Stop::Limit => examples.prepare(visit, planes, monitor)?,
            Stop::Overflow | Stop::Memory => return Ok(stop),
        }
        monitor.pause()?;
    }
    Ok(Stop::Block)
}
