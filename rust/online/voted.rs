//! The voted perceptron.
//!
//! - Problem: a classifier that late mistakes on noisy examples do little harm: all weight vectors
//!   of the run vote, each with the number of examples that it survived.
//! - Update rule: the perceptron's. Mistakes at examples `t_1 < … < t_M` make the vectors `v_1 … v_M`;
//!   `v_k` counts `t_{k+1} − t_k`, the start vector `t_1 − 1`, the last one `T + 1 − t_M`.
//! - Given: what the perceptron is given. A run starts with an empty log.
//! - Result: the log, plane by plane: row, `t` and `c` of each mistake. With the start vector it is
//!   all vectors: [`replay`] makes them again, [`super::votes()`] lets them vote.
//! - Paper: Freund, Schapire 1999, Large margin classification using the perceptron algorithm
//!   (figure 1).

use std::ops::Range;

use super::rule::{Kind, Learner, Numbers, Rule};
use super::run::State;
use crate::arith::{average::timed, step::start};
use crate::base::{Grow, Monitor, Pace, Result, bail, boxed, collected, ensure, filled, tried};
use crate::monitor::each;
use crate::online::run::problem::Problem;
use crate::rows::{Head, Mistake, Rows, Visit, row_entries};

/// The mistakes of each plane, in the order they were made.
pub struct Voted {
    made: Vec<Made>,
}

pub static KIND: Kind = Kind::new(|_, settings, _| Ok(boxed(Voted::new(settings.planes())?)?));

/// Row, t and c of each mistake, kept as they are given out.
#[derive(Clone, Default)]
struct Made {
    row: Vec<i64>,
    t: Vec<i64>,
    c: Vec<f64>,
}

impl Voted {
    pub fn new(planes: usize) -> Result<Self> {
        Ok(Self { made: filled(Made::default(), planes)? })
    }
}

struct VotedRule<'a> {
    first: usize,
    made: &'a mut [Made],
}

impl Rule for VotedRule<'_> {
    fn absorb(&mut self, _visit: &Visit, log: &[Mistake], _monitor: &dyn Monitor) -> Result<()> {
        for &Mistake { row, plane, t, c } in log {
            let made = &mut self.made[plane as usize - self.first];
            made.row.try_push(i64::from(row))?;
            made.t.try_push(t as i64)?;
            made.c.try_push(c)?;
        }
        Ok(())
    }

    fn is_finite(&self) -> bool {
        true // the leaf makes no update with a step that is not
    }
}

impl Learner for Voted {
    fn check(&self, state: &State) -> Result<()> {
        assert_eq!(self.made.len(), state.intercept.len());
        Ok(())
    }

    fn split<'a>(
        &'a mut self,
        ranges: &[Range<usize>],
        _problem: &'a Problem,
    ) -> Result<Vec<Box<dyn Rule + 'a>>> {
        let mut rest = &mut self.made[..];
        tried(ranges.iter().map(|range| {
            let made = rest.split_off_mut(..range.len()).unwrap_or_default();
            Ok(boxed(VotedRule { first: range.start, made })? as Box<dyn Rule>)
        }))
    }

    fn memory(&self) -> Result<Vec<(&'static str, Numbers<'_>)>> {
        let mut starts = filled(0, self.made.len() + 1)?;
        for (k, made) in self.made.iter().enumerate() {
            starts[k + 1] = starts[k] + made.row.len() as i64;
        }
        let made = || self.made.iter();
        let memory = [
            ("log_start", Numbers::new_integers(starts)?),
            ("log_row", Numbers::integers(made().map(|made| &made.row[..]))?),
            ("log_t", Numbers::integers(made().map(|made| &made.t[..]))?),
            ("log_step", Numbers::floats(made().map(|made| &made.c[..]))?),
        ];
        collected(memory.into_iter())
    }

    fn answer_is_finite(&self, _: &Head, _: f64, _: &dyn Fn() -> Result<Vec<f64>>) -> Result<bool> {
        Ok(true)
    }
}

