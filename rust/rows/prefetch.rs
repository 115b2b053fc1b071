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
//! third level holds: up to 30 % more. Three rows ahead instead of eight: no difference.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::sync::LazyLock;

/// How many examples ahead rows are asked for, in a shuffled order.
pub const AHEAD: usize = 8;

/// And those that no cache holds, before that.
pub const FAR_AHEAD: usize = 32;

/// How a row is asked for.
#[derive(Clone, Copy)]
pub struct Hint {
    level: Level,
    /// How many bytes of a slice.
    most: usize,
}

#[derive(Clone, Copy)]
enum Level {
    First,
    Second,
}

impl Hint {
    const NOW: Self = Self { level: Level::First, most: usize::MAX };
    pub const EARLY: Self = Self { level: Level::Second, most: usize::MAX };

    /// The hints for rows of `size` bytes in all, `len` of them: [`AHEAD`], and [`FAR_AHEAD`] if they are far.
    #[inline(always)]
    pub fn of(size: usize, len: usize, in_order: bool, far: bool) -> [Self; 2] {
        const LONG: usize = 1024;
        let most = if in_order { usize::MAX } else { most_at_once() };
        let soon = far || most < usize::MAX || size / len.max(1) < LONG;
        let level = if soon { Level::First } else { Level::Second };
        [Self { level, most }, Self { most: most.saturating_mul(2), ..Self::EARLY }]
    }
}

/// Whether rows are asked for early: `size` bytes in `len` rows, with the weights of so many planes between
/// them.
#[inline(always)]
pub fn is_far(size: usize, len: usize, in_order: bool, planes: usize) -> bool {
    const CACHES: usize = 32 << 20;
    const LONG: usize = 2048;
    size > CACHES && (!in_order || planes > 1 && size / len.max(1) >= LONG)
}

/// How many bytes of a slice may be asked for at once.
///
/// Of Intel's processors, those of the first lines: what is read meanwhile waits behind more requests, and the
/// hardware goes on with the others by itself (sparse rows of 220 floats take 0.8 of the time, dense ones of
/// 300 and 784 floats 0.7 to 0.8). AMD's take long rows as a whole.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn most_at_once() -> usize {
    static MOST: LazyLock<usize> = LazyLock::new(|| {
        #[allow(unused_unsafe)] // later versions of Rust ask for none
        // SAFETY: every processor of this architecture has the instruction.
        let name = unsafe { std::arch::x86_64::__cpuid(0) };
        let name = [name.ebx, name.edx, name.ecx].map(u32::to_le_bytes);
        if name.as_flattened() == b"GenuineIntel" { 512 } else { usize::MAX }
    });
    *MOST
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn most_at_once() -> usize {
    usize::MAX
}

/// Asks for the cache lines of a slice. No effect on any result.
#[inline(always)]
pub fn prefetch<T>(row: &[T]) {
    prefetch_into(row, Hint::NOW);
}

/// The same, as the hint says.
#[inline(always)]
pub fn prefetch_into<T>(row: &[T], hint: Hint) {
    #[cfg(target_arch = "x86_64")]
    if let Some(most) = hint.most.checked_div(size_of::<T>()) {
        for line in row[..row.len().min(most)].chunks(64 / size_of::<T>()) {
            use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
            let line = line.as_ptr().cast();
            // SAFETY: a prefetch reads nothing architecturally and never faults; the pointer is into a
            // live slice besides. SSE, which has it, is part of the x86-64 baseline.
            match hint.level {
                Level::First => unsafe { _mm_prefetch::<_MM_HINT_T0>(line) },
                Level::Second => unsafe { _mm_prefetch::<_MM_HINT_T1>(line) },
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (row, hint);
}
