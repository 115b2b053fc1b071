//! The entries of some rows, collected: for learners that read a row many times, and for products with many
//! other rows that cost what the entries are, not what the columns are.

use super::csr::Csr;
use super::csr_loops::products;
use super::facts::Facts;
use super::planes::column_stride;
use super::{Matrix, strip};
use crate::arith::activation::Row;
use crate::arith::dot::{LANES, fold};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::arith::value::{Index, Value};
use crate::error::{Error, Result};
use crate::memory::{Grow, collected, filled, matrix};
use crate::monitor::{Monitor, mapped, pieces};

/// Collects the entries of rows that are not 0.
#[derive(Default)]
pub struct Entries {
    columns: Vec<i64>,
    values: Vec<f64>,
    ends: Vec<usize>,
    finite: bool,
}

impl Entries {
    pub fn clear(&mut self) {
        self.columns.clear();
        self.values.clear();
        self.ends.clear();
        self.finite = true;
    }

    /// Takes in a row.
    #[inline(always)]
    pub(super) fn push<T: Value>(&mut self, row: impl ExactSizeIterator<Item = (usize, T)>) -> Result<()> {
        // Room for all of it, so that nothing grows in the loop.
        let room = self.columns.try_reserve(row.len()).is_ok()
            && self.values.try_reserve(row.len()).is_ok()
            && self.ends.try_reserve(1).is_ok();
        if !room {
            return Err(Error::Memory);
        }
        for (column, value) in row {
            let value = value.widen();
            if value != 0.0 {
                self.columns.push(column as i64);
                self.values.push(value);
                self.finite &= value.is_finite();
            }
        }
        self.ends.push(self.columns.len());
        Ok(())
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether every value is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.finite
    }

    #[inline(always)]
    #[must_use]
    pub fn row(&self, i: usize) -> Row<'_> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let range = start..self.ends[i];
        Row { columns: &self.columns[range.clone()], values: &self.values[range] }
    }
}

/// To reach a number that stands apart takes as long as to copy so many.
const APART: usize = 8;

/// Some of many columns, each with a new number, its place. A column keeps its lane (rule 3), so rows whose
/// columns are renamed have the dot products of the rows that they were made of.
pub struct Chosen {
    /// A hash table: linear probing, at most half full.
    keys: Vec<u64>,
    found: Vec<u32>,
    shift: u32,
    /// How many places each lane has used.
    used: [u32; LANES],
    /// All columns with their places, in the order of the columns once they are [`sorted`](Self::sort).
    pub columns: Vec<(usize, u32)>,
}

/// The key of no column.
const NONE: u64 = u64::MAX;

impl Chosen {
    /// Room for so many columns.
    pub fn new(most: usize) -> Result<Self> {
        let size = most.saturating_mul(2).checked_next_power_of_two().ok_or(Error::Memory)?.max(2);
        let mut columns = Vec::new();
        columns.try_reserve_exact(most).map_err(|_| Error::Memory)?;
        Ok(Self {
            keys: filled(NONE, size)?,
            found: filled(0, size)?,
            shift: 64 - size.ilog2(),
            used: [0; LANES],
            columns,
        })
    }

    /// The columns of all entries of a matrix and some `more`, and the place of each entry's column; `None`
    /// if there are not `many` columns for each of these.
    pub fn of<I: Index>(
        indices: &[I],
        more: &[usize],
        (columns, many): (usize, usize),
        monitor: &dyn Monitor,
    ) -> Result<Option<(Self, Vec<I>)>> {
        let most = indices.len() + more.len();
        // Places are below eight times their number.
        if most > columns / many || most > i32::MAX as usize / LANES {
            return Ok(None);
        }
        let mut chosen = Self::new(most)?;
        let places = mapped(indices, |j| I::of(chosen.choose(j.at())), monitor)?;
        mapped(more, |j| _ = chosen.choose(*j), monitor)?;
        if let Some((j, _)) = chosen.columns.iter().find(|(j, _)| *j >= columns) {
            let j = *j as isize;
            return Err(Error::Invalid(format!(
                "indices must be at least 0 and below the number of columns, {columns}, got {j}"
            )));
        }
        Ok(Some((chosen, places)))
    }

