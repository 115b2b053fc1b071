//! However much there is to do, the monitor is asked on the way: no Ctrl-C waits for the end.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use perceptron_rs::arith::decay::Decay;
use perceptron_rs::arith::neuron::Activation;
use perceptron_rs::error::Error;
use perceptron_rs::kernel::{
    Answer, Budget, Budgeted, Dual, GramForm, Kernel, Policy, SupportSet, SupportVectors, kernel_matrix,
    predict,
};
use perceptron_rs::mlp::{self, Network};
use perceptron_rs::monitor::NUMBERS;
use perceptron_rs::monitor::{Flow, Monitor};
use perceptron_rs::online::averaged::{Averaged, average};
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::voted::{Log, Sums, Voted, replay};
use perceptron_rs::online::{self, Learner, Problem, Table, scores, votes};
use perceptron_rs::order::shuffle;
use perceptron_rs::rows::{Arranged, Csr, Dense, Facts, Matrix, Rows, settled};
use perceptron_rs::structured::{
    Chain, ChainRun, ChainSettings, ChainState, ChainWeights, Limits, Mending, Sequences, averages, decode,
    margins,
};

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

const PLANES: usize = 4;
const WIDE: usize = NUMBERS / 2;

/// How often the numbers of all planes are asked for, at the least.
const OFTEN: usize = PLANES * WIDE / NUMBERS;

/// A model that is far larger than its four examples, in each form that weights have.
fn each_form(check: impl Fn(&dyn Rows, &str)) {
    let (indptr, indices) = ([0, 1, 2, 3, 4], [7, WIDE as i32 / 2, 7, WIDE as i32 - 1]);
    for (name, value) in [("sparse integers", 1.0), ("sparse", 0.5)] {
        check(&Csr::new(&indptr, &indices, &[value; PLANES], WIDE).expect("a matrix"), name);
    }
    let bytes: Vec<u8> = (0..PLANES * WIDE).map(|i| (i % 3) as u8).collect();
    check(&Dense::new(&bytes, PLANES, WIDE).expect("a matrix"), "bytes");
    let floats: Vec<f32> = bytes.iter().map(|&x| f32::from(x) / 4.0).collect();
    check(&Dense::new(&floats, PLANES, WIDE).expect("a matrix"), "floats");
}

/// While weights are copied and change their form. What an interrupt leaves can go on.
#[test]
fn a_large_model() {
    let settings = online::Settings::new((0..PLANES as u32).collect());
    let start = || online::State {
        coef: vec![2.0; PLANES * WIDE],
        intercept: vec![0.0; PLANES],
        seen: vec![0; PLANES],
        ages: None,
    };
    each_form(|rows, form| {
        let problem = Problem::new(rows, &[0, 1, 2, 3], None, &settings).expect("a problem");
        let begin = |monitor: &dyn Monitor| online::Run::start(&problem, start(), &mut Perceptron, monitor);
        let asked = at_each_question(|monitor| begin(monitor).is_err());
        assert!(asked >= OFTEN, "{form}: start asks {asked} times");
        // For two threads the weights are copied, too.
        let settings = online::Settings { threads: 2, ..settings.clone() };
        let problem = Problem::new(rows, &[0, 1, 2, 3], None, &settings).expect("a problem");
        let asked = at_each_question(|monitor| {
            online::Run::start(&problem, start(), &mut Perceptron, monitor).is_err()
        });
        assert!(asked >= 2 * OFTEN, "{form}: start on two threads asks {asked} times");

        let mut run = begin(&()).expect("a run");
        let asked = at_each_question(|monitor| {
            let epoch = run.epoch(&problem, &mut Perceptron, 0, monitor).expect("it is kept");
            let state = run.state(&()).expect("memory");
            assert!(state.seen[0] > 0 || state == start(), "{form}");
            epoch.interrupted && state.seen[0] == 0
        });
        let changes = if form == "floats" { 0 } else { OFTEN };
        assert!(asked >= changes, "{form}: an epoch asks {asked} times");

        let mut whole = begin(&()).expect("a run");
        whole.epoch(&problem, &mut Perceptron, 0, &()).expect("an epoch");
        let learnt = whole.state(&()).expect("memory");
        assert_eq!(learnt.seen, [4; PLANES]);
        assert!(learnt != start() && run.state(&()) == Ok(learnt.clone()), "{form}");

        let mut asked = 0;
        for decision in (0..PLANES).rev() {
            asked += at_each_question(|monitor| {
                let end = run.end(&problem, &mut Perceptron, decision, monitor);
                assert!(matches!(end, Ok(()) | Err(Error::Interrupted)), "{form}: {end:?}");
                assert!(run.state(&()) == Ok(learnt.clone()), "{form}");
                end.is_err()
            });
        }
        // A change of form makes room and copies; a plane is looked at and moved. The first end that is not
        // interrupted finds the form changed already, and asks no more about that.
        assert!(asked + 1 >= 2 * (changes + PLANES), "{form}: ends ask {asked} times");

        let asked = Asked::default();
        let counters = whole.counters(&asked).expect("nobody interrupts");
        assert_eq!((asked.times(), counters.seen), (PLANES, vec![4; PLANES]), "{form}");

        for run in [whole, run] {
            let mut coef = Vec::new();
            let asked = at_each_question(|monitor| match run.state(monitor) {
                Ok(state) => {
                    coef = state.coef;
                    false
                }
                Err(_) => true,
            });
            assert!(asked >= OFTEN && coef == learnt.coef, "{form}: state asks {asked} times");
        }
    });
}

