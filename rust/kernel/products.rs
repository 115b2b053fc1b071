//! Rows laid out for products, and the loop over tiles of those in whole numbers.

use std::array::from_fn;

use super::gram::DotsMut;
use crate::arith::gram;
use crate::arith::simd::{Leaf, Simd};
use crate::base::{Error, Result, matrix};

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
        // The last tile is filled up with rows of zeros; one row more leaves room to align the first.
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

    pub fn rows_from(&self, first: usize) -> &[T] {
        &self.values[self.start..][first * self.stride..self.len * self.stride]
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
