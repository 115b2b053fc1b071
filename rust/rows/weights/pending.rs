//! Penalties that have not been applied yet, by coordinate: one is settled when an example reads it.

use crate::arith::decay::{Decay, scaled, shrunk};
use crate::arith::simd::Simd;
use crate::base::{Monitor, Result, mapped, pieces};
use crate::rows::{pass::learn::LoopBody, pass::prefetch::Hint, weights::scaled::Common};

/// What the planes of a group, which visit the same examples, have pending.
#[derive(Debug, Clone, PartialEq)]
pub enum Pending {
    /// On each coordinate for itself.
    Each(Ages),
    /// On all coordinates the same.
    Common(Common),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ages {
    pub(in crate::rows) decay: Decay,
    /// Examples visited in this call.
    now: i64,
    /// The value of `now` up to which each coordinate is settled; negative from an earlier call.
    last: Vec<i64>,
}

impl Ages {
    /// `ages`: examples that each coordinate has not been settled for.
    pub(in crate::rows) fn new(decay: Decay, ages: &[i64], monitor: &dyn Monitor) -> Result<Self> {
        Ok(Self { decay, now: 0, last: mapped(ages, |age| -age, monitor)? })
    }

    pub(in crate::rows) fn ages(&self, monitor: &dyn Monitor) -> Result<Vec<i64>> {
        mapped(&self.last, |last| self.now - last, monitor)
    }

    /// For a loop over a row of the only plane.
    #[inline(always)]
    pub fn settler<'a>(&'a mut self, weights: &'a mut [f64]) -> Settler<'a> {
        let powers = self.decay.only_scales().then(|| self.decay.powers());
        let last = &mut self.last[..weights.len()];
        Settler { now: self.now, last, weights, powers: powers.unwrap_or(&[]), decay: &self.decay }
    }

    /// Settles coordinate `j` of each plane.
    #[inline(always)]
    pub fn settle<'a>(&mut self, j: usize, weights: impl Iterator<Item = &'a mut f64>) {
        let k = self.now - self.last[j];
        self.last[j] = self.now;
        let [power, g] = self.decay.of(k as u64);
        if self.decay.only_scales() {
            for w in weights {
                *w = scaled(*w, power);
            }
        } else {
            for w in weights {
                *w = shrunk(*w, power, g);
            }
        }
    }
}

/// Applies to weights all that is pending of them, by their ages.
pub fn settle(weights: &mut [f64], ages: &[i64], decay: &Decay, monitor: &dyn Monitor) -> Result<()> {
    const SETTLED: usize = 16; // numbers that are copied meanwhile
    let (mut last, mut factors) = (0, [1.0, 0.0]); // most weights are as old as their neighbours
    for piece in pieces(weights.len(), SETTLED, monitor) {
        let piece = piece?;
        for (w, &age) in weights[piece.clone()].iter_mut().zip(&ages[piece]) {
            if age != last {
                (last, factors) = (age, decay.of(age.max(0) as u64));
            }
            if age > 0 {
                *w = shrunk(*w, factors[0], factors[1]);
            }
        }
    }
    Ok(())
}

/// Slices in a local value, which the compiler keeps in registers: through `&mut Ages` it loads
/// them again for each entry.
pub struct Settler<'a> {
    now: i64,
    last: &'a mut [i64],
    weights: &'a mut [f64],
    /// The factors, if nothing else takes part; else empty.
    powers: &'a [f64],
    decay: &'a Decay,
}

impl Settler<'_> {
    /// The weight that a stored `x` of coordinate `j` reads, settled unless `x` is 0.
    #[inline(always)]
    pub fn read(&mut self, j: usize, x: f64) -> f64 {
        let w = &mut self.weights[j];
        if x != 0.0 {
            let k = (self.now - self.last[j]) as u64;
            self.last[j] = self.now;
            let power = self.powers.get(k as usize);
            *w = power.map_or_else(|| self.decay.settle(*w, k), |power| scaled(*w, *power));
        }
        *w
    }
}

/// A loop body that can be under a penalty.
pub trait Settle: LoopBody {
    /// Settles the coordinates that a row reads.
    fn settle(&mut self, row: usize, ages: &mut Ages);

    /// Multiplies every weight.
    fn scale(&mut self, factor: f64);

    /// [`Settle::settle`], then [`LoopBody::activate`].
    #[inline(always)]
    fn settle_and_activate<S: Simd>(&mut self, simd: S, row: usize, sums: &mut [f64], ages: &mut Ages) {
        self.settle(row, ages);
        self.activate(simd, row, sums);
    }
}

/// The loop body under a penalty that is pending on each coordinate for itself.
pub struct Decayed<'a, K> {
    pub body: K,
    pub ages: &'a mut Ages,
}

impl<K: Settle> LoopBody for Decayed<'_, K> {
    // It settles entry by entry.
    const WIDE: bool = false;
    const SHORT: bool = false;

    #[inline(always)]
    fn activate<S: Simd>(&mut self, simd: S, row: usize, sums: &mut [f64]) {
        self.body.settle_and_activate(simd, row, sums, self.ages);
        self.ages.now += 1;
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        self.body.update(plane, row, c)
    }

    fn size(&self) -> usize {
        self.body.size()
    }

    #[inline(always)]
    fn prefetch(&self, row: usize, hint: Hint) {
        self.body.prefetch(row, hint);
    }
}
