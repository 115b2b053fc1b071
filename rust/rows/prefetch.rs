//! A hint for shuffled orders, whose next rows no hardware prefetcher can guess.

/// How many examples ahead.
pub const AHEAD: usize = 8;

/// Asks for the cache lines of a slice. No effect on any result.
#[inline(always)]
pub fn prefetch<T>(row: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in row.chunks(64 / size_of::<T>()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing architecturally and never faults; the pointer is into a
        // live slice besides. SSE, which has it, is part of the x86-64 baseline.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}
