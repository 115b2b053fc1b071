//! The storage types: read in place, widened exactly.

/// A stored number. The storage type never changes a result, because [`Value::widen`] is exact.
pub trait Value: Copy + Default + Send + Sync + 'static {
    /// One byte wide: dense rows of it can take the exact path in i16 halves.
    const BYTE: bool;

    /// Every value is an integer.
    const INTEGER: bool;

    fn widen(self) -> f64;

    /// The value as an integer; the caller knows that it is one and that it fits.
    fn to_i32(self) -> i32;

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

    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    fn to_i32(self) -> i32 {
        self as i32
    }

    #[inline(always)]
    fn widened<'a>(row: &'a [Self], _buffer: &'a mut [f64]) -> &'a [f64] {
        row
    }
}

macro_rules! narrow {
    ($($type:ty: $integer:expr),*) => {$(
        impl Value for $type {
            const BYTE: bool = size_of::<$type>() == 1;
            const INTEGER: bool = $integer;

            #[inline(always)]
            fn widen(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            #[allow(clippy::cast_lossless)] // one macro for f32 too
            fn to_i32(self) -> i32 {
                self as i32
            }
        }
    )*};
}
narrow!(f32: false, i8: true, u8: true, i16: true, u16: true, i32: true);

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

/// A column index of a CSR row.
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
