//! The floating-point environment of the contract: round to nearest even, no flush-to-zero, no
//! denormals-are-zero.
//!
//! A process may arrive with another mode, left on by another library. Each entry into the core
//! and each worker thread holds a [`Standard`] while it computes; dropping it restores what was
//! there. Exception flags are restored with the mode.

/// The control register of the standard environment, all exceptions masked.
#[cfg(target_arch = "x86_64")]
pub const STANDARD: u64 = 0x1F80;
#[cfg(not(target_arch = "x86_64"))]
pub const STANDARD: u64 = 0;

/// Sets the control register of the calling thread and returns its previous content. On an
/// architecture without an implementation it does nothing and returns 0.
///
/// Private to the project: the guard below and its tests are the only callers.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[must_use = "the previous mode must be put back"]
pub fn swap_control(control: u64) -> u64 {
    let new = (control as u32) & 0xFFFF;
    let mut old = 0_u32;
    // SAFETY: both instructions touch only MXCSR and the two locals pointed to. The mask above
    // keeps the reserved upper bits 0, so `ldmxcsr` cannot fault. The asm blocks are not `nomem`,
    // so no load or store moves across them.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut old, options(nostack, preserves_flags));
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const new, options(nostack, preserves_flags));
    }
    u64::from(old)
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[must_use = "the previous mode must be put back"]
pub fn swap_control(control: u64) -> u64 {
    let old: u64;
    // SAFETY: both instructions touch only FPCR. Bits that are not rounding mode, flush-to-zero or
    // default-NaN are cleared, so no trap is enabled.
    unsafe {
        std::arch::asm!("mrs {}, fpcr", out(reg) old, options(nostack, preserves_flags));
        std::arch::asm!("msr fpcr, {}", in(reg) control & 0x07C8_0000, options(nostack, preserves_flags));
    }
    old
}

/// Miri interprets no assembly, and computes in the standard mode alone.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[must_use = "the previous mode must be put back"]
pub fn swap_control(_control: u64) -> u64 {
    0
}

/// Holds the standard environment on this thread until it is dropped.
pub struct Standard {
    previous: u64,
}

impl Standard {
    #[must_use]
    pub fn enter() -> Self {
        Self { previous: swap_control(STANDARD) }
    }
}

impl Drop for Standard {
    fn drop(&mut self) {
        let _ = swap_control(self.previous);
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn guard_undoes_flush_to_zero_and_rounding_and_restores_them() {
        const FTZ_DAZ_UP: u64 = 0x1F80 | 0x8000 | 0x0040 | 0x4000;
        let before = swap_control(FTZ_DAZ_UP);
        let flushed = black_box(f64::MIN_POSITIVE) * black_box(0.5);
        let guarded = {
            let _standard = Standard::enter();
            black_box(f64::MIN_POSITIVE) * black_box(0.5)
        };
        let inside = swap_control(before);
        assert_eq!(flushed, 0.0, "the test's mode was not in force");
        assert_eq!(guarded, f64::MIN_POSITIVE / 2.0);
        assert_eq!(inside & 0xFFC0, FTZ_DAZ_UP & 0xFFC0, "the guard did not restore the mode");
    }
}
