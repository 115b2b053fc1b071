//! What the scores of a search over label sequences are kept in: float64 or, where rule 10 allows it, i32.

use std::ops::{Add, Mul};

/// A kind of numbers. Integers never overflow: whoever uses them keeps a bound.
pub trait Number:
    Copy + Default + PartialOrd + Add<Output = Self> + Mul<Output = Self> + Send + Sync + 'static
{
    /// Accumulators of a sum over a row: rule 3 gives floats eight, exact integers may take any order.
    const LANES: usize;

    fn of(value: f64) -> Self;

    fn wide(self) -> f64;

    /// Whether it is neither infinite nor no number.
    fn is_finite(self) -> bool;

    /// What a bound is compared with: the absolute value. Floats have no bound: 0.
    #[must_use]
    fn size(self) -> Self;

    /// Whether a weight of this size leaves room for more.
    fn within(self, limit: Self) -> bool;

    #[inline(always)]
    #[must_use]
    fn larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

impl Number for f64 {
    const LANES: usize = crate::arith::dot::LANES;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }

    #[inline(always)]
    fn size(self) -> Self {
        0.0
    }

    #[inline(always)]
    fn within(self, _limit: Self) -> bool {
        true
    }
}

impl Number for i32 {
    const LANES: usize = 1;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value as i32
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        true
    }

    #[inline(always)]
    fn size(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn within(self, limit: Self) -> bool {
        self <= limit
    }
}
