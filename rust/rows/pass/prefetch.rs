//! Hints for what is read soon, rows above all. In a shuffled order no hardware prefetcher can guess them.
//! docs/tried.md has the figures.
//!
//! Too few lines may be on their way to the first-level cache, and eight long rows fill it. So of rows that
//! the third level surely holds only the beginning is asked for, and the hardware goes on by itself. Other
//! long rows are asked for in the second level, and those that no cache holds in both, early in the second. In
//! the given order the hardware does well, but where the weights of several planes are read between long rows.
//!
//! Intel's processors have few requests on their way at once, and what is read meanwhile waits behind them.
//! So they are asked for the beginning of any row alone, and in the given order for what stands 8 kB ahead.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::sync::LazyLock;

/// How many examples ahead rows are asked for, in a shuffled order.
pub const AHEAD: usize = 8;

#[derive(Clone, Copy)]
pub struct Hint {
    level: Level,
    most: usize,
}

#[derive(Clone, Copy)]
enum Level {
    First,
    Second,
}

impl Hint {
    const NOW: Self = Self { level: Level::First, most: usize::MAX };
    const EARLY: Self = Self { level: Level::Second, most: usize::MAX };
}

#[derive(Clone, Copy)]
pub struct Hints {
    /// [`AHEAD`], in a shuffled order.
    pub near: Hint,
    /// Before that, so many examples ahead.
    pub early: Option<(usize, Hint)>,
}

impl Hints {
    /// For rows of `size` bytes in all, `len` of them, with the weights of so many planes between them.
    #[inline(always)]
    pub fn of(size: usize, len: usize, in_order: bool, planes: usize) -> Self {
        const CACHES: usize = 32 << 20;
        const OWN: usize = 12 << 20; // what AMD's third level keeps for one core of many
        const FAR_AHEAD: usize = 32;
        const BYTES_AHEAD: usize = 8192;
        let (far, row) = (size > CACHES, size / len.max(1));
        let early = match (in_order, is_intel()) {
            _ if !far => None,
            (true, _) if planes > 1 && row >= 2048 => Some((FAR_AHEAD, Hint::EARLY)),
            (true, true) => Some((BYTES_AHEAD / row.max(1) + 1, Hint::EARLY)),
            (true, false) | (false, true) => None,
            (false, false) => Some((FAR_AHEAD, Hint::EARLY)),
        };
        let near = if is_intel() || size <= OWN {
            Hint { most: 512, ..Hint::NOW }
        } else if far || row < 1024 {
            Hint::NOW
        } else {
            Hint::EARLY
        };
        Self { near, early }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn is_intel() -> bool {
    static IS_INTEL: LazyLock<bool> = LazyLock::new(|| {
        #[allow(unused_unsafe, reason = "older versions of Rust ask for it")]
        // SAFETY: every processor of this architecture has the instruction.
        let name = unsafe { std::arch::x86_64::__cpuid(0) };
        [name.ebx, name.edx, name.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
    });
    *IS_INTEL
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn is_intel() -> bool {
    false
}

/// Asks for the cache lines of a slice. No effect on any result.
#[inline(always)]
pub fn prefetch<T>(row: &[T]) {
    prefetch_into(row, Hint::NOW);
}

#[inline(always)]
pub fn prefetch_into<T>(row: &[T], hint: Hint) {
    let (start, bytes) = (row.as_ptr().cast::<i8>(), size_of_val(row).min(hint.most));
    let mut line = 0; // not `step_by`, which counts the steps first
    while line < bytes {
        ask_for(start.wrapping_add(line), hint.level);
        line += 64;
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask_for(line: *const i8, level: Level) {
    use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
    // SAFETY: a prefetch reads nothing architecturally and never faults. SSE, which has it, is part of the
    // x86-64 baseline.
    match level {
        Level::First => unsafe { _mm_prefetch::<_MM_HINT_T0>(line) },
        Level::Second => unsafe { _mm_prefetch::<_MM_HINT_T1>(line) },
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn ask_for(_: *const i8, _: Level) {}
