//! A pass is plain data: stopped anywhere and taken up again, it gives the bits of one that never
//! stopped. A monitor breaks an epoch off between two blocks.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::driver::{Report, Schedule, drive};
use super::support::{
    Case, Outcome, assert_same, compress, fractions, keep, numbers, outcome, shuffled, table, whole,
};
use perceptron_rs::arith::value::Value;
use perceptron_rs::error::Error;
use perceptron_rs::monitor::{Flow, Monitor};
use perceptron_rs::online::averaged::Averaged;
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::{Epoch, Learner, Numbers, Problem, Run, Settings, feed};
use perceptron_rs::rows::{Csr, Cursor, Dense, Examples, Mistake, Planes, Rows, Table};

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
    let settings = case.settings();
    let problem =
        Problem::new(rows, &case.labels, case.sample_weight.as_deref(), &settings).expect("a problem");
    let (mut heads, mut weights, mut pos, mut log) = (case.heads(), case.start.clone(), 0, Vec::new());
    let zeros = Table::zero([case.planes, case.d]);
    let mut u = Averaged::new(zeros, vec![0.0; case.planes], case.fit_intercept).expect("little");
    for &end in stops {
        let mut planes = Planes::new(heads, table(&weights, case.planes));
        let mut at = Cursor { pos };
        {
            let all = 0..case.planes;
            let mut rules = u.split(std::slice::from_ref(&all), &problem).expect("rows");
            let absorb = &mut |new: &[Mistake]| {
                log.extend_from_slice(new);
                rules[0].absorb(&visit, new, &())
            };
            feed(rows, &visit, &mut at, end, &mut planes, absorb, &()).expect("nobody interrupts");
        }
        assert_eq!(at.pos, end);
        (heads, pos) = (planes.heads.clone(), at.pos);
        weights = (0..case.planes).flat_map(|k| planes.plane(k).expect("memory")).collect();
    }
    (outcome(&Planes::new(heads, table(&weights, case.planes)), case.planes, &log), u)
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
                let memory = |u: &Averaged| format!("{:?}", u.memory().expect("memory"));
                assert_eq!(memory(&got_u), memory(&u), "{what}, u, stopped at {stops:?}");
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

/// Breaks at the block of this number, counted from 0.
struct BreakAt {
    block: usize,
    asked: AtomicUsize,
}

impl BreakAt {
    fn new(block: usize) -> Self {
        Self { block, asked: AtomicUsize::new(0) }
    }
}

impl Monitor for BreakAt {
    fn block(&self) -> Flow {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        if number >= self.block { Flow::Break } else { Flow::Continue }
    }
}

/// Questions when the weights of a small model are taken and examples of weight 0 are looked for, and when
/// its only plane ends.
const START: usize = 2;
const END: usize = 2;

/// Labels are drawn, so no epoch is clean; the blocks of 16 rows come from wide rows.
fn wide(classes: u32) -> Case {
    let (n, d) = (100, 1200);
    Case::new(fractions(n * d, 0, 1), n, d, classes, 2)
}

