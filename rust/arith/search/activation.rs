//! Activations of a row for many planes at once, from weights that are mostly 0.
//!
//! The sum of each plane is that of rule 3: the entry of column j goes to lane j mod 8. An accumulator
//! that starts at +0.0 never becomes -0.0, so that weights of 0 may be left out.

use super::number::Number;
use crate::arith::dot::fold;
use crate::base::{Result, filled};

/// The entries of a row that are not 0.
#[derive(Clone, Copy, PartialEq)]
pub struct Row<'a> {
    pub columns: &'a [i64],
    pub values: &'a [f64],
}

impl<'a> Row<'a> {
    /// Columns with their values.
    #[inline(always)]
    pub fn pairs(self) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        self.columns.iter().map(|column| *column as usize).zip(self.values.iter().copied())
    }
}

/// Accumulators for `planes` planes.
pub struct LabelSums<N> {
    lanes: Vec<N>,
    planes: usize,
}

impl<N: Number> LabelSums<N> {
    pub fn new(planes: usize) -> Result<Self> {
        Ok(Self { lanes: filled(N::default(), planes * N::LANES)?, planes })
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        self.lanes.fill(N::default());
    }

    /// Adds the value of a column times its weights for some planes.
    #[inline(always)]
    pub fn add_some(&mut self, column: i64, value: f64, weights: impl Iterator<Item = (usize, N)>) {
        let (lane, value) = (self.lane(column), N::of(value));
        for (plane, w) in weights {
            lane[plane] = lane[plane] + w * value;
        }
    }

    /// Adds the value of a column times its weights for all planes.
    #[inline(always)]
    pub fn add_all(&mut self, column: i64, value: f64, weights: &[N]) {
        let lane = self.lane(column).iter_mut().zip(weights);
        if value == 1.0 {
            return lane.for_each(|(sum, w)| *sum = *sum + *w);
        }
        let value = N::of(value);
        lane.for_each(|(sum, w)| *sum = *sum + *w * value);
    }

    /// Writes the sum of each plane.
    #[inline(always)]
    pub fn total(&self, out: &mut [N]) {
        if N::LANES == 1 {
            return out.copy_from_slice(&self.lanes);
        }
        let [a, b, c, d, e, f, g, h] =
            std::array::from_fn(|lane| &self.lanes[lane * self.planes..][..self.planes]);
        for (k, out) in out.iter_mut().enumerate() {
            *out = fold([a[k], b[k], c[k], d[k], e[k], f[k], g[k], h[k]]);
        }
    }

    #[inline(always)]
    fn lane(&mut self, column: i64) -> &mut [N] {
        let lane = column as usize % N::LANES;
        &mut self.lanes[lane * self.planes..][..self.planes]
    }
}

/// `w += c*x`, and likewise for the sums with `tc`; returns the size of the new weight.
#[inline(always)]
pub fn learn<N: Number>((w, u): (&mut N, &mut f64), (c, tc): (f64, f64), x: f64) -> N {
    *w = *w + N::of(c) * N::of(x);
    *u += tc * x;
    w.size()
}
