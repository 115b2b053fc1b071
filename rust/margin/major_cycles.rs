//! The inner loop: major cycles on the working set until no row of it violates the plane by much.

use super::{corral::Corral, working_set::WorkingSet};
use crate::arith::twofold::total;
use crate::base::{Monitor, Result, collected, filled, gathered};

/// v counts as 0 below this part of the mean square of a row.
pub const ZERO: f64 = 1e-28;
/// Rows that are added after one look at the scores of the working set.
const BATCH: usize = 15;
const REFINEMENTS: usize = 4;
/// Major cycles in a row that do not shorten v.
const STALLS: usize = 20;

/// What was done; a step is a pass, a major cycle or a sweep.
pub struct Work<'a> {
    pub monitor: &'a dyn Monitor,
    pub max_steps: u64,
    pub passes: u64,
    pub rows_scored: u64,
    pub majors: u64,
    pub refinements: u64,
    pub sweeps: u64,
}

impl<'a> Work<'a> {
    pub fn new(max_steps: u64, monitor: &'a dyn Monitor) -> Self {
        Self { monitor, max_steps, passes: 0, rows_scored: 0, majors: 0, refinements: 0, sweeps: 0 }
    }

    /// Whether there are steps left. The monitor is asked.
    pub fn left(&self) -> Result<bool> {
        self.monitor.pause()?;
        Ok(self.passes + self.majors + self.sweeps < self.max_steps)
    }
}

pub fn run(working: &WorkingSet, corral: &mut Corral, tau: f64, work: &mut Work) -> Result<()> {
    let mut s = filled(0.0, working.len())?;
    let (mut refined, mut stalled, mut best) = (0, 0, f64::INFINITY);
    while work.left()? {
        working.scores(0..working.len(), &corral.v, &mut s);
        let own = collected(corral.places.iter().map(|&place| s[place]))?;
        let level = corral.levels(&own);
        let (violation, spread) = violations(working, corral, &s, &level);
        let violation = &violation[..working.groups];
        let (all, square) = (total(violation.iter().copied()), corral.square());
        if all <= tau * square || square <= ZERO * corral.sigma || !square.is_finite() {
            break;
        }
        if spread > 0.25 * all && refined < REFINEMENTS {
            corral.refine(working)?;
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
        let mut near = nearest(&s, first, 0.1 * excess)?;
        add(working, corral, first, work)?;
        while !near.is_empty() && work.left()? {
            let Some(place) = next(working, corral, &near, 0.1 * excess)? else { break };
            add(working, corral, near.remove(place), work)?;
        }
    }
    corral.refine(working)?;
    work.refinements += 1;
    Ok(())
}

/// For each group, how far its lowest score lies below the level; and the sum of the spreads of the
/// members' scores.
fn violations(working: &WorkingSet, corral: &Corral, s: &[f64], level: &[f64; 2]) -> ([f64; 2], f64) {
    let mut least = [f64::INFINITY; 2];
    for (&s, &g) in s.iter().zip(&working.group) {
        let least = &mut least[usize::from(g)];
        *least = if s < *least { s } else { *least };
    }
    let mut spread = 0.0;
    for g in 0..working.groups as u8 {
        let members = corral.places.iter().zip(&corral.group).filter(|(_, group)| **group == g);
        let (low, high) = members.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (&place, _)| {
            (low.min(s[place]), high.max(s[place]))
        });
        spread += high - low;
    }
    ([level[0] - least[0], level[1] - least[1]], spread)
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
fn nearest(excess: &[f64], first: usize, threshold: f64) -> Result<Vec<usize>> {
    let large = excess.iter().enumerate().filter(|&(place, &s)| s > threshold && place != first);
    let mut near = gathered(large.map(|(place, _)| place))?;
    near.sort_unstable_by(|&i, &j| excess[j].total_cmp(&excess[i]).then(i.cmp(&j)));
    near.truncate(BATCH);
    Ok(near)
}

/// Where among the near rows the one stands that violates the plane most by now, if it does enough.
fn next(working: &WorkingSet, corral: &Corral, near: &[usize], threshold: f64) -> Result<Option<usize>> {
    let mut own = filled(0.0, corral.places.len())?;
    working.scores(corral.places.iter().copied(), &corral.v, &mut own);
    let level = corral.levels(&own);
    let mut s = filled(0.0, near.len())?;
    working.scores(near.iter().copied(), &corral.v, &mut s);
    for (s, place) in s.iter_mut().zip(near) {
        let inside = corral.places.contains(place);
        *s = if inside { 0.0 } else { level[usize::from(working.group[*place])] - *s };
    }
    let place = first_largest(s.iter().copied());
    Ok((s[place] > threshold).then_some(place))
}

fn add(working: &WorkingSet, corral: &mut Corral, place: usize, work: &mut Work) -> Result<()> {
    work.majors += 1;
    if corral.major(working, place, 0.0)? { corral.minor(working, work) } else { Ok(()) }
}
