//! The floating-point environment of the contract: round to nearest even, no flush-to-zero, no
//! denormals-are-zero.
//!
//! A process may arrive with another mode, left on by another library. So each thread has two: that of
//! whoever called, and ours. [`standard`] computes in ours; [`foreign`] gives theirs back while code of
//! theirs runs in the midst of it, and takes ours again. What such code leaves on is theirs: it is
//! in force when they go on, and never while we compute. Exceptions, which we mask, and their flags go with
//! the modes.

use std::{cell::Cell, hint::black_box};

/// The control register of the standard environment, all exceptions masked.
#[cfg(target_arch = "x86_64")]
pub const STANDARD: u64 = 0x1F80;
#[cfg(not(target_arch = "x86_64"))]
pub const STANDARD: u64 = 0;

/// Sets the control register of the calling thread and returns its previous content, each to the last bit:
/// which exceptions are masked, and on x86 which have been raised, too. On an architecture without an
/// implementation it does nothing and returns 0.
///
/// Private to the project: the functions below and tests are the only callers.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[must_use = "the previous mode must be put back"]
pub fn swap_control(control: u64) -> u64 {
    let new = (control as u32) & 0xFFFF;
    let mut old = 0_u32;
    // SAFETY: both instructions touch only MXCSR and the two locals pointed to. The mask above
    // keeps the reserved upper bits 0, so `ldmxcsr` cannot fault; it raises no exception either, though
    // one be unmasked and its flag set. These flags are among those that `preserves_flags` means, so the
    // second block does not promise it. The asm blocks are not `nomem`, so no load or store moves across
    // them; what keeps arithmetic in its place stands at `apart`.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut old, options(nostack, preserves_flags));
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const new, options(nostack));
    }
    u64::from(old)
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[must_use = "the previous mode must be put back"]
pub fn swap_control(control: u64) -> u64 {
    let old: u64;
    // SAFETY: both instructions touch only FPCR, and neither the flags of conditions nor those of exceptions,
    // which stand elsewhere. What keeps arithmetic in its place stands at `apart`.
    unsafe {
        std::arch::asm!("mrs {}, fpcr", out(reg) old, options(nostack, preserves_flags));
        std::arch::asm!("msr fpcr, {}", in(reg) control, options(nostack, preserves_flags));
    }
    old
}

/// Miri interprets no assembly, and computes in the standard mode alone.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[must_use = "the previous mode must be put back"]
pub fn swap_control(_control: u64) -> u64 {
    0
}

thread_local! {
    /// The mode of whoever called, while this thread computes in ours.
    static CALLERS: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Takes our mode. False if this thread was in it before, for whoever took it gives it back.
pub fn enter() -> bool {
    // Set in any case: foreign code may have run without `foreign`, such as the finaliser of an object.
    let found = swap_control(STANDARD);
    CALLERS.with(|callers| {
        let outermost = callers.get().is_none();
        if outermost {
            callers.set(Some(found));
        }
        outermost
    })
}

/// Gives the caller's mode back. False if it is in force.
pub fn leave() -> bool {
    CALLERS.take().is_some_and(|mode| {
        let _ = swap_control(mode);
        true
    })
}

/// Ends what has begun, after a panic too.
struct End(fn() -> bool);

impl Drop for End {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Computes in the standard environment, whatever the caller's is.
pub fn standard<R>(work: impl FnOnce() -> R) -> R {
    let _end = enter().then(|| End(leave));
    apart(work)
}

/// Runs code of others in the midst of ours, in the environment that is theirs.
pub fn foreign<R>(work: impl FnOnce() -> R) -> R {
    let _end = leave().then(|| End(enter));
    apart(work)
}

/// Calls `work` behind a wall.
///
/// To the compiler, arithmetic has nothing to do with the control register: it may move an addition across
/// the instructions that set it, and what it sees of a function, inlined or not, it may move likewise. So
/// what is protected stands in a function that is never inlined, and is called by a pointer of
/// which the compiler knows nothing. Such a call may have any effect, as `asm!` may: the two keep their
/// order, and nothing of what is behind the call can be moved out of it.
fn apart<F: FnOnce() -> R, R>(work: F) -> R {
    #[inline(never)]
    fn call<F: FnOnce() -> R, R>(work: F) -> R {
        work()
    }
    let call: fn(F) -> R = call;
    black_box(call)(work)
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    const FTZ_DAZ_UP: u64 = STANDARD | 0x8000 | 0x0040 | 0x4000;
    const MODE_BITS: u64 = 0xFFC0;

    /// A product that is flushed, or half of the least normal number. Nothing here hides it from the
    /// compiler.
    fn half() -> f64 {
        f64::from_bits(black_box(1 << 52)) * 0.5
    }

    #[test]
    fn each_side_computes_in_its_own_mode() {
        let before = swap_control(FTZ_DAZ_UP);
        let flushed = apart(half);
        let (ours, theirs, ours_again, nested) = standard(|| {
            let theirs = || (half(), standard(half), half());
            (half(), foreign(theirs), half(), standard(|| (half(), foreign(half), half())))
        });
        let left = swap_control(before);
        let kept = f64::MIN_POSITIVE / 2.0;
        assert_eq!(flushed, 0.0, "the test's mode was not in force");
        assert_eq!((ours, ours_again), (kept, kept));
        assert_eq!(theirs, (0.0, kept, 0.0));
        assert_eq!(nested, (kept, 0.0, kept));
        assert_eq!(left & MODE_BITS, FTZ_DAZ_UP & MODE_BITS, "the mode was not put back");
    }

    #[test]
    fn what_foreign_code_leaves_on_is_the_callers() {
        let before = swap_control(STANDARD);
        let (ours, theirs) = standard(|| {
            foreign(|| swap_control(FTZ_DAZ_UP));
            (half(), foreign(half))
        });
        let left = swap_control(before);
        assert_eq!((ours, theirs), (f64::MIN_POSITIVE / 2.0, 0.0));
        assert_eq!(left & MODE_BITS, FTZ_DAZ_UP & MODE_BITS);
    }

    #[test]
    fn a_panic_puts_the_modes_back() {
        let before = swap_control(FTZ_DAZ_UP);
        let inside = standard(|| {
            let _ = std::panic::catch_unwind(|| foreign(|| std::panic::resume_unwind(Box::new(()))));
            half()
        });
        let _ = std::panic::catch_unwind(|| standard(|| std::panic::resume_unwind(Box::new(()))));
        let left = swap_control(before);
        assert_eq!(inside, f64::MIN_POSITIVE / 2.0);
        assert_eq!(left & MODE_BITS, FTZ_DAZ_UP & MODE_BITS);
    }
}
