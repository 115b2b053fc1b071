//! What one look at all stored values finds, for whoever scales them.

use crate::arith::value::Value;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survey {
    pub largest: f64,
    pub nonzeros: usize,
    pub finite: bool,
}

impl Survey {
    pub const EMPTY: Self = Self { largest: 0.0, nonzeros: 0, finite: true };

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            largest: self.largest.max(other.largest),
            nonzeros: self.nonzeros + other.nonzeros,
            finite: self.finite && other.finite,
        }
    }
}

const LANES: usize = 8;

#[inline(always)]
pub(super) fn survey<T: Value>(values: &[T]) -> Survey {
    let (mut largest, mut nonzeros) = ([0.0_f64; LANES], 0_usize);
    // x * 0 is NaN for NaN and infinity, else 0.
    let mut odd = [0.0_f64; LANES];
    for block in values.chunks(4096) {
        let mut counts = [0_u64; LANES];
        let (chunks, rest) = block.as_chunks::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                let x = chunk[lane].widen();
                let size = x.abs();
                largest[lane] = if size > largest[lane] { size } else { largest[lane] };
                odd[lane] += x * 0.0;
                counts[lane] += u64::from(size > 0.0);
            }
        }
        for (lane, x) in rest.iter().enumerate() {
            let x = x.widen();
            largest[lane] = largest[lane].max(x.abs());
            odd[lane] += x * 0.0;
            counts[lane] += u64::from(x != 0.0);
        }
        for count in counts {
            nonzeros += count as usize;
        }
    }
    let largest = largest.into_iter().fold(0.0, f64::max);
    Survey { largest, nonzeros, finite: odd.iter().all(|&odd| odd == 0.0) }
}
