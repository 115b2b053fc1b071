//! Some of many columns, and their places.

use std::any::Any;

use crate::arith::{dot::LANES, value::Index};
use crate::base::{Error, Monitor, Result, bail, boxed, filled, mapped, matrix, pieces, with_room};
use crate::rows::{Matrix, arranged_otherwise};

/// To reach a number that stands apart takes as long as to copy so many.
const APART: usize = 8;

/// To find the place of an entry takes as long as to copy so many.
const FOUND: usize = 12;

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

/// The columns in which sparse rows have entries, and some more.
pub struct OwnColumns {
    pub chosen: Chosen,
    /// The place of each entry's column, in the type of the indices of the rows.
    places: Box<dyn Any + Send + Sync>,
}

impl OwnColumns {
    pub(in crate::rows) fn new<I: Index>(chosen: Chosen, places: Vec<I>) -> Result<Self> {
        Ok(Self { chosen, places: boxed(places)? })
    }

    /// The same, in the order of the columns.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.chosen.sort();
        self
    }

    /// In the place of the indices of the rows; `None` if those have another type.
    pub(in crate::rows) fn places<I: Index>(&self) -> Option<&[I]> {
        self.places.downcast_ref::<Vec<I>>().map(Vec::as_slice)
    }
}

/// Calls `f` on rows over some columns alone, which are those of [`Matrix::own_columns`], or on all of them.
pub fn over<R>(
    rows: &dyn Matrix,
    own: Option<&OwnColumns>,
    f: impl FnOnce(&dyn Matrix) -> Result<R>,
) -> Result<R> {
    let Some(own) = own else { return f(rows) };
    let (mut f, mut made) = (Some(f), None);
    rows.over(own, &mut |rows| {
        made = f.take().map(|f| f(rows)).transpose()?;
        Ok(())
    })?;
    made.ok_or_else(arranged_otherwise)
}

const NONE: u64 = u64::MAX;

impl Chosen {
    pub fn new(most: usize) -> Result<Self> {
        let size = most.saturating_mul(2).checked_next_power_of_two().ok_or(Error::Memory)?.max(2);
        Ok(Self {
            keys: filled(NONE, size)?,
            found: filled(0, size)?,
            shift: 64 - size.ilog2(),
            used: [0; LANES],
            columns: with_room(most)?,
        })
    }

    /// The columns of all entries of a matrix and some `more`, and the place of each entry's column; `None` if
    /// it takes no longer to copy the numbers of all columns, of so many planes, than to copy theirs and back.
    pub fn of<I: Index>(
        indices: &[I],
        more: &[usize],
        [planes, columns]: [usize; 2],
        monitor: &dyn Monitor,
    ) -> Result<Option<(Self, Vec<I>)>> {
        let entries = indices.len() + more.len();
        let left = planes.saturating_mul(columns).saturating_sub(entries.saturating_mul(FOUND));
        // Places are below eight times their number.
        let room = (left / (2 * planes.max(1))).min(entries).min(i32::MAX as usize / LANES);
        if room == 0 && entries > 0 {
            return Ok(None);
        }
        let (mut chosen, mut places) = (Self::new(room)?, with_room(indices.len())?);
        for piece in pieces(indices.len(), 1, monitor) {
            for j in &indices[piece?] {
                if chosen.columns.len() == room && chosen.place(j.at()).is_none() {
                    return Ok(None);
                }
                places.push(I::of(chosen.choose(j.at())));
            }
        }
        if chosen.columns.len() + more.len() > room {
            return Ok(None);
        }
        mapped(more, |j| _ = chosen.choose(*j), monitor)?;
        if let Some((j, _)) = chosen.columns.iter().find(|(j, _)| *j >= columns) {
            let j = *j as isize;
            bail!("indices must be at least 0 and below the number of columns, {columns}, got {j}");
        }
        Ok(Some((chosen, places)))
    }

    /// Calls `visit` with each column and its place, of which so many planes have a number.
    pub fn each(
        &self,
        planes: usize,
        monitor: &dyn Monitor,
        mut visit: impl FnMut(usize, usize),
    ) -> Result<()> {
        for piece in pieces(self.columns.len(), APART * (planes + 1), monitor) {
            for &(column, place) in &self.columns[piece?] {
                visit(column, place as usize);
            }
        }
        Ok(())
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
        self.each(planes, monitor, |column, place| {
            (0..planes).for_each(|k| taken[k * width + place] = number(k, column));
        })?;
        Ok(taken)
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
    pub fn places(&self) -> usize {
        self.used.iter().fold(1, |most, &used| most.max(used)) as usize * LANES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn numbers_are_taken_to_the_places_of_their_columns() {
        let (indices, more) = ([90_i32, 2, 98, 2, 10], [50, 90]);
        let found = Chosen::of(&indices, &more, [1, 100], &()).expect("little");
        let (chosen, places) = found.expect("as many columns as there must be");
        for (place, column) in places.iter().zip(indices) {
            assert_eq!(chosen.place(column as usize), Some(*place as u32));
        }
        let number = |k: usize, j: usize| (1000 * k + j) as i64;
        let taken = chosen.take(3, number, &()).expect("little");
        for column in [2, 10, 50, 90, 98] {
            let place = chosen.place(column).expect("chosen") as usize;
            let found: Vec<i64> = taken.chunks(chosen.places()).map(|plane| plane[place]).collect();
            assert_eq!(found, [0, 1, 2].map(|k| number(k, column)));
        }
    }

    #[test]
    fn few_columns_are_not_chosen_from_and_none_is_out_of_range() {
        // Of four planes and 42 columns: twelve entries of three columns; then one entry more, a fourth column, one
        // of `more`.
        let entries = [1_i64, 5, 7].repeat(4);
        let is_found = |entries: &[i64], more: &[usize]| {
            Chosen::of(entries, more, [4, 42], &()).expect("little").is_some()
        };
        assert!(is_found(&entries, &[]) && is_found(&entries[..11], &[]));
        assert!(!is_found(&[5; 14], &[]) && !is_found(&[&entries[1..], &[8]].concat(), &[]));
        assert!(is_found(&entries[..3], &[9]) && !is_found(&entries, &[9]));
        for outside in [-1, 40] {
            let refused = Chosen::of(&[1_i64, outside], &[], [4, 40], &()).err();
            assert!(
                matches!(refused, Some(Error::Invalid(text)) if text.ends_with(&format!("got {outside}")))
            );
        }
    }
}
