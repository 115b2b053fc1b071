//! Pricing: passes over every stride-th row of the matrix, for rows that violate the present plane.

use std::cmp::Ordering;

use super::problem::Problem;
use crate::error::Result;
use crate::memory::{Grow, collected, filled};

/// The sparsest sample has so many rows at least, and this many for each coordinate.
const LEAST_ROWS: usize = 2000;
const LEAST_FACTOR: usize = 10;

/// Scores of some rows, and the least of each group.
pub struct Pass {
    numbers: RowNumbers,
    scores: Vec<f64>,
    pub least: [f64; 2],
}

enum RowNumbers {
    All,
    Some(Vec<u32>),
}

/// The strides of the passes, the largest first.
pub fn strides(problem: &Problem) -> impl Iterator<Item = usize> {
    let least = (LEAST_FACTOR * problem.size()).max(LEAST_ROWS);
    let mut largest = 1;
    while problem.len() / (8 * largest) >= least {
        largest *= 8;
    }
    std::iter::successors(Some(largest), |stride| (*stride > 1).then_some(stride / 8))
}

/// A row with its score; of equal scores the one seen first is the smaller.
type Scored = (f64, usize);

fn ascending(a: &Scored, b: &Scored) -> Ordering {
    a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
}

/// The first `most` of different scores, ascending.
fn lowest(mut found: Vec<Scored>, most: usize) -> Result<Vec<Scored>> {
    let distinct = |found: &mut Vec<Scored>| {
        found.sort_unstable_by(ascending);
        found.dedup_by(|later, earlier| later.0 == earlier.0);
    };
    // Of very many, a few more than are needed are enough, unless too many of those are equal.
    if found.len() > 4 * most {
        found.select_nth_unstable_by(2 * most, ascending);
        let mut few = collected(found[..2 * most].iter().copied())?;
        distinct(&mut few);
        if few.len() >= most {
            few.truncate(most);
            return Ok(few);
        }
    }
    distinct(&mut found);
    found.truncate(most);
    Ok(found)
}

impl Pass {
    #[must_use]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    fn number(&self, place: usize) -> usize {
        match &self.numbers {
            RowNumbers::All => place,
            RowNumbers::Some(numbers) => numbers[place] as usize,
        }
    }

    /// For each group the rows with the lowest scores below its limit, of equal scores one.
    pub fn violators(
        &self,
        problem: &Problem,
        limits: &[f64; 2],
        most: usize,
        inside: &[bool],
    ) -> Result<Vec<u32>> {
        let mut found: [Vec<Scored>; 2] = Default::default();
        for (place, &score) in self.scores.iter().enumerate() {
            let row = self.number(place);
            let group = problem.group(row);
            if score < limits[group] && !inside[row] {
                found[group].try_push((score, place))?;
            }
        }
        let mut numbers = Vec::new();
        for found in found {
            let lowest = lowest(found, most)?;
            numbers.try_extend(lowest.iter().map(|(_, place)| self.number(*place) as u32))?;
        }
        Ok(numbers)
    }
}

/// Scores every stride-th row, and the first of each group.
pub fn price(problem: &Problem, stride: usize, v: &[f64]) -> Result<Pass> {
    let (numbers, scores) = if stride == 1 {
        let mut scores = filled(0.0, problem.len())?;
        problem.all_scores(v, &mut scores)?;
        (RowNumbers::All, scores)
    } else {
        let mut numbers = collected((0..problem.len() as u32).step_by(stride))?;
        let mut extra = problem.firsts()?;
        extra.retain(|&first| !(first as usize).is_multiple_of(stride));
        extra.sort_unstable();
        numbers.try_extend(extra.into_iter())?;
        let mut scores = filled(0.0, numbers.len())?;
        problem.scores(&numbers, v, &mut scores)?;
        (RowNumbers::Some(numbers), scores)
    };
    let mut pass = Pass { numbers, scores, least: [f64::INFINITY; 2] };
    for place in 0..pass.scores.len() {
        let group = problem.group(pass.number(place));
        pass.least[group] = pass.least[group].min(pass.scores[place]);
    }
    Ok(pass)
}
