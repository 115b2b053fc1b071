//! One source, several instruction sets: a [`Leaf`] is compiled once for the target's baseline and
//! once for AVX2, and the copy is chosen at run time. Rust never contracts a product and a sum, so
//! all copies give the same bits.

use std::sync::atomic::{AtomicU8, Ordering};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    Portable,
    Avx2,
}

impl InstructionSet {
    /// Those that this machine can run, the best last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        let mut sets = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            sets.push(Self::Avx2);
        }
        sets
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
        }
    }
}

const AUTOMATIC: u8 = 0;
const PORTABLE: u8 = 1;
static FORCED: AtomicU8 = AtomicU8::new(AUTOMATIC);

/// Makes every later call use one instruction set (`None`: the best). For tests: the bits of the
/// results do not depend on it, so a race with a running fit is harmless.
///
/// # Panics
/// If this machine lacks the instruction set.
pub fn force(set: Option<InstructionSet>) {
    if let Some(set) = set {
        assert!(InstructionSet::available().contains(&set), "this machine lacks {}", set.name());
    }
    // Only "portable" needs a mark: AVX2, where it can be forced at all, is what is chosen anyway.
    let mark = if set == Some(InstructionSet::Portable) { PORTABLE } else { AUTOMATIC };
    FORCED.store(mark, Ordering::Relaxed);
}

/// A loop to be compiled for every instruction set. `run` and all that it calls in its inner loop
/// must be `#[inline(always)]`, else the copy is compiled for the baseline.
pub trait Leaf {
    type Output;
    fn run(self) -> Self::Output;
}

/// Runs the leaf on the best instruction set, or on the forced one.
pub fn dispatch<L: Leaf>(leaf: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if FORCED.load(Ordering::Relaxed) == AUTOMATIC && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the line above saw that the processor has AVX2.
        return unsafe { run_avx2(leaf) };
    }
    leaf.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<L: Leaf>(leaf: L) -> L::Output {
    leaf.run()
}
