//! Lets Ctrl-C end a run between two blocks, and Python's callback see every epoch.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;

use super::memory::state_to_python;
use crate::arith::environment::foreign;
use crate::error::{Error, Result};
use crate::online::{EpochRecord, Flow, Monitor, Snapshot, Verdict};

/// Attaching to the interpreter costs about as much as a block, so it is done this seldom.
const PERIOD: Duration = Duration::from_millis(20);

/// Asks Python for pending signals on the thread that called, and tells the others by a flag.
pub struct Signals {
    on_epoch: Option<Py<PyAny>>,
    with_state: bool,
    caller: ThreadId,
    asked: Mutex<Instant>,
    stop: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Signals {
    pub fn new(on_epoch: Option<Py<PyAny>>, with_state: bool) -> Self {
        Self {
            with_state: with_state && on_epoch.is_some(),
            on_epoch,
            caller: thread::current().id(),
            asked: Mutex::new(Instant::now()),
            stop: AtomicBool::new(false),
            raised: Mutex::new(None),
        }
    }

    /// The result of a run, or what a signal handler or the callback raised in its course.
    /// `keep`: a run that Ctrl-C ended is a result too.
    pub fn settle<T>(self, done: Result<T>, py: Python<'_>, keep: bool) -> PyResult<T> {
        match (done, self.raised.into_inner().ok().flatten()) {
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
        #[allow(clippy::redundant_closure_for_method_calls)] // the method itself is not general enough
        match foreign(|| Python::attach(|py| py.check_signals())) {
            Ok(()) => Flow::Continue,
            Err(error) => {
                self.keep_error(error);
                Flow::Break
            }
        }
    }

    fn wants_state(&self) -> bool {
        self.with_state
    }

    fn epoch(&self, record: &EpochRecord, learnt: Option<Snapshot>) -> Result<Verdict> {
        let Some(on_epoch) = &self.on_epoch else { return Ok(Verdict::Continue) };
        foreign(|| Python::attach(|py| call(on_epoch.bind(py), record, learnt))).map_err(|error| {
            self.keep_error(error);
            Error::Interrupted
        })
    }
}

fn call(on_epoch: &Bound<'_, PyAny>, record: &EpochRecord, learnt: Option<Snapshot>) -> PyResult<Verdict> {
    let py = on_epoch.py();
    let mistakes = PyArray1::from_slice(py, &record.mistakes);
    let losses = PyArray1::from_slice(py, &record.losses);
    let state = learnt.map(|learnt| state_to_python(py, &learnt)).transpose()?;
    let answer = on_epoch.call1((record.epoch, mistakes, losses, state))?;
    if answer.is_none() {
        return Ok(Verdict::Continue);
    }
    if let Ok(stop) = answer.extract::<bool>() {
        return Ok(if stop { Verdict::Break } else { Verdict::Continue });
    }
    match answer.extract::<PyReadonlyArray1<bool>>() {
        Ok(marked) if marked.as_array().len() == record.mistakes.len() => {
            Ok(Verdict::BreakSome(marked.as_array().to_vec()))
        }
        _ => Err(PyTypeError::new_err(format!(
            "on_epoch must return None, True, False or an array of {} booleans, got {}",
            record.mistakes.len(),
            answer.repr()?
        ))),
    }
}
