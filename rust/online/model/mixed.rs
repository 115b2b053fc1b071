//! The mixture of what passes over partitions have led to: ARITHMETIC.md, "Partitions".
//!
//! Of passes over few columns, the numbers of these alone are mixed.

use std::ops::Range;

use super::{Learnt, Model};
use crate::arith::environment::standard;
use crate::arith::finite::{all_finite, largest_of};
use crate::arith::mixture::{mark, mean, product, sums_of_all, tree};
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, filled, gathered, tried};
use crate::monitor::{Monitor, copied, pieces};
use crate::rows::{Chosen, Layout, Table};

/// Numbers of a tile, about: those of some passes stay in the cache.
const TILE: usize = 1 << 10;

/// What a pass over a partition has led to.
pub struct Share {
    pub learnt: Learnt,
    /// Its weight in the mixture, by decisions.
    pub k: Vec<i64>,
}

/// Numbers by plane: of each pass k and T + 1; the sum of all k, T + 1 before the passes, and after them.
struct Factors {
    passes: Vec<[Vec<f64>; 2]>,
    whole: [Vec<f64>; 3],
}

impl Factors {
    fn of(shares: &[Share], before: &[u64], after: &[u64]) -> Result<Self> {
        let k = |share: &Share, plane: usize| share.k[if share.k.len() == 1 { 0 } else { plane }];
        let sum = |plane| shares.iter().fold(0, |sum: i64, share| sum.saturating_add(k(share, plane)));
        let sums = collected((0..before.len()).map(sum))?;
        let next = |seen: &[u64]| collected(seen.iter().map(|t| t.wrapping_add(1) as f64));
        let passes = tried(shares.iter().map(|share| {
            // Those of passes without a mistake count where there are no others.
            let own = |(plane, sum): (usize, &i64)| if *sum == 0 { 1.0 } else { k(share, plane) as f64 };
            Ok([collected(sums.iter().enumerate().map(own))?, next(&share.learnt.state.seen)?])
        }))?;
        let sums =
            collected(sums.iter().map(|&sum| if sum == 0 { shares.len() as f64 } else { sum as f64 }))?;
        Ok(Self { passes, whole: [sums, next(before)?, next(after)?] })
    }

    /// The same for each number of a tile of so many columns.
    fn tiled(&self, planes: &Range<usize>, columns: usize) -> Result<Self> {
        let n = planes.len();
        let tiled = |of: &Vec<f64>| collected((0..columns * n).map(|i| of[planes.start + i % n]));
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
            let seen = collected(self.seen.iter().enumerate().map(|(k, &seen)| {
                let visits = shares.iter().map(|share| share.learnt.state.seen[k].wrapping_sub(seen));
                visits.fold(seen, u64::wrapping_add)
            }))?;
            let (factors, some) = (Factors::of(shares, &self.seen, &seen)?, union(shares, columns)?);
            let before = (&self.coef, self.sums.as_ref().map(|(u, _)| u));
            let passes = collected(shares.iter().map(|share| {
                let Learnt { state, sums, own, .. } = &share.learnt;
                let pair = (&state.coef, sums.as_ref().map(|(u, _)| u));
                (pair, own.as_ref().map(|own| &own.chosen))
            }))?;
            let Some((coef, u)) = mix(&factors, before, &passes, some.as_deref(), monitor)? else {
                return Ok(None);
            };
            let line = |numbers: &[f64]| {
                let mut line = Table::new(copied(numbers, monitor)?, [planes, 1])?;
                line.stand(Layout::ByColumn, monitor)?; // one tile
                Result::Ok(line)
            };
            let pair = |b: &[f64], u: Option<&[f64]>| Ok((line(b)?, u.map(line).transpose()?));
            let (b, of_u) = pair(&self.intercept, self.sums.as_ref().map(|(_, of_u)| &of_u[..]))?;
            let passes = tried(shares.iter().map(|Share { learnt: Learnt { state, sums, .. }, .. }| {
                pair(&state.intercept, sums.as_ref().map(|(_, of_u)| &of_u[..]))
            }))?;
            let passes = collected(passes.iter().map(|(b, of_u)| ((b, of_u.as_ref()), None)))?;
            let Some((b, of_u)) = mix(&factors, (&b, of_u.as_ref()), &passes, None, monitor)? else {
                return Ok(None);
            };
            let of_u = of_u.map(|of_u| of_u.by_plane(monitor)).transpose()?;
            let mut made = Self::of(self.kind, coef, b.by_plane(monitor)?, seen, u.zip(of_u));
            made.coef.share();
            if let Some((u, _)) = &mut made.sums {
                u.share();
            }
            Ok(Some(made))
        })
    }
}

