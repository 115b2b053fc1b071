//! A pocket run that is interrupted, in a count or between blocks, and kept: what it holds agrees.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Case, fractions};
use perceptron_rs::error::Error;
use perceptron_rs::online::pocket::{Check, Pocket};
use perceptron_rs::online::{
    self, Flow, Learner, Monitor, Numbers, Problem, Report, Schedule, State, Stopped,
};
use perceptron_rs::rows::{Dense, Rows};

const CHECKS: [Check; 4] = [Check::Run, Check::Ratchet, Check::Update, Check::Epoch];

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
    check: Check,
    keep: bool,
    monitor: &dyn Monitor,
) -> (Pocket, Result<(State, Report), Error>) {
    let rows = Dense::new(&case.x, case.n, case.d).expect("shape");
    assert_eq!(rows.block(1), 16, "wide rows make many blocks");
    let class_weight = [case.class_weight];
    let problem = Problem::new(&rows, &case.labels, None, &[1], &class_weight, 1.0, case.tie, true);
    let state =
        State { coef: case.start.clone(), intercept: case.intercept.clone(), seen: vec![0], ages: None };
    let schedule = Schedule {
        shuffle: None,
        first_epoch: 0,
        max_iter: 3,
        tol: None,
        n_iter_no_change: 5,
        track_mistakes: false,
        threads: 1,
        keep_on_interrupt: keep,
        settle: true,
        record: false,
    };
    let mut pocket = Pocket::new(check, true, &state);
    let done = online::fit(&problem.expect("a problem"), &schedule, state, &mut pocket, monitor);
    (pocket, done)
}

fn floats(pocket: &Pocket, name: &str) -> Vec<f64> {
    let found = pocket.memory().into_iter().find(|(key, _)| *key == name);
    match found {
        Some((_, Numbers::Floats(values))) => values.into_owned(),
        other => panic!("{name}: {other:?}"),
    }
}

fn errors(case: &Case, pocket: &Pocket) -> f64 {
    let rows = Dense::new(&case.x, case.n, case.d).expect("shape");
    let mut out = vec![0.0; case.n];
    let (coef, intercept) = (floats(pocket, "coef_pocket"), floats(pocket, "intercept_pocket"));
    online::scores(&rows, &coef, &intercept, 1, &mut out).expect("shapes");
    let wrong = |(a, &label): (&f64, &u32)| if label == 1 { a <= &0.0 } else { a >= &0.0 };
    out.iter().zip(&case.labels).filter(|pair| wrong(*pair)).count() as f64
}

#[test]
fn interrupted_anywhere() {
    let (n, d) = (100, 1200);
    let case =
        Case { class_weight: [1.0; 2], sample_weight: None, ..Case::new(fractions(n * d, 0, 1), n, d, 2, 1) };
    for check in CHECKS {
        let never = BreakOnce { at: usize::MAX, asked: AtomicUsize::new(0) };
        let (whole, done) = fit(&case, check, false, &never);
        done.expect("nobody interrupts");
        assert_eq!(floats(&whole, "pocket_errors"), [errors(&case, &whole)]);
        let asked = never.asked.load(Ordering::Relaxed);
        assert!(asked > 3 * 7, "{check:?}: not asked in counts");
        let start_count = n.div_ceil(16); // it is asked after each block
        let (mut in_counts, mut best) = (0, n as f64 + 1.0);
        for at in 0..asked {
            let monitor = BreakOnce { at, asked: AtomicUsize::new(0) };
            let (_, done) = fit(&case, check, false, &monitor);
            assert_eq!(done.expect_err("interrupted"), Error::Interrupted, "{check:?}, {at}");
            assert_eq!(monitor.asked.load(Ordering::Relaxed), at + 1, "{check:?}: it was asked again");
            let monitor = BreakOnce { at, asked: AtomicUsize::new(0) };
            let (pocket, done) = fit(&case, check, true, &monitor);
            if at < start_count {
                // While the start vector is counted there is nothing to keep.
                assert_eq!(done.expect_err("interrupted"), Error::Interrupted, "{check:?}, {at}");
                continue;
            }
            let (_, report) = done.expect("it is kept");
            assert_eq!(report.stopped, [Stopped::Interrupt], "{check:?}, {at}");
            let found = floats(&pocket, "pocket_errors")[0];
            assert_eq!(found, errors(&case, &pocket), "{check:?}, {at}");
            assert!(found <= best, "{check:?}: later interrupts leave no worse a vector");
            in_counts += usize::from(found < best);
            best = found;
        }
        assert!(in_counts > 1, "{check:?}");
    }
}
