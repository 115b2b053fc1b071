//! Rule 7: the visiting order of an epoch.
//!
//! `SplitMix64` (Steele, Lea, Flood 2014), keyed by (seed, epoch, partition), drives a Fisher–Yates
//! shuffle; a bounded number is the high half of a 128-bit product.

use crate::error::Result;
use crate::monitor::{Monitor, pieces};

pub struct SplitMix64(u64);

impl SplitMix64 {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The generator of one epoch of one partition.
    pub fn of_epoch(seed: u64, epoch: u64, partition: u64) -> Self {
        let key = Self(seed).draw();
        let key = Self(key.wrapping_add(epoch)).draw();
        let key = Self(key.wrapping_add(partition)).draw();
        Self(key)
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u64
    }
}

/// Shuffles `order` in place.
pub fn shuffle(
    order: &mut [u32],
    (seed, epoch, partition): (u64, u64, u64),
    monitor: &dyn Monitor,
) -> Result<()> {
    const SWAP: usize = 16; // as two numbers that no cache holds
    let (mut random, len) = (SplitMix64::of_epoch(seed, epoch, partition), order.len());
    for piece in pieces(len.saturating_sub(1), SWAP, monitor) {
        for i in piece?.map(|done| len - 1 - done) {
            let j = random.below(i as u64 + 1) as usize;
            order.swap(i, j);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_vector() {
        let mut random = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..5).map(|_| random.draw()).collect();
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(drawn, published);
    }

    #[test]
    fn a_permutation_depends_on_seed_epoch_and_partition() {
        let draw = |seed, epoch, partition| {
            let mut order: Vec<u32> = (0..100).collect();
            shuffle(&mut order, (seed, epoch, partition), &()).expect("nobody interrupts");
            order
        };
        let first = draw(0, 0, 0);
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(i, &row)| i == row as usize));
        for other in [draw(1, 0, 0), draw(0, 1, 0), draw(0, 0, 1)] {
            assert_ne!(first, other);
        }
    }
}
