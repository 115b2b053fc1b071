//! Work shared out over scoped threads.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::arith::environment::standard;

/// Calls `work` on every item, on this thread and at most `threads - 1` others. A thread that the
/// system refuses to start is done without: the others take its share. While others still work,
/// this thread calls `wait` every now and then.
pub(crate) fn share_out<T: Send, R: Send>(
    items: impl Iterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
    wait: impl Fn(),
) -> Vec<R> {
    let queue = Mutex::new(items);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let caller = thread::current();
    let worker = || {
        // Linux hands the mode of this thread on; nothing promises that elsewhere.
        let done = standard(|| {
            let mut done = Vec::new();
            while let Some(item) = next() {
                done.push(work(item));
            }
            done
        });
        caller.unpark();
        done
    };
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, worker).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        let mut done = worker();
        for other in others {
            while !other.is_finished() {
                wait();
                thread::park_timeout(Duration::from_millis(2));
            }
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    })
}
