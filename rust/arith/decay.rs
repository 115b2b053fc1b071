//! The penalty in closed form: what k examples do to a weight that none of them reads.
//!
//! One example shrinks a weight to `sign(w)*max(0, r*|w| − s)`, with `r = max(0, 1 − eta*l2)` and
//! `s = eta*l1`. After k of them it is `sign(w)*max(0, r^k*|w| − g)` with `g = s*k` where r is 1,
//! else `s*((1 − r^k)/(1 − r))`. `r^k` is the product of the repeated squares of r that the bits of
//! k select, from the lowest bit up.
//!
//! Where s is 0 and r is near 1, `r^k` may stand for what is pending of all weights together.

use crate::base::{Grow, Result, filled};

/// Counts below this, or below the number of examples if that is less, take their factor from a
/// table.
const TABLE: usize = 1 << 14;

#[derive(Debug, Clone, PartialEq)]
pub struct Decay {
    r: f64,
    s: f64,
    /// `r^(2^i)`, 64 of them. Not in place: planes that bear a penalty or none are moved about.
    squares: Vec<f64>,
    /// `r^k` and g, by k.
    powers: Vec<f64>,
    gone: Vec<f64>,
}

impl Decay {
    /// `l1` and `l2` are the strengths of the two penalties; `examples` is how many there will be.
    pub fn new(eta: f64, l1: f64, l2: f64, examples: usize) -> Result<Self> {
        let r = (1.0 - eta * l2).max(0.0);
        let mut squares = filled(r, 64)?;
        for i in 1..squares.len() {
            squares[i] = squares[i - 1] * squares[i - 1];
        }
        let mut decay = Self { r, s: eta * l1, squares, powers: Vec::new(), gone: Vec::new() };
        for k in 0..=examples.min(TABLE) {
            // The highest bit comes last in the product.
            let power = k
                .checked_ilog2()
                .map_or(1.0, |bit| decay.powers[k - (1 << bit)] * decay.squares[bit as usize]);
            decay.powers.try_push(power)?;
            decay.gone.try_push(decay.gone_after(k as u64, power))?;
        }
        Ok(decay)
    }

    /// Whether one factor stands for what is pending, for all weights; settled before the factor falls
    /// below [`Decay::LEAST_FACTOR`], which takes 2,800 examples at least.
    pub fn is_common(&self) -> bool {
        self.only_scales() && self.r >= 63.0 / 64.0
    }

    pub const LEAST_FACTOR: f64 = 1.0 / (1_u64 << 63) as f64 / 2.0;

    /// `r^k`.
    #[inline(always)]
    pub fn factor(&self, k: u64) -> f64 {
        // The low bits come first in the product: the table holds that of as many as it has room for.
        let low = (1_u64 << self.powers.len().ilog2()) - 1;
        let (mut power, mut high) = (self.powers[(k & low) as usize], k & !low);
        while high != 0 {
            power *= self.squares[high.trailing_zeros() as usize];
            high &= high - 1;
        }
        power
    }

    /// A weight after `k` examples. Never −0.0.
    #[inline(always)]
    pub fn settle(&self, w: f64, k: u64) -> f64 {
        let [power, g] = self.of(k);
        shrunk(w, power, g)
    }

    /// Whether g is 0 for every k: then [`scaled`] does.
    #[inline(always)]
    pub fn only_scales(&self) -> bool {
        self.s == 0.0
    }

    /// `r^k` and g.
    #[inline(always)]
    pub fn of(&self, k: u64) -> [f64; 2] {
        match (self.powers.get(k as usize), self.gone.get(k as usize)) {
            (Some(power), Some(g)) => [*power, *g],
            _ => self.compute(k),
        }
    }

    /// `r^k` for the smallest k.
    #[inline(always)]
    pub fn powers(&self) -> &[f64] {
        &self.powers
    }

    #[inline(never)]
    fn compute(&self, k: u64) -> [f64; 2] {
        let power = self.factor(k);
        [power, self.gone_after(k, power)]
    }

    fn gone_after(&self, k: u64, power: f64) -> f64 {
        if self.r == 1.0 { self.s * k as f64 } else { self.s * ((1.0 - power) / (1.0 - self.r)) }
    }
}

/// `sign(w)*max(0, power*|w| − g)`, never −0.0. Written so that NaN stays.
#[inline(always)]
pub fn shrunk(w: f64, power: f64, g: f64) -> f64 {
    let size = power * w.abs() - g;
    if size <= 0.0 { 0.0 } else { size.copysign(w) }
}

/// [`shrunk`] with g = 0, for it rounds the same product.
#[inline(always)]
pub fn scaled(w: f64, power: f64) -> f64 {
    w * power + 0.0
}

pub fn scale(weights: &mut [f64], power: f64) {
    for w in weights {
        *w = scaled(*w, power);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `r^k` bit by bit.
    fn product(decay: &Decay, k: u64) -> f64 {
        let bits = (0..64).filter(|i| k >> i & 1 == 1);
        bits.map(|i| decay.squares[i]).fold(1.0, |product, square| product * square)
    }

    #[test]
    fn a_table_of_any_length_gives_the_same_powers() {
        // Miri takes minutes for the longest.
        let most = if cfg!(miri) { 100 } else { TABLE };
        for examples in [0, 1, 2, 6, 7, 100, most - 1, most, 3 * most] {
            let decay = Decay::new(0.7, 0.0, 1e-5, examples).expect("little");
            let all = (0..200).chain(TABLE as u64 - 9..TABLE as u64 + 9);
            for k in all.chain([1 << 20, (1 << 40) - 1, 987_654_321, u64::MAX]) {
                let expected = product(&decay, k).to_bits();
                assert_eq!(decay.factor(k).to_bits(), expected, "{k} of {examples}");
                assert_eq!(decay.of(k)[0].to_bits(), expected, "{k} of {examples}");
            }
        }
    }
}
