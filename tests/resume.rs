//! A pass is plain data: stopped anywhere and taken up again, it gives the bits of one that never
//! stopped. A monitor ends a run between two blocks or after an epoch.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Case, Outcome, assert_same, compress, fractions, keep, outcome, shuffled, whole};
use perceptron_rs::arith::value::Value;
use perceptron_rs::error::Error;
use perceptron_rs::online::averaged::Averaged;
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::{
    self, EpochRecord, Flow, Learner, Monitor, Problem, Schedule, Snapshot, State, Stopped, Verdict, feed,
};
use perceptron_rs::rows::{Csr, Cursor, Dense, Mistake, Planes, Rows};

fn cases() -> Vec<(&'static str, Case)> {
    let n = 40;
    let mut float = Case::new(fractions(n * 13, 3, 1), n, 13, 4, 2);
    float.eta = 0.1;
    float.seen = 5;
    let exact = Case::new(whole(n * 13, 0, 20, 3, 1), n, 13, 4, 2);
    let mut crossing = Case::new(whole(n * 13, 0, 255, 1, 3), n, 13, 2, 4);
    crossing.eta = f64::from(1 << 20);
    crossing.intercept = vec![-4e15];
    crossing.fit_intercept = false;
    crossing.order = Some(shuffled(n, 9));
    let all = [("float", float), ("exact", exact), ("crossing the bound", crossing)];
    all.map(|(name, case)| (name, Case { epochs: 1, ..case })).into()
}

fn each_storage(case: &Case, run: impl Fn(&dyn Rows, &str)) {
    if case.x.iter().all(|&v| (0.0..=255.0).contains(&v) && v.fract() == 0.0) {
        with_storage(case, |v| v as u8, "uint8", &run);
    }
    with_storage(case, |v| v, "float64", &run);
}

fn with_storage<T: Value>(case: &Case, to: impl Fn(f64) -> T, name: &str, run: &impl Fn(&dyn Rows, &str)) {
    let values: Vec<T> = case.x.iter().map(|&v| to(v)).collect();
    run(&Dense::new(&values, case.n, case.d).expect("shape"), &format!("dense {name}"));
    let (indptr, indices, stored) = compress(&values, case.n, case.d, |j| j as i64);
    run(&Csr::new(&indptr, &indices, &stored, case.d).expect("arrays of a matrix"), &format!("CSR {name}"));
}

/// A pass in pieces that end at `stops`; all of it is made anew from plain data between two pieces.
fn in_pieces(case: &Case, rows: &dyn Rows, stops: &[usize]) -> (Outcome, Averaged) {
    let visit = case.visit();
    let positive: Vec<u32> = case.heads().iter().map(|head| head.positive).collect();
    let class_weight = vec![case.class_weight; case.planes];
    let weights = case.sample_weight.as_deref();
    let (eta, tie) = (case.eta, case.tie);
    let problem =
        Problem::new(rows, &case.labels, weights, &positive, &class_weight, eta, tie, case.fit_intercept)
            .expect("a problem");
    let (mut heads, mut weights, mut pos, mut log) = (case.heads(), case.start.clone(), 0, Vec::new());
    let mut u = Averaged {
        coef: vec![0.0; case.start.len()],
        intercept: vec![0.0; case.planes],
        fit_intercept: case.fit_intercept,
    };
    for &end in stops {
        let mut planes = Planes::new(heads, weights, case.d);
        let mut at = Cursor { pos };
        {
            let all = 0..case.planes;
            let mut rules = u.split(std::slice::from_ref(&all), &problem);
            let absorb = &mut |new: &[Mistake]| {
                log.extend_from_slice(new);
                rules[0].absorb(rows, &visit, new, &())
            };
            feed(rows, &visit, &mut at, end, &mut planes, absorb, &()).expect("nobody interrupts");
        }
        assert_eq!(at.pos, end);
        (heads, pos) = (planes.heads.clone(), at.pos);
        weights = (0..case.planes).flat_map(|k| planes.plane(k)).collect();
    }
    (outcome(&Planes::new(heads, weights, case.d), case.planes, &log), u)
}

#[test]
fn a_pass_stopped_at_every_position() {
    for (name, case) in cases() {
        each_storage(&case, |rows, storage| {
            let what = format!("{name}, {storage}");
            let (whole, u) = in_pieces(&case, rows, &[case.n]);
            assert_same(&whole, &case.expected(), &what);
            let every: Vec<usize> = (1..=case.n).collect();
            let pairs = (0..=case.n).map(|stop| vec![stop, case.n]);
            let triples = (0..case.n).map(|stop| vec![stop, stop, stop + 1, case.n]);
            for stops in pairs.chain(triples).chain([every]) {
                let (got, got_u) = in_pieces(&case, rows, &stops);
                assert_same(&got, &whole, &format!("{what}, stopped at {stops:?}"));
                let bits =
                    |u: &Averaged| u.coef.iter().chain(&u.intercept).map(|u| u.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&got_u), bits(&u), "{what}, u, stopped at {stops:?}");
            }
        });
    }
}

