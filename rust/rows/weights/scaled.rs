//! A penalty that only scales, not yet applied: one factor stands for it, for all coordinates.

use crate::arith::decay::{Decay, scale};
use crate::arith::simd::Simd;
use crate::rows::{pass::learn::LoopBody, pass::prefetch::Hint, weights::pending::Settle};

#[derive(Debug, Clone, PartialEq)]
pub struct Common {
    decay: Decay,
    /// Examples that no weight has been settled for.
    age: i64,
}

impl Common {
    pub(in crate::rows) fn new(decay: Decay, age: i64) -> Self {
        Self { decay, age }
    }

    pub(in crate::rows) fn age(&self) -> i64 {
        self.age
    }

    /// The factor of all weights, applied to `weights`.
    pub(in crate::rows) fn settle(&mut self, weights: &mut [f64]) {
        scale(weights, self.decay.factor(self.age as u64));
        self.age = 0;
    }
}

/// The loop body under such a penalty. Its weights are the true ones divided by the factor.
pub struct Scaled<'a, K> {
    pub body: K,
    pub common: &'a mut Common,
    /// Of the example that is visited.
    pub factor: f64,
}

impl<'a, K: Settle> Scaled<'a, K> {
    pub fn new(body: K, common: &'a mut Common) -> Self {
        Self { body, common, factor: 1.0 }
    }
}

impl<K: Settle> LoopBody for Scaled<'_, K> {
    const WIDE: bool = K::WIDE;

    #[inline(always)]
    fn activate<S: Simd>(&mut self, simd: S, row: usize, sums: &mut [f64]) {
        self.factor = self.common.decay.factor(self.common.age as u64);
        if self.factor < Decay::LEAST_FACTOR {
            self.body.scale(self.factor);
            (self.common.age, self.factor) = (0, 1.0);
        }
        self.body.activate(simd, row, sums);
        for sum in sums {
            *sum *= self.factor;
        }
        self.common.age += 1;
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        self.body.update(plane, row, c / self.factor)
    }

    fn size(&self) -> usize {
        self.body.size()
    }

    #[inline(always)]
    fn prefetch(&self, row: usize, hint: Hint) {
        self.body.prefetch(row, hint);
    }
}