fn run_and_keep(
    case: &Case,
    keep_on_interrupt: bool,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<Report, Error> {
    let rows = Dense::new(&case.x, case.n, case.d).expect("shape");
    assert_eq!(rows.block(1), 16);
    let settings = Settings { track_mistakes: true, threads, ..case.settings() };
    let problem = Problem::new(&rows, &case.labels, None, &settings).expect("a problem");
    let schedule = Schedule { keep_on_interrupt, ..Schedule::epochs(2) };
    drive(&problem, case.state(), Box::new(Perceptron), schedule, monitor)
}

#[test]
fn a_monitor_interrupts_a_run_between_any_two_blocks() {
    let case = wide(2);
    for block in 0..14 {
        let monitor = BreakAt::new(START + block);
        let error = run_and_keep(&case, false, 1, &monitor).err().expect("interrupted");
        assert_eq!(error, Error::Interrupted, "block {block}");
        assert_eq!(monitor.asked.load(Ordering::Relaxed), START + block + 1, "it was asked again");
    }
    let whole = BreakAt::new(START + 14 + END);
    assert!(run_and_keep(&case, false, 1, &whole).is_ok(), "two epochs are 14 blocks");
}

#[test]
fn a_monitor_interrupts_all_threads() {
    let case = wide(5);
    for (threads, block) in
        [2, 3, 5].into_iter().flat_map(|threads| [0, 1, 5, 9].map(|block| (threads, block)))
    {
        let error = run_and_keep(&case, false, threads, &BreakAt::new(block)).err().expect("interrupted");
        assert_eq!(error, Error::Interrupted, "{threads} threads, block {block}");
    }
}

#[test]
fn an_interrupted_run_that_is_kept_is_that_of_the_rows_before() {
    let case = wide(2);
    for block in 0..7 {
        let report = run_and_keep(&case, true, 1, &BreakAt::new(START + block)).expect("it is kept");
        let rows = Dense::new(&case.x, case.n, case.d).expect("shape");
        let (visit, mut planes, mut at) = (case.visit(), case.planes(), Cursor::default());
        let (end, mut mistakes) = ((16 * (block + 1)).min(case.n), 0);
        let count = &mut |log: &[Mistake]| {
            mistakes += log.len() as i64;
            Ok(())
        };
        feed(&rows, &visit, &mut at, end, &mut planes, count, &()).expect("nobody interrupts");
        let state = report.state();
        assert_eq!(state.seen, [end as u64]);
        assert_eq!(
            (state.coef.by_plane(&()).expect("memory"), state.intercept[0]),
            (planes.plane(0).expect("memory"), planes.heads[0].intercept)
        );
        assert_eq!((&report.n_iter[..], &report.stopped[..]), (&[1][..], &["interrupt"][..]));
        assert_eq!(report.mistakes(), [mistakes]);
        assert_eq!(report.per_example().iter().sum::<i64>(), mistakes);
    }
}

#[test]
fn feed_interrupted_after_a_block() {
    let case = wide(2);
    let rows = Dense::new(&case.x, case.n, case.d).expect("shape");
    let (visit, mut planes, mut at) = (case.visit(), case.planes(), Cursor::default());
    let monitor = BreakAt::new(1);
    let stop = feed(&rows, &visit, &mut at, case.n, &mut planes, &mut |_| Ok(()), &monitor);
    assert_eq!((stop, at.pos), (Err(Error::Interrupted), 32));
}

/// What a run has learnt and remembers, and what it did, as text.
fn told((run, learner): (&Run, &dyn Learner), epochs: &[Epoch]) -> String {
    let memory: Vec<(&str, Numbers)> = learner.memory().expect("memory");
    let state = numbers(run.state(&()).expect("memory"));
    format!("{state:?} {memory:?} {:?} {epochs:?}", run.mistakes_per_example(&()))
}

fn averaged(case: &Case) -> Box<dyn Learner> {
    let (coef, intercept) = (Table::zero([case.planes, case.d]), vec![0.0; case.planes]);
    Box::new(Averaged::new(coef, intercept, case.fit_intercept).expect("little"))
}

/// Epochs of an averaged run in which decision `k` ends behind epoch `ends[k]`.
fn run_with_ends(
    case: &Case,
    rows: &dyn Rows,
    threads: usize,
    ends: &[u64],
    look: bool,
) -> (Run, Box<dyn Learner>, Vec<Epoch>) {
    let settings = Settings { track_mistakes: true, seed: Some(3), threads, ..case.settings() };
    let problem = Problem::new(rows, &case.labels, None, &settings).expect("a problem");
    let mut learner = averaged(case);
    let mut run = Run::start(&problem, case.state(), &mut *learner, &()).expect("a state");
    let mut epochs = Vec::new();
    for number in 0..=*ends.iter().max().expect("decisions") {
        epochs.push(run.epoch(&problem, &mut *learner, number, &()).expect("finite"));
        if look {
            told((&run, &*learner), &epochs);
        }
        for k in (0..ends.len()).filter(|&k| ends[k] == number) {
            run.end(&problem, &mut *learner, k, &()).expect("finite");
            run.end(&problem, &mut *learner, k, &()).expect("it is ended already");
        }
    }
    (run, learner, epochs)
}

#[test]
fn a_look_at_the_state_changes_nothing() {
    for (name, case) in cases() {
        each_storage(&case, |rows, storage| {
            let ends: Vec<u64> = (0..case.planes as u64).map(|k| 3 - k % 3).collect();
            for threads in [1, 2] {
                let [plain, seen] = [false, true].map(|look| {
                    let (run, learner, epochs) = run_with_ends(&case, rows, threads, &ends, look);
                    told((&run, &*learner), &epochs)
                });
                assert_eq!(plain, seen, "{name}, {storage}, {threads} threads");
            }
        });
    }
}

#[test]
fn what_a_run_gives_at_its_end_is_its_state() {
    for (name, case) in cases() {
        each_storage(&case, |rows, storage| {
            let most = case.planes as u64;
            // None has ended before, some, all but one, all.
            for ended in [0, most / 2, most - 1, most] {
                for threads in [1, 2] {
                    let settings = Settings { threads, ..case.settings() };
                    let problem = Problem::new(rows, &case.labels, None, &settings).expect("a problem");
                    let [stepwise, at_once] = [false, true].map(|at_once| {
                        let mut learner = averaged(&case);
                        let mut run =
                            Run::start(&problem, case.state(), &mut *learner, &()).expect("a state");
                        run.epoch(&problem, &mut *learner, 0, &()).expect("finite");
                        for k in 0..if at_once { ended } else { most } {
                            run.end(&problem, &mut *learner, k as usize, &()).expect("finite");
                        }
                        run.end_all(&problem, &mut *learner, &()).expect("finite");
                        let state = if at_once { run.take(&()) } else { run.state(&()) };
                        format!("{:?} {:?}", numbers(state.expect("memory")), learner.memory())
                    });
                    assert_eq!(stepwise, at_once, "{name}, {storage}, {ended} ended, {threads} threads");
                }
            }
        });
    }
}

#[test]
fn a_decision_that_has_ended_stays_as_it_is_and_others_go_on() {
    for (name, case) in cases() {
        each_storage(&case, |rows, storage| {
            let d = case.d;
            let ends: Vec<u64> = (0..case.planes as u64).map(|k| 3 - k % 3).collect();
            for threads in [1, 2] {
                let (run, _, epochs) = run_with_ends(&case, rows, threads, &ends, false);
                let (coef, _, seen, _) = numbers(run.state(&()).expect("memory"));
                for (k, &end) in ends.iter().enumerate() {
                    let what = format!("{name}, {storage}, {threads} threads, plane {k}");
                    let together = vec![end; case.planes];
                    let (alone, _, its_epochs) = run_with_ends(&case, rows, 1, &together, false);
                    let (its, ..) = numbers(alone.state(&()).expect("memory"));
                    assert_eq!(coef[k * d..][..d], its[k * d..][..d], "{what}");
                    assert_eq!(seen[k], (end + 1) * case.n as u64 + case.seen, "{what}");
                    for (e, epoch) in epochs.iter().enumerate() {
                        let (mistakes, loss) = match its_epochs.get(e) {
                            Some(its) => (its.mistakes[k], its.losses[k]),
                            None => (0, 0.0),
                        };
                        assert_eq!((epoch.mistakes[k], epoch.losses[k]), (mistakes, loss), "{what}, {e}");
                    }
                }
            }
        });
    }
}
