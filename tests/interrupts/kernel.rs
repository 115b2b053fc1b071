//! Kernels: products of rows, windows of mistakes, budgets.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use perceptron_rs::kernel::{
    Answer, Budget, Budgeted, Dual, GramForm, Kernel, Policy, SupportSet, SupportVectors, kernel_matrix,
    predict,
};
use perceptron_rs::monitor::{Flow, Monitor};
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::voted::{Log, Voted};
use perceptron_rs::online::{self, Learner, Problem};
use perceptron_rs::rows::{Dense, Table, Tie};

use super::{Asked, at_each_question};

/// Some times for half a million rows, and not for each row.
#[test]
fn how_products_are_computed() {
    let values = vec![1_i8; 1 << 19];
    let rows = Dense::new(&values, values.len(), 1).expect("a matrix");
    let asked = Asked::default();
    assert_eq!(GramForm::of(Kernel::Linear, &[&rows], &asked), Ok(GramForm::Whole));
    assert!((4..=8).contains(&asked.times()), "{}", asked.times());
}

/// A window of the dual form notices at each mistake, and what has been learnt by then is whole.
#[test]
fn a_window_of_mistakes() {
    const N: usize = 90;
    let values: Vec<f64> = (0..3 * N).map(|i| (i * i % 7) as f64 / 4.0).collect();
    let labels: Vec<u32> = (0..N).map(|i| (i % 2) as u32).collect();
    let settings = online::Settings::new(vec![1]);
    let learnt = |n: usize, monitor: &dyn Monitor| {
        let rows = Dense::new(&values[..3 * n], n, 3).expect("a matrix");
        let mut dual =
            Dual::new(&rows, Kernel::Rbf { gamma: 0.5 }, false, &[0.0], 0, 1, &()).expect("memory");
        let examples = dual.rows(&rows, None, monitor);
        let problem = Problem::new(&examples, &labels[..n], None, &settings).expect("a problem");
        let start =
            online::State { coef: Table::zero([1, n]), intercept: vec![0.0], seen: vec![0], ages: None };
        let mut log = Voted::new(1).expect("memory");
        let mut run = online::Run::start(&problem, start, &mut log, &()).expect("a run");
        let interrupted = run.epoch(&problem, &mut log, 0, monitor).expect("it is kept").interrupted;
        let state = run.state(&()).expect("memory");
        let memory = format!("{:?}", log.memory().expect("memory"));
        (interrupted, state.seen[0] as usize, (state.intercept, memory, dual.norms().clone()))
    };
    let whole = learnt(N, &()).2.2[0].len() - 1;
    let mut lengths = vec![];
    at_each_question(|monitor| {
        let (interrupted, seen, story) = learnt(N, monitor);
        assert!(story == learnt(seen.max(1), &()).2 || seen == 0, "{seen} rows");
        lengths.push((seen, story.2[0].len() - 1));
        interrupted
    });
    let mistakes: Vec<usize> = lengths.iter().map(|(_, mistakes)| *mistakes).collect();
    assert!(mistakes.is_sorted(), "the later the question, the more is learnt: {mistakes:?}");
    assert!((1..=whole).all(|count| mistakes.contains(&count)), "{whole} mistakes, {lengths:?}");
}

/// For each tile of the others, which has 64 rows at most.
#[test]
fn few_rows_beside_many() {
    const MANY: usize = 6400;
    let values = vec![0.5; MANY * 2];
    let many = Dense::new(&values, MANY, 2).expect("a matrix");
    let few = Dense::new(&values[..4], 2, 2).expect("a matrix");
    let asked = Asked::default();
    kernel_matrix(&few, &many, Kernel::Linear, 1, &asked, &mut vec![0.0; 2 * MANY]).expect("little");
    assert!(asked.times() >= MANY / 64, "a Gram matrix asks {} times", asked.times());

    // The first example is the one mistake, whose products with all others are computed in the end.
    let asked = Asked::default();
    let dual = Dual::new(&many, Kernel::Rbf { gamma: 0.5 }, false, &[0.0], 0, 1, &()).expect("memory");
    let examples = dual.rows(&many, None, &asked);
    let settings = online::Settings { fit_intercept: false, ..online::Settings::new(vec![1]) };
    let labels = vec![1; MANY];
    let problem = Problem::new(&examples, &labels, None, &settings).expect("a problem");
    let start =
        online::State { coef: Table::zero([1, MANY]), intercept: vec![0.0], seen: vec![0], ages: None };
    let mut run = online::Run::start(&problem, start, &mut Perceptron, &()).expect("a run");
    run.epoch(&problem, &mut Perceptron, 0, &asked).expect("nobody interrupts");
    assert!(asked.times() >= MANY / 64, "an epoch asks {} times", asked.times());
}

