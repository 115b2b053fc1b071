//! Numbers of planes and columns: what carries weights from a model through a run, to predictions, and back.

use std::ops::Range;
use std::sync::Arc;

use crate::arith::finite::{all_finite, largest_of};
use crate::error::{Error, Result, ensure};
use crate::memory::{collected, zeros, zeros_to_write};
use crate::monitor::{Monitor, copied, pieces};
use crate::rows::columns::Chosen;
use crate::rows::weights::shared::Shared;
use crate::rows::weights::turned::turn;

/// How numbers of K planes over d columns stand. Those of one plane stand alike in both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// K x d: each plane of dense rows reads its weights one after another.
    #[default]
    ByPlane,
    /// d x K: an entry of a sparse row reads the weights of all planes. Those of few columns are on few pages.
    ByColumn,
}

impl Layout {
    /// How far apart two planes are, and two columns.
    #[inline(always)]
    pub(in crate::rows) fn steps(self, [planes, columns]: [usize; 2]) -> [usize; 2] {
        match self {
            Self::ByPlane => [columns, 1],
            Self::ByColumn => [1, planes],
        }
    }
}

/// Where the numbers are.
#[derive(Clone, Default)]
enum Numbers {
    /// Zeros, which take no memory.
    #[default]
    Zero,
    /// With a run, which alone has them.
    Own(Vec<f64>),
    /// With a model: many may read them.
    Shared(Shared),
}

/// Numbers K x d. A clone of those that are shared copies nothing: who writes makes a copy, if others have them.
#[derive(Clone, Default)]
pub struct Table {
    numbers: Numbers,
    layout: Layout,
    shape: [usize; 2],
    /// No |number| is larger, and none is -0.0; infinite: nobody has looked.
    most: f64,
    /// In all other columns there is nothing; `None`: nobody knows.
    pub(super) within: Option<Arc<Vec<usize>>>,
}

impl Table {
    pub fn zero(shape: [usize; 2]) -> Self {
        Self { shape, ..Self::default() }
    }

    /// Numbers by plane, of which nothing is known.
    pub fn new(numbers: Vec<f64>, shape: [usize; 2]) -> Result<Self> {
        let ([planes, columns], got) = (shape, numbers.len());
        ensure!(
            planes.checked_mul(columns) == Some(got),
            "coef must hold {planes} x {columns} weights, got {got}"
        );
        let numbers = Numbers::Own(numbers);
        Ok(Self { numbers, layout: Layout::ByPlane, shape, most: f64::INFINITY, within: None })
    }

    /// The same, looked at; `None` unless they are that many, and finite.
    pub fn of(numbers: Shared, shape: [usize; 2], monitor: &dyn Monitor) -> Result<Option<Self>> {
        if shape[0].checked_mul(shape[1]) != Some(numbers.len()) {
            return Ok(None);
        }
        let mut most = 0.0;
        for piece in pieces(numbers.len(), 1, monitor) {
            let piece = &numbers[piece?];
            if !all_finite(piece) {
                return Ok(None);
            }
            most = largest_of(piece, most);
        }
        let numbers = Numbers::Shared(numbers);
        Ok(Some(Self { numbers, layout: Layout::ByPlane, shape, most, within: None }))
    }

    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// How far apart two planes are, and two columns.
    pub fn steps(&self) -> [usize; 2] {
        self.layout.steps(self.shape)
    }

    /// No |number| is larger, and none is -0.0; infinite: nobody has looked.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// The same, by somebody who knows that no |number| is larger, and none is -0.0.
    #[must_use]
    pub fn at_most(self, most: f64) -> Self {
        Self { most, ..self }
    }

    /// The same, looked at unless somebody knows a bound.
    #[must_use]
    pub fn looked_at(self) -> Self {
        let known = Some(self.most).filter(|most| most.is_finite());
        let most = known.unwrap_or_else(|| largest_of(self.numbers().unwrap_or_default(), 0.0));
        self.at_most(most)
    }

    /// Whether nothing has ever been put in.
    pub fn is_empty(&self) -> bool {
        matches!(self.numbers, Numbers::Zero)
    }

