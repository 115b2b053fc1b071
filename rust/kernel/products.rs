//! Rows laid out for products, and the loops over tiles of them.

use std::array::from_fn;
use std::ops::Range;

use super::gram::DotsMut;
use crate::arith::dot::{LANES, fold};
use crate::arith::gram::{self, STRIP, Tile};
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
    const VECTOR: usize = 64;

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
                let rights: [&[i16]; gram::RIGHT] = from_fn(|k| right.row(j + k));
                if count == 1 {
                    let [sums] = gram::products(simd, [left.row(i)], rights);
                    (0..gram::RIGHT.min(right.len - j)).for_each(|b| put(i, j + b, sums[b]));
                } else {
                    let lefts: [&[i16]; gram::LEFT] = from_fn(|k| left.row(i + k));
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

/// The sums of a row with the rows of a tile, in a register of lanes each.
type TileSums<S> = [<S as Simd>::Lanes; Tile::RIGHT];

impl WideProducts<'_, '_> {
    /// A register of lanes, from `first` on, of some columns of all rows with the rows of a tile from `j` on.
    #[inline(always)]
    fn add<S: Simd, const L: usize>(
        &self,
        simd: S,
        first: usize,
        columns: &Range<usize>,
        j: usize,
        sums: &mut [TileSums<S>],
    ) {
        let rights: [&[f64]; Tile::RIGHT] = from_fn(|k| &self.right.row(j + k)[columns.clone()]);
        let left = |i| &self.left.row(i)[columns.clone()];
        let whole = self.left.len / L * L;
        for i in (0..whole).step_by(L) {
            let lefts: [&[f64]; L] = from_fn(|k| left(i + k));
            gram::add_products(simd, lefts, rights, first, &mut sums[i..]);
        }
        for i in whole..self.left.len {
            gram::add_products(simd, [left(i)], rights, first, &mut sums[i..]);
        }
    }
}

impl Leaf for WideProducts<'_, '_> {
    const WIDEST: bool = true;

    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Result<()> {
        let columns = self.left.stride;
        let none: TileSums<S> = [simd.lanes(&[0.0; LANES]); Tile::RIGHT];
        // A register holds all lanes, or half of them.
        let mut sums: Vec<TileSums<S>> = filled(none, self.left.len)?;
        let mut others: Vec<TileSums<S>> = filled(none, if S::LANES < LANES { self.left.len } else { 0 })?;
        let mut j = self.first / Tile::RIGHT * Tile::RIGHT;
        while j < self.right.len {
            sums.fill(none);
            others.fill(none);
            for start in (0..columns).step_by(STRIP) {
                let strip = start..columns.min(start + STRIP);
                if S::LANES == LANES {
                    self.add::<S, { Tile::LEFT_OF_EIGHT }>(simd, 0, &strip, j, &mut sums);
                } else {
                    self.add::<S, { Tile::LEFT }>(simd, 0, &strip, j, &mut sums);
                    self.add::<S, { Tile::LEFT }>(simd, LANES / 2, &strip, j, &mut others);
                }
            }
            let end = self.right.len.min(j + Tile::RIGHT);
            for (i, out) in self.out.iter_mut().enumerate().take(self.left.len) {
                for (k, j) in (j..end).enumerate() {
                    let mut lanes = [0.0; LANES];
                    simd.write(sums[i][k], &mut lanes);
                    if S::LANES < LANES {
                        simd.write(others[i][k], &mut lanes[LANES / 2..]);
                    }
                    out.put(j, fold(lanes));
                }
            }
            j += Tile::RIGHT;
        }
        Ok(())
    }
}
