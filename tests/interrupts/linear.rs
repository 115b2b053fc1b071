//! Linear learners, their scores and votes, and the rows that they read.

use std::borrow::Cow;

use blake3::Hasher;
use perceptron_rs::arith::decay::Decay;
use perceptron_rs::audit::{add_rows, row_digests};
use perceptron_rs::error::Error;
use perceptron_rs::monitor::{Monitor, NUMBERS};
use perceptron_rs::online::averaged::{Averaged, average};
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::voted::{Log, Sums, replay};
use perceptron_rs::online::{self, Learner, Problem, scores, votes};
use perceptron_rs::order::shuffle;
use perceptron_rs::rows::{Arranged, Csr, Dense, Facts, Matrix, Rows, Table, Tie, settle};

use crate::outside::support::{numbers, table};

use super::{Asked, at_each_question};

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
        coef: table(&vec![2.0; PLANES * WIDE], PLANES),
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
            let seen = state.seen[0];
            assert!(seen > 0 || numbers(state) == numbers(start()), "{form}");
            epoch.interrupted && seen == 0
        });
        let changes = if form == "floats" { 0 } else { OFTEN };
        assert!(asked >= changes, "{form}: an epoch asks {asked} times");

        let mut whole = begin(&()).expect("a run");
        whole.epoch(&problem, &mut Perceptron, 0, &()).expect("an epoch");
        let now = |run: &online::Run| numbers(run.state(&()).expect("memory"));
        let learnt = now(&whole);
        assert_eq!(learnt.2, [4; PLANES]);
        assert!(learnt != numbers(start()) && now(&run) == learnt, "{form}");

        let mut asked = 0;
        for decision in (0..PLANES).rev() {
            asked += at_each_question(|monitor| {
                let end = run.end(&problem, &mut Perceptron, decision, monitor);
                assert!(matches!(end, Ok(()) | Err(Error::Interrupted)), "{form}: {end:?}");
                assert!(now(&run) == learnt, "{form}");
                end.is_err()
            });
        }
        assert!(asked >= PLANES, "{form}: ends ask {asked} times"); // nothing is moved

        let asked = Asked::default();
        let counters = whole.counters(&asked).expect("nobody interrupts");
        assert_eq!((asked.times(), counters.seen), (PLANES, vec![4; PLANES]), "{form}");

        for run in [whole, run] {
            let mut coef = Vec::new();
            let asked = at_each_question(|monitor| {
                let state = run.state(monitor).and_then(|state| state.coef.by_plane(monitor));
                state.map(|state| coef = state).is_err()
            });
            assert!(asked >= changes && coef == learnt.0, "{form}: state asks {asked} times");
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
    let (ages, mut weights) = (vec![2; NUMBERS], vec![]);
    let asked = at_each_question(|monitor| {
        weights = vec![1.5; NUMBERS];
        settle(&mut weights, &ages, &decay, monitor).is_err()
    });
    assert!((4..=64).contains(&asked) && weights.iter().all(|&w| w == 1.0), "{asked}");
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
        let mut sums = Averaged::new(Table::zero([1, D]), vec![0.0], false).expect("little");
        let start =
            online::State { coef: Table::zero([1, D]), intercept: vec![-1e15], seen: vec![0], ages: None };
        let mut run = online::Run::start(&problem, start, &mut sums, &()).expect("a run");
        let interrupted = run.epoch(&problem, &mut sums, 0, monitor).expect("it is kept").interrupted;
        let memory = format!("{:?}", sums.memory().expect("memory"));
        (interrupted, numbers(run.state(&()).expect("memory")), memory)
    };
    let mut lengths = vec![];
    at_each_question(|monitor| {
        let (interrupted, state, memory) = learnt(N, monitor);
        let seen = state.2[0] as usize;
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
        let vectors = online::VoteVectors {
            stored: rows,
            log,
            coef: &coef,
            intercept: &[0.0],
            counts: &[1, 1],
            tie: Tie::Mistake,
        };
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
        let vectors = online::VoteVectors {
            stored: rows,
            log,
            coef: &coef,
            intercept: &[0.0],
            counts: &counts,
            tie: Tie::Mistake,
        };
        let mut out = vec![0; rows.len()];
        let asked = Asked::default();
        votes(rows, &vectors, 1, &asked, &mut out).expect("little");
        // The first vector is 0: it has no vote.
        assert!(out.iter().all(|&votes| votes == MADE as i64), "{out:?}");
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
    let start =
        || online::State { coef: Table::zero([1, 0]), intercept: vec![1.0], seen: vec![0], ages: None };
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
        let start = online::State {
            coef: table(&vec![2.0; D], 1),
            intercept: vec![0.0],
            seen: vec![1],
            ages: Some(ages),
        };
        let mut run = online::Run::start(&problem, start, &mut Perceptron, &()).expect("a run");
        let epoch = run.epoch(&problem, &mut Perceptron, 0, monitor).expect("it is kept");
        run.end_all(&problem, &mut Perceptron, &()).expect("finite");
        let state = run.take(&()).expect("memory");
        let ages = state.ages.expect("a penalty");
        let mut coef = state.coef.by_plane(&()).expect("memory");
        let decay = Decay::new(1.0, 0.25, 0.0, 1).expect("in range");
        settle(&mut coef, &ages, &decay, &()).expect("nobody interrupts");
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

/// While wide rows are digested, together or each alone.
#[test]
fn digests_of_rows() {
    let values = vec![0.5; PLANES * WIDE];
    let rows = Dense::new(&values, PLANES, WIDE).expect("a matrix");
    let asked = at_each_question(|monitor| row_digests(&rows, monitor).is_err());
    assert!(asked >= PLANES, "digests ask {asked} times");
    let of_all = |monitor: &dyn Monitor| add_rows(&rows, 0..PLANES, &mut Hasher::new(), monitor);
    let asked = at_each_question(|monitor| of_all(monitor).is_err());
    assert!(asked >= PLANES * 12 * WIDE / NUMBERS, "a digest of all asks {asked} times");
}