#[test]
fn averages_and_arranged_weights_of_a_large_model() {
    let w = vec![1.5; PLANES * WIDE];
    let mut means = vec![0.0; w.len()];
    let asked =
        at_each_question(|monitor| average([&w, &w], &[3; PLANES], WIDE, monitor, &mut means).is_err());
    assert!(asked >= OFTEN && means.iter().all(|&mean| mean == 1.125), "{asked}");
    let rows = Csr::new(&[0, 1], &[7], &[0.5], WIDE).expect("a matrix");
    // For many rows in another form, for a few as they stand.
    let asked = Asked::default();
    let weights = rows.arrange(w[..].into(), PLANES, 8 * WIDE, &asked);
    assert!(weights.is_ok() && asked.times() >= OFTEN, "{}", asked.times());
    let weights = rows.arrange(w[..].into(), PLANES, 8, &());
    assert!(matches!(weights, Ok(Arranged::ByPlane(Cow::Borrowed(there))) if there.as_ptr() == w.as_ptr()));
    let dense = Dense::new(&w, PLANES, WIDE).expect("a matrix");
    let weights = dense.arrange(w[..].into(), PLANES, PLANES, &());
    assert!(matches!(weights, Ok(Arranged::ByPlane(Cow::Borrowed(there))) if there.as_ptr() == w.as_ptr()));
}

#[test]
fn a_look_at_the_weights_of_a_large_model() {
    let mut w = vec![1.5; 4 * NUMBERS];
    w[3 * NUMBERS] = -7.0;
    let table = |w: &[f64], monitor: &dyn Monitor| Table::of(w.to_vec().into(), [4, NUMBERS], monitor);
    let mut largest = None;
    let asked = at_each_question(|monitor| match table(&w, monitor) {
        Ok(found) => {
            largest = found.map(|table| table.most());
            false
        }
        Err(error) => {
            assert_eq!(error, Error::Interrupted);
            true
        }
    });
    assert_eq!((asked, largest), (4, Some(7.0)));
    for unsound in [f64::NAN, f64::INFINITY] {
        w[4 * NUMBERS - 1] = unsound;
        assert!(table(&w, &()).is_ok_and(|table| table.is_none()));
    }
    assert!(Table::of(vec![].into(), [1, 1], &()).is_ok_and(|table| table.is_none()));
}

#[test]
fn weights_that_are_settled() {
    let decay = Decay::new(1.0, 0.25, 0.0, 0).expect("little");
    let (pending, ages, mut out) = (vec![1.5; NUMBERS], vec![2; NUMBERS], vec![0.0; NUMBERS]);
    let asked = at_each_question(|monitor| settled(&pending, &ages, &decay, monitor, &mut out).is_err());
    assert!((4..=64).contains(&asked) && out.iter().all(|&w| w == 1.0), "{asked}");
}

