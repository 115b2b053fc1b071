//! Lets Ctrl-C end a call between two blocks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::{exceptions::PyKeyboardInterrupt, prelude::*};

use super::call::Done;
use crate::arith::environment::foreign;
use crate::base::{Flow, Monitor};

/// Attaching to the interpreter costs about as much as a block, so it is done this seldom.
const PERIOD: Duration = Duration::from_millis(20);

/// Asks Python for pending signals on the thread that called, and tells the others by a flag.
pub struct Signals {
    caller: ThreadId,
    asked: Mutex<Instant>,
    stop: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Signals {
    fn new() -> Self {
        Self {
            caller: thread::current().id(),
            asked: Mutex::new(Instant::now()),
            stop: AtomicBool::new(false),
            raised: Mutex::new(None),
        }
    }

    /// The result of a run, or what a signal handler or a function of Python raised in its course.
    /// `keep`: a run that Ctrl-C ended is a result too.
    pub fn ask<T>(py: Python<'_>, keep: bool, run: impl FnOnce(&Self) -> Done<T>) -> PyResult<T> {
        let signals = Self::new();
        let done = run(&signals)?;
        match (done, signals.raised.into_inner().ok().flatten()) {
            (Ok(done), Some(raised)) if keep && raised.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(done),
            (_, Some(raised)) => Err(raised),
            (done, None) => Ok(done?),
        }
    }

    /// Ends the run at the next block, with this.
    pub fn keep_error(&self, error: PyErr) {
        if let Ok(mut raised) = self.raised.lock() {
            *raised = Some(error);
        }
        self.stop.store(true, Ordering::Relaxed);
    }

    fn is_due(&self) -> bool {
        let Ok(mut asked) = self.asked.lock() else { return false };
        let due = asked.elapsed() >= PERIOD;
        if due {
            *asked = Instant::now();
        }
        due
    }
}

impl Monitor for Signals {
    fn block(&self) -> Flow {
        if self.stop.load(Ordering::Relaxed) {
            return Flow::Break;
        }
        if thread::current().id() != self.caller || !self.is_due() {
            return Flow::Continue;
        }
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method itself is not general enough"
        )]
        match foreign(|| Python::attach(|py| py.check_signals())) {
            Ok(()) => Flow::Continue,
            Err(error) => {
                self.keep_error(error);
                Flow::Break
            }
        }
    }
}
