//! Rows laid out for products, and the loops over tiles of them.

use super::gram::DotsMut;
use crate::arith::dot::{LANES, fold};
use crate::arith::gram::{self, HALF, Tile};
use crate::arith::simd::{Leaf, Simd};
use crate::error::{Error, Result};
use crate::memory::{filled, matrix};

/// Rows laid out one after another, each padded with zeros; they start where a vector does.
pub struct Packed<T> {
    start: usize,
    pub stride: usize,
    len: usize,
    values: Vec<T>,
}

impl<T: Copy + Default> Packed<T> {
    /// Bytes of a vector: loads that cross a cache line take twice as long.
    const VECTOR: usize = 32;

    pub fn new(columns: usize, width: usize, len: usize) -> Result<Self> {
        let stride = columns.checked_next_multiple_of(width).ok_or(Error::Memory)?;
        // Rows of the last tile that are missing are zero; one row more, of which the alignment takes a part.
        let values = matrix(T::default(), stride.max(Self::VECTOR), len + gram::LARGEST_TILE + 1)?;
        let start = values.as_ptr().align_offset(Self::VECTOR).min(Self::VECTOR);
        Ok(Self { start, stride, len, values })
    }

    pub fn places(&mut self) -> impl Iterator<Item = &mut [T]> {
        self.values[self.start..].chunks_mut(self.stride)
    }

    #[inline(always)]
    fn row(&self, i: usize) -> &[T] {
        &self.values[self.start + i * self.stride..][..self.stride]
    }

    /// One half of a row that [`gram::split_lanes`] has laid out.
    #[inline(always)]
    fn half(&self, i: usize, half: usize) -> &[T] {
        &self.row(i)[half * self.stride / 2..][..self.stride / 2]
    }
}

pub struct Whole<'a, 'b> {
    pub left: &'a Packed<i16>,
    pub right: &'a Packed<i16>,
    pub first: usize,
    pub out: &'a mut [DotsMut<'b>],
}

impl Leaf for Whole<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { left, right, first, out } = self;
        let mut put = |i: usize, j: usize, dot: i32| out[i].put_whole(j, dot);
        let mut i = 0;
        while i < left.len {
            let count = left.len - i;
            let mut j = first / gram::RIGHT * gram::RIGHT;
            while j < right.len {
                let rights: [&[i16]; gram::RIGHT] = std::array::from_fn(|k| right.row(j + k));
                if count == 1 {
                    let [sums] = gram::products_of(simd, [left.row(i)], rights);
                    (0..gram::RIGHT.min(right.len - j)).for_each(|b| put(i, j + b, sums[b]));
                } else {
                    let lefts: [&[i16]; gram::LEFT] = std::array::from_fn(|k| left.row(i + k));
                    let sums = gram::products(simd, lefts, rights);
                    for (a, sums) in sums.iter().enumerate() {
                        (0..gram::RIGHT.min(right.len - j)).for_each(|b| put(i + a, j + b, sums[b]));
                    }
                }
                j += gram::RIGHT;
            }
            i += if count == 1 { 1 } else { gram::LEFT };
        }
    }
}

pub struct WideProducts<'a, 'b> {
    pub left: &'a Packed<f64>,
    pub right: &'a Packed<f64>,
    pub first: usize,
    pub out: &'a mut [DotsMut<'b>],
}

impl WideProducts<'_, '_> {
    /// Half of the lanes of `L` rows from `i` on, with the rows of a tile from `j` on.
    #[inline(always)]
    fn half<const L: usize>(&self, half: usize, i: usize, j: usize, lanes: &mut [Lanes]) {
        let lefts: [&[f64]; L] = std::array::from_fn(|k| self.left.half(i + k, half));
        let rights: [&[f64]; Tile::RIGHT] = std::array::from_fn(|k| self.right.half(j + k, half));
        let sums = gram::half_products(lefts, rights);
        for (lanes, sums) in lanes[i..].iter_mut().zip(&sums) {
            for (lanes, sums) in lanes.iter_mut().zip(sums) {
                lanes[half * HALF..][..HALF].copy_from_slice(sums);
            }
        }
    }
}

/// The sums of a row with the rows of a tile.
type Lanes = [[f64; LANES]; Tile::RIGHT];

impl Leaf for WideProducts<'_, '_> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Result<()> {
        let rows = self.left.len;
        let mut lanes: Vec<Lanes> = filled([[0.0; LANES]; Tile::RIGHT], rows)?;
        let mut j = self.first / Tile::RIGHT * Tile::RIGHT;
        while j < self.right.len {
            // The tile's half stays in the first cache while all rows of the left pass.
            for half in 0..2 {
                let mut i = 0;
                while i + Tile::LEFT <= rows {
                    self.half::<{ Tile::LEFT }>(half, i, j, &mut lanes);
                    i += Tile::LEFT;
                }
                if i < rows {
                    self.half::<1>(half, i, j, &mut lanes);
                }
            }
            let end = self.right.len.min(j + Tile::RIGHT);
            for (out, lanes) in self.out.iter_mut().zip(&lanes) {
                (j..end).zip(lanes).for_each(|(j, lanes)| out.put(j, fold(*lanes)));
            }
            j += Tile::RIGHT;
        }
        Ok(())
    }
}
