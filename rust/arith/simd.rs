//! One source, several instruction sets: a [`Leaf`] is compiled once for the target's baseline, once for
//! AVX2 and, where that pays, once for AVX-512, and the copy is chosen at run time. Rust never contracts a
//! product and a sum, so all copies give the same bits. Only products of many rows with many have enough sums
//! beside each other to gain by AVX-512.

use std::hint::black_box;
use std::sync::atomic::{AtomicU8, Ordering};

use super::dot::fold;
use super::value::{F16, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    /// What every machine of the target has.
    Baseline,
    Avx2,
    Avx512,
}

impl InstructionSet {
    /// Those that this machine can run, the best last.
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            let mut sets = vec![Self::Baseline, Self::Avx2];
            sets.extend(std::arch::is_x86_feature_detected!("avx512f").then_some(Self::Avx512));
            return sets;
        }
        vec![Self::Baseline]
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline if cfg!(target_arch = "aarch64") => "neon",
            Self::Baseline => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

/// Whether there is a set whose registers hold several floats: for plain WebAssembly there is none.
pub const HAS_VECTORS: bool = cfg!(any(not(target_family = "wasm"), target_feature = "simd128"));

/// The best set that may be chosen.
static LIMIT: AtomicU8 = AtomicU8::new(InstructionSet::Avx512 as u8);

/// Makes every later call use one instruction set (`None`: the best). For tests: the bits of the
/// results do not depend on it, so a race with a running fit is harmless.
///
/// # Panics
/// If this machine lacks the instruction set.
pub fn force(set: Option<InstructionSet>) {
    if let Some(set) = set {
        assert!(InstructionSet::available().contains(&set), "this machine lacks {}", set.name());
    }
    LIMIT.store(set.unwrap_or(InstructionSet::Avx512) as u8, Ordering::Relaxed);
}

/// An instruction set as a type. A value of it is proof that the machine has it.
///
/// It offers what plain loops do not reach: sums of integer products, and registers of eight floats.
/// Everything else vectorises by itself.
pub trait Simd: Copy {
    /// Sums in f64, as many as a register holds: [`Self::LANES`] of them.
    type Lanes: Copy;
    const LANES: usize;

    /// The first of these numbers, as many as a register holds.
    fn lanes(self, numbers: &[f64]) -> Self::Lanes;

    /// Adds the products of a and b, each rounded before.
    fn add_products(self, sums: Self::Lanes, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;

    /// Writes them over the first numbers.
    fn write(self, lanes: Self::Lanes, numbers: &mut [f64]);

    /// Four numbers of 16 bits, widened: exact in every set.
    #[inline(always)]
    fn widen_halves(self, four: &[F16; 4]) -> [f64; 4] {
        four.map(Value::widen)
    }

    /// This set, or one that it contains, whose registers hold four floats.
    type Fours: Fours;

    fn fours(self) -> Self::Fours;
}

/// An instruction set whose registers hold four floats: two of them are the lanes of rule 3. Integers are summed in
/// registers of that size.
pub trait Fours: Simd {
    /// The tree of rule 3.
    fn fold(self, lanes: [Self::Lanes; 2]) -> f64;

    type Sums: Copy;

    fn zero(self) -> Self::Sums;

    /// Adds two of the products `x[i]*w[i]` to each of the sums, wrapping. Which two, each set chooses.
    fn add_pairs(self, sums: Self::Sums, x: &[i16; 16], w: &[i16; 16]) -> Self::Sums;

    /// Their sum. A method: folded by a loop, several vectors are taken apart number by number.
    fn total(self, sums: Self::Sums) -> i64;

    /// That of four, wrapping: in half of the time.
    fn totals(self, sums: [Self::Sums; 4]) -> [i32; 4];
}

#[derive(Clone, Copy)]
pub struct Portable;

impl Fours for Portable {
    #[inline(always)]
    fn fold(self, [low, high]: [Self::Lanes; 2]) -> f64 {
        // Without this, LLVM pairs the lanes as the tree does and vectorises the loops that sum them by 2
        // instead of 4 (up to 4 times slower). It has no effect on the result.
        let [[a, b, c, d], [e, f, g, h]] = black_box([low, high]);
        fold([a, b, c, d, e, f, g, h])
    }

