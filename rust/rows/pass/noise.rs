//! What tolerates noise: a feature of its own for each example, and a bound on its updates.

use crate::base::{Monitor, Result};
use crate::monitor::filled;

/// How a run tolerates noise. The default is the plain perceptron's.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tolerance {
    /// tau: an example that is right by no more than this is a mistake.
    pub margin_threshold: f64,
    /// delta: the value of a feature that each example has for itself; 0: there is none.
    pub added_feature: f64,
    /// How many updates an example may cause (in each plane); `None`: any number.
    pub max_mistakes: Option<u64>,
}

/// The memory of each example and plane during one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    delta: f64,
    /// Weights of the added features, n x width; empty without them.
    v: Vec<f64>,
    most: u64,
    /// Updates made, n x width; empty without a bound.
    made: Vec<u64>,
    /// The first plane, and how many there are.
    first: usize,
    width: usize,
}

impl Noise {
    /// `None` if the tolerance needs no memory.
    pub fn new(
        tolerance: Tolerance,
        n: usize,
        (first, width): (usize, usize),
        monitor: &dyn Monitor,
    ) -> Result<Option<Self>> {
        let (has_feature, most) = (tolerance.added_feature != 0.0, tolerance.max_mistakes);
        if !has_feature && most.is_none() {
            return Ok(None);
        }
        let keeps = |kept: bool| if kept { n.saturating_mul(width) } else { 0 };
        Ok(Some(Self {
            delta: tolerance.added_feature,
            v: filled(&0.0, keeps(has_feature), monitor)?,
            most: most.unwrap_or(u64::MAX),
            made: filled(&0, keeps(most.is_some()), monitor)?,
            first,
            width,
        }))
    }

    /// The activation with the part of the added feature.
    #[inline(always)]
    pub fn activation(&self, a: f64, row: usize, plane: u32) -> f64 {
        if self.v.is_empty() { a } else { a + self.v[self.at(row, plane)] * self.delta }
    }

    /// Whether the example has caused all the updates that it may.
    #[inline(always)]
    pub fn is_used_up(&self, row: usize, plane: u32) -> bool {
        !self.made.is_empty() && self.made[self.at(row, plane)] >= self.most
    }

    /// Takes in an update. False if the weight of the added feature is not finite any more.
    #[inline(always)]
    pub fn update(&mut self, row: usize, plane: u32, c: f64) -> bool {
        let at = self.at(row, plane);
        if let Some(made) = self.made.get_mut(at) {
            *made += 1;
        }
        self.v.get_mut(at).is_none_or(|v| {
            *v += c * self.delta;
            v.is_finite()
        })
    }

    #[inline(always)]
    fn at(&self, row: usize, plane: u32) -> usize {
        row * self.width + plane as usize - self.first
    }
}
