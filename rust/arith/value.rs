//! The storage types: read in place, widened exactly.

use super::simd::Simd;

/// Adding it rounds to a multiple of 1; taking it away again leaves that.
pub(super) const ROUNDER: f64 = (3_u64 << 51) as f64;

/// A whole number in i32: the low bits of the sum hold it.
///
/// Not `as i32`, which looks for NaN and for numbers that do not fit: of sparse floats a row would take 1.6
/// times as long.
#[inline(always)]
fn whole(wide: f64) -> i32 {
    (wide + ROUNDER).to_bits() as i32
}

/// A stored number. The storage type never changes a result, because [`Value::widen`] is exact.
pub trait Value: Copy + Default + Send + Sync + 'static {
    /// One byte wide: dense rows of it can take the exact path in i16 halves.
    const BYTE: bool;

    const INTEGER: bool;

    /// No finite |value| is larger.
    const LARGEST: f64 = f32::MAX as f64;

    fn widen(self) -> f64;

    /// The value as an integer. If it is none, or does not fit: any number.
    #[inline(always)]
    fn to_i32(self) -> i32 {
        whole(self.widen())
    }

    /// Four numbers, widened.
    #[inline(always)]
    fn widen_four<S: Simd>(_simd: S, four: &[Self; 4]) -> [f64; 4] {
        let mut wide = [0.0; 4];
        for k in 0..4 {
            wide[k] = four[k].widen();
        }
        wide
    }

    /// The row as f64: itself where it is stored so, else widened into `buffer`.
    #[inline(always)]
    fn widened<'a>(row: &'a [Self], buffer: &'a mut [f64]) -> &'a [f64] {
        let buffer = &mut buffer[..row.len()];
        for (wide, value) in buffer.iter_mut().zip(row) {
            *wide = value.widen();
        }
        buffer
    }
}

impl Value for f64 {
    const BYTE: bool = false;
    const INTEGER: bool = false;
    const LARGEST: f64 = f64::INFINITY;

    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    fn widened<'a>(row: &'a [Self], _buffer: &'a mut [f64]) -> &'a [f64] {
        row
    }
}

impl Value for f32 {
    const BYTE: bool = false;
    const INTEGER: bool = false;

    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Value for $type {
            const BYTE: bool = size_of::<$type>() == 1;
            const INTEGER: bool = true;

            #[inline(always)]
            fn widen(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn to_i32(self) -> i32 {
                i32::from(self)
            }
        }
    )*};
}
integers!(i8, u8, i16, u16, i32);

/// The numbers of 16 bits of IEEE 754: 5 of them for the exponent.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
#[repr(transparent)]
pub struct F16(pub u16);

/// The upper half of a float32.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl Value for F16 {
    const BYTE: bool = false;
    const INTEGER: bool = false;

    /// Exact. On bits, as loops over it vectorise without an instruction of its own.
    #[inline(always)]
    fn widen(self) -> f64 {
        const SHIFT: u32 = 52 - 10; // between the fractions
        const KEPT: u64 = 1 << 63 | 0x7FFF << SHIFT;
        const INFINITE: u64 = 0x7C00 << SHIFT; // and above: NaN
        const BIAS: u64 = 1023 - 15; // between the exponents
        // The sign is copied over the bits above it, and kept at the top alone.
        let bits = ((i64::from(self.0 as i16) << SHIFT) as u64) & KEPT;
        // As a float64 these bits are too small by a power of 2, also where the fraction has no leading 1.
        let wide = (f64::from_bits(bits) * f64::from_bits((1023 + BIAS) << 52)).to_bits();
        let infinite = if bits & !(1 << 63) >= INFINITE { f64::INFINITY.to_bits() } else { 0 };
        f64::from_bits(wide | infinite)
    }

    #[inline(always)]
    fn widen_four<S: Simd>(simd: S, four: &[Self; 4]) -> [f64; 4] {
        simd.widen_halves(four)
    }
}

impl Value for Bf16 {
    const BYTE: bool = false;
    const INTEGER: bool = false;

    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(f32::from_bits(u32::from(self.0) << 16))
    }
}

/// The value of each entry of a CSR matrix whose stored values are all 1: it takes no room and is not read.
#[derive(Clone, Copy, Default)]
pub struct One;

impl Value for One {
    const BYTE: bool = false;
    const INTEGER: bool = true;

    #[inline(always)]
    fn widen(self) -> f64 {
        1.0
    }

    #[inline(always)]
    fn to_i32(self) -> i32 {
        1
    }
}

pub trait Index: Copy + Ord + Send + Sync + 'static {
    /// A negative index becomes a huge one, which every bounds check refuses.
    fn at(self) -> usize;

    /// The caller knows that it fits.
    fn of(at: u32) -> Self;
}

impl Index for i32 {
    #[inline(always)]
    fn at(self) -> usize {
        self as isize as usize
    }

    #[inline(always)]
    fn of(at: u32) -> Self {
        at as i32
    }
}

impl Index for i64 {
    #[inline(always)]
    fn at(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn of(at: u32) -> Self {
        i64::from(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of all numbers there are, by their definition.
    #[test]
    fn halves_are_widened_exactly() {
        let power = |e: i32| f64::from_bits(((1023 + e) as u64) << 52); // of 2, exact
        for bits in 0..=u16::MAX {
            let (sign, exponent, fraction) = (
                if bits >> 15 == 0 { 1.0 } else { -1.0 },
                i32::from(bits >> 10 & 0x1F),
                f64::from(bits & 0x3FF),
            );
            let wanted = sign
                * match exponent {
                    0 => fraction * power(-24),
                    0x1F if fraction == 0.0 => f64::INFINITY,
                    0x1F => f64::NAN,
                    _ => (1.0 + fraction / 1024.0) * power(exponent - 15),
                };
            let found = F16(bits).widen();
            assert!(found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan(), "{bits:#x}");
            let wanted = f64::from(f32::from_bits(u32::from(bits) << 16));
            let found = Bf16(bits).widen();
            assert!(found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan(), "{bits:#x}");
        }
        // 3, -100 and 2^15.
        assert_eq!([F16(0x4200), F16(0xD640), F16(0x7800)].map(Value::to_i32), [3, -100, 1 << 15]);
        assert_eq!([Bf16(0x4040), Bf16(0xC2C8), Bf16(0x4700)].map(Value::to_i32), [3, -100, 1 << 15]);
    }

    #[test]
    fn whole_floats_become_the_integers_that_they_are() {
        let limits = [i32::MIN, i32::MIN + 1, -(1 << 24), -65536, -1, 0, 1, 255, 1 << 24, i32::MAX];
        for n in limits.into_iter().chain((0..31).map(|bit| (1 << bit) - 1)) {
            assert_eq!(f64::from(n).to_i32(), n);
            // The nearest one below 2^31 that has 24 bits.
            let single = (n as f32).min(2_147_483_520.0);
            assert_eq!(f64::from(single.to_i32()), f64::from(single));
        }
        assert_eq!((-0.0_f64).to_i32(), 0);
        assert_eq!((-0.0_f32).to_i32(), 0);
    }
}
