//! An allocator that refuses its n-th request, for every n: each fit ends in `Error::Memory`, never in an
//! abort. It also counts: what predicts is not copied.
//!
//! Requests are refused and counted thread by thread. The fits run on one: to start another takes a few boxes
//! of constant size, which the standard library cannot be refused.

mod kernel;
mod linear;
mod margin;
mod mlp;
mod scores;
mod structured;
// On Windows the standard library allocates the name of a file that it opens, and cannot be refused that.
#[cfg(not(windows))]
mod text;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use perceptron_rs::error::{Error, Result};
use perceptron_rs::memory::{Grow, filled};

thread_local! {
    /// Requests of this thread until one is refused; none is when it is negative.
    static LEFT: Cell<i64> = const { Cell::new(-1) };
    /// Bytes that this thread holds, and the most that it held.
    static HELD: Cell<[i64; 2]> = const { Cell::new([0; 2]) };
}

struct Refusing;

/// Whether this request of the thread is the one to refuse.
fn refused() -> bool {
    LEFT.with(|left| {
        let n = left.get();
        left.set(if n >= 0 { n - 1 } else { n });
        n == 0
    })
}

fn hold(bytes: usize, before: usize) {
    HELD.with(|held| {
        let [now, most] = held.get();
        let now = now + bytes as i64 - before as i64;
        held.set([now, most.max(now)]);
    });
}

// SAFETY: every method passes its arguments on to the system's allocator, or returns null, as each may.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused() {
            return std::ptr::null_mut();
        }
        hold(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        hold(0, layout.size());
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        // Memory that is given back is not refused.
        if len > layout.size() && refused() {
            return std::ptr::null_mut();
        }
        hold(len, layout.size());
        unsafe { System.realloc(place, layout, len) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Runs `work` with its first, second, third … request refused, until none is. Returns how many it makes.
/// What `work` holds when it starts was allocated before.
fn every_request_refused<T>(work: impl Fn() -> Result<T>) -> usize {
    for n in 0.. {
        LEFT.with(|left| left.set(n));
        let result = work();
        let left = LEFT.with(|left| left.replace(-1));
        match result {
            Ok(_) if left >= 0 => return n as usize,
            Ok(_) => panic!("request {n} was refused, and the work went on as if it had not been"),
            Err(Error::Memory | Error::FileTooLarge(_)) => (),
            Err(error) => panic!("request {n} was refused: {error:?}"),
        }
    }
    unreachable!("work that never ends its requests")
}

/// Runs `work` and returns how many bytes it holds at once, beside those that it starts with.
fn most_memory(work: impl FnOnce()) -> usize {
    let start = HELD.with(|held| {
        let [now, _] = held.get();
        held.set([now; 2]);
        now
    });
    work();
    HELD.with(|held| held.get()[1] - start) as usize
}

#[test]
fn vectors_that_grow() {
    let requests = every_request_refused(|| {
        let mut values = filled(1_u64, 4)?;
        for k in 0..100 {
            values.try_push(k)?;
        }
        Ok(values)
    });
    assert!(requests > 3, "{requests}");
}
