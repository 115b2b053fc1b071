//! The sets of a learner on a budget as the arrays of a state, checked where they come in.

use std::borrow::Cow;

use super::support_set::{Budget, Policy, SupportSet};
use crate::arith::factor::Factor;
use crate::base::{Grow, Result, bail, collected, ensure, gathered, tried};

/// All sets, one behind the other.
pub struct Kept<'a> {
    /// Where the members of each set begin, and where those of the last one end.
    pub start: Cow<'a, [i64]>,
    pub rows: Cow<'a, [i64]>,
    pub numbers: Cow<'a, [i64]>,
    /// Members x classes that share a set.
    pub steps: Cow<'a, [f64]>,
    pub mistakes: Cow<'a, [i64]>,
    pub harm: Cow<'a, [f64]>,
    pub factor: Cow<'a, [f64]>,
}

impl Kept<'_> {
    /// So many sets of members among so many rows; the classes that share one are `width`.
    pub fn sets(&self, budget: &Budget, sets: usize, width: usize, rows: usize) -> Result<Vec<SupportSet>> {
        let (start, members) = (&self.start[..], self.rows.len());
        let ends = start.first() == Some(&0) && start.last() == Some(&(members as i64));
        ensure!(
            start.len() == sets + 1 && ends && start.is_sorted(),
            "kept_start must rise from 0 to {members}, the number of members, in {} numbers",
            sets + 1
        );
        let sizes = || start.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        let largest = sizes().max().unwrap_or(0);
        let size = budget.size;
        ensure!(largest <= size, "budget must be at least {largest}, what is kept already, got {size}");
        let packed =
            |size: usize| if budget.policy == Policy::Projectron { size * (size + 1) / 2 } else { 0 };
        let shapes = [
            ("kept_step", self.steps.len(), members * width),
            ("kept_harm", self.harm.len(), sets),
            ("kept_factor", self.factor.len(), sizes().fold(0, |sum, size| sum + packed(size))),
            ("kept_mistakes", self.mistakes.len(), sets),
            ("kept_number", self.numbers.len(), members),
        ];
        if let Some((name, got, needed)) = shapes.into_iter().find(|(_, got, needed)| got != needed) {
            bail!("{name} must hold {needed} numbers for these sets, got {got}");
        }
        for (name, numbers) in [("step", &self.steps), ("harm", &self.harm), ("factor", &self.factor)] {
            ensure!(numbers.iter().all(|number| number.is_finite()), "kept_{name} must be finite");
        }
        if let Some(least) = self.mistakes.iter().min().filter(|&&least| least < 0) {
            bail!("kept_mistakes must be at least 0, got {least}");
        }
        if let Some(row) = self.rows.iter().find(|&&row| row < 0 || row as usize >= rows) {
            bail!("kept_row must name one of {rows} rows, got {row}");
        }
        let mut factor = &self.factor[..];
        let sets = start.windows(2).enumerate().map(|(g, pair)| {
            let members = pair[0] as usize..pair[1] as usize;
            let (own, rest) = factor.split_at(packed(members.len()));
            factor = rest;
            let mut set = SupportSet::new(width)?;
            set.members = collected(self.rows[members.clone()].iter().map(|&row| row as usize))?;
            set.numbers = collected(self.numbers[members.clone()].iter().map(|&number| number as u64))?;
            set.steps = collected(self.steps[members.start * width..members.end * width].iter().copied())?;
            (set.factor, set.mistakes, set.harm) =
                (Factor::unpacked(own)?, self.mistakes[g] as u64, self.harm[g]);
            Ok(set)
        });
        tried(sets)
    }

    /// Of these sets.
    pub fn of(sets: &[SupportSet]) -> Result<Kept<'static>> {
        let (mut start, mut factor) = (vec![0], Vec::new());
        for set in sets {
            start.try_push(start[start.len() - 1] + set.members.len() as i64)?;
            set.factor.pack(&mut factor)?;
        }
        let rows = sets.iter().flat_map(|set| &set.members);
        let numbers = sets.iter().flat_map(|set| &set.numbers);
        Ok(Kept {
            start: start.into(),
            rows: gathered(rows.map(|&row| row as i64))?.into(),
            numbers: gathered(numbers.map(|&number| number as i64))?.into(),
            steps: gathered(sets.iter().flat_map(|set| &set.steps).copied())?.into(),
            mistakes: collected(sets.iter().map(|set| set.mistakes as i64))?.into(),
            harm: collected(sets.iter().map(|set| set.harm))?.into(),
            factor: factor.into(),
        })
    }
}