/// Batches of a stream are rows of their own; the planes go on from one to the next, whatever the
/// values and the steps of the batch are.
#[test]
fn planes_go_on_over_batches_of_one_storage() {
    planes_go_on(|a, b| a == b);
}

/// And whatever the batch is stored in.
#[test]
fn planes_go_on_over_batches_of_every_storage() {
    planes_go_on(|a, b| a != b);
}

type Change = (&'static str, fn(&mut Case));

fn planes_go_on(is_meant: fn(&str, &str) -> bool) {
    let n = 24;
    let mut first = Case::new(whole(n * 9, 0, 3, 2, 1), n, 9, 3, 2);
    first.epochs = 1;
    let changes: [Change; 4] = [
        ("the same kind", |_| ()),
        ("larger values", |case| case.x.iter_mut().for_each(|x| *x *= 85.0)),
        ("larger steps", |case| case.eta = 1e12),
        ("fractional steps", |case| case.eta = 0.5),
    ];
    for (what, change) in changes {
        let mut second = Case { labels: Case::new(vec![], n, 0, 3, 7).labels, ..first.clone() };
        change(&mut second);
        let start = first.expected();
        second.start = start.weights.iter().map(|&w| f64::from_bits(w)).collect();
        second.intercept = start.intercept.iter().map(|&b| f64::from_bits(b)).collect();
        second.seen = n as u64;
        let want = second.expected();
        each_storage(&first, |rows, a| {
            each_storage(&second, |next, b| {
                if !is_meant(a, b) {
                    return;
                }
                let got = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let (mut planes, mut log) = (first.planes(), Vec::new());
                    for (rows, case) in [(rows, &first), (next, &second)] {
                        log.clear();
                        planes.heads.iter_mut().for_each(|head| head.loss = 0.0);
                        let absorb = &mut |new: &[Mistake]| keep(&mut log, new);
                        let visit = case.visit();
                        feed(rows, &visit, &mut Cursor::default(), n, &mut planes, absorb, &())
                            .expect("goes on");
                    }
                    outcome(&planes, 3, &log)
                }));
                let got = got.unwrap_or_else(|_| panic!("{what}: {a}, then {b}: a panic"));
                assert_same(&got, &want, &format!("{what}: {a}, then {b}"));
            });
        });
    }
}

/// Breaks at the block (or epoch) of this number, counted from 0.
struct BreakAt {
    block: usize,
    epoch: usize,
    asked: AtomicUsize,
    epochs: AtomicUsize,
}

impl BreakAt {
    fn new(block: usize, epoch: usize) -> Self {
        Self { block, epoch, asked: AtomicUsize::new(0), epochs: AtomicUsize::new(0) }
    }
}

fn flow(number: usize, at: usize) -> Flow {
    if number >= at { Flow::Break } else { Flow::Continue }
}

impl Monitor for BreakAt {
    fn block(&self) -> Flow {
        flow(self.asked.fetch_add(1, Ordering::Relaxed), self.block)
    }

    fn epoch(&self, record: &EpochRecord, learnt: Option<Snapshot>) -> Result<Verdict, Error> {
        let number = self.epochs.fetch_add(1, Ordering::Relaxed);
        assert_eq!(record.epoch, 10 + number as u64);
        assert!(learnt.is_none(), "nobody asked for it");
        Ok(if number >= self.epoch { Verdict::Break } else { Verdict::Continue })
    }
}

struct Fit {
    case: Case,
    positive: Vec<u32>,
    class_weight: Vec<[f64; 2]>,
}

impl Fit {
    /// Labels are drawn, so no epoch is clean; the blocks of 16 rows come from wide rows.
    fn new(classes: u32) -> Self {
        let (n, d) = (100, 1200);
        let case = Case::new(fractions(n * d, 0, 1), n, d, classes, 2);
        let labels = case.heads().iter().map(|head| head.positive).collect();
        Self { positive: labels, class_weight: vec![[1.0; 2]; case.planes], case }
    }

    fn run(
        &self,
        max_iter: u64,
        threads: usize,
        monitor: &dyn Monitor,
    ) -> Result<(State, online::Report), Error> {
        self.run_and_keep(false, max_iter, threads, monitor)
    }