    /// Of numbers of all columns, for each of some planes, those of the chosen columns, each at its place:
    /// planes x places. Places of no column hold 0.
    pub fn take<T: Copy + Default>(
        &self,
        planes: usize,
        number: impl Fn(usize, usize) -> T,
        monitor: &dyn Monitor,
    ) -> Result<Vec<T>> {
        let width = self.places();
        let mut taken = matrix(T::default(), planes, width)?;
        for piece in pieces(self.columns.len(), APART * (planes + 1), monitor) {
            for &(column, place) in &self.columns[piece?] {
                for (k, taken) in taken.chunks_exact_mut(width).enumerate() {
                    taken[place as usize] = number(k, column);
                }
            }
        }
        Ok(taken)
    }

    /// Calls `put` with the plane, the column and the number of all that [`take`](Self::take) has taken,
    /// plane by plane.
    pub fn put<T: Copy>(
        &self,
        planes: &[&[T]],
        mut put: impl FnMut(usize, usize, T),
        monitor: &dyn Monitor,
    ) -> Result<()> {
        for piece in pieces(self.columns.len(), APART * (planes.len() + 1), monitor) {
            for &(column, place) in &self.columns[piece?] {
                for (k, plane) in planes.iter().enumerate() {
                    put(k, column, plane[place as usize]);
                }
            }
        }
        Ok(())
    }