/// The columns that passes have had, which rise; `None`: all.
fn union(shares: &[Share], columns: usize) -> Result<Option<Vec<usize>>> {
    let mut is_there = Vec::new();
    for share in shares {
        let Some(own) = &share.learnt.own else { return Ok(None) };
        is_there.try_resize(columns.div_ceil(64), 0_u64)?;
        for (column, _) in &own.chosen.columns {
            is_there[column / 64] |= 1 << (column % 64);
        }
    }
    let of_word = |(i, word): (usize, u64)| (64 * i..).take(64).filter(move |j| word >> (j % 64) & 1 == 1);
    let words = is_there.into_iter().enumerate().filter(|(_, word)| *word != 0);
    Ok(Some(gathered(words.flat_map(of_word))?))
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
    let mut rooms = Rooms::new(passes.len(), size * n)?;
    for first in (0..planes).step_by(n.max(1)) {
        let factors = factors.tiled(&(first..first + n), size.min(count))?;
        for piece in pieces(count, 4 * n * passes.len(), monitor) {
            let piece = piece?;
            for start in piece.clone().step_by(size) {
                let tile =
                    Tile { planes: first..first + n, columns: start..piece.end.min(start + size), some };
                let [mixed, of_u] = rooms.mix(&factors, before, passes, &tile)?;
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

/// Where tiles are mixed.
struct Rooms {
    /// Of before, and of each pass: w and u.
    tiles: Vec<[Vec<f64>; 2]>,
    mixed: [Vec<f64>; 2],
    sums: Vec<f64>,
    scratch: Vec<f64>,
    /// All bits of a number that differs, else none.
    differs: Vec<u64>,
}

impl Rooms {
    fn new(passes: usize, len: usize) -> Result<Self> {
        let two = || Ok([filled(0.0, len)?, filled(0.0, len)?]);
        let tiles = tried((0..=passes).map(|_| two()))?;
        let scratch = filled(0.0, len * (passes.ilog2() as usize + 1))?;
        Ok(Self { tiles, mixed: two()?, sums: filled(0.0, len)?, scratch, differs: filled(0, len)? })
    }

    /// Weights and sums of a tile.
    fn mix(
        &mut self,
        Factors { passes: of_passes, whole: [all, next_before, next] }: &Factors,
        before: Pair<&Table>,
        passes: &[Passed],
        tile: &Tile,
    ) -> Result<[&[f64]; 2]> {
        let (len, parts) = (tile.columns.len() * tile.planes.len(), 0..passes.len());
        let Self { tiles, mixed: [mixed, mixed_u], sums, scratch, differs } = self;
        let (mixed, mixed_u, sums) = (&mut mixed[..len], &mut mixed_u[..len], &mut sums[..len]);
        let differs = &mut differs[..len];
        let Some((own, rooms)) = tiles.split_first_mut() else { return Err(Error::Memory) };
        let [w, u] = tiles_of(&(before, None), tile, [&[], &[]], own);
        let made =
            collected(passes.iter().zip(rooms).map(|(pass, room)| tiles_of(pass, tile, [w, u], room)))?;
        tree(parts.clone(), mixed, scratch, &|p, out| product(&of_passes[p][0], made[p][0], out));
        differs.fill(0);
        for [other, _] in &made {
            mark(differs, other, made[0][0]);
        }
        mean(mixed, all, differs, made[0][0]);
        if before.1.is_none() {
            return Ok([mixed, &[]]);
        }
        tree(parts.clone(), mixed_u, scratch, &|p, out| out.copy_from_slice(made[p][1]));
        tree(parts, sums, scratch, &|p, out| product(&of_passes[p][1], made[p][0], out));
        differs.fill(0);
        for [other, other_u] in &made {
            mark(differs, other, w);
            mark(differs, other_u, u);
        }
        let others = (passes.len() - 1) as f64;
        sums_of_all(mixed_u, others, [next, mixed, sums], [next_before, w, u], differs);
        Ok([mixed, mixed_u])
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
            Some(mixed.coef.by_plane(&()).expect("memory"))
        };
        assert_eq!(mixed(&[share([1.0, 7.0], 1), share([4.0, 7.0], 2)]), Some(vec![3.0, 7.0]));
        assert_eq!(mixed(&[share([1.0, 7.0], 0), share([4.0, 7.0], 2)]), Some(vec![4.0, 7.0]));
        assert_eq!(mixed(&[share([1.0, 7.0], 0), share([4.0, 7.0], 0)]), Some(vec![2.5, 7.0]));
        assert_eq!(mixed(&[share([1.5e308, 0.0], 1), share([1.6e308, 0.0], 1)]), None);
        assert!(model.mixed(&[], &()).is_err());
    }
}
