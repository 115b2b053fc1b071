//! A run: epochs one by one, on weights that stay in the form of their storage in between.
//!
//! Whoever calls decides which epoch comes next, and which decisions go on.

pub mod group;
pub mod problem;

use std::ops::Range;

use crate::arith::{environment::standard, step::start};
use crate::base::{
    Error, Monitor, Result, bail, copied, ensure, filled, pieces, refill, same, unless_interrupted, with_room,
};
use crate::error::probe_memory;
use crate::monitor::{self, all};
use crate::online::{model::Passed, rule::Learner};
use crate::order::shuffle;
use crate::rows::{Layout, Table, Tolerance, Undo, Visit};
use crate::threads::share_out;
use group::Group;
use problem::{Problem, Settings};

/// The numbers of K planes, on their way from a model to a run and back: `coef` is K x columns.
#[derive(Clone, Default)]
pub struct State {
    pub coef: Table,
    pub intercept: Vec<f64>,
    /// Examples seen since the last cold start.
    pub seen: Vec<u64>,
    /// Examples whose penalty is pending, K x columns, if there is a penalty.
    pub ages: Option<Vec<i64>>,
}

/// What an epoch did, by decisions (a plane each, or all planes together); 0 for one that has ended before.
#[derive(Debug, Clone, PartialEq)]
pub struct Epoch {
    pub mistakes: Vec<i64>,
    /// Mean losses.
    pub losses: Vec<f64>,
    /// What learning shall lower: the mean losses, unless the learner says otherwise.
    pub objectives: Vec<f64>,
    /// The monitor broke it off: what was learnt up to the last block is kept.
    pub interrupted: bool,
}

/// What a part of an epoch did, by decisions; the other examples of the epoch are in other runs.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochPart {
    pub mistakes: Vec<i64>,
    /// Sums of the losses, with those of the parts before.
    pub losses: Vec<f64>,
    /// Examples that were visited; 0 for one that has ended before.
    pub visits: Vec<usize>,
    pub interrupted: bool,
}

impl Epoch {
    /// In which none of so many decisions goes on.
    pub fn of_none(decisions: usize) -> Result<Self> {
        let (losses, objectives) = (filled(0.0, decisions)?, filled(0.0, decisions)?);
        Ok(Self { mistakes: filled(0, decisions)?, losses, objectives, interrupted: false })
    }

    /// Of a run of one decision, which lowers its loss.
    pub fn of_one_decision(mistakes: i64, loss: f64, interrupted: bool) -> Result<Self> {
        let (losses, objectives) = (filled(loss, 1)?, filled(loss, 1)?);
        Ok(Self { mistakes: filled(mistakes, 1)?, losses, objectives, interrupted })
    }
}

/// Between two epochs all of it is plain data. It is always used with the problem and the learner that it was
/// started with, and not at all after an error.
pub struct Run {
    groups: Vec<Group>,
    columns: usize,
    /// How weights of several groups stand together.
    layout: Layout,
    ranges: Vec<Range<usize>>,
    /// Rows with a weight above 0 for some plane; `None`: all.
    weighted: Option<Vec<u32>>,
    /// Where orders are drawn.
    order: Vec<u32>,
    /// `x·x` of every row, if steps are made of it.
    squares: Vec<f64>,
    epoch: u64,
    interrupted: bool,
    with_ages: bool,
}

/// Bytes that a run needs at once, at most: the weights, twice if they become numbers of another kind; of each
/// example its square, its mistakes (those of each group and of all), and what tolerates noise.
fn memory(problem: &Problem, weights: usize) -> Option<usize> {
    let (n, settings) = (problem.examples.len(), problem.settings);
    let counts = if settings.track_mistakes { 16 } else { 0 };
    let squares = if settings.aggressive.is_some() { 8 * n } else { 0 };
    let examples = n.checked_mul(settings.decisions())?.checked_mul(counts + problem.noise_bytes())?;
    let recorded = if settings.track_activations { n.checked_mul(settings.planes())? } else { 0 };
    let examples = examples.checked_add(squares)?.checked_add(recorded.checked_mul(16)?)?;
    examples.checked_add(weights.checked_mul(if problem.is_in_floats() { 8 } else { 16 })?)
}

