//! Work shared out over scoped threads.
//!
//! On one thread nothing is allocated. To start others takes memory that the standard library cannot be
//! refused: a few hundred bytes, whatever the data.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use crate::arith::environment::standard;
use crate::base::{Error, Monitor, Result};
use crate::rows::Layout;

/// Products of a value and a weight for which a thread is worth its start.
const PRODUCTS: usize = 1 << 22;

/// How many of the threads are worth their start, for so many products.
pub fn worthwhile(threads: usize, products: usize) -> usize {
    threads.min(products / PRODUCTS).max(1)
}

/// Planes of a thread that share what it takes to find the weights of an entry of a sparse row: on less of
/// them, threads gain little (20 planes take 1.3 times as long as 10) and lose it to each other's memory.
const SHARING: usize = 20;

/// How many of the threads may share out planes, for so many products with rows of this layout.
pub fn of_planes(threads: usize, products: usize, planes: usize, layout: Layout) -> usize {
    let most = if layout == Layout::ByColumn { planes / SHARING } else { threads };
    worthwhile(threads, products).min(most).max(1)
}

/// Calls `work` on every item, on this thread and at most `threads - 1` others, and asks the monitor before
/// each of them.
pub(crate) fn each<T: Send>(
    items: impl Iterator<Item = T> + Send,
    threads: usize,
    monitor: &dyn Monitor,
    work: impl Fn(T) -> Result<()> + Sync,
) -> Result<()> {
    share_out(items, threads, monitor, |item| {
        monitor.pause()?;
        work(item)
    })
}

/// The same for work that asks the monitor itself. No item is begun after an error; of several errors that of
/// the first item is returned, whatever the number of threads.
pub(crate) fn share_out<T: Send>(
    mut items: impl Iterator<Item = T> + Send,
    threads: usize,
    monitor: &dyn Monitor,
    work: impl Fn(T) -> Result<()> + Sync,
) -> Result<()> {
    if threads <= 1 {
        return standard(|| items.try_for_each(work));
    }
    let queue = Mutex::new(items.enumerate());
    let (stop, first) = (AtomicBool::new(false), Mutex::new(None::<(usize, Error)>));
    let worker = || {
        while !stop.load(Ordering::Relaxed)
            && let Some((number, item)) = next(&queue)
        {
            if let Err(error) = work(item) {
                stop.store(true, Ordering::Relaxed);
                let mut first = lock(&first);
                if first.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
                    *first = Some((number, error));
                }
            }
        }
    };
    // The monitor is asked while waiting too, so that an interrupt is seen while others still work.
    on_threads(threads, worker, || {
        let _ = monitor.block();
    });
    first.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, error)| Err(error))
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The queue is free again before the item is worked on.
fn next<T>(queue: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    lock(queue).next()
}

/// Runs `worker` on this thread and at most `threads - 1` others. A thread that the system refuses to start
/// is done without: the others take its share.
fn on_threads(threads: usize, worker: impl Fn() + Sync, wait: impl Fn()) {
    // Linux hands the mode of this thread on; nothing promises that elsewhere.
    let worker = &|| standard(&worker);
    // Each thread holds a sender while it works: a panic drops it, too.
    let (at_work, ends) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let start = |_| {
            let at_work = at_work.clone();
            let other = move || {
                let _at_work = at_work;
                worker();
            };
            thread::Builder::new().spawn_scoped(scope, other).ok()
        };
        let others: Vec<_> = (1..threads).map_while(start).collect();
        drop(at_work);
        worker();
        while ends.recv_timeout(Duration::from_millis(20)) == Err(mpsc::RecvTimeoutError::Timeout) {
            wait();
        }
        for other in others {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Flow;

    struct After(std::sync::atomic::AtomicUsize);

    impl Monitor for After {
        fn block(&self) -> Flow {
            if self.0.fetch_add(1, Ordering::Relaxed) < 5 { Flow::Continue } else { Flow::Break }
        }
    }

    #[test]
    fn little_work_is_done_on_one_thread() {
        assert_eq!([0, PRODUCTS - 1, PRODUCTS, 3 * PRODUCTS].map(|n| worthwhile(8, n)), [1, 1, 1, 3]);
        assert_eq!((worthwhile(2, usize::MAX), worthwhile(0, usize::MAX)), (2, 1));
        let sparse = |planes| of_planes(8, usize::MAX, planes, Layout::ByColumn);
        assert_eq!([1, 20, 39, 40, 200].map(sparse), [1, 1, 1, 2, 8]);
        assert_eq!(of_planes(8, usize::MAX, 1, Layout::ByPlane), 8);
    }

    #[test]
    fn the_error_of_the_first_item_is_told() {
        for threads in [1, 3] {
            let invalid = |i| Err(Error::Invalid(format!("{i}")));
            let work = |i: usize| if i % 10 == 7 { invalid(i) } else { Ok(()) };
            assert_eq!(each(0..1000, threads, &(), work), invalid(7));
            assert_eq!(each(0..7, threads, &(), work), Ok(()));
        }
    }

    #[test]
    fn no_item_is_begun_after_a_break() {
        let begun = Mutex::new(Vec::new());
        let monitor = After(0.into());
        let work = |i| {
            lock(&begun).push(i);
            Ok(())
        };
        assert_eq!(each(0..1000, 1, &monitor, work), Err(Error::Interrupted));
        assert_eq!(*lock(&begun), [0, 1, 2, 3, 4]);
    }
}