/// For each tile of the stored rows, which has 64 at most: when it is laid out, and when its products with
/// one row are computed.
#[test]
fn one_row_beside_many_that_are_stored() {
    const MANY: usize = 6400;
    let values = vec![0.5; MANY * 2];
    let stored = Dense::new(&values, MANY, 2).expect("a matrix");
    let one = Dense::new(&values[..2], 1, 2).expect("a matrix");
    let vectors = SupportVectors {
        stored: &stored,
        kernel: Kernel::Linear,
        log: Log::new(&[0, 0], &[], &[], &[], MANY).expect("a log"),
        t: &[],
        intercept: &[0.0],
        seen: &[0],
        counts: &[0],
        tie: Tie::Mistake,
        norms: &[0.0],
        drawn: &[0],
    };
    let asked = Asked::default();
    predict(&one, &vectors, &[Answer::Sum], 1, &asked, &mut [0.0]).expect("little");
    assert!(asked.times() >= 2 * MANY / 64, "{}", asked.times());
}

/// For each example kept, in each window of 64.
#[test]
fn a_window_on_a_budget() {
    const N: usize = 128;
    let values: Vec<f64> = (0..N).map(|i| i as f64).collect();
    let labels: Vec<u32> = (0..N).map(|i| (i / 2 % 2) as u32).collect();
    let rows = Dense::new(&values, N, 1).expect("a matrix");
    let none = Dense::<f64>::new(&[], 0, 1).expect("a matrix");
    let budget = Budget { size: N, policy: Policy::Oldest, seed: 0, distance: 0.0, eta: 1.0 };
    let kept = vec![SupportSet::new(1).expect("little")];
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let budgeted = Budgeted::new(&rows, &none, kernel, kept, budget, 1, 1, &()).expect("a budget");
    let settings = online::Settings::new(vec![1]);
    let epoch = |monitor: &dyn Monitor| {
        let examples = budgeted.rows(&rows, &none, monitor);
        let problem = Problem::new(&examples, &labels, None, &settings).expect("a problem");
        let start =
            online::State { coef: Table::zero([1, 0]), intercept: vec![0.0], seen: vec![0], ages: None };
        let mut run = online::Run::start(&problem, start, &mut Perceptron, &()).expect("a run");
        run.epoch(&problem, &mut Perceptron, 0, monitor).expect("nobody interrupts");
    };
    epoch(&());
    let kept = budgeted.sets().expect("memory")[0].members.len();
    assert!(kept > N / 4, "{kept}");
    let asked = Asked::default();
    epoch(&asked);
    assert!(asked.times() >= kept * N / 64, "{kept} are kept, {} questions", asked.times());
}

/// Notes which threads ask, and has the first one wait for another.
#[derive(Default)]
struct Threads(Mutex<HashSet<ThreadId>>, Condvar);

impl Monitor for Threads {
    fn block(&self) -> Flow {
        let mut threads = self.0.lock().expect("no panic");
        threads.insert(thread::current().id());
        self.1.notify_all();
        let long = Duration::from_secs(600);
        drop(self.1.wait_timeout_while(threads, long, |threads| threads.len() < 2).expect("no panic"));
        Flow::Continue
    }
}

/// The kernel values of the examples kept are shared out over threads, with the same bits.
#[test]
fn threads_on_a_budget() {
    const N: usize = 256;
    const WIDE: usize = 1600;
    let values: Vec<f64> = (0..N * WIDE).map(|i| i % 97).map(|i| (i * i % 97) as f64 / 64.0).collect();
    let labels: Vec<u32> = (0..N).map(|i| (i / 2 % 2) as u32).collect();
    let rows = Dense::new(&values, N, WIDE).expect("a matrix");
    let none = Dense::<f64>::new(&[], 0, WIDE).expect("a matrix");
    let settings = online::Settings::new(vec![1]);
    let seen = Threads::default();
    let learnt = [1, 2].map(|threads| {
        let budget = Budget { size: N, policy: Policy::Oldest, seed: 0, distance: 0.0, eta: 1.0 };
        let (kept, kernel) = (vec![SupportSet::new(1).expect("little")], Kernel::Rbf { gamma: 0.5 });
        let budgeted = Budgeted::new(&rows, &none, kernel, kept, budget, 1, threads, &()).expect("a budget");
        for number in 0..2 {
            let monitor: &dyn Monitor = if threads == 2 && number == 1 { &seen } else { &() };
            let examples = budgeted.rows(&rows, &none, monitor);
            let problem = Problem::new(&examples, &labels, None, &settings).expect("a problem");
            let start =
                online::State { coef: Table::zero([1, 0]), intercept: vec![0.0], seen: vec![0], ages: None };
            let mut run = online::Run::start(&problem, start, &mut Perceptron, &()).expect("a run");
            run.epoch(&problem, &mut Perceptron, number, &()).expect("nobody interrupts");
        }
        let sets = budgeted.sets().expect("memory");
        let steps: Vec<u64> = sets[0].steps.iter().map(|step| step.to_bits()).collect();
        (sets[0].members.clone(), steps)
    });
    assert_eq!(learnt[0], learnt[1]);
    assert!(learnt[0].0.len() > N / 4, "{} are kept", learnt[0].0.len());
    // Each call starts a thread of its own.
    assert!(seen.0.lock().expect("no panic").len() >= 2);
}