impl Run {
    /// Checks the state; the learner may look at all examples.
    pub fn start(
        problem: &Problem,
        mut state: State,
        learner: &mut dyn Learner,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        standard(|| {
            check_state(problem, &state)?;
            learner.check(&state)?;
            check_penalty(problem, &state, learner, monitor)?;
            check_alone(problem, learner)?;
            let [planes, columns] = state.coef.shape();
            probe_memory(planes.checked_mul(columns).and_then(|weights| memory(problem, weights)))?;
            if state.coef.most().is_infinite() {
                monitor::each(state.coef.own(monitor)?, |w| *w = start(*w), monitor)?;
            }
            for b in &mut state.intercept {
                *b = start(*b);
            }
            let settings = problem.settings;
            learner.begin(problem, settings.threads, monitor)?;
            let alone = learner.one_plane_at_a_time();
            let most = if alone { planes } else { settings.threads };
            let ranges = problem.ranges(most, state.ages.as_deref().unwrap_or_default(), monitor)?;
            let layout = if alone { Layout::ByPlane } else { problem.examples.layout() };
            let mut groups = with_room(ranges.len())?;
            for range in &ranges {
                let weights = if ranges.len() == 1 {
                    std::mem::take(&mut state.coef)
                } else {
                    let places = range.clone().map(|k| (k, k - range.start));
                    state.coef.some(places, range.len(), layout, monitor)?
                };
                groups.push(Group::new(range.clone(), problem, &state, weights, monitor)?);
            }
            Ok(Self {
                groups,
                columns,
                layout,
                ranges,
                weighted: problem.weighted(monitor)?,
                order: Vec::new(),
                squares: problem.squares(monitor)?,
                epoch: 0,
                interrupted: false,
                with_ages: state.ages.is_some(),
            })
        })
    }

    /// Goes on with other examples, which stand alike, in the place of those of before.
    pub(in crate::online) fn go_on_with(&mut self, problem: &Problem, monitor: &dyn Monitor) -> Result<()> {
        let (settings, columns) = (problem.settings, problem.examples.columns());
        ensure!(columns == self.columns, "rows must have {} columns, got {columns}", self.columns);
        if settings.track_mistakes || settings.track_activations || problem.noise_bytes() > 0 {
            bail!("a run over parts keeps nothing of each example: neither its mistakes nor activations");
        }
        (self.weighted, self.squares) = (problem.weighted(monitor)?, problem.squares(monitor)?);
        Ok(())
    }

    /// Runs the epoch of this number, which chooses its order.
    pub fn epoch(
        &mut self,
        problem: &Problem,
        learner: &mut dyn Learner,
        number: u64,
        monitor: &dyn Monitor,
    ) -> Result<Epoch> {
        let decisions = problem.settings.decisions();
        let none = filled(0.0, decisions)?;
        let EpochPart { mistakes, mut losses, visits, interrupted } =
            self.part(problem, learner, number, &none, monitor)?;
        standard(|| {
            for (loss, visited) in losses.iter_mut().zip(visits) {
                *loss /= visited.max(1) as f64;
            }
        });
        let mut objectives = filled(0.0, decisions)?;
        for group in self.groups.iter().filter(|group| !group.has_ended()) {
            for (decision, ..) in group.results(problem) {
                objectives[decision] = learner.objective(decision).unwrap_or(losses[decision]);
            }
        }
        Ok(Epoch { mistakes, losses, objectives, interrupted })
    }

    /// Runs a part of the epoch of this number, the order of which this number chooses, too; `losses` are the
    /// sums of the parts before it, by decisions. In the order of the visits the sums have the bits of a run
    /// over all parts.
    pub fn part(
        &mut self,
        problem: &Problem,
        learner: &mut dyn Learner,
        number: u64,
        losses: &[f64],
        monitor: &dyn Monitor,
    ) -> Result<EpochPart> {
        standard(|| {
            self.epoch = number;
            let decisions = problem.settings.decisions();
            ensure!(losses.len() == decisions, "losses must have {decisions} entries, got {}", losses.len());
            let mut done = EpochPart {
                mistakes: filled(0, decisions)?,
                losses: copied(losses, &())?,
                visits: filled(0, decisions)?,
                interrupted: false,
            };
            if unless_interrupted(self.draw_order(problem, number, monitor))?.is_none() {
                (self.interrupted, done.interrupted) = (true, true);
                return Ok(done);
            }
            let order = match problem.settings.seed {
                Some(_) => Some(&self.order[..]),
                None => self.weighted.as_deref(),
            };
            let visit = Visit { order, ..problem.visit(&self.squares) };
            {
                let rules = learner.split(&self.ranges, problem)?;
                let going = self.groups.iter_mut().zip(rules).filter(|(group, _)| !group.has_ended());
                let threads = problem.settings.threads.min(self.ranges.len());
                share_out(going, threads, monitor, |(group, mut rule)| {
                    group.epoch(problem, &mut *rule, visit, (number, losses), monitor)
                })?;
            }
            for group in self.groups.iter().filter(|group| !group.has_ended()) {
                done.interrupted |= group.interrupted;
                for (decision, mistakes, loss) in group.results(problem) {
                    done.mistakes[decision] = mistakes;
                    done.losses[decision] = loss;
                    done.visits[decision] = group.visited();
                }
            }
            self.interrupted = done.interrupted;
            Ok(done)
        })
    }

