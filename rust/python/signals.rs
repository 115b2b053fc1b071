//! Lets Ctrl-C end a run between two blocks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::online::{Flow, Monitor};

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
    pub fn new() -> Self {
        Self {
            caller: thread::current().id(),
            asked: Mutex::new(Instant::now()),
            stop: AtomicBool::new(false),
            raised: Mutex::new(None),
        }
    }

    /// What a signal handler raised, in place of the core's own error.
    pub fn into_error(self, error: crate::error::Error) -> PyErr {
        let raised = self.raised.into_inner().ok().flatten();
        raised.unwrap_or_else(|| error.into())
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
        #[allow(clippy::redundant_closure_for_method_calls)] // the method itself is not general enough
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => Flow::Continue,
            Err(error) => {
                if let Ok(mut raised) = self.raised.lock() {
                    *raised = Some(error);
                }
                self.stop.store(true, Ordering::Relaxed);
                Flow::Break
            }
        }
    }
}
