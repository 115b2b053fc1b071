//! However much there is to do, the monitor is asked on the way: no Ctrl-C waits for the end.

mod kernel;
mod linear;
mod mlp;
mod sequences;
mod text;

use std::sync::atomic::{AtomicUsize, Ordering};

use perceptron_rs::monitor::{Flow, Monitor};

#[derive(Default)]
struct Asked(AtomicUsize);

impl Asked {
    fn times(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Monitor for Asked {
    fn block(&self) -> Flow {
        self.0.fetch_add(1, Ordering::Relaxed);
        Flow::Continue
    }
}

/// Interrupts at the first question after so many.
struct After(AtomicUsize);

impl Monitor for After {
    fn block(&self) -> Flow {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if left.is_ok() { Flow::Continue } else { Flow::Break }
    }
}

/// Interrupts `work` at its first, second, third … question, until it asks no more. Returns how many it asks.
fn at_each_question(mut work: impl FnMut(&After) -> bool) -> usize {
    (0..1000).find(|&n| !work(&After(n.into()))).expect("work that ends")
}