    fn draw_order(&mut self, problem: &Problem, number: u64, monitor: &dyn Monitor) -> Result<()> {
        let Some(seed) = problem.settings.seed else { return Ok(()) };
        // A permutation of positions among the rows with a weight, so always of a fresh ascending list.
        match &self.weighted {
            Some(rows) => refill(&mut self.order, rows.len(), |i| rows[i], monitor)?,
            None => refill(&mut self.order, problem.examples.len(), |i| i as u32, monitor)?,
        }
        shuffle(&mut self.order, (seed, number, problem.settings.partition), monitor)
    }

    /// A decision goes on no more: its weights and counters stay as they are, and its answer is checked.
    pub fn end(
        &mut self,
        problem: &Problem,
        learner: &mut dyn Learner,
        decision: usize,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        standard(|| {
            let Some(i) = self.groups.iter().position(|group| group.goes_on_with(problem, decision)) else {
                return Ok(());
            };
            let places = self.groups[i].places_of(problem, decision);
            self.conclude(problem, learner, i, places.clone(), monitor)?;
            self.groups[i].end(places);
            Ok(())
        })
    }

    pub fn end_all(
        &mut self,
        problem: &Problem,
        learner: &mut dyn Learner,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        standard(|| {
            for i in 0..self.groups.len() {
                let places = self.groups[i].places();
                self.conclude(problem, learner, i, places, monitor)?;
            }
            Ok(())
        })
    }

    /// Checks the answers of those of some planes of a group that go on.
    fn conclude(
        &mut self,
        problem: &Problem,
        learner: &mut dyn Learner,
        i: usize,
        places: Range<usize>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let group = &self.groups[i];
        let ending = group.going(places.clone()).count();
        if ending > 0 && ending == group.going(group.places()).count() && !self.interrupted {
            learner.end_training(problem, self.ranges[i].clone(), monitor)?;
        }
        for (place, head) in group.going(places) {
            monitor.pause()?;
            if !learner.answer_is_finite(head, group.most(), &|| group.plane(place))? {
                return Err(Error::Overflow { epoch: self.epoch });
            }
        }
        Ok(())
    }

    /// What has been learnt, beside the memory of the learner. Nothing else is done with the run afterwards.
    pub fn take(&mut self, monitor: &dyn Monitor) -> Result<State> {
        let coef = match &mut self.groups[..] {
            [group] => group.take(monitor)?,
            _ => self.joined(monitor)?,
        };
        Ok(State { coef, ..self.counters(monitor)? })
    }

    /// From here on all that a pass learns can be taken back.
    pub(in crate::online) fn keep_undo(&mut self) {
        self.groups.iter_mut().for_each(Group::keep_undo);
    }

    /// What has changed since then in the weights of one group alone.
    pub(in crate::online) fn undo(&self) -> Option<&Undo> {
        if let [group] = &self.groups[..] { group.undo() } else { None }
    }

    pub(in crate::online) fn numbers(&self) -> Option<&[f64]> {
        if let [group] = &self.groups[..] { group.numbers() } else { None }
    }

    /// The weights of one group alone, as they are, or as they were when undo began to be kept.
    pub(in crate::online) fn take_table(&mut self, as_before: bool) -> Table {
        match &mut self.groups[..] {
            [group] => group.take_table(as_before),
            _ => Table::default(),
        }
    }

    /// The same so far.
    pub fn state(&self, monitor: &dyn Monitor) -> Result<State> {
        let coef = match &self.groups[..] {
            [group] => group.table(monitor)?,
            _ => self.joined(monitor)?,
        };
        Ok(State { coef, ..self.counters(monitor)? })
    }

    fn joined(&self, monitor: &dyn Monitor) -> Result<Table> {
        let (mut all, mut most) = (Table::zero([self.planes(), self.columns]), 0.0_f64);
        all.stand(self.layout, monitor)?;
        for group in &self.groups {
            group.write(0, &mut all, monitor)?;
            most = most.max(group.most());
        }
        Ok(all.at_most(most))
    }

    /// The same without the weights.
    pub fn counters(&self, monitor: &dyn Monitor) -> Result<State> {
        let (planes, mut state) = (self.planes(), State::default());
        (state.intercept, state.seen) = (filled(0.0, planes)?, filled(0, planes)?);
        if self.with_ages {
            let all = planes.checked_mul(self.columns).ok_or(Error::Memory)?;
            state.ages = Some(monitor::filled(&0, all, monitor)?);
        }
        self.groups.iter().try_for_each(|group| group.write_heads(&mut state, monitor))?;
        Ok(state)
    }

