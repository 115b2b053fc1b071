//! Passes that are tried: what they would change is told, and the model stays as it is.
//!
//! So several passes begin with the same weights, and copy none of them: their time follows the entries of
//! the rows.

use std::sync::Arc;

use super::in_place::learner_of;
use super::mixed::{Factors, Mixer, TILE, rising, two};
use super::{Model, Passed};
use crate::arith::environment::standard;
use crate::arith::finite::{all_finite, largest_of};
use crate::error::{Error, Result, bail, ensure};
use crate::memory::{collected, filled, tried, with_room};
use crate::monitor::{Monitor, copied, pieces};
use crate::online::averaged::Averaged;
use crate::online::perceptron::Perceptron;
use crate::online::run::problem::{Problem, Settings};
use crate::online::run::{Epoch, State};
use crate::online::training::Given;
use crate::rows::{Layout, Table, Undo};

/// Numbers of a model: weights and sums u at some places, which rise; of all planes the others. Of a learner
/// without sums there are no u.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Excerpt {
    /// Column by column: that of plane k in column j is `j*K + k`.
    places: Vec<usize>,
    numbers: [Vec<f64>; 2],
    intercepts: [Vec<f64>; 2],
    seen: Vec<u64>,
}

impl Excerpt {
    fn slices(&self) -> [[&[f64]; 2]; 2] {
        [&self.numbers, &self.intercepts].map(|[w, u]| [&w[..], &u[..]])
    }
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
            let undos = [run.undo(), sums.as_ref().and_then(Averaged::undo)];
            let places = rising(undos.into_iter().flatten().flat_map(Undo::places), len)?;
            let mut now = Excerpt { seen, ..Excerpt::default() };
            now.numbers[0] = at(run.numbers(), &places)?;
            now.intercepts[0] = intercept;
            if let Some(u) = sums {
                now.numbers[1] = at(u.numbers(), &places)?;
                now.intercepts[1] = u.intercept()?;
            }
            now.places = places;
            Ok(Drafted { now, epoch, passed })
        })
    }

    /// How many examples each plane has visited until these numbers.
    pub fn visits(&self, now: &Excerpt) -> impl ExactSizeIterator<Item = i64> {
        now.seen.iter().zip(&*self.seen).map(|(now, before)| now.wrapping_sub(*before) as i64)
    }

    /// What passes that began with this model have led to, mixed by the weights of their decisions; `None`: a number
    /// is not finite.
    pub fn mixed_drafts(
        &self,
        passes: &[(&Excerpt, &[i64])],
        monitor: &dyn Monitor,
    ) -> Result<Option<Excerpt>> {
        let planes = self.seen.len();
        passes.iter().try_for_each(|(pass, k)| {
            ensure!(k.len() == 1 || k.len() == planes, "k must have a number for each decision");
            self.check_excerpt(pass)
        })?;
        ensure!(!passes.is_empty(), "excerpts must be at least one");
        standard(|| {
            let counted = collected(passes.iter().map(|(pass, k)| (*k, &pass.seen[..])))?;
            let (factors, seen) = Factors::of(&counted, &self.seen)?;
            let len = self.coef.numbers().map_or(0, <[f64]>::len);
            let places = rising(passes.iter().flat_map(|(pass, _)| pass.places.iter().copied()), len)?;
            let intercepts = collected(passes.iter().map(|(pass, _)| pass.slices()[1]))?;
            let Some(intercepts) = self.mixed_intercepts(&factors, &intercepts)? else { return Ok(None) };
            let room = |of: bool| if of { with_room(places.len()) } else { Ok(Vec::new()) };
            let mut numbers = [room(true)?, room(self.sums.is_some())?];
            let before = [self.coef.numbers(), self.sums.as_ref().and_then(|(u, _)| u.numbers())];
            let (mut mixer, mut own) = (Mixer::new(passes.len(), TILE)?, two(TILE)?);
            let mut rooms = tried(passes.iter().map(|_| two(TILE)))?;
            let (mut next, even) = (filled(0, passes.len())?, factors.are_even());
            let mut of_tile = factors.tiled(&[0; TILE])?;
            for piece in pieces(places.len(), 4 * passes.len(), monitor) {
                let piece = piece?;
                for tile in places[piece].chunks(TILE) {
                    if !even {
                        of_tile = factors.tiled(&collected(tile.iter().map(|place| place % planes))?)?;
                    }
                    let [w, u] = &mut own;
                    let own = [fill(w, before[0], tile), fill(u, before[1], tile)];
                    let made = passes.iter().zip(&mut rooms).zip(&mut next);
                    let made =
                        collected(made.map(|(((pass, _), room), next)| pass.put(tile, own, room, next)))?;
                    for (all, mixed) in numbers.iter_mut().zip(mixer.mix(&of_tile, own, &made)) {
                        if !all_finite(mixed) {
                            return Ok(None);
                        }
                        all.extend_from_slice(mixed);
                    }
                }
            }
            Ok(Some(Excerpt { places, numbers, intercepts, seen }))
        })
    }

    /// Puts in other numbers. They are not to be used after an error of the memory.
    pub fn put_excerpt(&mut self, new: &Excerpt) -> Result<()> {
        self.check_excerpt(new)?;
        let Excerpt { places, numbers: [w, u], intercepts: [b, of_u], seen } = new;
        let (b, of_u, seen) = (copied(b, &())?, copied(of_u, &())?, copied(seen, &())?);
        // Nothing fails any more, but for a copy of numbers that somebody else has.
        write(&mut self.coef, places, w)?;
        if let Some((to, own)) = &mut self.sums {
            write(to, places, u)?;
            *own = Arc::new(of_u);
        }
        (self.intercept, self.seen) = (Arc::new(b), Arc::new(seen));
        (self.answer, self.memory) = (Arc::default(), Arc::default());
        Ok(())
    }

    fn check_excerpt(&self, Excerpt { places, intercepts: [b, of_u], .. }: &Excerpt) -> Result<()> {
        let [planes, columns] = self.shape();
        let of_all = [planes, if self.sums.is_some() { planes } else { 0 }];
        ensure!(
            [b.len(), of_u.len()] == of_all && places.last().is_none_or(|last| *last < planes * columns),
            "an excerpt must be of a model with {planes} planes of {columns} columns and the same learner"
        );
        Ok(())
    }
}