    type Sums = [i32; 8];

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        [0; 8]
    }

    #[inline(always)]
    fn add_pairs(self, mut sums: Self::Sums, x: &[i16; 16], w: &[i16; 16]) -> Self::Sums {
        // Not neighbours: with those, most loops over several vectors stay scalar.
        for (k, sum) in sums.iter_mut().enumerate() {
            for i in [k, k + 8] {
                *sum = sum.wrapping_add(i32::from(x[i]) * i32::from(w[i]));
            }
        }
        sums
    }

    #[inline(always)]
    fn total(self, sums: Self::Sums) -> i64 {
        let mut total = 0;
        for sum in sums {
            total += i64::from(sum);
        }
        total
    }

    #[inline(always)]
    fn totals(self, sums: [Self::Sums; 4]) -> [i32; 4] {
        let mut totals = [0; 4];
        for (total, sums) in totals.iter_mut().zip(sums) {
            *total = self.total(sums) as i32;
        }
        totals
    }
}

impl Simd for Portable {
    type Lanes = [f64; 4];
    const LANES: usize = 4;

    #[inline(always)]
    fn lanes(self, numbers: &[f64]) -> Self::Lanes {
        first(numbers)
    }

    #[inline(always)]
    fn add_products(self, mut sums: Self::Lanes, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
        for k in 0..Self::LANES {
            sums[k] += a[k] * b[k];
        }
        sums
    }

    #[inline(always)]
    fn write(self, lanes: Self::Lanes, numbers: &mut [f64]) {
        numbers[..Self::LANES].copy_from_slice(&lanes);
    }

    type Fours = Self;

    #[inline(always)]
    fn fours(self) -> Self {
        self
    }
}