/// What the mistakes before the bound of exact integers change is in the learner's memory, if the change of
/// form that follows is interrupted.
#[test]
fn at_the_bound_of_exact_integers() {
    const N: usize = 40;
    const D: usize = 900; // 16 rows are a block
    let values = vec![1 << 27; N * D];
    let (indptr, columns): (Vec<i32>, Vec<i32>) =
        ((0..=N as i32).map(|i| i * D as i32).collect(), (0..N * D).map(|i| (i % D) as i32).collect());
    // Each is a mistake, and the weights grow until they leave the integers of 31 bits.
    let settings = online::Settings { fit_intercept: false, ..online::Settings::new(vec![1]) };
    let learnt = |n: usize, monitor: &dyn Monitor| {
        let rows = Csr::new(&indptr[..=n], &columns[..n * D], &values[..n * D], D).expect("a matrix");
        let labels = vec![1; n];
        let problem = Problem::new(&rows, &labels, None, &settings).expect("a problem");
        let mut sums = Averaged { coef: vec![0.0; D], intercept: vec![0.0], fit_intercept: false };
        let start = online::State { coef: vec![0.0; D], intercept: vec![-1e15], seen: vec![0], ages: None };
        let mut run = online::Run::start(&problem, start, &mut sums, &()).expect("a run");
        let interrupted = run.epoch(&problem, &mut sums, 0, monitor).expect("it is kept").interrupted;
        let memory = format!("{:?}", sums.memory().expect("memory"));
        (interrupted, run.state(&()).expect("memory"), memory)
    };
    let mut lengths = vec![];
    at_each_question(|monitor| {
        let (interrupted, state, memory) = learnt(N, monitor);
        let seen = state.seen[0] as usize;
        lengths.push(seen);
        assert!(
            (state, memory) == {
                let (_, state, memory) = learnt(seen, &());
                (state, memory)
            },
            "{seen} rows"
        );
        interrupted
    });
    lengths.dedup();
    assert!(lengths.len() > 3 && lengths.iter().any(|seen| ![0, 16, 32, N].contains(seen)), "{lengths:?}");
}

/// For each 64 of them.
#[test]
fn an_epoch_of_many_sequences() {
    const N: usize = 64 * 100;
    let (ones, lengths) = (vec![1.0; N], vec![1; N]);
    let rows = Dense::new(&ones, N, 1).expect("a matrix");
    let sequences = Sequences::new(&lengths, N).expect("they fit");
    let settings = ChainSettings {
        eta: 1.0,
        beam: None,
        mending: Mending::Full,
        aggressive: None,
        seed: None,
        partition: 0,
        track_answers: false,
    };
    let chain = Chain::new(vec![0; N], sequences, None, settings).expect("labels fit");
    let zero = || ChainWeights::zero(1, 2, false).expect("little");
    let mut run = ChainRun::start(&rows, chain, &ChainState { weights: zero(), sums: zero(), seen: 0 }, &())
        .expect("little");
    let asked = Asked::default();
    run.epoch(&rows, 0, &asked).expect("nobody interrupts");
    assert!(asked.times() >= N / 64, "{}", asked.times());
}

/// For each million pairs of labels, about, and not for each token.
#[test]
fn a_search_in_one_long_sequence() {
    const LABELS: usize = 64;
    let often = (1 << 20) / (LABELS * LABELS) + 1;
    let n = 40 * often;
    let ones = vec![1.0; n];
    let rows = Dense::new(&ones, n, 1).expect("a matrix");
    let sequences = Sequences::new(&[n as i64], n).expect("it fits");
    let weights = ChainWeights::zero(1, LABELS, false).expect("little");
    let asked = Asked::default();
    decode(&rows, &sequences, &weights, Limits::default(), 1, &asked).expect("nobody interrupts");
    assert!((40..60).contains(&asked.times()), "{}", asked.times());
}