    /// The numbers as they stand; `None`: zeros.
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.numbers {
            Numbers::Zero => None,
            Numbers::Own(numbers) => Some(numbers),
            Numbers::Shared(numbers) => Some(numbers),
        }
    }

    /// Gives zeros a place.
    pub fn place(&mut self) -> Result<()> {
        self.placed(zeros_to_write)
    }

    fn placed(&mut self, zeros: fn(usize) -> Result<Vec<f64>>) -> Result<()> {
        if self.is_empty() {
            let len = self.shape[0].checked_mul(self.shape[1]).ok_or(Error::Memory)?;
            self.numbers = Numbers::Own(zeros(len)?);
        }
        Ok(())
    }

    /// The numbers, to be written: those of a copy, if others have these.
    pub fn own(&mut self, monitor: &dyn Monitor) -> Result<&mut [f64]> {
        self.place()?;
        (self.most, self.within) = (f64::INFINITY, None);
        match &mut self.numbers {
            Numbers::Shared(numbers) => numbers.own(monitor),
            Numbers::Own(numbers) => Ok(numbers),
            Numbers::Zero => Ok(&mut []),
        }
    }

    /// The same numbers where many may read them, and where they are; none, of zeros.
    pub fn share(&mut self) -> Option<&Shared> {
        if let Numbers::Own(numbers) = &mut self.numbers {
            self.numbers = Numbers::Shared(std::mem::take(numbers).into());
        }
        match &self.numbers {
            Numbers::Shared(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The same for two: a copy of those that are nobody else's.
    pub fn copy(&self, monitor: &dyn Monitor) -> Result<Self> {
        let numbers = match &self.numbers {
            Numbers::Own(numbers) => Numbers::Own(copied(numbers, monitor)?),
            numbers => numbers.clone(),
        };
        Ok(Self { numbers, within: self.within.clone(), ..*self })
    }

    /// Changes how the numbers stand. After an error nothing has changed.
    pub fn stand(&mut self, layout: Layout, monitor: &dyn Monitor) -> Result<()> {
        if self.layout != layout
            && self.shape[0] > 1
            && let Some(numbers) = self.numbers()
        {
            *self = if layout == Layout::ByPlane {
                let mut made = Self::zero(self.shape);
                turn(numbers, self.shape, made.own(monitor)?, monitor)?;
                made.at_most(self.most)
            } else {
                self.some((0..self.shape[0]).map(|k| (k, k)), self.shape[0], layout, monitor)?
            };
        }
        self.layout = layout;
        Ok(())
    }

    /// Copies of some planes, each with a new number, that stand so.
    pub fn some(
        &self,
        planes: impl Iterator<Item = (usize, usize)> + Clone,
        count: usize,
        layout: Layout,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let mut made = Self { layout, ..Self::zero([count, self.shape[1]]) };
        let (Some(from), [per_plane, per_column]) = (self.numbers(), self.steps()) else { return Ok(made) };
        let (columns, to) = (self.shape[1], (layout, made.steps()));
        let number = |k: usize, j: usize| from[k * per_plane + j * per_column];
        fill(
            (made.own(monitor)?, to),
            columns,
            planes,
            self.layout,
            number,
            |tile| self.is_zero(tile),
            monitor,
        )?;
        Ok(made.at_most(self.most))
    }

    /// Whether there is nothing in these columns.
    fn is_zero(&self, columns: Range<usize>) -> bool {
        let (numbers, [per_plane, per_column]) = (self.numbers().unwrap_or_default(), self.steps());
        let (often, len) = match self.layout {
            Layout::ByColumn => (1, columns.len() * per_column),
            Layout::ByPlane => (self.shape[0], columns.len()),
        };
        let all = |k: usize| &numbers[k * per_plane + columns.start * per_column..][..len];
        (0..often).all(|k| all(k).iter().all(|w| w.to_bits() == 0))
    }

    /// Copies some planes to where they belong among those of another table.
    pub fn write(
        &self,
        planes: impl Iterator<Item = (usize, usize)> + Clone,
        to: &mut Self,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let (from, [per_plane, per_column]) = (self.numbers(), self.steps());
        let number = |k: usize, j: usize| from.map_or(0.0, |from| from[k * per_plane + j * per_column]);
        to.fill(planes, self.layout, number, monitor)
    }

    /// Writes numbers of planes, given by plane and column: those of the first of two to the second.
    pub(in crate::rows) fn fill(
        &mut self,
        planes: impl Iterator<Item = (usize, usize)> + Clone,
        read: Layout,
        number: impl Fn(usize, usize) -> f64,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let ([_, columns], to) = (self.shape, (self.layout, self.steps()));
        fill((self.own(monitor)?, to), columns, planes, read, number, |_| false, monitor)
    }

    /// The numbers of one plane.
    pub fn plane(&self, k: usize, monitor: &dyn Monitor) -> Result<Vec<f64>> {
        self.some(std::iter::once((k, 0)), 1, Layout::ByPlane, monitor)?.by_plane(monitor)
    }

    /// All numbers by plane, for whoever wants them so.
    pub fn by_plane(mut self, monitor: &dyn Monitor) -> Result<Vec<f64>> {
        self.stand(Layout::ByPlane, monitor)?;
        self.place()?;
        match self.numbers {
            Numbers::Zero => Ok(Vec::new()),
            Numbers::Own(numbers) => Ok(numbers),
            Numbers::Shared(numbers) => copied(&numbers, monitor),
        }
    }

    /// The numbers of all columns, or of some, each at its place, that stand so; places of no column hold 0.
    pub fn taken(&self, chosen: Option<&Chosen>, layout: Layout, monitor: &dyn Monitor) -> Result<Self> {
        let Some(chosen) = chosen else {
            let mut all = self.copy(monitor)?;
            all.stand(layout, monitor)?;
            return Ok(all);
        };
        let mut some = Self { layout, ..Self::zero([self.shape[0], chosen.places()]) };
        if let Some(numbers) = self.numbers() {
            let (from, to) = (self.steps(), some.steps());
            let pairs = |column, place| (column, place);
            copy_columns((numbers, from), (some.own(monitor)?, to), self.shape[0], chosen, pairs, monitor)?;
        }
        Ok(some.at_most(self.most))
    }

    /// Makes room for numbers of these columns: a copy, if others have these. None changes.
    pub fn make_room(&mut self, chosen: Option<&Chosen>, monitor: &dyn Monitor) -> Result<()> {
        if chosen.is_none() {
            return Ok(());
        }
        let (most, mut within) = (self.most, self.within.take());
        if self.is_empty() {
            (self.layout, within) = (Layout::ByColumn, Some(Arc::default()));
            self.placed(zeros)?;
        }
        self.own(monitor)?;
        self.share();
        (self.most, self.within) = (most, within);
        Ok(())
    }

    /// Puts numbers back where they were taken from. Nothing fails where room has been made.
    pub fn put(&mut self, taken: Self, chosen: Option<&Chosen>) -> Result<()> {
        let mut taken = taken.looked_at();
        let Some(chosen) = chosen else {
            *self = taken;
            self.share();
            return Ok(());
        };
        self.make_room(Some(chosen), &())?;
        let is_first = self.within.as_ref().is_some_and(|within| within.is_empty());
        let (most, to, planes) = (self.most.max(taken.most), self.steps(), self.shape[0]);
        let from = taken.steps();
        taken.place()?;
        let (numbers, pairs) = (taken.numbers().unwrap_or_default(), |column, place| (place, column));
        copy_columns((numbers, from), (self.own(&())?, to), planes, chosen, pairs, &())?;
        self.most = most;
        // Without memory for that, nobody knows.
        let columns = || collected(chosen.columns.iter().map(|(column, _)| *column)).ok();
        self.within = if is_first { columns().map(Arc::new) } else { None };
        Ok(())
    }

    /// What a function makes of the numbers of a plane in two tables, in the layout of this one. Zeros are not
    /// written: their pages stay those of the system.
    pub fn zipped(
        &self,
        other: &Self,
        f: impl Fn(usize, f64, f64) -> f64,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let mut made = Self { layout: self.layout, ..Self::zero(self.shape) };
        let ([planes, columns], [per_plane, per_column]) = (self.shape, self.steps());
        let within = self.within.as_ref().filter(|within| other.within.as_ref() == Some(*within));
        made.placed(if within.is_some() { zeros } else { zeros_to_write })?;
        let (out, [others_plane, others_column]) = (made.own(monitor)?, other.steps());
        let (own, others) = (self.numbers().unwrap_or_default(), other.numbers().unwrap_or_default());
        if within.is_none()
            && [per_column, others_column] == [1, 1]
            && [own.len(), others.len()] == [out.len(); 2]
        {
            // Planes that stand alike: some numbers at a time, without a question for each.
            return in_tiles(columns, [planes, TILE], monitor, |tile| {
                for k in 0..planes {
                    let (at, mut some) = (k * columns + tile.start, [0.0; TILE]);
                    let numbers = own[at..].iter().zip(&others[at..]).take(tile.len());
                    some.iter_mut().zip(numbers).for_each(|(made, (w, u))| *made = f(k, *w, *u));
                    if some.iter().fold(0, |bits, made| bits | made.to_bits()) != 0 {
                        out[at..][..tile.len()].copy_from_slice(&some[..tile.len()]);
                    }
                }
            })
            .map(|()| made);
        }
        let mut one = |k: usize, j: usize| {
            let at = k * per_plane + j * per_column;
            let w = own.get(at).map_or(0.0, |w| *w);
            let u = others.get(k * others_plane + j * others_column).map_or(0.0, |u| *u);
            let made = f(k, w, u);
            if made.to_bits() != 0 {
                out[at] = made;
            }
        };
        if let Some(within) = within {
            for piece in pieces(within.len(), planes, monitor) {
                within[piece?].iter().for_each(|j| (0..planes).for_each(|k| one(k, *j)));
            }
            made.within = Some(within.clone());
            return Ok(made);
        }
        in_tiles(columns, [planes, WIDE], monitor, |tile| {
            if self.layout == Layout::ByColumn && other.layout == Layout::ByColumn {
                tile.for_each(|j| (0..planes).for_each(|k| one(k, j)));
            } else {
                (0..planes).for_each(|k| tile.clone().for_each(|j| one(k, j)));
            }
        })?;
        Ok(made)
    }
}

/// Copies the numbers of chosen columns, each from one place to another.
fn copy_columns(
    (from, [from_plane, from_column]): (&[f64], [usize; 2]),
    (to, [to_plane, to_column]): (&mut [f64], [usize; 2]),
    planes: usize,
    chosen: &Chosen,
    pair: impl Fn(usize, usize) -> (usize, usize),
    monitor: &dyn Monitor,
) -> Result<()> {
    chosen.each(planes, monitor, |column, place| {
        let (read, written) = pair(column, place);
        let (from, to) = (&from[read * from_column..], &mut to[written * to_column..]);
        if from_plane == 1 && to_plane == 1 {
            to[..planes].copy_from_slice(&from[..planes]);
        } else {
            (0..planes).for_each(|k| to[k * to_plane] = from[k * from_plane]);
        }
    })
}

/// Writes `number(from, j)` to plane `to` of each of the pairs, in the order in which the numbers stand. Columns
/// that are zeros, in memory that holds zeros, are not written: their pages stay those of the system.
#[expect(clippy::needless_pass_by_value, reason = "what iterates is cloned for each tile")]
pub(in crate::rows) fn fill<T>(
    (out, (layout, [per_plane, per_column])): (&mut [T], (Layout, [usize; 2])),
    columns: usize,
    planes: impl Iterator<Item = (usize, usize)> + Clone,
    read: Layout,
    number: impl Fn(usize, usize) -> T,
    are_zeros: impl Fn(Range<usize>) -> bool,
    monitor: &dyn Monitor,
) -> Result<()> {
    // Columns that begin in as many lines as a cache holds: the lines of one plane are those of the next seven.
    // What is written by column in fewer, as zeros are left out tile by tile.
    let width = if layout == Layout::ByPlane { WIDE } else { TILE };
    in_tiles(columns, [planes.clone().count(), width], monitor, |tile| {
        if layout == Layout::ByColumn && read == Layout::ByColumn {
            for j in tile.filter(|&j| !are_zeros(j..j + 1)) {
                for (from, to) in planes.clone() {
                    out[j * per_column + to] = number(from, j);
                }
            }
        } else if !are_zeros(tile.clone()) {
            for (from, to) in planes.clone() {
                let out = &mut out[to * per_plane + tile.start * per_column..];
                if layout == Layout::ByPlane {
                    out.iter_mut().zip(tile.clone()).for_each(|(out, j)| *out = number(from, j));
                } else {
                    let out = out.iter_mut().step_by(per_column);
                    out.zip(tile.clone()).for_each(|(out, j)| *out = number(from, j));
                }
            }
        }
    })
}

/// Columns that are worked on at once.
const TILE: usize = 16;
/// Columns of a tile whose lines stay in the cache while they are copied plane by plane.
pub const WIDE: usize = 256;

/// Calls `work` on ranges of so many columns, and asks the monitor now and then.
pub fn in_tiles(
    columns: usize,
    [planes, width]: [usize; 2],
    monitor: &dyn Monitor,
    mut work: impl FnMut(Range<usize>),
) -> Result<()> {
    for piece in pieces(columns, planes, monitor) {
        let Range { start, end } = piece?;
        for start in (start..end).step_by(width) {
            work(start..end.min(start + width));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: [usize; 2] = [3, 300]; // more columns than a tile has

    fn table(layout: Layout) -> Table {
        let numbers: Vec<f64> = (0..SHAPE[0] * SHAPE[1]).map(|i| i as f64).collect();
        let mut table = Table::of(numbers.into(), SHAPE, &()).expect("K x d").expect("finite numbers");
        table.stand(layout, &()).expect("memory");
        table
    }

    fn by_plane(table: &Table) -> Vec<f64> {
        table.clone().by_plane(&()).expect("memory")
    }

    const LAYOUTS: [Layout; 2] = [Layout::ByPlane, Layout::ByColumn];

    #[test]
    fn numbers_are_the_same_however_they_stand() {
        let of_column = table(Layout::ByColumn);
        assert_eq!(of_column.numbers().expect("made")[..4], [0.0, 300.0, 600.0, 1.0]);
        for layout in LAYOUTS {
            assert_eq!(by_plane(&table(layout)), by_plane(&of_column));
            let two = of_column.some([(2, 0), (0, 1)].into_iter(), 2, layout, &()).expect("memory");
            assert_eq!(by_plane(&two)[..2], [600.0, 601.0]);
            assert_eq!(two.plane(1, &()), of_column.plane(0, &()));
        }
        assert!(Table::new(vec![0.0; 7], [2, 3]).is_err());
    }

    #[test]
    fn who_writes_changes_no_number_of_others() {
        for mut here in LAYOUTS.map(table) {
            here.share();
            let (there, before) = (here.clone(), by_plane(&here));
            assert_eq!(there.numbers().map(<[f64]>::as_ptr), here.numbers().map(<[f64]>::as_ptr));
            here.own(&()).expect("memory")[0] = 7.0;
            assert_eq!((by_plane(&there), by_plane(&here)[0]), (before, 7.0));
        }
    }

    #[test]
    fn chosen_columns_come_back_to_their_places() {
        let mut chosen = Chosen::new(3).expect("little");
        let [_, place, _] = [149, 5, 13].map(|column| chosen.choose(column) as usize);
        for (from, to) in LAYOUTS.into_iter().flat_map(|from| LAYOUTS.map(|to| (from, to))) {
            let (mut whole, before) = (table(from), by_plane(&table(from)));
            let mut taken = whole.taken(Some(&chosen), to, &()).expect("memory");
            assert_eq!(taken.plane(1, &()).expect("memory")[place], 305.0);
            taken.own(&()).expect("memory").iter_mut().for_each(|w| *w *= 2.0);
            whole.put(taken, Some(&chosen)).expect("memory");
            let doubled =
                |(i, w): (usize, &f64)| if [149, 5, 13].contains(&(i % 300)) { 2.0 * w } else { *w };
            assert_eq!(by_plane(&whole), before.iter().enumerate().map(doubled).collect::<Vec<_>>());
            assert_eq!(whole.most(), 2.0 * 749.0);
        }
    }

    #[test]
    fn a_table_knows_the_columns_that_it_was_given() {
        let mut chosen = Chosen::new(3).expect("little");
        for column in [149, 5, 13] {
            chosen.choose(column);
        }
        let taken = table(Layout::ByColumn).taken(Some(&chosen), Layout::ByColumn, &()).expect("memory");
        let mut few = Table::zero(SHAPE);
        few.put(taken.clone(), Some(&chosen)).expect("memory");
        assert_eq!(few.within.as_ref().map(|within| within.to_vec()), Some(vec![149, 5, 13]));
        let zipped = few.zipped(&few.clone(), |_, w, u| w + u, &()).expect("memory");
        assert_eq!(zipped.plane(2, &()).expect("memory")[149], 2.0 * 749.0);
        assert_eq!(
            (zipped.within.is_some(), by_plane(&zipped.of_columns(&[13], &()).expect("memory"))),
            (true, vec![26.0, 626.0, 1226.0])
        );
        for known in [&few, &zipped] {
            assert_eq!(known.weighted_columns(&()), Ok(vec![5, 13, 149]));
        }
        // Who writes to it may write anywhere, and so may other columns be given.
        few.clone().own(&()).expect("memory");
        few.put(taken, Some(&chosen)).expect("memory");
        assert_eq!((few.within.is_none(), few.weighted_columns(&())), (true, Ok(vec![5, 13, 149])));
        few.own(&()).expect("memory")[0] = 1.0;
        assert_eq!(few.weighted_columns(&()), Ok(vec![0, 5, 13, 149]));
    }

    #[test]
    fn two_tables_are_zipped_however_they_stand() {
        let all = LAYOUTS.into_iter().flat_map(|one| LAYOUTS.map(|other| (table(one), table(other))));
        for (one, other) in all {
            let zipped = one.zipped(&other, |k, w, u| k as f64 * (w + u), &()).expect("memory");
            assert_eq!((zipped.layout(), by_plane(&zipped)[601]), (one.layout(), 2.0 * 1202.0));
            let of_zeros = one.zipped(&Table::zero(SHAPE), |_, w, u| w + u, &()).expect("memory");
            assert_eq!(by_plane(&of_zeros), by_plane(&one));
        }
    }
}
