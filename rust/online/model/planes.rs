//! Models made of others: with planes of another time of their run, or among more columns.

use std::sync::Arc;

use super::{Due, Memory, Model, Part};
use crate::error::{Result, bail};
use crate::memory::Grow;
use crate::monitor::{Monitor, copied, mapped};
use crate::rows::{Chosen, Table};

impl Model {
    /// Takes over some planes of another model of the same run; `false`: the learner remembers more than numbers of
    /// planes, and nothing has changed.
    pub fn take_planes(&mut self, other: &Self, planes: &[usize], monitor: &dyn Monitor) -> Result<bool> {
        let [all, columns] = self.shape();
        other.check_shape([all, columns])?;
        if let Some(k) = planes.iter().find(|&&k| k >= all) {
            bail!("planes must be below {all}, got {k}");
        }
        if !(self.memory.parts.is_empty() && other.memory.parts.is_empty()) {
            return Ok(false);
        }
        self.answer = Arc::default();
        write(&other.coef, planes, &mut self.coef, monitor)?;
        put(&other.intercept, planes, &mut self.intercept)?;
        put(&other.seen, planes, &mut self.seen)?;
        if let (Some((u, intercept)), Some((others, of_others))) = (&mut self.sums, &other.sums) {
            write(others, planes, u, monitor)?;
            put(of_others, planes, intercept)?;
        }
        if let Some(Due { strengths, .. }) = self.due.as_ref().or(other.due.as_ref()) {
            let (strengths, mut ages, others) = (*strengths, self.ages(None)?, other.ages(None)?);
            for range in planes.iter().map(|k| k * columns..(k + 1) * columns) {
                ages[range.clone()].copy_from_slice(&others[range]);
            }
            self.put_under(strengths, &ages)?;
        }
        Ok(true)
    }

    /// The same among `all` columns, of which its own are these, which rise, at the places that [`Chosen`] gives them:
    /// in the others there is nothing. `None`: a penalty is pending, of which they have a part.
    pub fn spread(&self, columns: &[usize], all: usize, monitor: &dyn Monitor) -> Result<Option<Self>> {
        if self.due.is_some() {
            return Ok(None);
        }
        let ([planes, own], mut chosen) = (self.shape(), Chosen::new(columns.len())?);
        let places = mapped(columns, |j| chosen.choose(*j) as usize, monitor)?;
        let is_risen = columns.is_sorted_by(|a, b| a < b) && columns.last().is_none_or(|last| *last < all);
        if !is_risen || places.iter().any(|place| *place >= own) {
            bail!("columns must rise and be below {all}, and have places below {own}");
        }
        let spread = |table: &Table| -> Result<Table> {
            let mut made = Table::zero([planes, all]);
            if !table.is_empty() {
                made.put(table.clone(), Some(&chosen))?;
            }
            Ok(made)
        };
        let sums = match &self.sums {
            Some((u, intercept)) => Some((spread(u)?, intercept.clone())),
            None => None,
        };
        let mut memory = Memory::default();
        for (name, part) in &self.memory.parts {
            let part = match part {
                Part::Weights(table) => Part::Weights(spread(table)?),
                numbers => numbers.clone(),
            };
            memory.parts.try_push((*name, part))?;
        }
        let (coef, memory) = (spread(&self.coef)?, Arc::new(memory));
        Ok(Some(Self { coef, sums, memory, answer: Arc::default(), ..self.clone() }))
    }
}

/// Writes some planes of one table to those of another.
fn write(from: &Table, planes: &[usize], to: &mut Table, monitor: &dyn Monitor) -> Result<()> {
    if to.is_empty() {
        to.stand(from.layout(), monitor)?;
    }
    let most = from.most().max(to.most());
    from.write(planes.iter().map(|&k| (k, k)), to, monitor)?;
    *to = std::mem::take(to).at_most(most);
    to.share();
    Ok(())
}

