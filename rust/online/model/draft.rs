//! Passes that are tried: what they would change is told, and the model stays as it is.
//!
//! So several passes begin with the same weights, and copy none of them: their time follows the entries of
//! the rows.

use std::sync::Arc;

use super::in_place::learner_of;
use super::{Model, Passed};
use crate::arith::environment::standard;
use crate::arith::finite::{all_finite, largest_of};
use crate::error::{Error, Result, bail, ensure};
use crate::memory::{Grow, filled, gathered};
use crate::monitor::{Monitor, copied};
use crate::online::averaged::Averaged;
use crate::online::perceptron::Perceptron;
use crate::online::run::problem::{Problem, Settings};
use crate::online::run::{Epoch, State};
use crate::online::training::Given;
use crate::rows::{Layout, Table, Undo};

/// Numbers of a model: weights and sums u at some places, which rise; of all planes the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Excerpt {
    /// Column by column: that of plane k in column j is `j*K + k`.
    pub places: Vec<usize>,
    pub coef: Vec<f64>,
    pub intercept: Vec<f64>,
    pub seen: Vec<u64>,
    /// The sums u of weights and of intercepts, of a learner that has them.
    pub sums: Option<(Vec<f64>, Vec<f64>)>,
}

/// What a pass would do: the numbers that it has written to, as they would be.
pub struct Drafted {
    pub now: Excerpt,
    pub epoch: Epoch,
    pub passed: Passed,
}

impl Model {
    /// The same, ready to be tried on sparse rows; `None` under a penalty that is pending.
    pub fn for_drafts(mut self, monitor: &dyn Monitor) -> Result<Option<Self>> {
        for table in [Some(&mut self.coef), self.sums.as_mut().map(|(u, _)| u)].into_iter().flatten() {
            table.stand(Layout::ByColumn, monitor)?;
            table.place()?;
        }
        Ok(if self.due.is_none() { Some(self) } else { None })
    }

    /// Makes a pass over sparse rows, in the order of the epoch of this number, and takes it back.
    ///
    /// Nothing in the settings may need another loop: a penalty, threads, class weights of 0.
    pub fn drafted(
        &mut self,
        given: Given,
        settings: &Settings,
        number: u64,
        monitor: &dyn Monitor,
    ) -> Result<Drafted> {
        let (rows, is_plain) = (given.rows, settings.penalty.is_none() && settings.threads == 1);
        self.check_shape([settings.planes(), rows.columns()])?;
        if !is_plain || settings.has_zero_class_weight() || rows.layout() != Layout::ByColumn {
            bail!("a draft takes sparse rows, one thread, no penalty, and class weights above 0; use start");
        }
        let len = self.coef.numbers().map_or(0, <[f64]>::len);
        standard(|| {
            let problem = Problem::new(rows, given.labels, given.sample_weight, settings)?.in_floats();
            let mut pass = self.in_place(&problem, Layout::ByColumn, monitor)?;
            let (Some(run), sums) = (&mut pass.run, &mut pass.sums) else { return Err(Error::Memory) };
            let epoch = run.epoch(&problem, learner_of(sums, &mut Perceptron), number, monitor)?;
            let passed = run.tracked(settings, monitor)?;
            let State { intercept, seen, .. } = run.counters(monitor)?;
            let places = changed([run.undo(), sums.as_ref().and_then(Averaged::undo)], len)?;
            let coef = at(run.numbers(), &places)?;
            let sums = sums
                .as_ref()
                .map(|u| Ok::<_, Error>((at(u.numbers(), &places)?, u.intercept()?)))
                .transpose()?;
            Ok(Drafted { now: Excerpt { places, coef, intercept, seen, sums }, epoch, passed })
        })
    }

    /// The numbers at some places, and all others.
    pub fn excerpt(&self, places: Vec<usize>) -> Result<Excerpt> {
        self.check_places(&places)?;
        let coef = at(self.coef.numbers(), &places)?;
        let (intercept, seen) = (copied(&self.intercept, &())?, copied(&self.seen, &())?);
        let sums = self.sums.as_ref();
        let sums =
            sums.map(|(u, b)| Ok::<_, Error>((at(u.numbers(), &places)?, copied(b, &())?))).transpose()?;
        Ok(Excerpt { places, coef, intercept, seen, sums })
    }

