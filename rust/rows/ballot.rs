//! Many weight vectors vote on a block of rows, in exact integers (see [`crate::arith::gram`]): a
//! vector is never made, each activation is moved by the product of two rows.

use std::array::from_fn;

use super::Rows;
use crate::arith::gram::{LEFT, MOST_COLUMNS, RIGHT, WIDTH, products, vote_next};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::base::{Grow, Result};
use crate::rows::pass::visit::Tie;

/// Sparse rows are converted to i16 only if one column in so many is stored, on average: below that, to go over their
/// entries is faster.
pub(super) const SPARSEST: usize = 16;

/// Rows as i16, each padded with zeros.
pub struct Narrow {
    stride: usize,
    values: Vec<i16>,
}

impl Narrow {
    /// Room for rows; `None` if they have more columns than products in i32 allow.
    pub fn new(columns: usize) -> Option<Self> {
        let stride = columns.next_multiple_of(WIDTH);
        (0 < columns && columns <= MOST_COLUMNS).then_some(Self { stride, values: Vec::new() })
    }

    /// Takes some rows; false if their values do not fit, or if they are too sparse.
    pub fn take(&mut self, rows: &dyn Rows, numbers: impl ExactSizeIterator<Item = usize>) -> Result<bool> {
        // The rows of a tile that are missing at the end are zero.
        let len = numbers.len().next_multiple_of(RIGHT.max(LEFT));
        self.values.clear();
        self.values.try_resize(len * self.stride, 0)?;
        let mut places = self.values.chunks_mut(self.stride).zip(numbers);
        Ok(places.all(|(place, row)| rows.narrow(row, &mut place[..rows.columns()])))
    }

    #[inline(always)]
    fn row(&self, i: usize) -> &[i16] {
        &self.values[i * self.stride..][..self.stride]
    }
}

/// Consecutive weight vectors, each made from the one before by `step` times a row of `made_by`.
pub struct Ballot<'a> {
    pub made_by: &'a Narrow,
    /// Of the weights and of the intercept.
    pub steps: &'a [[f64; 2]],
    pub counts: &'a [i64],
    pub tie: Tie,
    pub voted_on: &'a Narrow,
    /// Of the vector before the first one, for each row; then of the last one.
    pub activations: &'a mut [f64],
    pub votes: &'a mut [i64],
    pub scratch: &'a mut Vec<i32>,
}

impl Ballot<'_> {
    pub fn hold(self) -> Result<()> {
        let (vectors, rows) = (self.steps.len().next_multiple_of(LEFT), self.votes.len());
        self.scratch.try_resize(vectors * rows.next_multiple_of(RIGHT), 0)?;
        dispatch(self);
        Ok(())
    }
}

impl Leaf for Ballot<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (vectors, rows) = (self.steps.len().next_multiple_of(LEFT), self.votes.len());
        let width = rows.next_multiple_of(RIGHT);
        for j in (0..width).step_by(RIGHT) {
            let right: [&[i16]; RIGHT] = from_fn(|k| self.voted_on.row(j + k));
            for i in (0..vectors).step_by(LEFT) {
                let left: [&[i16]; LEFT] = from_fn(|k| self.made_by.row(i + k));
                for (k, sums) in products(simd, left, right).iter().enumerate() {
                    self.scratch[(i + k) * width + j..][..RIGHT].copy_from_slice(sums);
                }
            }
        }
        let made = self.steps.iter().zip(self.counts).zip(self.scratch.chunks(width));
        for ((&steps, &count), products) in made {
            let votes = [count, self.tie.votes_at_zero(count)];
            vote_next(steps, products, votes, self.activations, self.votes);
        }
    }
}