fn put<T: Copy>(from: &[T], planes: &[usize], to: &mut Arc<Vec<T>>) -> Result<()> {
    let mut own = copied(to, &())?;
    for &k in planes {
        own[k] = from[k];
    }
    *to = Arc::new(own);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Strengths;
    use super::*;
    use crate::online::averaged;

    #[test]
    fn planes_of_another_time_take_their_ages_and_sums_with_them() {
        let model = |begin: f64, seen: u64| {
            let table =
                |begin| Table::new((0..6).map(|i| begin + f64::from(i)).collect(), [3, 2]).expect("3 x 2");
            let sums = Some((table(10.0 * begin), vec![begin; 3]));
            Model::of(&averaged::KIND, table(begin), vec![begin; 3], vec![seen; 3], sums)
        };
        let (early, mut late) = (model(1.0, 5), model(7.0, 9));
        late.put_under(Strengths { eta: 1.0, l1: 0.1, l2: 0.0 }, &[0, 1, 2, 3, 4, 5]).expect("sound");
        let mut made = early.clone();
        assert_eq!(made.take_planes(&late, &[0, 2], &()), Ok(true));
        let (coef, _) = made.pending().expect("that of the second");
        assert_eq!(coef.clone().by_plane(&()), Ok(vec![7.0, 8.0, 3.0, 4.0, 11.0, 12.0]));
        assert_eq!((made.ages(None).expect("memory"), made.seen()), (vec![0, 1, 0, 0, 4, 5], &[9, 5, 9][..]));
        let mut some = [0; 3];
        made.write_ages(Some(&[1]), &(), &mut some).expect("no signal");
        assert_eq!(some, [1, 0, 5]);
        let (u, intercept) = made.sums().expect("averaged");
        assert_eq!(u.clone().by_plane(&()), Ok(vec![70.0, 71.0, 12.0, 13.0, 74.0, 75.0]));
        assert_eq!((&intercept[..], made.intercept()), (&[7.0, 1.0, 7.0][..], &[7.0, 1.0, 7.0][..]));
        assert_eq!(early.weights(&()).expect("memory").by_plane(&()).expect("memory")[0], 1.0);
        assert!(made.take_planes(&late, &[3], &()).is_err());
    }

    #[test]
    fn a_model_of_few_columns_is_spread_among_all_with_sums_and_memory() {
        // Columns 2 and 9 stand at the places 2 and 1 of their lanes.
        let table = || Table::new((0..6).map(f64::from).collect(), [2, 3]).expect("2 x 3");
        let parts = vec![("best_coef", Part::Weights(table())), ("n_iter", Part::Integers(vec![4].into()))];
        let few =
            Model::of(&averaged::KIND, table(), vec![7.0; 2], vec![5; 2], Some((table(), vec![8.0; 2])))
                .with_memory(Memory { parts });
        let whole = few.spread(&[2, 9], 11, &()).expect("memory").expect("nothing is pending");
        let (expected, all) = (|k: usize| [3.0 * k as f64 + 2.0, 3.0 * k as f64 + 1.0], [2, 9]);
        let Some(Part::Weights(best)) = whole.memory().part("best_coef") else { panic!("it had one") };
        for found in [&whole.coef, &whole.sums().expect("averaged").0, best] {
            for k in 0..2 {
                let plane = found.plane(k, &()).expect("memory");
                assert_eq!((plane.len(), all.map(|j| plane[j])), (11, expected(k)));
                assert_eq!(plane.iter().filter(|w| **w != 0.0).count(), 2);
            }
        }
        assert_eq!((whole.intercept(), whole.seen(), whole.shape()), (few.intercept(), few.seen(), [2, 11]));
        assert_eq!(whole.columns(&()), Ok(vec![2, 9]));
        assert!(matches!(whole.memory().part("n_iter"), Some(Part::Integers(n)) if n[..] == [4]));
        for refused in [&[9, 2][..], &[2, 2], &[2, 11], &[2, 3]] {
            assert!(few.spread(refused, 11, &()).is_err(), "{refused:?}");
        }
        let mut pending = few.clone();
        pending.put_under(Strengths { eta: 1.0, l1: 0.1, l2: 0.0 }, &[1; 6]).expect("sound");
        assert!(pending.spread(&[2, 9], 11, &()).expect("memory").is_none());
    }
}
