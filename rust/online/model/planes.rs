//! A model of which some planes are as they were at another time of its run.

use std::sync::Arc;

use super::{Due, Model};
use crate::error::{Error, Result};
use crate::monitor::{Monitor, copied};
use crate::rows::Table;

impl Model {
    /// The same with some planes of another model of the same run; `None`: the learner remembers more than numbers
    /// of planes.
    pub fn with_planes(&self, other: &Self, planes: &[usize], monitor: &dyn Monitor) -> Result<Option<Self>> {
        let [all, columns] = self.shape();
        other.check_shape([all, columns])?;
        if let Some(k) = planes.iter().find(|&&k| k >= all) {
            return Err(Error::Invalid(format!("planes must be below {all}, got {k}")));
        }
        if !(self.memory.parts.is_empty() && other.memory.parts.is_empty()) {
            return Ok(None);
        }
        let mut made = Self { answer: Arc::default(), ..self.clone() };
        write(&other.coef, planes, &mut made.coef, monitor)?;
        put(&other.intercept, planes, &mut made.intercept)?;
        put(&other.seen, planes, &mut made.seen)?;
        if let (Some((u, intercept)), Some((others, of_others))) = (&mut made.sums, &other.sums) {
            write(others, planes, u, monitor)?;
            put(of_others, planes, intercept)?;
        }
        if let Some(Due { strengths, .. }) = self.due.as_ref().or(other.due.as_ref()) {
            let (mut ages, others) = (self.ages(None)?, other.ages(None)?);
            for range in planes.iter().map(|k| k * columns..(k + 1) * columns) {
                ages[range.clone()].copy_from_slice(&others[range]);
            }
            made.put_under(*strengths, &ages)?;
        }
        Ok(Some(made))
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
        let made = early.with_planes(&late, &[0, 2], &()).expect("memory").expect("numbers of planes alone");
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
        assert!(early.with_planes(&late, &[3], &()).is_err());
    }
}
