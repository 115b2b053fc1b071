//! Rows laid out for products with many other rows, which cost what the entries are, not what the columns
//! are.

use super::{Chosen, Entries, Renamed};
use crate::arith::by_lane::WideRow;
use crate::arith::dot::{LANES, fold};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::base::{Grow, Result, collected, filled, matrix};
use crate::rows::{Matrix, csr::loops::products};

/// The entries of some rows, their columns, and the place of each entry's column.
fn placed(rows: &dyn Matrix, numbers: &[u32]) -> Result<(Entries, Chosen, Vec<u32>)> {
    let entries = Entries::of(rows, numbers)?;
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
    finite: bool,
}

impl Listed {
    pub fn new(rows: &dyn Matrix, numbers: &[u32]) -> Result<Self> {
        let (entries, mut chosen, places) = placed(rows, numbers)?;
        chosen.sort();
        let stride = numbers.len();
        let mut weights = matrix(0.0, chosen.places(), stride)?;
        let mut start = 0;
        for (i, &end) in entries.ends.iter().enumerate() {
            for (&place, &value) in places[start..end].iter().zip(&entries.values[start..end]) {
                weights[place as usize * stride + i] = value;
            }
            start = end;
        }
        Ok(Self { chosen, weights, stride, finite: entries.is_finite() })
    }

    pub fn len(&self) -> usize {
        self.stride
    }

    /// Dot products by rule 3 of a row with all of these, in `room`.
    pub fn dots(&self, rows: &dyn Matrix, row: usize, room: &mut Renamed, out: &mut [f64]) -> Result<()> {
        rows.rename(row, &self.chosen, room)?;
        self.dots_with(room, &mut WideRow::with_room(room.places.len(), out.len())?, out);
        Ok(())
    }

    fn dots_with(&self, row: &Renamed, wide: &mut WideRow, out: &mut [f64]) {
        products((&row.places[..], &row.values[..]), &self.weights, self.stride, wide, out);
        for out in out {
            *out += row.others;
        }
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
        self.dots_with(room, &mut WideRow::default(), &mut dot);
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
}