    pub fn planes(&self) -> usize {
        self.ranges.last().map_or(0, |range| range.end)
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether no decision goes on.
    pub fn has_ended(&self) -> bool {
        self.groups.iter().all(Group::has_ended)
    }

    /// Whether decisions have ended since the last epoch, or part of one.
    pub(in crate::online) fn has_any_to_leave(&self) -> bool {
        self.groups.iter().any(Group::has_any_to_leave)
    }

    pub fn tracked(&self, settings: &Settings, monitor: &dyn Monitor) -> Result<Passed> {
        let counts = settings.track_mistakes.then(|| self.mistakes_per_example(monitor)).transpose()?;
        let activations = self.activations(monitor)?;
        Ok(Passed { mistakes: Vec::new(), activations, mistakes_per_example: counts })
    }

    /// The same at the end: nothing is copied that need not be.
    pub(in crate::online) fn take_tracked(
        &mut self,
        settings: &Settings,
        monitor: &dyn Monitor,
    ) -> Result<Passed> {
        let [group] = &mut self.groups[..] else { return self.tracked(settings, monitor) };
        let (counts, activations) = group.take_tracked();
        let mistakes_per_example = settings.track_mistakes.then_some(counts);
        Ok(Passed { mistakes: Vec::new(), activations, mistakes_per_example })
    }

    /// Mistakes of each example, n x all decisions; empty if they are not counted.
    pub fn mistakes_per_example(&self, monitor: &dyn Monitor) -> Result<Vec<i64>> {
        side_by_side(&self.groups, Group::tally, monitor)
    }

    /// Activations before the update, n x K; NaN where an example was not visited. Empty if they are not
    /// kept.
    pub fn activations(&self, monitor: &dyn Monitor) -> Result<Vec<f64>> {
        side_by_side(&self.groups, Group::activations, monitor)
    }
}

/// One matrix of the columns of those of all groups (values, width), left to right.
fn side_by_side<T: Copy>(
    groups: &[Group],
    of: fn(&Group) -> (&[T], usize),
    monitor: &dyn Monitor,
) -> Result<Vec<T>> {
    let parts = groups.iter().map(of);
    let mut all = with_room(parts.clone().fold(0, |size, (values, _)| size + values.len()))?;
    let rows = parts.clone().map(|(values, width)| values.len() / width).max().unwrap_or(0);
    let cost = parts.clone().fold(0, |cost, (_, width)| cost + width);
    for piece in pieces(rows, cost, monitor) {
        for i in piece? {
            for (values, width) in parts.clone() {
                all.extend_from_slice(&values[i * width..][..width]);
            }
        }
    }
    Ok(all)
}

fn check_state(problem: &Problem, state: &State) -> Result<()> {
    let needed = [problem.settings.planes(), problem.examples.columns()];
    let (got, [planes, columns]) = (state.coef.shape(), needed);
    if got != needed || state.intercept.len() != planes || state.seen.len() != planes {
        bail!("coef must hold {planes} x {columns} weights, got {} x {}", got[0], got[1]);
    }
    ensure!(planes != 0, "positive must name the class of one plane or more, got none");
    Ok(())
}

fn check_penalty(
    problem: &Problem,
    state: &State,
    learner: &dyn Learner,
    monitor: &dyn Monitor,
) -> Result<()> {
    let ages = state.ages.as_deref().unwrap_or_default();
    if problem.settings.penalty.is_none() {
        let is_settled = all(ages, |ages| ages.iter().all(|&age| age == 0), monitor)?;
        ensure!(is_settled, "state has pending penalties; pass the penalty that it was learnt with");
        return Ok(());
    }
    ensure!(
        learner.allows_penalty(),
        "penalty must be None for a learner that is a function of the mistakes"
    );
    let [planes, columns] = state.coef.shape();
    if ages.len() != planes * columns || !all(ages, |ages| ages.iter().all(|&age| age >= 0), monitor)? {
        bail!("ages must have the shape of coef and hold whole numbers of at least 0");
    }
    for plane in ages.chunks(columns.max(1)).filter(|_| problem.is_joint()) {
        ensure!(
            same(plane, &ages[..plane.len()], monitor)?,
            "ages must be the same for all classes of a joint decision"
        );
    }
    Ok(())
}

fn check_alone(problem: &Problem, learner: &dyn Learner) -> Result<()> {
    let noisy = problem.settings.tolerance != Tolerance::default();
    if learner.one_plane_at_a_time() && (problem.is_joint() || noisy) {
        bail!(
            "joint, margin_threshold, added_feature and max_mistakes_per_example must not be set for this learner"
        );
    }
    Ok(())
}