/// In the pass from the end as often as in the search before it.
#[test]
fn margins_in_one_long_sequence() {
    const LABELS: usize = 64;
    let n = 40 * ((1 << 20) / (LABELS * LABELS));
    let ones = vec![1.0; n];
    let rows = Dense::new(&ones, n, 1).expect("a matrix");
    let sequences = Sequences::new(&[n as i64], n).expect("it fits");
    let weights = ChainWeights::zero(1, LABELS, false).expect("little");
    let asked = Asked::default();
    margins(&rows, &sequences, &weights, Limits::default(), 1, &asked).expect("nobody interrupts");
    assert!((78..100).contains(&asked.times()), "{}", asked.times());
}

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
        let start = online::State { coef: vec![0.0; n], intercept: vec![0.0], seen: vec![0], ages: None };
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
    let start = online::State { coef: vec![0.0; MANY], intercept: vec![0.0], seen: vec![0], ages: None };
    let mut run = online::Run::start(&problem, start, &mut Perceptron, &()).expect("a run");
    run.epoch(&problem, &mut Perceptron, 0, &asked).expect("nobody interrupts");
    assert!(asked.times() >= MANY / 64, "an epoch asks {} times", asked.times());
}

/// Now and then in one batch of many examples.
#[test]
fn a_batch_of_layers() {
    const N: usize = 120;
    let values: Vec<f64> = (0..N).map(|i| i as f64 / N as f64).collect();
    let rows = Dense::new(&values, N, 1).expect("a matrix");
    let labels = (0..N).map(|i| (i % 2) as u32).collect();
    let network = Network::start(&[1, 300, 300, 1], Activation::Tanh, 1).expect("little");
    let strip = network.strip(1).expect("a column");
    assert!(N / strip > 4, "{strip} examples in a row");
    let settings = mlp::NetworkSettings { rate: 0.1, alpha: 0.0, batch_size: N, seed: None };
    let mut run = mlp::NetworkRun::start(&rows, labels, None, network, settings).expect("labels fit");
    let asked = Asked::default();
    run.epoch(&rows, 0, &asked).expect("nobody interrupts");
    assert_eq!(asked.times(), 1 + N.div_ceil(strip), "when the order is laid out, and amid the batch");
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
        let start = online::State { coef: vec![], intercept: vec![0.0], seen: vec![0], ages: None };
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
        let long = Duration::from_secs(20);
        drop(self.1.wait_timeout_while(threads, long, |threads| threads.len() < 2).expect("no panic"));
        Flow::Continue
    }
}

/// The kernel values of the examples kept are shared out over threads, with the same bits.
#[test]
fn threads_on_a_budget() {
    const N: usize = 256;
    const WIDE: usize = 400;
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
            let start = online::State { coef: vec![], intercept: vec![0.0], seen: vec![0], ages: None };
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

/// Before each few of the planes that read them.
#[test]
fn scores_of_long_rows() {
    const LONG: usize = NUMBERS;
    let (w, values) = (vec![1.0; 9 * LONG], vec![0.5; 2 * LONG]);
    let rows = Dense::new(&values, 2, LONG).expect("a matrix");
    let (intercept, mut out) = ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [0.0; 18]);
    let asked = at_each_question(|monitor| {
        let done = scores(&rows, (&w).into(), &intercept, 1, monitor, &mut out);
        assert!(matches!(done, Ok(()) | Err(Error::Interrupted)), "{done:?}");
        done.is_err()
    });
    let wanted: Vec<f64> = intercept.iter().map(|b| LONG as f64 / 2.0 + b).collect();
    assert_eq!((asked, &out[..9], &out[9..]), (3 + 2, &wanted[..], &wanted[..]));
}

/// For each 16 of long rows.
#[test]
fn updates_that_are_made_again() {
    const MADE: usize = 160;
    const LONG: usize = 1 << 14;
    let rows = vec![0.5; LONG];
    let stored = Dense::new(&rows, 1, LONG).expect("a matrix");
    let (start, row, ones) = ([0, MADE as i64], [0; MADE], [1.0; MADE]);
    let log = Log::new(&start, &row, &ones, &ones, 1).expect("a log");
    let zeros = || vec![0.0; LONG];
    let sums = Sums { coef: zeros(), intercept: vec![0.0], coef_u: zeros(), intercept_u: vec![0.0] };
    let asked = Asked::default();
    let sums = replay(&stored, &log, (&[1; MADE], &[MADE as i64]), sums, &asked).expect("little");
    assert_eq!(sums.coef[LONG - 1], MADE as f64 / 2.0);
    assert_eq!(asked.times(), 4 + MADE / 16, "before each of four arrays, and amid the updates");
}

