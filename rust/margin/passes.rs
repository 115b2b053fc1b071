//! Pricing: passes over every stride-th row of the matrix, for rows that violate the present plane.

use std::cmp::Ordering;

use super::problem::Problem;

/// The sparsest sample has so many rows at least, and this many for each coordinate.
const LEAST_ROWS: usize = 2000;
const LEAST_FACTOR: usize = 10;

/// Scores of some rows, and the least of each group.
pub struct Pass {
    numbers: Numbers,
    scores: Vec<f64>,
    pub least: Vec<f64>,
}

enum Numbers {
    All,
    Some(Vec<u32>),
}

/// The strides of the passes, the largest first.
#[must_use]
pub fn strides(problem: &Problem) -> Vec<usize> {
    let least = (LEAST_FACTOR * problem.size()).max(LEAST_ROWS);
    let mut found = vec![1];
    while problem.len() / (8 * found[0]) >= least {
        found.insert(0, 8 * found[0]);
    }
    found
}

/// A row with its score; of equal scores the one seen first is the smaller.
type Scored = (f64, usize);

fn ascending(a: &Scored, b: &Scored) -> Ordering {
    a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
}

/// The first `most` of different scores, ascending.
fn lowest(mut found: Vec<Scored>, most: usize) -> Vec<Scored> {
    let distinct = |mut found: Vec<Scored>| {
        found.sort_unstable_by(ascending);
        found.dedup_by(|later, earlier| later.0 == earlier.0);
        found
    };
    // Of very many, a few more than are needed are enough, unless too many of those are equal.
    if found.len() > 4 * most {
        found.select_nth_unstable_by(2 * most, ascending);
        let mut few = distinct(found[..2 * most].to_vec());
        if few.len() >= most {
            few.truncate(most);
            return few;
        }
    }
    let mut found = distinct(found);
    found.truncate(most);
    found
}

impl Pass {
    #[must_use]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    fn number(&self, place: usize) -> usize {
        match &self.numbers {
            Numbers::All => place,
            Numbers::Some(numbers) => numbers[place] as usize,
        }
    }

    /// For each group the rows with the lowest scores below its limit, of equal scores one.
    #[must_use]
    pub fn violators(&self, problem: &Problem, limits: &[f64], most: usize, inside: &[bool]) -> Vec<u32> {
        let mut found: Vec<Vec<Scored>> = vec![vec![]; limits.len()];
        for (place, &score) in self.scores.iter().enumerate() {
            let row = self.number(place);
            let group = problem.group(row);
            if score < limits[group] && !inside[row] {
                found[group].push((score, place));
            }
        }
        let lowest = found.into_iter().flat_map(|found| lowest(found, most));
        lowest.map(|(_, place)| self.number(place) as u32).collect()
    }
}

/// Scores every stride-th row, and the first of each group.
#[must_use]
pub fn price(problem: &Problem, stride: usize, v: &[f64]) -> Pass {
    let (numbers, scores) = if stride == 1 {
        let mut scores = vec![0.0; problem.len()];
        problem.all_scores(v, &mut scores);
        (Numbers::All, scores)
    } else {
        let mut numbers: Vec<u32> = (0..problem.len() as u32).step_by(stride).collect();
        let mut extra = problem.firsts();
        extra.retain(|&first| !(first as usize).is_multiple_of(stride));
        extra.sort_unstable();
        numbers.extend(extra);
        let mut scores = vec![0.0; numbers.len()];
        problem.scores(&numbers, v, &mut scores);
        (Numbers::Some(numbers), scores)
    };
    let mut pass = Pass { numbers, scores, least: vec![f64::INFINITY; problem.groups()] };
    for place in 0..pass.scores.len() {
        let group = problem.group(pass.number(place));
        pass.least[group] = pass.least[group].min(pass.scores[place]);
    }
    pass
}