    fn run_and_keep(
        &self,
        keep_on_interrupt: bool,
        max_iter: u64,
        threads: usize,
        monitor: &dyn Monitor,
    ) -> Result<(State, online::Report), Error> {
        let case = &self.case;
        let rows = Dense::new(&case.x, case.n, case.d).expect("shape");
        assert_eq!(rows.block(1), 16);
        let (labels, positive) = (&case.labels, &self.positive);
        let problem = Problem::new(&rows, labels, None, positive, &self.class_weight, 1.0, case.tie, true)
            .expect("a problem");
        let state = State {
            coef: case.start.clone(),
            intercept: case.intercept.clone(),
            seen: vec![0; case.planes],
            ages: None,
        };
        let schedule = Schedule {
            shuffle: None,
            first_epoch: 10,
            max_iter,
            tol: None,
            n_iter_no_change: 5,
            track_mistakes: true,
            threads,
            keep_on_interrupt,
            settle: true,
            record: false,
        };
        online::fit(&problem, &schedule, state, &mut Perceptron, monitor)
    }
}

#[test]
fn a_monitor_interrupts_a_run_between_any_two_blocks() {
    let fit = Fit::new(2);
    for block in 0..14 {
        let monitor = BreakAt::new(block, usize::MAX);
        assert_eq!(fit.run(2, 1, &monitor).expect_err("interrupted"), Error::Interrupted, "block {block}");
        assert_eq!(monitor.asked.load(Ordering::Relaxed), block + 1, "it was asked again");
        assert_eq!(monitor.epochs.load(Ordering::Relaxed), block / 7);
    }
    assert!(fit.run(2, 1, &BreakAt::new(14, usize::MAX)).is_ok(), "two epochs are 14 blocks");
}

#[test]
fn a_monitor_interrupts_all_threads() {
    let fit = Fit::new(5);
    for (threads, block) in
        [2, 3, 5].into_iter().flat_map(|threads| [0, 1, 5, 9].map(|block| (threads, block)))
    {
        let error = fit.run(1000, threads, &BreakAt::new(block, usize::MAX)).expect_err("interrupted");
        assert_eq!(error, Error::Interrupted, "{threads} threads, block {block}");
    }
}

#[test]
fn an_interrupted_run_that_is_kept_is_that_of_the_rows_before() {
    let fit = Fit::new(2);
    for block in 0..7 {
        let monitor = BreakAt::new(block, usize::MAX);
        let (state, report) = fit.run_and_keep(true, 9, 1, &monitor).expect("it is kept");
        let case = &fit.case;
        let rows = Dense::new(&case.x, case.n, case.d).expect("shape");
        let (visit, mut planes, mut at) = (case.visit(), case.planes(), Cursor::default());
        let (end, mut mistakes) = ((16 * (block + 1)).min(case.n), 0);
        let count = &mut |log: &[Mistake]| {
            mistakes += log.len() as i64;
            Ok(())
        };
        feed(&rows, &visit, &mut at, end, &mut planes, count, &()).expect("nobody interrupts");
        assert_eq!(state.seen, [end as u64]);
        assert_eq!((state.coef, state.intercept[0]), (planes.plane(0), planes.heads[0].intercept));
        assert_eq!((report.n_iter, report.stopped), (vec![1], vec![Stopped::Interrupt]));
        assert_eq!(report.epochs[0].mistakes, [mistakes]);
        assert_eq!(report.mistakes_per_example.iter().sum::<i64>(), mistakes);
    }
}

#[test]
fn feed_interrupted_after_a_block() {
    let case = Fit::new(2).case;
    let rows = Dense::new(&case.x, case.n, case.d).expect("shape");
    let (visit, mut planes, mut at) = (case.visit(), case.planes(), Cursor::default());
    let monitor = BreakAt::new(1, usize::MAX);
    let stop = feed(&rows, &visit, &mut at, case.n, &mut planes, &mut |_| Ok(()), &monitor);
    assert_eq!((stop, at.pos), (Err(Error::Interrupted), 32));
}

#[test]
fn a_monitor_ends_a_run_after_an_epoch() {
    for (classes, threads) in [(2, 1), (5, 1), (5, 3)] {
        let fit = Fit::new(classes);
        for epoch in 0..3 {
            let ended = fit.run(1000, threads, &BreakAt::new(usize::MAX, epoch)).expect("no error");
            let limited = fit.run(epoch as u64 + 1, threads, &()).expect("no error");
            assert_eq!(ended.0, limited.0);
            assert_eq!(ended.1.epochs, limited.1.epochs);
            assert_eq!(ended.1.n_iter, limited.1.n_iter);
            assert_eq!(ended.1.mistakes_per_example, limited.1.mistakes_per_example);
            assert!(ended.1.stopped.iter().all(|&stopped| stopped == Stopped::Monitor));
        }
    }
}
