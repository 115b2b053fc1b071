//! The mixture of what passes over partitions have led to: ARITHMETIC.md, "Partitions".
//!
//! Of passes over few columns, the numbers of these alone are mixed.

use std::ops::Range;

use super::{Learnt, Model};
use crate::arith::environment::standard;
use crate::arith::finite::{all_finite, largest_of};
use crate::arith::mixture::{mark, mean, product, sums_of_all, tree};
use crate::error::{Error, Result};
use crate::memory::{collected, filled, tried, with_room};
use crate::monitor::{Monitor, copied, pieces};
use crate::rows::{Chosen, Layout, Table};

/// Numbers of a tile, about: those of some passes stay in the cache.
pub(super) const TILE: usize = 1 << 10;

/// What a pass over a partition has led to.
pub struct Share {
    pub learnt: Learnt,
    /// Its weight in the mixture, by decisions.
    pub k: Vec<i64>,
}

/// What a pass has made of one number of each plane: its weight in the mixture, by decisions, and the counters.
pub(super) type Counted<'a> = (&'a [i64], &'a [u64]);

/// Numbers by plane: of each pass k and T + 1; the sum of all k, T + 1 before the passes, and after them.
pub(super) struct Factors {
    passes: Vec<[Vec<f64>; 2]>,
    whole: [Vec<f64>; 3],
}

impl Factors {
    /// With the counters after all passes.
    pub(super) fn of(passes: &[Counted], before: &[u64]) -> Result<(Self, Vec<u64>)> {
        let after = collected(before.iter().enumerate().map(|(plane, &t)| {
            let visits = passes.iter().map(|(_, seen)| seen[plane].wrapping_sub(t));
            visits.fold(t, u64::wrapping_add)
        }))?;
        let k = |k: &[i64], plane: usize| k[if k.len() == 1 { 0 } else { plane }];
        let sum = |plane| passes.iter().fold(0, |sum: i64, (own, _)| sum.saturating_add(k(own, plane)));
        let sums = collected((0..before.len()).map(sum))?;
        let next = |seen: &[u64]| collected(seen.iter().map(|t| t.wrapping_add(1) as f64));
        let of_passes = tried(passes.iter().map(|(of_pass, seen)| {
            // Those of passes without a mistake count where there are no others.
            let own = |(plane, sum): (usize, &i64)| if *sum == 0 { 1.0 } else { k(of_pass, plane) as f64 };
            Ok([collected(sums.iter().enumerate().map(own))?, next(seen)?])
        }))?;
        let count = passes.len() as f64;
        let sums = collected(sums.iter().map(|&sum| if sum == 0 { count } else { sum as f64 }))?;
        let whole = [sums, next(before)?, next(&after)?];
        Ok((Self { passes: of_passes, whole }, after))
    }

    /// Whether the planes have the same numbers.
    pub(super) fn are_even(&self) -> bool {
        let mut all = self.passes.iter().flatten().chain(&self.whole);
        all.all(|numbers| numbers.iter().all(|number| *number == numbers[0]))
    }

    /// The same for each number of a tile, of these planes.
    pub(super) fn tiled(&self, planes: &[usize]) -> Result<Self> {
        let tiled = |of: &Vec<f64>| collected(planes.iter().map(|plane| of[*plane]));
        let passes = tried(self.passes.iter().map(|[k, next]| Ok([tiled(k)?, tiled(next)?])))?;
        let [sum, before, after] = &self.whole;
        Ok(Self { passes, whole: [tiled(sum)?, tiled(before)?, tiled(after)?] })
    }
}

/// Some planes of some columns; their numbers stand column by column.
struct Tile<'a> {
    planes: Range<usize>,
    columns: Range<usize>,
    /// The columns that these are of; `None`: all.
    some: Option<&'a [usize]>,
}

impl Tile<'_> {
    /// All its columns, and where their numbers are in it.
    fn columns(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let n = self.planes.len();
        let column = |at| self.some.map_or(at, |some| some[at]);
        self.columns.clone().enumerate().map(move |(i, at)| (column(at), i * n..(i + 1) * n))
    }
}

