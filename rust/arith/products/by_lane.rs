//! Rule 3 for a sparse row with many vectors: with its entries in the order of their lanes, the sums of one lane stay
//! in registers for many vectors at once.

use std::array::from_fn;

use super::dot::LANES;
use crate::arith::simd::{HAS_VECTORS, Leaf, Simd};
use crate::arith::value::{Index, Value};
use crate::base::{Result, filled};

/// Room for a sparse row with its values widened: the loops over them are compiled for one type.
#[derive(Default)]
pub struct WideRow {
    values: Vec<f64>,
    by_lane: ByLane,
}

impl WideRow {
    /// For rows of so many entries, with so many vectors.
    pub fn with_room(entries: usize, vectors: usize) -> Result<Self> {
        let values = filled(0.0, if vectors > 1 { entries } else { 0 })?;
        Ok(Self { values, by_lane: ByLane::with_room(entries, vectors)? })
    }

    /// The values of a row, and the other room.
    ///
    /// # Panics
    /// If there is no room for them.
    pub fn widened<'a, T: Value>(&'a mut self, values: &'a [T]) -> (&'a [f64], &'a mut ByLane) {
        (widened(values, &mut self.values), &mut self.by_lane)
    }
}

/// No part of the loops around it, which are compiled for each type of columns, too.
#[inline(never)]
pub fn widened<'a, T: Value>(values: &'a [T], room: &'a mut [f64]) -> &'a [f64] {
    T::widened(values, room)
}

/// The entries of a row by lane; those of each in their order.
#[derive(Default)]
pub struct ByLane {
    /// Where the weights of the column begin, and the value.
    entries: Vec<(usize, f64)>,
    ends: [usize; LANES + 1],
    /// Where those of the last column begin.
    last: usize,
}

impl ByLane {
    /// Room for rows of so many entries, if so many vectors may need it.
    pub fn with_room(entries: usize, vectors: usize) -> Result<Self> {
        let entries = filled((0, 0.0), if vectors < LANES { 0 } else { entries })?;
        Ok(Self { entries, ..Self::default() })
    }

    /// Takes a row in the place of the one before.
    ///
    /// # Panics
    /// If there is no room for it.
    pub fn take<I: Index>(&mut self, columns: &[I], values: &[f64], stride: usize) {
        self.last = columns.iter().map(|j| j.at() * stride).max().unwrap_or(0);
        self.ends = [0; LANES + 1];
        if columns.len() <= IN_A_ROW {
            self.ends[1..].fill(columns.len());
            for (entry, i) in self.entries.iter_mut().zip(in_a_row(columns)).take(columns.len()) {
                *entry = (columns[i].at() * stride, values[i]);
            }
            return;
        }
        for j in columns {
            self.ends[j.at() % LANES + 1] += 1;
        }
        for lane in 0..LANES {
            self.ends[lane + 1] += self.ends[lane];
        }
        let mut places = self.ends;
        for (j, x) in columns.iter().zip(values) {
            let place = &mut places[j.at() % LANES];
            self.entries[*place] = (j.at() * stride, *x);
            *place += 1;
        }
    }

    /// How many weights each column has, of so many in all: those of the next one, too, which are read in vain.
    #[inline(always)]
    fn stored(&self, all: usize) -> usize {
        all - self.last
    }

    #[inline(always)]
    fn lanes(&self) -> [&[(usize, f64)]; LANES] {
        from_fn(|lane| &self.entries[self.ends[lane]..self.ends[lane + 1]])
    }
}

/// Entries that make one lane, in an order in which the tree of rule 3 adds them: before the first is +0.0, so that
/// no zero of another lane counts.
const IN_A_ROW: usize = 3;

/// The two that the tree adds first come first.
fn in_a_row<I: Index>(columns: &[I]) -> [usize; IN_A_ROW] {
    let [a, b, c] = *columns else { return [0, 1, 2] };
    let near = |a: I, b: I| ((a.at() % LANES) ^ (b.at() % LANES) | LANES).trailing_zeros();
    if near(a, b) >= near(a, c).max(near(b, c)) {
        [0, 1, 2]
    } else if near(a, c) >= near(b, c) {
        [0, 2, 1]
    } else {
        [1, 2, 0]
    }
}

/// Up to so many vectors, rows of fewer entries than this lose: the lengths of their lanes cannot be foreseen.
const MANY: usize = 32;
const LONG: usize = 20;

/// Whether this pays for so many vectors and entries. [`ManyProducts`] are of eight vectors and an entry at least.
#[inline(always)]
pub fn are_many(vectors: usize, entries: usize) -> bool {
    let short = vectors >= LANES && (1..=IN_A_ROW).contains(&entries);
    let long = vectors >= 16 && entries >= LONG || vectors > MANY && vectors * entries >= 256;
    HAS_VECTORS && (short || long)
}

/// Of more than so many, groups would pass too often.
const VAST: usize = 200;

/// The same where rows are scored one after another: there the lanes of several of them, in memory, take less time.
pub fn are_scored_by_lane(vectors: usize, entries: usize) -> bool {
    HAS_VECTORS && vectors > MANY && (vectors > VAST || !(IN_A_ROW + 1..LONG).contains(&entries))
}

