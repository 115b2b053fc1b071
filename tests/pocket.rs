//! A pocket run that is interrupted, in a count or between blocks, and kept: what it holds agrees.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::driver::{Report, Schedule, drive};
use super::support::{Case, fractions};
use perceptron_rs::error::Error;
use perceptron_rs::monitor::{Flow, Monitor};
use perceptron_rs::online::pocket::{Check, Pocket};
use perceptron_rs::online::{self, Problem};
use perceptron_rs::rows::{Dense, Examples};

/// Each with and without averages.
const CHECKS: [(Check, bool); 8] = [
    (Check::Run, false),
    (Check::Ratchet, false),
    (Check::Update, false),
    (Check::Epoch, false),
    (Check::Run, true),
    (Check::Ratchet, true),
    (Check::Update, true),
    (Check::Epoch, true),
];

/// Breaks once, when it is asked for this time; a run that goes on would be noticed.
struct BreakOnce {
    at: usize,
    asked: AtomicUsize,
}

impl Monitor for BreakOnce {
    fn block(&self) -> Flow {
        if self.asked.fetch_add(1, Ordering::Relaxed) == self.at { Flow::Break } else { Flow::Continue }
    }
}

fn fit(
    case: &Case,
    (check, average): (Check, bool),
    keep_on_interrupt: bool,
    monitor: &dyn Monitor,
) -> Result<Report, Error> {
    let rows = Dense::new(&case.x, case.n, case.d).expect("shape");
    assert_eq!(rows.block(1), 16, "wide rows make many blocks");
    let (settings, state) = (case.settings(), case.state());
    let problem = Problem::new(&rows, &case.labels, None, &settings).expect("a problem");
    let pocket = Box::new(Pocket::new(check, average, true, &state, &()).expect("memory"));
    drive(&problem, state, pocket, Schedule { keep_on_interrupt, ..Schedule::epochs(3) }, monitor)
}

fn errors(case: &Case, report: &Report) -> f64 {
    let rows = Dense::new(&case.x, case.n, case.d).expect("shape");
    let mut out = vec![0.0; case.n];
    let (coef, intercept) = (report.floats("coef"), report.floats("intercept"));
    online::scores(&rows, (&coef).into(), &intercept, 1, &(), &mut out).expect("shapes");
    let wrong = |(a, &label): (&f64, &u32)| if label == 1 { a <= &0.0 } else { a >= &0.0 };
    out.iter().zip(&case.labels).filter(|pair| wrong(*pair)).count() as f64
}

#[test]
fn interrupted_anywhere() {
    let (n, d) = (49, 1200);
    let case =
        Case { class_weight: [1.0; 2], sample_weight: None, ..Case::new(fractions(n * d, 0, 1), n, d, 2, 1) };
    for check in CHECKS {
        let never = BreakOnce { at: usize::MAX, asked: AtomicUsize::new(0) };
        let whole = fit(&case, check, false, &never).expect("nobody interrupts");
        assert_eq!(whole.floats("pocket_errors"), [errors(&case, &whole)]);
        let asked = never.asked.load(Ordering::Relaxed);
        // It is asked after each block, and when the start weights are taken.
        let start_count = n.div_ceil(16) + 1;
        assert!(asked > 4 * start_count, "{check:?}: not asked in counts");
        let (mut in_counts, mut best) = (0, n as f64 + 1.0);
        for at in 0..asked {
            let monitor = BreakOnce { at, asked: AtomicUsize::new(0) };
            let done = fit(&case, check, false, &monitor);
            assert_eq!(done.err().expect("interrupted"), Error::Interrupted, "{check:?}, {at}");
            assert_eq!(monitor.asked.load(Ordering::Relaxed), at + 1, "{check:?}: it was asked again");
            let monitor = BreakOnce { at, asked: AtomicUsize::new(0) };
            let done = fit(&case, check, true, &monitor);
            if at < start_count {
                // While the start vector is counted there is nothing to keep.
                assert_eq!(done.err().expect("interrupted"), Error::Interrupted, "{check:?}, {at}");
                continue;
            }
            let report = done.expect("it is kept");
            assert_eq!(report.stopped, ["interrupt"], "{check:?}, {at}");
            let found = report.floats("pocket_errors")[0];
            assert_eq!(found, errors(&case, &report), "{check:?}, {at}");
            assert!(found <= best, "{check:?}: later interrupts leave no worse a vector");
            in_counts += usize::from(found < best);
            best = found;
        }
        assert!(in_counts > 1, "{check:?}");
    }
}
