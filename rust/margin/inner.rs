//! The inner loop: major cycles on the working set until no row of it violates the plane by much.

use std::cell::Cell;

use super::corral::Corral;
use super::working::WorkingSet;
use crate::arith::twofold::total;
use crate::online::{Flow, Monitor};

/// v counts as 0 below this part of the mean square of a row.
pub const ZERO: f64 = 1e-28;
/// Rows that are added after one look at the scores of the working set.
const BATCH: usize = 15;
/// Corrections in a row.
const REFINEMENTS: usize = 4;
/// Major cycles in a row that do not shorten v.
const STALLS: usize = 20;

/// What was done; the budget is counted in passes, majors and sweeps.
pub struct Work<'a> {
    monitor: &'a dyn Monitor,
    interrupted: Cell<bool>,
    pub budget: u64,
    pub passes: u64,
    pub rows_scored: u64,
    pub majors: u64,
    pub refinements: u64,
    pub sweeps: u64,
}

impl<'a> Work<'a> {
    #[must_use]
    pub fn new(budget: u64, monitor: &'a dyn Monitor) -> Self {
        let (interrupted, passes, rows_scored, majors, refinements, sweeps) =
            (Cell::new(false), 0, 0, 0, 0, 0);
        Self { monitor, interrupted, budget, passes, rows_scored, majors, refinements, sweeps }
    }

    /// Whether there is budget left, and nobody has interrupted.
    #[must_use]
    pub fn left(&self) -> bool {
        self.passes + self.majors + self.sweeps < self.budget && !self.is_interrupted()
    }

    /// Asks the monitor. Loops that end on this leave something to be thrown away.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        if !self.interrupted.get() && self.monitor.block() == Flow::Break {
            self.interrupted.set(true);
        }
        self.interrupted.get()
    }
}

/// Runs the method on the working set to a tolerance.
pub fn run(working: &WorkingSet, corral: &mut Corral, tau: f64, work: &mut Work) {
    let mut s = vec![0.0; working.len()];
    let (mut refined, mut stalled, mut best) = (0, 0, f64::INFINITY);
    while work.left() {
        working.scores(0..working.len(), &corral.v, &mut s);
        let own: Vec<f64> = corral.places.iter().map(|&place| s[place]).collect();
        let level = corral.levels(&own);
        let (violation, spread) = violations(working, corral, &s, &level);
        let (all, square) = (total(violation.iter().copied()), corral.square());
        if all <= tau * square || square <= ZERO * corral.sigma || !square.is_finite() {
            break;
        }
        if spread > 0.25 * all && refined < REFINEMENTS {
            corral.refine(working);
            work.refinements += 1;
            refined += 1;
            continue;
        }
        refined = 0;
        stalled = if square >= best { stalled + 1 } else { 0 };
        best = best.min(square);
        for (s, &g) in s.iter_mut().zip(&working.group) {
            *s = level[usize::from(g)] - *s;
        }
        for &place in &corral.places {
            s[place] = 0.0;
        }
        let group = first_largest(violation.iter().copied()) as u8;
        let of_group = s.iter().zip(&working.group);
        let first = first_largest(of_group.map(|(&s, &g)| if g == group { s } else { f64::NEG_INFINITY }));
        let excess = s[first];
        let is_positive = excess > 0.0;
        if stalled > STALLS || !is_positive {
            break;
        }
        let mut near = nearest(&s, first, 0.1 * excess);
        add(working, corral, first, work);
        while !near.is_empty() && work.left() {
            let Some(place) = next(working, corral, &near, 0.1 * excess) else { break };
            add(working, corral, near.remove(place), work);
        }
    }
    corral.refine(working);
    work.refinements += 1;
}

/// For each group, how far its lowest score lies below the level; and the sum of the spreads of the
/// members' scores.
fn violations(working: &WorkingSet, corral: &Corral, s: &[f64], level: &[f64]) -> (Vec<f64>, f64) {
    let mut least = vec![f64::INFINITY; level.len()];
    for (&s, &g) in s.iter().zip(&working.group) {
        let least = &mut least[usize::from(g)];
        *least = if s < *least { s } else { *least };
    }
    let mut spread = 0.0;
    for g in 0..level.len() as u8 {
        let members = corral.places.iter().zip(&corral.group).filter(|(_, group)| **group == g);
        let (low, high) = members.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (&place, _)| {
            (low.min(s[place]), high.max(s[place]))
        });
        spread += high - low;
    }
    (level.iter().zip(&least).map(|(level, least)| level - least).collect(), spread)
}

/// The place of the first of the largest numbers.
fn first_largest(numbers: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (place, number) in numbers.enumerate() {
        if number > best.1 {
            best = (place, number);
        }
    }
    best.0
}

/// The rows next to the first in excess, largest first.
fn nearest(excess: &[f64], first: usize, threshold: f64) -> Vec<usize> {
    let large = excess.iter().enumerate().filter(|&(place, &s)| s > threshold && place != first);
    let mut near: Vec<usize> = large.map(|(place, _)| place).collect();
    near.sort_by(|&i, &j| excess[j].total_cmp(&excess[i]));
    near.truncate(BATCH);
    near
}

/// Where among the near rows the one stands that violates the plane most by now, if it does enough.
fn next(working: &WorkingSet, corral: &Corral, near: &[usize], threshold: f64) -> Option<usize> {
    let mut own = vec![0.0; corral.places.len()];
    working.scores(corral.places.iter().copied(), &corral.v, &mut own);
    let level = corral.levels(&own);
    let mut s = vec![0.0; near.len()];
    working.scores(near.iter().copied(), &corral.v, &mut s);
    for (s, place) in s.iter_mut().zip(near) {
        let inside = corral.places.contains(place);
        *s = if inside { 0.0 } else { level[usize::from(working.group[*place])] - *s };
    }
    let place = first_largest(s.iter().copied());
    (s[place] > threshold).then_some(place)
}

fn add(working: &WorkingSet, corral: &mut Corral, place: usize, work: &mut Work) {
    work.majors += 1;
    if corral.major(working, place, 0.0) {
        corral.minor(working, work);
    }
}
