//! Hints for what is read soon, rows above all. In a shuffled order no hardware prefetcher can guess
//! them.
//!
//! Too few lines may be on their way to the first-level cache, and eight long rows fill it. So long rows
//! are asked for in the second level (200 floats, 32 MB: half the time), and those that no cache holds in
//! both, early in the second: floats take half to two thirds of the time. In the given order the hardware
//! does well, but where the weights of several planes are read between long rows (784 floats: two
//! thirds).
//!
//! Tried: hints in the given order for one plane, or for bytes: up to 25 % longer. Asking for a long
//! sparse row piece by piece while another one is read: short rows up to 25 % more. The second level
//! alone for short rows or those that no cache holds: up to half as long again; both, for rows that the
//! third level holds: up to 30 % more. Three rows ahead instead of eight, or the first lines alone of long
//! sparse rows: no difference.

/// How many examples ahead rows are asked for, in a shuffled order.
pub const AHEAD: usize = 8;

/// And those that no cache holds, before that.
pub const FAR_AHEAD: usize = 32;

#[derive(Clone, Copy)]
pub enum Level {
    First,
    Second,
}

/// Whether rows are asked for early: `size` bytes in `len` rows, with the weights of so many planes between
/// them.
#[inline(always)]
pub fn is_far(size: usize, len: usize, in_order: bool, planes: usize) -> bool {
    const CACHES: usize = 32 << 20;
    const LONG: usize = 2048;
    size > CACHES && (!in_order || planes > 1 && size / len.max(1) >= LONG)
}

/// The level for rows that are visited soon.
#[inline(always)]
pub fn near_level(size: usize, len: usize, far: bool) -> Level {
    const LONG: usize = 1024;
    if far || size / len.max(1) < LONG { Level::First } else { Level::Second }
}

/// Asks for the cache lines of a slice. No effect on any result.
#[inline(always)]
pub fn prefetch<T>(row: &[T]) {
    prefetch_into(row, Level::First);
}

/// The same, into one level of the caches.
#[inline(always)]
pub fn prefetch_into<T>(row: &[T], level: Level) {
    #[cfg(target_arch = "x86_64")]
    for line in row.chunks(64_usize.checked_div(size_of::<T>()).unwrap_or(usize::MAX)) {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let line = line.as_ptr().cast();
        // SAFETY: a prefetch reads nothing architecturally and never faults; the pointer is into a
        // live slice besides. SSE, which has it, is part of the x86-64 baseline.
        match level {
            Level::First => unsafe { _mm_prefetch::<_MM_HINT_T0>(line) },
            Level::Second => unsafe { _mm_prefetch::<_MM_HINT_T1>(line) },
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (row, level);
}