/// When the start is looked at and copied, by each few numbers.
#[test]
fn votes_of_few_rows_of_many_columns() {
    let coef = vec![2.0; 3 * NUMBERS];
    let log = Log::new(&[0, 1], &[0], &[1.0], &[1.0], 1).expect("a log");
    let votes = |rows: &dyn Matrix, least: usize| {
        let vectors =
            online::VoteVectors { stored: rows, log, coef: &coef, intercept: &[0.0], counts: &[1, 1] };
        let mut out = vec![0; rows.len()];
        let asked = at_each_question(|monitor| {
            let done = votes(rows, &vectors, 1, monitor, &mut out);
            assert!(matches!(done, Ok(()) | Err(Error::Interrupted)), "{done:?}");
            done.is_err()
        });
        assert!(asked >= least && out.iter().all(|&votes| votes == 2), "{asked} questions, {out:?}");
    };
    let values = vec![1.0_f32 / 4.0; 3 * coef.len()];
    votes(&Dense::new(&values[..coef.len()], 1, coef.len()).expect("a matrix"), 3 + 3);
    // Several vectors at a time: the start, its copy, and the one that the mistake makes.
    votes(&Dense::new(&values, 3, coef.len()).expect("a matrix"), 3 + 3 + 3 + 2);
}

/// For each few of the vectors that vote: in exact integers, for many values, and for few.
#[test]
fn votes_of_many_vectors() {
    const MADE: usize = 2560;
    let (start, row, steps) = ([0, MADE as i64], vec![0; MADE], vec![1.0; MADE]);
    let asks = |rows: &dyn Matrix, often: usize| {
        let log = Log::new(&start, &row, &steps, &steps, rows.len()).expect("a log");
        let (coef, counts) = (vec![0.0; rows.columns()], vec![1; MADE + 1]);
        let vectors =
            online::VoteVectors { stored: rows, log, coef: &coef, intercept: &[0.0], counts: &counts };
        let mut out = vec![0; rows.len()];
        let asked = Asked::default();
        votes(rows, &vectors, 1, &asked, &mut out).expect("little");
        assert!(out.iter().all(|&votes| votes == MADE as i64 + 1), "{out:?}");
        assert!(asked.times() >= MADE / often, "{} for {} rows", asked.times(), rows.len());
    };
    asks(&Dense::new(&[1_u8; 40], 10, 4).expect("a matrix"), 16);
    asks(&Dense::new(&[0.3; 40], 10, 4).expect("a matrix"), 16);
    asks(&Dense::new(&[0.3; 8], 2, 4).expect("a matrix"), 256);
}

/// The order of many examples: each question finds nothing learnt yet.
#[test]
fn an_order_of_many_examples() {
    const N: usize = 2 * NUMBERS;
    let labels = vec![1; N];
    let rows = Dense::<f64>::new(&[], N, 0).expect("a matrix");
    let settings = online::Settings { seed: Some(1), ..online::Settings::new(vec![1]) };
    let problem = Problem::new(&rows, &labels, None, &settings).expect("a problem");
    let start = || online::State { coef: vec![], intercept: vec![1.0], seen: vec![0], ages: None };
    let mut run = online::Run::start(&problem, start(), &mut Perceptron, &()).expect("a run");
    let asked = at_each_question(|monitor| {
        let epoch = run.epoch(&problem, &mut Perceptron, 0, monitor).expect("it is kept");
        epoch.interrupted && run.state(&()).expect("memory").seen == [0]
    });
    assert!(asked >= 2 + 16 * N / NUMBERS, "{asked}");
    let asked = at_each_question(|monitor| {
        let mut order: Vec<u32> = (0..N as u32).collect();
        shuffle(&mut order, (0, 0, 0), monitor).is_err()
    });
    assert_eq!(asked, 16 * N / NUMBERS);
}