    /// Where the column stands in the table, or would stand.
    #[inline(always)]
    fn seat(&self, column: usize) -> usize {
        let mask = self.keys.len() - 1;
        let mut seat = ((column as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        while self.keys[seat] != column as u64 && self.keys[seat] != NONE {
            seat = (seat + 1) & mask;
        }
        seat
    }

    #[inline(always)]
    #[must_use]
    pub fn place(&self, column: usize) -> Option<u32> {
        let seat = self.seat(column);
        (self.keys[seat] != NONE).then(|| self.found[seat])
    }

    /// The place of a column, which is a new one for a new column.
    #[inline(always)]
    pub fn choose(&mut self, column: usize) -> u32 {
        let seat = self.seat(column);
        if self.keys[seat] == NONE {
            let used = &mut self.used[column % LANES];
            self.keys[seat] = column as u64;
            self.found[seat] = *used * LANES as u32 + (column % LANES) as u32;
            *used += 1;
            self.columns.push((column, self.found[seat]));
        }
        self.found[seat]
    }

    pub fn sort(&mut self) {
        self.columns.sort_unstable();
    }

    /// All places are below this; some may have no column. Not 0: what happens to columns without entries
    /// is seen there.
    #[must_use]
    pub fn places(&self) -> usize {
        self.used.iter().fold(1, |most, &used| most.max(used)) as usize * LANES
    }
}

/// A row in terms of [`Chosen`] columns.
#[derive(Default)]
pub struct Renamed {
    places: Vec<i32>,
    values: Vec<f64>,
    /// The sum of what the other entries add to any dot product: 0, or NaN if one of them is not finite.
    others: f64,
    /// Nobody asks for it.
    pub(super) others_are_finite: bool,
}

impl Renamed {
    /// Empties it, and makes room for so many entries.
    pub(super) fn clear(&mut self, most: usize) -> Result<()> {
        self.places.clear();
        self.values.clear();
        self.others = 0.0;
        self.places.try_reserve(most).map_err(|_| Error::Memory)?;
        self.values.try_reserve(most).map_err(|_| Error::Memory)
    }

    /// Takes in an entry, of larger columns than all before.
    #[inline(always)]
    pub(super) fn push(&mut self, chosen: &Chosen, column: usize, value: f64) {
        match chosen.place(column) {
            Some(place) => self.put(place, value),
            None => self.others += value * 0.0,
        }
    }

    #[inline(always)]
    pub(super) fn put(&mut self, place: u32, value: f64) {
        self.places.push(place as i32);
        self.values.push(value);
    }

    #[inline(always)]
    pub(super) fn put_other(&mut self, value: f64) {
        self.others += value * 0.0;
    }
}

/// Rows of finite numbers in terms of [`Chosen`] columns.
pub struct RenamedRows {
    indptr: Vec<i64>,
    places: Vec<i64>,
    values: Vec<f64>,
    columns: usize,
}

impl RenamedRows {
    /// `chosen` is sorted.
    pub fn new(rows: &dyn Matrix, chosen: &Chosen, monitor: &dyn Monitor) -> Result<Self> {
        let mut all =
            Self { indptr: filled(0, 1)?, places: Vec::new(), values: Vec::new(), columns: chosen.places() };
        let mut one = Renamed { others_are_finite: true, ..Renamed::default() };
        let often = strip(rows);
        for row in 0..rows.len() {
            if row % often == often - 1 {
                monitor.pause()?;
            }
            rows.rename(row, chosen, &mut one)?;
            all.places.try_extend(one.places.iter().map(|place| i64::from(*place)))?;
            all.values.try_extend(one.values.iter().copied())?;
            all.indptr.try_push(all.places.len() as i64)?;
        }
        Ok(all)
    }

    #[must_use]
    pub fn view(&self) -> Csr<'_, f64, i64> {
        let facts = Facts { canonical: true, ones: false, magnitude: None };
        Csr::again(&self.indptr, &self.places, &self.values, self.columns, facts)
    }
}

/// The entries of some rows, their columns, and the place of each entry's column.
fn placed(rows: &dyn Matrix, numbers: &[u32]) -> Result<(Entries, Chosen, Vec<u32>)> {
    let mut entries = Entries::default();
    entries.clear();
    for &row in numbers {
        rows.gather(row as usize..row as usize + 1, &mut entries)?;
    }
    let mut chosen = Chosen::new(entries.columns.len())?;
    let mut places = Vec::new();
    places.try_extend(entries.columns.iter().map(|&column| chosen.choose(column as usize)))?;
    Ok((entries, chosen, places))
}

/// Rows laid out for dot products with many others.
pub struct Listed {
    chosen: Chosen,
    weights: Vec<f64>,
    stride: usize,
    len: usize,
    finite: bool,
}

impl Listed {
    /// The rows of these numbers.
    pub fn new(rows: &dyn Matrix, numbers: &[u32]) -> Result<Self> {
        let (entries, mut chosen, places) = placed(rows, numbers)?;
        chosen.sort();
        let (len, stride) = (numbers.len(), column_stride(numbers.len()));
        let mut weights = matrix(0.0, chosen.places(), stride)?;
        let mut start = 0;
        for (i, &end) in entries.ends.iter().enumerate() {
            for (&place, &value) in places[start..end].iter().zip(&entries.values[start..end]) {
                weights[place as usize * stride + i] = value;
            }
            start = end;
        }
        Ok(Self { chosen, weights, stride, len, finite: entries.is_finite() })
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Dot products by rule 3 of a row with all of these, in `room`.
    pub fn dots(&self, rows: &dyn Matrix, row: usize, room: &mut Renamed, out: &mut [f64]) -> Result<()> {
        rows.rename(row, &self.chosen, room)?;
        dispatch(ListedDots { listed: self, row: room, out });
        Ok(())
    }

    /// The dot product of two lists of one row.
    pub fn dot(&self, other: &Self, room: &mut Renamed) -> Result<f64> {
        room.clear(other.chosen.columns.len())?;
        for &(column, place) in &other.chosen.columns {
            room.push(&self.chosen, column, other.weights[place as usize]);
        }
        if !self.finite {
            for &(column, place) in &self.chosen.columns {
                if other.chosen.place(column).is_none() {
                    room.put_other(self.weights[place as usize]);
                }
            }
        }
        let mut dot = [0.0];
        dispatch(ListedDots { listed: self, row: room, out: &mut dot });
        Ok(dot[0])
    }
}

/// Rows laid out by columns, for dot products of one row with all of them: only the entries that both have
/// are read.
pub struct Postings {
    chosen: Chosen,
    /// Where the entries of each place start.
    starts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
    len: usize,
    finite: bool,
}

impl Postings {
    /// The rows of these numbers.
    pub fn new(rows: &dyn Matrix, numbers: &[u32]) -> Result<Self> {
        let (entries, chosen, places) = placed(rows, numbers)?;
        let count = places.len();
        let mut starts = filled(0, chosen.places() + 1)?;
        for &place in &places {
            starts[place as usize + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let (mut owners, mut values) = (filled(0, count)?, filled(0.0, count)?);
        let mut next = collected(starts.iter().copied())?;
        let mut start = 0;
        for (i, &end) in entries.ends.iter().enumerate() {
            for (&place, &value) in places[start..end].iter().zip(&entries.values[start..end]) {
                let here = &mut next[place as usize];
                (owners[*here as usize], values[*here as usize]) = (i as u32, value);
                *here += 1;
            }
            start = end;
        }
        Ok(Self { chosen, starts, rows: owners, values, len: numbers.len(), finite: entries.is_finite() })
    }

    /// Dot products by rule 3 of a list of one row with these. False, and nothing is done, if a number is not
    /// finite: its products with zeros that are not stored matter.
    pub fn dots(&self, row: &Listed, lanes: &mut Vec<f64>, out: &mut [f64]) -> Result<bool> {
        if !(self.finite && row.finite) {
            return Ok(false);
        }
        lanes.clear();
        lanes.try_resize(LANES * self.len, 0.0)?;
        for &(column, place) in &row.chosen.columns {
            let Some(here) = self.chosen.place(column) else { continue };
            let range = self.starts[here as usize] as usize..self.starts[here as usize + 1] as usize;
            let (lane, x) =
                (&mut lanes[column % LANES * self.len..][..self.len], row.weights[place as usize]);
            for (&i, w) in self.rows[range.clone()].iter().zip(&self.values[range]) {
                lane[i as usize] += w * x;
            }
        }
        dispatch(Folded { lanes, out });
        Ok(true)
    }
}

/// The sums of rows from their lanes, lane by lane.
struct Folded<'a> {
    lanes: &'a [f64],
    out: &'a mut [f64],
}

impl Leaf for Folded<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let Self { lanes, out } = self;
        let len = out.len();
        let l: [&[f64]; LANES] = std::array::from_fn(|lane| &lanes[lane * len..][..len]);
        for i in 0..len {
            out[i] = fold([l[0][i], l[1][i], l[2][i], l[3][i], l[4][i], l[5][i], l[6][i], l[7][i]]);
        }
    }
}

struct ListedDots<'a> {
    listed: &'a Listed,
    row: &'a Renamed,
    out: &'a mut [f64],
}

