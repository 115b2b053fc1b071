//! Pricing: passes over every stride-th row of the matrix, for rows that violate the present plane.

use std::cmp::Ordering;

use super::problem::MarginProblem;
use crate::arith::{factor::inner, twofold::gamma};
use crate::base::{Grow, Result, collected, filled};

/// The sparsest sample has so many rows at least, and this many for each coordinate.
const MIN_ROWS: usize = 2000;
const ROWS_PER_COORDINATE: usize = 10;

/// Scores of some rows, and the least of each group.
pub struct Scoring {
    numbers: RowNumbers,
    scores: Vec<f64>,
    pub least: [f64; 2],
}

enum RowNumbers {
    All,
    Some(Vec<u32>),
}

/// The strides of the passes, the largest first.
pub fn strides(problem: &MarginProblem) -> impl Iterator<Item = usize> {
    let least = (ROWS_PER_COORDINATE * problem.size()).max(MIN_ROWS);
    let mut largest = 1;
    while problem.len() / (8 * largest) >= least {
        largest *= 8;
    }
    std::iter::successors(Some(largest), |stride| (*stride > 1).then_some(stride / 8))
}

/// A row with its score; of equal scores the one seen first is the smaller.
type Scored = (f64, usize);

fn ascending(a: &Scored, b: &Scored) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// The `most` lowest of the scores below `limit`, each with the row of that score that was seen first.
struct Lowest {
    found: Vec<Scored>,
    most: usize,
    limit: f64,
}

impl Lowest {
    /// Places come in ascending order.
    #[inline(always)]
    fn take(&mut self, score: f64, place: usize) -> Result<()> {
        self.found.try_push((score + 0.0, place))?; // no -0.0, which would stand before an earlier 0.0
        if self.found.len() >= 4 * self.most {
            self.sort();
        }
        Ok(())
    }

    fn sort(&mut self) {
        self.found.sort_unstable_by(ascending);
        self.found.dedup_by(|later, earlier| later.0 == earlier.0);
        if let Some((highest, _)) = self.found.get(self.most - 1) {
            self.limit = *highest;
            self.found.truncate(self.most);
        }
    }
}

impl Scoring {
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    fn number(&self, place: usize) -> usize {
        match &self.numbers {
            RowNumbers::All => place,
            RowNumbers::Some(numbers) => numbers[place] as usize,
        }
    }

    /// For each label the rows that could be the nearest to the plane `v`, which the pass has scored.
    pub fn nearest(&self, problem: &MarginProblem, v: &[f64]) -> Result<[Vec<u32>; 2]> {
        let (d, mut nearest) = (v.len(), [vec![], vec![]]);
        // Scores err by gamma ||x|| ||v|| at most, and no scaled value exceeds 1.
        let slack = 8.0 * gamma(d / 8 + 8) * (d as f64 * inner(v, v)).sqrt();
        for (place, &score) in self.scores.iter().enumerate() {
            let row = self.number(place);
            if score <= self.least[problem.group(row)] + slack {
                nearest[problem.labels[row] as usize].try_push(row as u32)?;
            }
        }
        Ok(nearest)
    }

    /// For each group the rows with the lowest scores below its limit, of equal scores one.
    pub fn violators(
        &self,
        problem: &MarginProblem,
        limits: &[f64; 2],
        most: usize,
        inside: &[bool],
    ) -> Result<Vec<u32>> {
        let mut lowest = limits.map(|limit| Lowest { found: vec![], most, limit });
        for (place, &score) in self.scores.iter().enumerate() {
            let row = self.number(place);
            let lowest = &mut lowest[problem.group(row)];
            if score < lowest.limit && !inside[row] {
                lowest.take(score, place)?;
            }
        }
        let mut numbers = Vec::new();
        for mut lowest in lowest {
            lowest.sort();
            numbers.try_extend(lowest.found.iter().map(|(_, place)| self.number(*place) as u32))?;
        }
        Ok(numbers)
    }
}

/// Scores every stride-th row, and the first of each group.
pub fn price(problem: &MarginProblem, stride: usize, v: &[f64]) -> Result<Scoring> {
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
    let mut pass = Scoring { numbers, scores, least: [f64::INFINITY; 2] };
    for place in 0..pass.scores.len() {
        let group = problem.group(pass.number(place));
        if pass.scores[place] < pass.least[group] {
            pass.least[group] = pass.scores[place];
        }
    }
    Ok(pass)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::SplitMix64;

    /// As if all scores were sorted, whatever their order and however many are equal.
    #[test]
    fn lowest_of_different_scores() {
        let mut random = SplitMix64::new(7);
        for (most, values) in [(1, 3), (2, 40), (5, 4), (32, 1000)].repeat(10) {
            let drawn: Vec<f64> = (0..2000).map(|_| (random.draw() % values) as f64 - 2.0).collect();
            let mut falling = drawn.clone();
            falling.sort_by(|a, b| b.total_cmp(a));
            let signed =
                drawn.iter().map(|x| if *x == 0.0 && random.draw().is_multiple_of(2) { -0.0 } else { *x });
            for scores in [signed.collect(), falling, drawn.clone()] {
                let limit = values as f64 - 3.0;
                let mut lowest = Lowest { found: vec![], most, limit };
                for (place, &score) in scores.iter().enumerate() {
                    if score < lowest.limit {
                        lowest.take(score, place).expect("little memory");
                    }
                }
                lowest.sort();
                let mut all: Vec<Scored> = (0..scores.len()).map(|place| (scores[place], place)).collect();
                all.retain(|(score, _)| *score < limit);
                all.sort_by(|a, b| a.0.partial_cmp(&b.0).expect("no NaN"));
                all.dedup_by(|later, earlier| later.0 == earlier.0);
                all.truncate(most);
                assert_eq!(lowest.found, all);
            }
        }
    }
}