/// Products of a row with many vectors, which stand by column.
///
/// # Panics
/// If there are fewer than a register holds, or weights of a column are missing.
pub struct ManyProducts<'a> {
    pub row: &'a ByLane,
    pub w: &'a [f64],
    pub sums: &'a mut [f64],
}

impl Leaf for ManyProducts<'_> {
    const WIDEST: bool = true;

    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { row, w, sums } = self;
        let (lanes, all) = (row.lanes(), sums.len());
        let mut done = 0;
        while done < all {
            let (left, stored) = ((all - done).div_ceil(S::LANES), row.stored(w.len()));
            done = if left > 2 && stored >= 4 * S::LANES {
                group::<S, 4>(simd, lanes, w, done.min(stored - 4 * S::LANES), sums)
            } else if left > 1 && stored >= 2 * S::LANES {
                group::<S, 2>(simd, lanes, w, done.min(stored - 2 * S::LANES), sums)
            } else {
                group::<S, 1>(simd, lanes, w, done.min(stored - S::LANES), sums)
            };
        }
    }
}

/// The sums of `V` registers of vectors from `first` on, as far as there are so many; returns where they end.
#[inline(always)]
fn group<S: Simd, const V: usize>(
    simd: S,
    lanes: [&[(usize, f64)]; LANES],
    w: &[f64],
    first: usize,
    sums: &mut [f64],
) -> usize {
    let found = if lanes[1..].iter().all(|lane| lane.is_empty()) {
        lane_of(simd, lanes[0], w, first)
    } else {
        let mut t = [[simd.lanes(&[0.0; LANES]); V]; LANES / 2];
        for (i, t) in t.iter_mut().enumerate() {
            *t = add(simd, lane_of(simd, lanes[i], w, first), lane_of(simd, lanes[i + LANES / 2], w, first));
        }
        add(simd, add(simd, t[0], t[2]), add(simd, t[1], t[3]))
    };
    let (sums, mut room) = (&mut sums[first..], [0.0; 4 * LANES]);
    let len = sums.len().min(V * S::LANES);
    let out = if len < V * S::LANES { &mut room[..] } else { &mut *sums };
    for v in 0..V {
        simd.write(found[v], &mut out[v * S::LANES..]);
    }
    if len < V * S::LANES {
        sums[..len].copy_from_slice(&room[..len]);
    }
    first + len
}

/// The sums of one lane.
#[inline(always)]
fn lane_of<S: Simd, const V: usize>(
    simd: S,
    lane: &[(usize, f64)],
    w: &[f64],
    first: usize,
) -> [S::Lanes; V] {
    let mut sums = [simd.lanes(&[0.0; LANES]); V];
    for (at, x) in lane {
        let (w, x) = (&w[at + first..][..V * S::LANES], simd.lanes(&[*x; LANES]));
        for v in 0..V {
            sums[v] = simd.add_products(sums[v], simd.lanes(&w[v * S::LANES..]), x);
        }
    }
    sums
}

/// A product with 1 is not rounded.
#[inline(always)]
pub fn add<S: Simd, const V: usize>(simd: S, mut a: [S::Lanes; V], b: [S::Lanes; V]) -> [S::Lanes; V] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = simd.add_products(*a, b, simd.lanes(&[1.0; LANES]));
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::dot::dot_entries;
    use crate::arith::simd::{InstructionSet, dispatch, force};
    use crate::order::SplitMix64;

    #[test]
    fn every_product_is_the_dot_product_of_rule_3() {
        const COLUMNS: usize = 40;
        let (mut random, mut room) = (SplitMix64::new(3), ByLane::with_room(40, 8).expect("little"));
        for set in InstructionSet::available() {
            force(Some(set));
            for round in 0..if cfg!(miri) { 30 } else { 600 } {
                let entries = [0, 1, 2, 3, 3, 3, 3, 5, 8, 17, 40][round % 11];
                let vectors = [8, 9, 15, 16, 24, 31, 32, 33, 70][round % 9];
                // They need not rise.
                let columns: Vec<i32> =
                    (0..entries).map(|_| (random.draw() % COLUMNS as u64) as i32).collect();
                let mut number = |column: i32| match column % 5 {
                    0 => -0.0,
                    _ => (random.draw() as i64 as f64) * f64::powi(2.0, (random.draw() % 90) as i32 - 110),
                };
                let w: Vec<f64> = (0..COLUMNS * vectors).map(|_| number(1)).collect();
                let x: Vec<f64> = columns.iter().map(|j| number(*j)).collect();
                let mut sums = vec![f64::NAN; vectors];
                room.take(&columns, &x, vectors);
                dispatch(ManyProducts { row: &room, w: &w, sums: &mut sums });
                for (k, sum) in sums.iter().enumerate() {
                    let one: Vec<f64> = w.iter().skip(k).step_by(vectors).copied().collect();
                    let expected = dot_entries(&columns, &x, &one);
                    assert_eq!(sum.to_bits(), expected.to_bits(), "{set:?} {columns:?} {vectors} {k}");
                }
            }
            force(None);
        }
    }
}
