//! One source, several instruction sets: a [`Leaf`] is compiled for the target's baseline, for AVX2
//! and, where that pays, for AVX-512, and the copy is chosen at run time. Rust never contracts a product and
//! a sum, so all copies give the same bits.

use std::sync::atomic::{AtomicU8, Ordering};

/// From the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    Portable,
    Avx2,
    Avx512,
}

impl InstructionSet {
    /// Those that this machine can run, the best last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        [Self::Portable, Self::Avx2, Self::Avx512].into_iter().filter(|set| set.is_here()).collect()
    }

    fn is_here(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            // The features of Intel's Ice Lake and AMD's Zen 4, on which wide registers cost no clock rate.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

/// The widest that may be chosen, as its number.
static WIDEST: AtomicU8 = AtomicU8::new(InstructionSet::Avx512 as u8);

/// Makes every later call use this instruction set, or a narrower one where a leaf has no copy for it
/// (`None`: the widest that there is). For tests: the bits of the results do not depend on it, so a race with
/// a running fit is harmless.
///
/// # Panics
/// If this machine lacks the instruction set.
pub fn force(set: Option<InstructionSet>) {
    if let Some(set) = set {
        assert!(set.is_here(), "this machine lacks {}", set.name());
    }
    WIDEST.store(set.unwrap_or(InstructionSet::Avx512) as u8, Ordering::Relaxed);
}

/// An instruction set as a type. A value of it is proof that the machine has it.
///
/// It offers the two operations that plain loops do not reach: everything else vectorises by itself.
pub trait Simd: Copy {
    /// Eight sums in f64, the lanes of rule 3.
    type Lanes: Copy;

    fn lanes(self) -> Self::Lanes;

    /// `lanes[k] += w[k]*x[k]`, two roundings.
    fn add_products(self, lanes: Self::Lanes, w: &[f64; 8], x: [f64; 8]) -> Self::Lanes;

    fn lanes_to_array(self, lanes: Self::Lanes) -> [f64; 8];

    /// Eight sums in i32.
    type Sums: Copy;

    fn zero(self) -> Self::Sums;

    /// `sums[k] += x[2k]*w[2k] + x[2k+1]*w[2k+1]`, wrapping.
    fn add_pairs(self, sums: Self::Sums, x: &[i16; 16], w: &[i16; 16]) -> Self::Sums;

    fn to_array(self, sums: Self::Sums) -> [i32; 8];
}

#[derive(Clone, Copy)]
pub struct Portable;

impl Simd for Portable {
    type Lanes = [f64; 8];
    type Sums = [i32; 8];

    #[inline(always)]
    fn lanes(self) -> Self::Lanes {
        [0.0; 8]
    }

    #[inline(always)]
    fn add_products(self, mut lanes: Self::Lanes, w: &[f64; 8], x: [f64; 8]) -> Self::Lanes {
        for k in 0..8 {
            lanes[k] += w[k] * x[k];
        }
        lanes
    }

    /// Without the black box, LLVM pairs the lanes as the tree of rule 3 does and vectorises the sums by 2
    /// instead of 4 (up to 4 times slower). It has no effect on the result.
    #[inline(always)]
    fn lanes_to_array(self, lanes: Self::Lanes) -> [f64; 8] {
        std::hint::black_box(lanes)
    }

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        [0; 8]
    }

    #[inline(always)]
    fn add_pairs(self, mut sums: Self::Sums, x: &[i16; 16], w: &[i16; 16]) -> Self::Sums {
        for (k, sum) in sums.iter_mut().enumerate() {
            let pair = [2 * k, 2 * k + 1].map(|i| i32::from(x[i]) * i32::from(w[i]));
            *sum = sum.wrapping_add(pair[0]).wrapping_add(pair[1]);
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
    use std::arch::x86_64::{
        __m256d, __m256i, _mm256_add_epi32, _mm256_add_pd, _mm256_madd_epi16, _mm256_mul_pd,
        _mm256_setzero_pd, _mm256_setzero_si256,
    };
    use std::mem::transmute;

    /// Made by [`super::dispatch`] alone, after it has seen that the processor has AVX2.
    #[derive(Clone, Copy)]
    pub struct Avx2(pub(super) ());

    impl super::Simd for Avx2 {
        type Lanes = [__m256d; 2];
        type Sums = __m256i;

        #[inline(always)]
        fn lanes(self) -> Self::Lanes {
            // SAFETY: `self` proves that the processor has AVX2.
            unsafe { [_mm256_setzero_pd(); 2] }
        }

        #[inline(always)]
        fn add_products(self, [first, second]: Self::Lanes, w: &[f64; 8], x: [f64; 8]) -> Self::Lanes {
            // SAFETY: `self` proves that the processor has AVX2; eight f64 and two vectors have the same
            // size, and every bit pattern is valid in both.
            unsafe {
                let w: [__m256d; 2] = transmute(*w);
                let x: [__m256d; 2] = transmute(x);
                [
                    _mm256_add_pd(first, _mm256_mul_pd(w[0], x[0])),
                    _mm256_add_pd(second, _mm256_mul_pd(w[1], x[1])),
                ]
            }
        }

        #[inline(always)]
        fn lanes_to_array(self, lanes: Self::Lanes) -> [f64; 8] {
            // SAFETY: same size, every bit pattern is valid in both.
            unsafe { transmute(lanes) }
        }

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
                let x: __m256i = transmute(*x);
                let w: __m256i = transmute(*w);
                _mm256_add_epi32(sums, _mm256_madd_epi16(x, w))
            }
        }

        #[inline(always)]
        fn to_array(self, sums: Self::Sums) -> [i32; 8] {
            // SAFETY: same size, every bit pattern is valid in both.
            unsafe { transmute(sums) }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m256i, __m512d, _mm256_add_epi32, _mm256_madd_epi16, _mm256_setzero_si256, _mm512_add_pd,
        _mm512_mul_pd, _mm512_setzero_pd,
    };
    use std::mem::transmute;

    /// Made by [`super::dispatch`] alone, after it has seen that the processor has these instructions.
    ///
    /// Tried for the integers: the one instruction that multiplies and adds (twice as long, for it waits
    /// for its own sum).
    #[derive(Clone, Copy)]
    pub struct Avx512(pub(super) ());

    impl super::Simd for Avx512 {
        type Lanes = __m512d;
        type Sums = __m256i;

        #[inline(always)]
        fn lanes(self) -> Self::Lanes {
            // SAFETY: `self` proves that the processor has AVX-512.
            unsafe { _mm512_setzero_pd() }
        }

        #[inline(always)]
        fn add_products(self, lanes: Self::Lanes, w: &[f64; 8], x: [f64; 8]) -> Self::Lanes {
            // SAFETY: `self` proves that the processor has AVX-512; eight f64 and a vector have the same
            // size, and every bit pattern is valid in both.
            unsafe {
                let w: __m512d = transmute(*w);
                let x: __m512d = transmute(x);
                _mm512_add_pd(lanes, _mm512_mul_pd(w, x))
            }
        }

        #[inline(always)]
        fn lanes_to_array(self, lanes: Self::Lanes) -> [f64; 8] {
            // SAFETY: same size, every bit pattern is valid in both.
            unsafe { transmute(lanes) }
        }

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
                let x: __m256i = transmute(*x);
                let w: __m256i = transmute(*w);
                _mm256_add_epi32(sums, _mm256_madd_epi16(x, w))
            }
        }

        #[inline(always)]
        fn to_array(self, sums: Self::Sums) -> [i32; 8] {
            // SAFETY: same size, every bit pattern is valid in both.
            unsafe { transmute(sums) }
        }
    }
}

/// A loop to be compiled for several instruction sets. `run` and all that it calls in its inner loop
/// must be `#[inline(always)]`, else the copy is compiled for the baseline.
pub trait Leaf {
    /// The widest instruction set that a copy is made for. Loops off the hot path go without: each copy of a
    /// leaf costs time to compile and room in the wheel, seven storage types over.
    const WIDEST: InstructionSet = InstructionSet::Avx2;

    type Output;
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// Runs the leaf on the widest instruction set, or on the forced one.
pub fn dispatch<L: Leaf>(leaf: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        let may = |set| L::WIDEST >= set && WIDEST.load(Ordering::Relaxed) >= set as u8 && set.is_here();
        if may(InstructionSet::Avx512) {
            // SAFETY: the line above saw that the processor has it.
            return unsafe { run_avx512(leaf) };
        }
        if may(InstructionSet::Avx2) {
            // SAFETY: the line above saw that the processor has it.
            return unsafe { run_avx2(leaf) };
        }
    }
    leaf.run(Portable)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<L: Leaf>(leaf: L) -> L::Output {
    leaf.run(avx2::Avx2(()))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
fn run_avx512<L: Leaf>(leaf: L) -> L::Output {
    leaf.run(avx512::Avx512(()))
}