/// # Panics
/// If there are fewer.
#[inline(always)]
fn first<const N: usize>(numbers: &[f64]) -> [f64; N] {
    *numbers.first_chunk().expect("as many numbers as a register holds")
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256d, __m256i, __m512d, _mm_add_epi32, _mm_add_epi64, _mm_add_pd, _mm_add_sd, _mm_cvtph_ps,
        _mm_cvtsd_f64, _mm_cvtsi128_si64, _mm_loadl_epi64, _mm_unpackhi_epi64, _mm_unpackhi_pd,
        _mm256_add_epi32, _mm256_add_epi64, _mm256_add_pd, _mm256_castpd256_pd128, _mm256_castsi256_si128,
        _mm256_cvtepi32_epi64, _mm256_cvtps_pd, _mm256_extractf128_pd, _mm256_extracti128_si256,
        _mm256_hadd_epi32, _mm256_madd_epi16, _mm256_mul_pd, _mm256_setzero_si256, _mm512_add_pd,
        _mm512_mul_pd,
    };
    use std::mem::transmute;

    use super::{F16, Fours, Simd, first};

    /// Made by [`super::Leaf::run_avx512`] alone, and so after [`super::dispatch`] has seen that the
    /// processor has AVX-512, which contains AVX2.
    #[derive(Clone, Copy)]
    pub struct Avx512(pub(super) Avx2);

    impl Simd for Avx512 {
        type Lanes = __m512d;
        const LANES: usize = 8;

        #[inline(always)]
        fn lanes(self, numbers: &[f64]) -> Self::Lanes {
            // SAFETY: same size, every bit pattern is valid in both.
            unsafe { transmute(first::<8>(numbers)) }
        }

        #[inline(always)]
        fn add_products(self, sums: Self::Lanes, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: `self` proves that the processor has AVX-512.
            unsafe { _mm512_add_pd(sums, _mm512_mul_pd(a, b)) }
        }

        #[inline(always)]
        fn write(self, lanes: Self::Lanes, numbers: &mut [f64]) {
            // SAFETY: same size, every bit pattern is valid in both.
            let lanes: [f64; 8] = unsafe { transmute(lanes) };
            numbers[..Self::LANES].copy_from_slice(&lanes);
        }

        type Fours = Avx2;

        #[inline(always)]
        fn fours(self) -> Avx2 {
            self.0
        }
    }

    /// Made by [`super::Leaf`] alone, and so after [`super::dispatch`] has seen that the processor has AVX2,
    /// and F16C, which came before it.
    #[derive(Clone, Copy)]
    pub struct Avx2(pub(super) ());

    impl Fours for Avx2 {
        #[inline(always)]
        fn fold(self, [low, high]: [__m256d; 2]) -> f64 {
            // SAFETY: `self` proves that the processor has AVX2.
            unsafe {
                let four = _mm256_add_pd(low, high);
                let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
                _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
            }
        }

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
                let x: __m256i = transmute(*x);
                let w: __m256i = transmute(*w);
                _mm256_add_epi32(sums, _mm256_madd_epi16(x, w))
            }
        }

        #[inline(always)]
        fn total(self, sums: Self::Sums) -> i64 {
            // SAFETY: `self` proves that the processor has AVX2.
            unsafe {
                let low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(sums));
                let high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(sums));
                let four = _mm256_add_epi64(low, high);
                let two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256::<1>(four));
                _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)))
            }
        }

        #[inline(always)]
        fn totals(self, [a, b, c, d]: [Self::Sums; 4]) -> [i32; 4] {
            // SAFETY: `self` proves that the processor has AVX2; a vector of 4 i32 and an array have the same
            // size, and every bit pattern is valid in both.
            unsafe {
                let pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
                let low = _mm256_castsi256_si128(pairs);
                transmute(_mm_add_epi32(low, _mm256_extracti128_si256::<1>(pairs)))
            }
        }
    }

    impl Simd for Avx2 {
        type Lanes = __m256d;
        const LANES: usize = 4;

        #[inline(always)]
        fn lanes(self, numbers: &[f64]) -> Self::Lanes {
            // SAFETY: same size, every bit pattern is valid in both.
            unsafe { transmute(first::<4>(numbers)) }
        }

        #[inline(always)]
        fn add_products(self, sums: Self::Lanes, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            // SAFETY: `self` proves that the processor has AVX2.
            unsafe { _mm256_add_pd(sums, _mm256_mul_pd(a, b)) }
        }

        #[inline(always)]
        fn write(self, lanes: Self::Lanes, numbers: &mut [f64]) {
            // SAFETY: same size, every bit pattern is valid in both.
            let lanes: [f64; 4] = unsafe { transmute(lanes) };
            numbers[..Self::LANES].copy_from_slice(&lanes);
        }

        #[inline(always)]
        fn widen_halves(self, four: &[F16; 4]) -> [f64; 4] {
            // SAFETY: `self` proves that the processor has AVX2, and with it F16C; eight bytes are read,
            // which four numbers have; a vector of four floats and an array have the same size, and every
            // bit pattern is valid in both.
            unsafe { transmute(_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(four.as_ptr().cast())))) }
        }

        type Fours = Self;

        #[inline(always)]
        fn fours(self) -> Self {
            self
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::{
        int32x4_t, vaddlvq_s32, vaddq_s32, vdupq_n_s32, vget_low_s16, vld1q_s16, vmlal_high_s16, vmlal_s16,
        vpaddq_s32,
    };
    use std::mem::transmute;

    use super::{Fours, Portable, Simd};

    /// NEON, which every processor of this architecture has: it takes the place of [`Portable`]. Left to
    /// itself, the compiler keeps the sums of a tile of rows in memory.
    #[derive(Clone, Copy)]
    pub struct Neon;

    impl Simd for Neon {
        type Lanes = <Portable as Simd>::Lanes;
        const LANES: usize = Portable::LANES;

        #[inline(always)]
        fn lanes(self, numbers: &[f64]) -> Self::Lanes {
            Portable.lanes(numbers)
        }

        #[inline(always)]
        fn add_products(self, sums: Self::Lanes, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes {
            Portable.add_products(sums, a, b)
        }

        #[inline(always)]
        fn write(self, lanes: Self::Lanes, numbers: &mut [f64]) {
            Portable.write(lanes, numbers);
        }

        type Fours = Self;

        #[inline(always)]
        fn fours(self) -> Self {
            self
        }
    }

    impl Fours for Neon {
        #[inline(always)]
        fn fold(self, lanes: [Self::Lanes; 2]) -> f64 {
            Portable.fold(lanes)
        }

        type Sums = [int32x4_t; 2];

        #[inline(always)]
        fn zero(self) -> Self::Sums {
            // SAFETY: the target has NEON.
            unsafe { [vdupq_n_s32(0); 2] }
        }

        #[inline(always)]
        fn add_pairs(self, [mut low, mut high]: Self::Sums, x: &[i16; 16], w: &[i16; 16]) -> Self::Sums {
            let ([x, more_x], [w, more_w]) = (x.as_chunks::<8>().0, w.as_chunks::<8>().0) else {
                unreachable!("sixteen are two times eight")
            };
            for (x, w) in [(x, w), (more_x, more_w)] {
                // SAFETY: the target has NEON; eight numbers are read, which both have.
                unsafe {
                    let (x, w) = (vld1q_s16(x.as_ptr()), vld1q_s16(w.as_ptr()));
                    low = vmlal_s16(low, vget_low_s16(x), vget_low_s16(w));
                    high = vmlal_high_s16(high, x, w);
                }
            }
            [low, high]
        }

        #[inline(always)]
        fn total(self, [low, high]: Self::Sums) -> i64 {
            // SAFETY: the target has NEON.
            unsafe { vaddlvq_s32(low) + vaddlvq_s32(high) }
        }

        #[inline(always)]
        fn totals(self, sums: [Self::Sums; 4]) -> [i32; 4] {
            // SAFETY: the target has NEON; a vector of 4 i32 and an array have the same size, and every bit
            // pattern is valid in both.
            unsafe {
                let [a, b, c, d] = sums.map(|[low, high]| vaddq_s32(low, high));
                transmute(vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d)))
            }
        }
    }
}

