//! Some of many columns, and their places.

use crate::arith::dot::LANES;
use crate::arith::value::Index;
use crate::error::{Error, Result};
use crate::memory::{filled, matrix};
use crate::monitor::{Monitor, mapped, pieces};

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