/// The numbers of a tile, where they stand or in a room; of columns that were not chosen those of `before`.
fn numbers_of<'a>(
    tile: &Tile,
    table: &'a Table,
    chosen: Option<&Chosen>,
    before: &[f64],
    room: &'a mut [f64],
) -> &'a [f64] {
    let ([by_plane, by_column], first, n) = (table.steps(), tile.planes.start, tile.planes.len());
    let (numbers, stands) = (table.numbers(), by_column == n && (n == 1 || by_plane == 1));
    if let (Some(numbers), None, None, true) = (numbers, chosen, tile.some, stands) {
        return &numbers[first * by_plane + tile.columns.start * n..][..tile.columns.len() * n];
    }
    for (column, to) in tile.columns() {
        let place = chosen.map_or(Some(column), |chosen| chosen.place(column).map(|place| place as usize));
        match (place, numbers) {
            (None, _) => room[to.clone()].copy_from_slice(&before[to]),
            (_, None) => room[to].fill(0.0),
            (Some(place), Some(numbers)) => {
                let (from, to) = (&numbers[first * by_plane + place * by_column..], &mut room[to]);
                if by_plane == 1 {
                    to.copy_from_slice(&from[..n]);
                } else {
                    to.iter_mut().zip(from.iter().step_by(by_plane)).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }
    &room[..tile.columns.len() * n]
}

/// Where mixed numbers go.
struct Made {
    table: Table,
    /// No |number| is larger.
    most: f64,
}

impl Made {
    /// Room for all numbers, or, for those of some columns, a copy of what there was.
    fn new(before: &Table, like: &Table, of_some: bool, monitor: &dyn Monitor) -> Result<Self> {
        let mut table = if of_some { before.copy(monitor)? } else { Table::zero(before.shape()) };
        table.stand(like.layout(), monitor)?;
        table.own(monitor)?;
        Ok(Self { table, most: if of_some { before.most() } else { 0.0 } })
    }

    /// Puts in a tile. `false`: a number is not finite.
    fn put(&mut self, tile: &Tile, mixed: &[f64], monitor: &dyn Monitor) -> Result<bool> {
        let [by_plane, by_column] = self.table.steps();
        let numbers = self.table.own(monitor)?;
        for (column, from) in tile.columns() {
            let (from, to) =
                (&mixed[from], &mut numbers[tile.planes.start * by_plane + column * by_column..]);
            if by_plane == 1 {
                to[..from.len()].copy_from_slice(from);
            } else {
                to.iter_mut().step_by(by_plane).zip(from).for_each(|(to, from)| *to = *from);
            }
        }
        self.most = largest_of(mixed, self.most);
        Ok(all_finite(mixed))
    }

    fn table(self) -> Table {
        self.table.at_most(self.most)
    }
}

/// Weights, and the sums u that belong to them, if there are any.
type Pair<T> = (T, Option<T>);

/// Those of a pass, and the columns that they are of; `None`: all.
type Passed<'a> = (Pair<&'a Table>, Option<&'a Chosen>);

impl Model {
    /// What passes that began with this model have led to, mixed; `None`: a number is not finite. Each pass has
    /// taken the penalties that were pending.
    pub fn mixed(&self, shares: &[Share], monitor: &dyn Monitor) -> Result<Option<Self>> {
        let [planes, columns] = self.shape();
        let fits = |Share { learnt: Learnt { state, own, sums, .. }, k }: &Share| {
            let width = own.as_ref().map_or(columns, |own| own.chosen.places());
            let is_alike = state.coef.shape() == [planes, width] && sums.is_some() == self.sums.is_some();
            is_alike && (k.len() == 1 || k.len() == planes)
        };
        if shares.is_empty() || !shares.iter().all(fits) {
            let text = "runs must have begun with this model, and k must have a number for each decision";
            return Err(Error::Invalid(text.into()));
        }
        standard(|| {
            let counted = collected(shares.iter().map(|share| (&share.k[..], &share.learnt.state.seen[..])))?;
            let ((factors, seen), some) = (Factors::of(&counted, &self.seen)?, union(shares, columns)?);
            let before = (&self.coef, self.sums.as_ref().map(|(u, _)| u));
            let passes = collected(shares.iter().map(|share| {
                let Learnt { state, sums, own, .. } = &share.learnt;
                let pair = (&state.coef, sums.as_ref().map(|(u, _)| u));
                (pair, own.as_ref().map(|own| &own.chosen))
            }))?;
            let Some((coef, u)) = mix(&factors, before, &passes, some.as_deref(), monitor)? else {
                return Ok(None);
            };
            let made =
                collected(shares.iter().map(|Share { learnt: Learnt { state, sums, .. }, .. }| {
                    [&state.intercept[..], sums.as_ref().map_or(&[], |(_, of_u)| &of_u[..])]
                }))?;
            let Some([intercept, of_u]) = self.mixed_intercepts(&factors, &made)? else { return Ok(None) };
            let mut made = Self::of(self.kind, coef, intercept, seen, u.map(|u| (u, of_u)));
            made.coef.share();
            if let Some((u, _)) = &mut made.sums {
                u.share();
            }
            Ok(Some(made))
        })
    }

    /// Intercepts and their sums that passes have led to, mixed; `None`: a number is not finite.
    pub(super) fn mixed_intercepts(
        &self,
        factors: &Factors,
        made: &[[&[f64]; 2]],
    ) -> Result<Option<[Vec<f64>; 2]>> {
        let own = [&self.intercept[..], self.sums.as_ref().map_or(&[], |(_, of_u)| &of_u[..])];
        let mut mixer = Mixer::new(made.len(), self.seen.len())?;
        let [b, of_u] = mixer.mix(factors, own, made);
        if all_finite(b) && all_finite(of_u) {
            Ok(Some([copied(b, &())?, copied(of_u, &())?]))
        } else {
            Ok(None)
        }
    }
}

/// The columns that passes have had, which rise; `None`: all.
fn union(shares: &[Share], columns: usize) -> Result<Option<Vec<usize>>> {
    if shares.iter().any(|share| share.learnt.own.is_none()) {
        return Ok(None);
    }
    let own = shares.iter().filter_map(|share| share.learnt.own.as_ref());
    rising(own.flat_map(|own| own.chosen.columns.iter().map(|(column, _)| *column)), columns).map(Some)
}

/// The same places, each once, so that they rise; all are below `len`.
pub(super) fn rising(places: impl Iterator<Item = usize>, len: usize) -> Result<Vec<usize>> {
    let mut is_there = filled(0_u64, len.div_ceil(64))?;
    places.for_each(|place| is_there[place / 64] |= 1 << (place % 64));
    let count = is_there.iter().fold(0, |count, word| count + word.count_ones() as usize);
    let mut rising = with_room(count)?;
    for (i, mut word) in is_there.into_iter().enumerate() {
        while word != 0 {
            rising.push(64 * i + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
    Ok(rising)
}

/// Mixes weights, and the sums that belong to them; `None`: a number is not finite.
fn mix(
    factors: &Factors,
    before: Pair<&Table>,
    passes: &[Passed],
    some: Option<&[usize]>,
    monitor: &dyn Monitor,
) -> Result<Option<Pair<Table>>> {
    let ([planes, columns], (like, like_u)) = (before.0.shape(), passes[0].0);
    let mut w = Made::new(before.0, like, some.is_some(), monitor)?;
    let mut u = match (before.1, like_u) {
        (Some(before), Some(like)) => Some(Made::new(before, like, some.is_some(), monitor)?),
        _ => None,
    };
    let n = if like.layout() == Layout::ByColumn { planes } else { 1 };
    let (count, size) = (some.map_or(columns, <[usize]>::len), (TILE / n.max(1)).max(1));
    let mut rooms = tried((0..=passes.len()).map(|_| two(size * n)))?;
    let mut mixer = Mixer::new(passes.len(), size * n)?;
    for first in (0..planes).step_by(n.max(1)) {
        let factors = factors.tiled(&collected((0..size.min(count) * n).map(|i| first + i % n))?)?;
        for piece in pieces(count, 4 * n * passes.len(), monitor) {
            let piece = piece?;
            for start in piece.clone().step_by(size) {
                let tile =
                    Tile { planes: first..first + n, columns: start..piece.end.min(start + size), some };
                let Some((own, rooms)) = rooms.split_first_mut() else { return Err(Error::Memory) };
                let own = tiles_of(&(before, None), &tile, [&[], &[]], own);
                let made =
                    collected(passes.iter().zip(rooms).map(|(pass, room)| tiles_of(pass, &tile, own, room)))?;
                let [mixed, of_u] = mixer.mix(&factors, own, &made);
                let mut is_finite = w.put(&tile, mixed, monitor)?;
                if let Some(u) = &mut u {
                    is_finite &= u.put(&tile, of_u, monitor)?;
                }
                if !is_finite {
                    return Ok(None);
                }
            }
        }
    }
    Ok(Some((w.table(), u.map(Made::table))))
}

/// Room for w and u of a tile.
pub(super) fn two(len: usize) -> Result<[Vec<f64>; 2]> {
    Ok([filled(0.0, len)?, filled(0.0, len)?])
}

/// Where tiles are mixed.
pub(super) struct Mixer {
    mixed: [Vec<f64>; 2],
    sums: Vec<f64>,
    scratch: Vec<f64>,
    /// All bits of a number that differs, else none.
    differs: Vec<u64>,
}

impl Mixer {
    pub(super) fn new(passes: usize, len: usize) -> Result<Self> {
        let scratch = filled(0.0, len * (passes.ilog2() as usize + 1))?;
        Ok(Self { mixed: two(len)?, sums: filled(0.0, len)?, scratch, differs: filled(0, len)? })
    }

    /// Weights and sums of a tile, whose numbers before the passes are `own`; no u: there are no sums.
    pub(super) fn mix(
        &mut self,
        Factors { passes: of_passes, whole: [all, next_before, next] }: &Factors,
        [w, u]: [&[f64]; 2],
        made: &[[&[f64]; 2]],
    ) -> [&[f64]; 2] {
        let (len, parts) = (w.len(), 0..made.len());
        let Self { mixed: [mixed, mixed_u], sums, scratch, differs } = self;
        let (mixed, mixed_u, sums) = (&mut mixed[..len], &mut mixed_u[..u.len()], &mut sums[..len]);
        let differs = &mut differs[..len];
        tree(parts.clone(), mixed, scratch, &|p, out| product(&of_passes[p][0], made[p][0], out));
        differs.fill(0);
        for [other, _] in made {
            mark(differs, other, made[0][0]);
        }
        mean(mixed, all, differs, made[0][0]);
        if u.is_empty() {
            return [mixed, &[]];
        }
        tree(parts.clone(), mixed_u, scratch, &|p, out| out.copy_from_slice(made[p][1]));
        tree(parts, sums, scratch, &|p, out| product(&of_passes[p][1], made[p][0], out));
        differs.fill(0);
        for [other, other_u] in made {
            mark(differs, other, w);
            mark(differs, other_u, u);
        }
        let others = (made.len() - 1) as f64;
        sums_of_all(mixed_u, others, [next, mixed, sums], [next_before, w, u], differs);
        [mixed, mixed_u]
    }
}

/// Weights and sums of a tile.
fn tiles_of<'a>(
    ((w, u), chosen): &Passed<'a>,
    tile: &Tile,
    [before, before_u]: [&[f64]; 2],
    [room, room_u]: &'a mut [Vec<f64>; 2],
) -> [&'a [f64]; 2] {
    let u = u.map_or(&[][..], |u| numbers_of(tile, u, *chosen, before_u, room_u));
    [numbers_of(tile, w, *chosen, before, room), u]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::online::run::State;

    #[test]
    fn passes_without_weight_do_not_count() {
        let model = Model::zero(&crate::online::perceptron::KIND, [1, 2]).expect("little");
        let share = |w: [f64; 2], k| {
            let coef = Table::new(w.to_vec(), [1, 2]).expect("two weights");
            let state = State { coef, intercept: vec![0.5], seen: vec![3], ages: None };
            Share { learnt: Learnt { state, ..Learnt::default() }, k: vec![k] }
        };
        let mixed = |shares: &[Share]| {
            let mixed = model.mixed(shares, &()).expect("alike")?;
            assert_eq!((mixed.seen(), mixed.intercept()), (&[3 * shares.len() as u64][..], &[0.5][..]));
            assert!(mixed.coef.most() >= 7.0);
            Some(mixed.coef.by_plane(&()).expect("memory"))
        };
        assert_eq!(mixed(&[share([1.0, 7.0], 1), share([4.0, 7.0], 2)]), Some(vec![3.0, 7.0]));
        assert_eq!(mixed(&[share([1.0, 7.0], 0), share([4.0, 7.0], 2)]), Some(vec![4.0, 7.0]));
        assert_eq!(mixed(&[share([1.0, 7.0], 0), share([4.0, 7.0], 0)]), Some(vec![2.5, 7.0]));
        assert_eq!(mixed(&[share([1.5e308, 0.0], 1), share([1.6e308, 0.0], 1)]), None);
        assert!(model.mixed(&[], &()).is_err());
    }
}