#[cfg(not(target_arch = "aarch64"))]
pub(crate) use Portable as Baseline;
#[cfg(target_arch = "aarch64")]
pub(crate) use arm::Neon as Baseline;

/// A loop to be compiled for every instruction set. `run` and all that it calls in its inner loop
/// must be `#[inline(always)]`, else the copy is compiled for the baseline.
pub trait Leaf {
    /// Whether copies for more than the baseline pay. Loops off the hot path go without: each copy of a
    /// leaf costs time to compile and room in the wheel, nine storage types over.
    const WIDE: bool = true;

    /// Whether a copy for AVX-512 pays, too.
    const WIDEST: bool = false;

    type Output;
    fn run<S: Simd>(self, simd: S) -> Self::Output;

    /// The copy for AVX2. It is a method because the compiler puts methods with the module of their type: so
    /// leaves of different modules are compiled side by side.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,f16c")]
    #[doc(hidden)]
    unsafe fn run_avx2(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run(x86::Avx2(()))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,f16c")]
    #[doc(hidden)]
    unsafe fn run_avx512(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run(x86::Avx512(x86::Avx2(())))
    }

    #[doc(hidden)]
    fn run_baseline(self) -> Self::Output
    where
        Self: Sized,
    {
        self.run(Baseline)
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("f16c")
}

/// Runs the leaf on the best instruction set, or on the forced one.
pub fn dispatch<L: Leaf>(leaf: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if L::WIDE {
        let limit = LIMIT.load(Ordering::Relaxed);
        if limit >= InstructionSet::Avx2 as u8 && has_avx2() {
            if L::WIDEST
                && limit >= InstructionSet::Avx512 as u8
                && std::arch::is_x86_feature_detected!("avx512f")
            {
                // SAFETY: these lines saw that the processor has AVX-512, which contains AVX2, and F16C.
                return unsafe { leaf.run_avx512() };
            }
            // SAFETY: the line above saw that the processor has AVX2 and F16C.
            return unsafe { leaf.run_avx2() };
        }
    }
    leaf.run_baseline()
}