/// The log of some planes, checked against the rows that it names. Plane k has the entries
/// `start[k] .. start[k + 1]`: a row, and the steps of the weights and of the intercept.
#[derive(Clone, Copy)]
pub struct Log<'a> {
    start: &'a [i64],
    row: &'a [i64],
    step: &'a [f64],
    bias: &'a [f64],
}

impl<'a> Log<'a> {
    pub fn new(
        start: &'a [i64],
        row: &'a [i64],
        step: &'a [f64],
        bias: &'a [f64],
        stored: usize,
    ) -> Result<Self> {
        let ends = start.first().copied() == Some(0) && start.last().copied() == Some(row.len() as i64);
        if start.len() < 2 || !ends || start.windows(2).any(|pair| pair[0] > pair[1]) {
            bail!(
                "log_start must rise from 0 to {}, the number of entries, with one number more than there are planes",
                row.len()
            );
        }
        for (name, steps) in [("log_step", step), ("log_bias", bias)] {
            ensure!(
                steps.len() == row.len(),
                "log_row and {name} must have equal lengths, got {} and {}",
                row.len(),
                steps.len()
            );
            if let Some(step) = steps.iter().find(|step| !step.is_finite()) {
                bail!("{name} must be finite, got {step}");
            }
        }
        if let Some(row) = row.iter().find(|&&row| row < 0 || row as usize >= stored) {
            bail!("log_row must name one of {stored} stored rows, got {row}");
        }
        Ok(Self { start, row, step, bias })
    }

    pub fn planes(&self) -> usize {
        self.start.len() - 1
    }

    /// Places of the entries of a plane.
    pub fn entries(&self, plane: usize) -> Range<usize> {
        self.start[plane] as usize..self.start[plane + 1] as usize
    }

    /// Stored row of an entry, and its steps.
    pub fn entry(&self, place: usize) -> (usize, [f64; 2]) {
        (self.row[place] as usize, [self.step[place], self.bias[place]])
    }

    pub fn steps(&self, plane: usize) -> [&'a [f64]; 2] {
        [self.step, self.bias].map(|steps| &steps[self.entries(plane)])
    }
}

/// Weights of K planes, and their sums u (see [`super::averaged`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Sums {
    pub coef: Vec<f64>,
    pub intercept: Vec<f64>,
    pub coef_u: Vec<f64>,
    pub intercept_u: Vec<f64>,
}

/// Makes the first `upto[k]` updates of each plane again: the bits of training. `t` has a number
/// for each entry of the log.
pub fn replay(
    stored: &dyn Rows,
    log: &Log,
    (t, upto): (&[i64], &[i64]),
    mut sums: Sums,
    monitor: &dyn Monitor,
) -> Result<Sums> {
    ensure!(
        t.len() == log.step.len(),
        "log_t must have one number for each of {} entries, got {}",
        log.step.len(),
        t.len()
    );
    for numbers in [&mut sums.coef, &mut sums.intercept, &mut sums.coef_u, &mut sums.intercept_u] {
        each(numbers, |w| *w = start(*w), monitor)?;
    }
    let (d, cost) = (stored.columns(), 4 * (row_entries(stored) + 1));
    let mut pace = Pace::new(monitor);
    ensure!(
        upto.len() == log.planes(),
        "upto must have one number for each of {} planes, got {}",
        log.planes(),
        upto.len()
    );
    for (k, &upto) in upto.iter().enumerate() {
        let entries = log.entries(k);
        if upto < 0 || upto as usize > entries.len() {
            bail!("upto must be from 0 to {}, the number of entries of plane {k}, got {upto}", entries.len());
        }
        let (w, u) = (&mut sums.coef[k * d..][..d], &mut sums.coef_u[k * d..][..d]);
        for place in entries.take(upto as usize) {
            pace.spend(cost)?;
            let (row, [c, bias]) = log.entry(place);
            stored.axpy(row, c, w);
            stored.axpy(row, timed(t[place] as u64, c), u);
            sums.intercept[k] += bias;
            sums.intercept_u[k] += timed(t[place] as u64, bias);
        }
    }
    Ok(sums)
}
