//! One source, several instruction sets: a [`Leaf`] is compiled once for the target's baseline and
//! once for AVX2, and the copy is chosen at run time. Rust never contracts a product and a sum, so
//! all copies give the same bits.
//!
//! Tried: a third set for AVX-512, with the eight lanes of rule 3 in one register. Rows of 16 to 784 columns
//! took as long or longer, for a lane waits for its own sum; integers took twice as long with VNNI.

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
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return vec![Self::Portable, Self::Avx2];
        }
        vec![Self::Portable]
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

/// An instruction set as a type. A value of it is proof that the machine has it.
///
/// It offers the one operation that plain loops do not reach: everything else vectorises by itself.
pub trait Simd: Copy {
    /// Eight sums in i32.
    type Sums: Copy;

    fn zero(self) -> Self::Sums;

    /// Adds two of the products `x[i]*w[i]` to each of the sums, wrapping. Which two, each set chooses.
    fn add_pairs(self, sums: Self::Sums, x: &[i16; 16], w: &[i16; 16]) -> Self::Sums;

    fn to_array(self, sums: Self::Sums) -> [i32; 8];
}

#[derive(Clone, Copy)]
pub struct Portable;

impl Simd for Portable {
    type Sums = [i32; 8];

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        [0; 8]
    }

    #[inline(always)]
    fn add_pairs(self, mut sums: Self::Sums, x: &[i16; 16], w: &[i16; 16]) -> Self::Sums {
        // Not neighbours: with those, loops over several vectors stay scalar on AArch64, and most do on
        // x86-64.
        for (k, sum) in sums.iter_mut().enumerate() {
            for i in [k, k + 8] {
                *sum = sum.wrapping_add(i32::from(x[i]) * i32::from(w[i]));
            }
        }
        sums
    }

    #[inline(always)]
    fn to_array(self, sums: Self::Sums) -> [i32; 8] {
        sums
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{__m256i, _mm256_add_epi32, _mm256_madd_epi16, _mm256_setzero_si256};

    /// Made by [`super::dispatch`] alone, after it has seen that the processor has AVX2.
    #[derive(Clone, Copy)]
    pub struct Avx2(pub(super) ());

    impl super::Simd for Avx2 {
        type Sums = __m256i;

        #[inline(always)]
        fn zero(self) -> Self::Sums {
            // SAFETY: `self` proves that the processor has AVX2.
            unsafe { _mm256_setzero_si256() }
        }

        #[inline(always)]
        fn add_pairs(self, sums: Self::Sums, x: &[i16; 16], w: &[i16; 16]) -> Self::Sums {
            // SAFETY: `self` proves that the processor has AVX2; an array of 16 i16 and a vector
            // have the same size, and every bit pattern is valid in both.
            unsafe {
                let x: __m256i = std::mem::transmute(*x);
                let w: __m256i = std::mem::transmute(*w);
                _mm256_add_epi32(sums, _mm256_madd_epi16(x, w))
            }
        }

        #[inline(always)]
        fn to_array(self, sums: Self::Sums) -> [i32; 8] {
            // SAFETY: same size, every bit pattern is valid in both.
            unsafe { std::mem::transmute(sums) }
        }
    }
}

/// A loop to be compiled for every instruction set. `run` and all that it calls in its inner loop
/// must be `#[inline(always)]`, else the copy is compiled for the baseline.
pub trait Leaf {
    /// Whether copies for more than the baseline pay. Loops off the hot path go without: each copy of a
    /// leaf costs time to compile and room in the wheel, seven storage types over.
    const WIDE: bool = true;

    type Output;
    fn run<S: Simd>(self, simd: S) -> Self::Output;

    /// The copy for AVX2. It is a method because the compiler puts methods with the module of their type: so
    /// leaves of different modules are compiled side by side.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[doc(hidden)]
    unsafe fn run_avx2(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run(avx2::Avx2(()))
    }

    #[doc(hidden)]
    fn run_portable(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run(Portable)
    }
}

/// Runs the leaf on the best instruction set, or on the forced one.
pub fn dispatch<L: Leaf>(leaf: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if L::WIDE && FORCED.load(Ordering::Relaxed) == AUTOMATIC && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the line above saw that the processor has AVX2.
        return unsafe { leaf.run_avx2() };
    }
    leaf.run_portable()
}
