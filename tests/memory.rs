//! An allocator that refuses its n-th request, for every n: each fit ends in `Error::Memory`, never in an
//! abort.
//!
//! All of them run on one thread: to start another takes a few boxes of constant size, which the standard
//! library cannot be refused.

#[path = "memory/kernel.rs"]
mod kernel;
#[path = "memory/linear.rs"]
mod linear;
#[path = "memory/margin.rs"]
mod margin;
#[path = "memory/mlp.rs"]
mod mlp;
#[path = "memory/structured.rs"]
mod structured;
#[path = "memory/text.rs"]
mod text;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use perceptron_rs::error::{Error, Result};
use perceptron_rs::memory::{Grow, filled};

thread_local! {
    /// Requests of this thread until one is refused; none is when it is negative.
    static LEFT: Cell<i64> = const { Cell::new(-1) };
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

// SAFETY: every method passes its arguments on to the system's allocator, or returns null, as each may.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refused() { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        // Memory that is given back is not refused.
        if len > layout.size() && refused() {
            std::ptr::null_mut()
        } else {
            unsafe { System.realloc(place, layout, len) }
        }
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