/// Penalties that are pending on each weight for itself: what an interrupt leaves, another settles.
#[test]
fn penalties_at_the_end_of_an_epoch() {
    const D: usize = NUMBERS / 2;
    let rows = Csr::new(&[0, 1], &[7], &[1.0], D).expect("a matrix");
    let penalty = Some(online::Penalty { l1: 0.25, l2: 0.0 });
    let settings = online::Settings { penalty, ..online::Settings::new(vec![1]) };
    let problem = Problem::new(&rows, &[1], None, &settings).expect("a problem");
    let fit = |monitor: &dyn Monitor| {
        let ages = (0..D as i64).map(|age| age % 2).collect();
        let start =
            online::State { coef: vec![2.0; D], intercept: vec![0.0], seen: vec![1], ages: Some(ages) };
        let mut run = online::Run::start(&problem, start, &mut Perceptron, &()).expect("a run");
        let epoch = run.epoch(&problem, &mut Perceptron, 0, monitor).expect("it is kept");
        let state = run.finish(&problem, &mut Perceptron, &()).expect("finite");
        let ages = state.ages.expect("a penalty");
        let mut coef = vec![0.0; D];
        let decay = Decay::new(1.0, 0.25, 0.0, 1).expect("in range");
        settled(&state.coef, &ages, &decay, &(), &mut coef).expect("nobody interrupts");
        (epoch.interrupted, state.seen[0], ages.iter().filter(|&&age| age > 0).count(), coef)
    };
    let whole = fit(&());
    let mut pending = vec![];
    let asked = at_each_question(|monitor| {
        let (interrupted, seen, left, coef) = fit(monitor);
        assert!(seen == 1 || coef == whole.3, "all is learnt, and nothing twice");
        assert_eq!(interrupted, left > 0);
        pending.push(left);
        interrupted
    });
    assert!(
        asked > 4 && pending.is_sorted_by(|before, after| before > after || *before >= D / 2),
        "{pending:?}"
    );
}

/// A look at many rows, of which the last is none.
#[test]
fn rows_of_a_large_matrix() {
    let n = 4 * NUMBERS;
    let (indptr, mut indices, values) = ((0..=n as i32).collect::<Vec<_>>(), vec![0; n], vec![0.5_f32; n]);
    let asked = at_each_question(|monitor| {
        let found = Facts::find(&indptr, &indices, &values, 1, monitor);
        assert!(matches!(found.as_ref().err(), None | Some(Error::Interrupted)));
        found.is_err()
    });
    assert!(asked >= 8, "{asked}");
    indices[n - 1] = 1;
    let found = Csr::new(&indptr, &indices, &values, 1).err().expect("outside").to_string();
    assert!(found.contains(&format!("indices of row {}", n - 1)), "{found}");
    let dense = Dense::new(&values, n, 1).expect("a matrix");
    assert!(
        at_each_question(|monitor| dense.magnitude(monitor).is_err()) == 1,
        "the first value is no integer"
    );
}

/// What a chain begins with, ends with and gives out.
#[test]
fn a_chain_over_many_columns() {
    const D: usize = NUMBERS;
    let rows = Csr::new(&[0, 1, 2], &[0, D as i32 - 1], &[1.0; 2], D).expect("a matrix");
    let zero = || ChainWeights::zero(D, 2, false).expect("little");
    let state = ChainState { weights: zero(), sums: zero(), seen: 0 };
    let start = |monitor: &dyn Monitor| {
        let sequences = Sequences::new(&[2], 2).expect("it fits");
        let settings = ChainSettings {
            eta: 1.0,
            beam: None,
            mending: Mending::Full,
            aggressive: None,
            seed: None,
            partition: 0,
            track_answers: false,
        };
        let chain = Chain::new(vec![1, 0], sequences, None, settings).expect("labels fit");
        ChainRun::start(&rows, chain, &state, monitor)
    };
    assert!(at_each_question(|monitor| start(monitor).is_err()) >= 8);
    let mut run = start(&()).expect("a run");
    run.epoch(&rows, 0, &()).expect("nobody interrupts");
    assert!(at_each_question(|monitor| run.state(monitor).is_err()) >= 8);
    assert!(at_each_question(|monitor| run.end(monitor).is_err()) >= 1);
    let state = run.state(&()).expect("nobody interrupts");
    assert!(at_each_question(|monitor| averages(&state, monitor).is_err()) >= 8);
}
