//! Rule 7: the visiting order of an epoch.
//!
//! `SplitMix64` (Steele, Lea, Flood 2014), keyed by (seed, epoch, partition), drives a Fisher–Yates
//! shuffle; a bounded number is the high half of a 128-bit product.

use crate::base::{Monitor, Result, pieces};

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

    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(bound)) >> 64) as u64
    }
}

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