impl Excerpt {
    /// Its numbers at the places of a tile, from the `next` one that it has; elsewhere those of before.
    fn put<'a>(
        &self,
        tile: &[usize],
        before: [&[f64]; 2],
        room: &'a mut [Vec<f64>; 2],
        next: &mut usize,
    ) -> [&'a [f64]; 2] {
        let (first, mut made) = (*next, [&[][..]; 2]);
        let rooms = room.iter_mut().zip(&mut made);
        for ((numbers, before), (room, made)) in self.numbers.iter().zip(before).zip(rooms) {
            let (room, mut at) = (&mut room[..before.len()], first);
            for ((to, before), place) in room.iter_mut().zip(before).zip(tile) {
                // Without a branch that nobody can foresee.
                let own = self.places.get(at).zip(numbers.get(at));
                let (own, number) = own.map_or((usize::MAX, 0.0), |(own, number)| (*own, *number));
                *to = if own == *place { number } else { *before };
                at += usize::from(own == *place);
            }
            (*next, *made) = ((*next).max(at), room);
        }
        made
    }
}

fn at(numbers: Option<&[f64]>, places: &[usize]) -> Result<Vec<f64>> {
    collected(places.iter().map(|place| numbers.map_or(0.0, |numbers| numbers[*place])))
}

/// Writes numbers at some places to a room; none, if there are none.
fn fill<'a>(room: &'a mut [f64], numbers: Option<&[f64]>, places: &[usize]) -> &'a [f64] {
    let Some(numbers) = numbers else { return &[] };
    let room = &mut room[..places.len()];
    room.iter_mut().zip(places).for_each(|(to, place)| *to = numbers[*place]);
    room
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
        assert!(model.coef.numbers().is_some_and(|all| all.iter().all(|w| *w == 0.0)));
        model.put_excerpt(&now).expect("finite");
        assert_eq!(at(model.coef.numbers(), &now.places).expect("little"), now.numbers[0]);
        assert_eq!((model.intercept(), model.seen()), (&now.intercepts[0][..], &now.seen[..]));
        assert!(now.numbers[0].iter().all(|w| w.abs() <= model.coef.most()));
        for shape in [[1, 8], [2, 3]] {
            assert!(Model::zero(&KIND, shape).expect("little").put_excerpt(&now).is_err());
        }
    }
}