    /// Puts in other numbers. They are not to be used after an error of the memory.
    pub fn put_excerpt(&mut self, new: Excerpt) -> Result<()> {
        self.check_places(&new.places)?;
        let (len, planes) = (new.places.len(), self.seen.len());
        let fits =
            |w: &[f64], b: &[f64]| w.len() == len && b.len() == planes && all_finite(w) && all_finite(b);
        let sums_fit = match (&new.sums, &self.sums) {
            (Some((u, b)), Some(_)) => fits(u, b),
            (None, None) => true,
            _ => false,
        };
        if !fits(&new.coef, &new.intercept) || !sums_fit || new.seen.len() != planes {
            bail!("an excerpt must have finite numbers for its places and for all planes of the model");
        }
        // Nothing fails any more, but for a copy of numbers that somebody else has.
        write(&mut self.coef, &new.places, &new.coef)?;
        if let (Some((to, own)), Some((u, b))) = (&mut self.sums, new.sums) {
            write(to, &new.places, &u)?;
            *own = Arc::new(b);
        }
        (self.intercept, self.seen) = (Arc::new(new.intercept), Arc::new(new.seen));
        (self.answer, self.memory) = (Arc::default(), Arc::default());
        Ok(())
    }

    fn check_places(&self, places: &[usize]) -> Result<()> {
        let [planes, columns] = self.shape();
        let rise = places.windows(2).all(|pair| pair[0] < pair[1]);
        ensure!(
            rise && places.last().is_none_or(|last| *last < planes * columns),
            "places must rise and be below {planes} * {columns}"
        );
        Ok(())
    }
}

/// The places that were written to; they rise.
fn changed(undos: [Option<&Undo>; 2], len: usize) -> Result<Vec<usize>> {
    let mut is_changed = filled(0_u64, len.div_ceil(64))?;
    for place in undos.into_iter().flatten().flat_map(Undo::places) {
        is_changed[place / 64] |= 1 << (place % 64);
    }
    let mut places = Vec::new();
    for (i, mut word) in is_changed.into_iter().enumerate() {
        while word != 0 {
            places.try_push(64 * i + word.trailing_zeros() as usize)?;
            word &= word - 1;
        }
    }
    Ok(places)
}

fn at(numbers: Option<&[f64]>, places: &[usize]) -> Result<Vec<f64>> {
    gathered(places.iter().map(|place| numbers.map_or(0.0, |numbers| numbers[*place])))
}

fn write(table: &mut Table, places: &[usize], numbers: &[f64]) -> Result<()> {
    let most = largest_of(numbers, table.most());
    let all = table.own(&())?;
    for (place, number) in places.iter().zip(numbers) {
        all[*place] = *number;
    }
    *table = std::mem::take(table).at_most(most);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::online::averaged::KIND;
    use crate::rows::{Csr, Labels};

    #[test]
    fn a_draft_changes_nothing_until_its_numbers_are_put_in() {
        let (ends, columns, values) = ([0, 2, 3], [0, 3, 1], [1.0, -2.0, 0.5]);
        let rows = Csr::new(&ends, &columns, &values, 4).expect("a matrix");
        let given = Given { rows: &rows, labels: Labels::Classes(&[1, 0]), sample_weight: None };
        let settings = Settings::new(vec![0, 1]);
        let model = Model::zero(&KIND, [2, 4]).and_then(|model| model.for_drafts(&()));
        let mut model = model.expect("little").expect("nothing is pending");
        let Drafted { now, .. } = model.drafted(given, &settings, 0, &()).expect("finite");
        assert_eq!(now.places, [0, 1, 2, 3, 6, 7]);
        let all: Vec<usize> = (0..8).collect();
        let before = model.excerpt(all.clone()).expect("little");
        assert!(before.coef.iter().chain(&before.intercept).all(|w| *w == 0.0));
        model.put_excerpt(now.clone()).expect("finite");
        assert_eq!(model.excerpt(now.places.clone()), Ok(now.clone()));
        for places in [vec![3, 0, 1, 2, 6, 7], vec![0, 1, 2, 3, 6, 8]] {
            assert!(model.put_excerpt(Excerpt { places, ..now.clone() }).is_err());
        }
        assert!(model.put_excerpt(Excerpt { coef: vec![f64::NAN; 6], ..now.clone() }).is_err());
        assert_eq!(model.excerpt(now.places.clone()), Ok(now));
    }
}