impl Leaf for ListedDots<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let Self { listed, row, out } = self;
        products((&row.places[..], &row.values[..]), &listed.weights, listed.stride, out);
        for out in out {
            *out += row.others;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::dot::dot;
    use crate::order::SplitMix64;
    use crate::rows::{Csr, Dense};

    const COLUMNS: usize = 3000;
    const LEN: usize = 21;

    /// Rows of some entries, most of them in a few columns, many of these in one lane; zeros are stored, too.
    fn rows() -> (Vec<i32>, Vec<i32>, Vec<f64>) {
        let mut random = SplitMix64::new(7);
        let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
        for row in 0..LEN {
            let mut columns: Vec<i32> =
                (0..row * 2).map(|_| (random.draw() % 40 * 72 + random.draw() % 3) as i32).collect();
            columns.sort_unstable();
            columns.dedup();
            values.extend(columns.iter().map(|_| f64::from(random.draw() as i8) / 3.0));
            indices.extend(&columns);
            indptr.push(indices.len() as i32);
        }
        (indptr, indices, values)
    }

    fn wide((indptr, indices, values): &(Vec<i32>, Vec<i32>, Vec<f64>)) -> Vec<f64> {
        let mut wide = vec![0.0; LEN * COLUMNS];
        for row in 0..LEN {
            for k in indptr[row] as usize..indptr[row + 1] as usize {
                wide[row * COLUMNS + indices[k] as usize] = values[k];
            }
        }
        wide
    }

    fn bits(numbers: &[f64]) -> Vec<u64> {
        // The payload of a NaN is not promised.
        numbers.iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }).collect()
    }

    fn check(special: Option<f64>) {
        let mut stored = rows();
        if let Some(special) = special {
            stored.2[30] = special;
            stored.2[77] = special;
        }
        let wide = wide(&stored);
        let csr = Csr::new(&stored.0, &stored.1, &stored.2, COLUMNS).expect("sound");
        let dense = Dense::new(&wide, LEN, COLUMNS).expect("sound");
        let all: Vec<u32> = (0..LEN as u32).collect();
        let postings = Postings::new(&csr, &all).expect("little");
        let (mut room, mut lanes) = (Renamed::default(), vec![]);
        let row = |i: usize| &wide[i * COLUMNS..][..COLUMNS];
        for left in [&all[..], &all[..1], &all[7..12], &all[3..20]] {
            for matrix in [&csr as &dyn Matrix, &dense] {
                let listed = Listed::new(matrix, left).expect("little");
                let mut out = vec![f64::NAN; left.len()];
                for i in 0..LEN {
                    // A CSR row says nothing about the columns that it does not store, infinite there or not.
                    let expected: Vec<f64> = left.iter().map(|&l| dot(row(i), row(l as usize))).collect();
                    listed.dots(&dense, i, &mut room, &mut out).expect("little");
                    assert_eq!(bits(&out), bits(&expected), "row {i}");
                    listed.dots(&csr, i, &mut room, &mut out).expect("little");
                    if special.is_none() {
                        assert_eq!(bits(&out), bits(&expected), "row {i}");
                    }
                }
            }
        }
        for i in 0..LEN {
            let one = Listed::new(&csr, &[i as u32]).expect("little");
            let expected: Vec<f64> = (0..LEN).map(|j| dot(row(i), row(j))).collect();
            for j in 0..LEN {
                let other = Listed::new(&csr, &[j as u32]).expect("little");
                let found = one.dot(&other, &mut room).expect("little");
                assert_eq!(bits(&[found]), bits(&expected[j..=j]), "{i}, {j}");
            }
            let mut out = vec![f64::NAN; LEN];
            assert_eq!(postings.dots(&one, &mut lanes, &mut out), Ok(special.is_none()));
            if special.is_none() {
                assert_eq!(bits(&out), bits(&expected), "row {i}");
            }
        }
    }

    #[test]
    fn products_of_lists_are_those_of_whole_rows() {
        check(None);
    }

    #[test]
    fn what_is_not_finite_spoils_the_products_with_zeros_too() {
        check(Some(f64::INFINITY));
        check(Some(f64::NAN));
    }

    #[test]
    fn a_column_keeps_its_lane_and_its_place() {
        let mut chosen = Chosen::new(100).expect("little");
        let columns: Vec<usize> = (0..100).map(|i| i * i * 977 + usize::MAX / 4).collect();
        let places: Vec<u32> = columns.iter().map(|&column| chosen.choose(column)).collect();
        let mut distinct = places.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 100);
        for (&column, &place) in columns.iter().zip(&places) {
            assert_eq!((chosen.choose(column), chosen.place(column)), (place, Some(place)));
            assert_eq!(place as usize % LANES, column % LANES);
            assert!((place as usize) < chosen.places());
        }
        assert_eq!(chosen.place(3), None);
    }

    #[test]
    fn numbers_come_back_to_their_columns() {
        let (indices, more) = ([90_i32, 2, 98, 2, 10], [50, 90]);
        let found = Chosen::of(&indices, &more, (100, 10), &()).expect("little");
        let (chosen, places) = found.expect("as many columns as there must be");
        for (place, column) in places.iter().zip(indices) {
            assert_eq!(chosen.place(column as usize), Some(*place as u32));
        }
        let number = |k: usize, j: usize| (1000 * k + j) as i64;
        let taken = chosen.take(3, number, &()).expect("little");
        let planes: Vec<&[i64]> = taken.chunks(chosen.places()).collect();
        assert_eq!(planes[2][chosen.place(50).expect("one of more") as usize], 2050);
        let mut back = vec![];
        chosen.put(&planes, |k, j, number| back.push((k, j, number)), &()).expect("little");
        back.sort_unstable();
        let columns = [2, 10, 50, 90, 98];
        let all = (0..3).flat_map(|k| columns.map(|j| (k, j, number(k, j))));
        assert_eq!(back, all.collect::<Vec<_>>());
    }

    #[test]
    fn few_columns_are_not_chosen_from_and_none_is_out_of_range() {
        assert!(Chosen::of(&[1_i64, 5, 7], &[8], (39, 10), &()).expect("little").is_none());
        for outside in [-1, 40] {
            let refused = Chosen::of(&[1_i64, outside], &[], (40, 10), &()).err();
            assert!(
                matches!(refused, Some(Error::Invalid(text)) if text.ends_with(&format!("got {outside}")))
            );
        }
    }
}
