//! State and log as a file may claim them: refused, or used without a panic, and with the same answers
//! on any number of threads.

use std::fmt::Debug;

use perceptron_rs::error::Result;
use perceptron_rs::kernel::{self, Answer, Kernel};
use perceptron_rs::online::averaged::Averaged;
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::voted::{Log, Sums, replay};
use perceptron_rs::online::{self, Learner, Penalty, Problem, Settings, State, VoteVectors};
use perceptron_rs::rows::{Dense, Table, Tie};
use perceptron_rs::structured::{
    self, Chain, ChainWeights, Limits, Mending, Sequences, Sparse, averages, decode,
};

use super::draws::Draws;
use super::epochs::{learn, remembered};

/// More than a block of rows, which threads share out.
const MOST_ROWS: usize = if cfg!(miri) { 20 } else { 300 };

pub fn run(data: &[u8]) {
    let mut draws = Draws::new(data);
    match draws.below(3) {
        0 => log(&mut draws),
        1 => state(&mut draws),
        _ => chain(&mut draws),
    }
}

fn count(draws: &mut Draws) -> i64 {
    draws.place()
}

/// A start for each plane and behind them the end, damaged now and then.
fn starts(draws: &mut Draws, planes: usize, entries: usize) -> Vec<i64> {
    let mut starts = vec![0];
    for _ in 1..planes {
        let last = starts[starts.len() - 1];
        starts.push(last + draws.below(entries + 1 - last as usize) as i64);
    }
    starts.push(entries as i64);
    if draws.rarely() {
        draws.damage(&mut starts, count);
    }
    starts
}

/// The same on one thread and on two.
fn agreed<R: PartialEq + Debug>(run: impl Fn(usize) -> Result<R>) -> Option<R> {
    let one = run(1);
    assert_eq!(run(2), one, "two threads");
    one.ok()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn log(draws: &mut Draws) {
    let (planes, entries, d) = (1 + draws.below(3), draws.below(12), draws.below(6));
    let (n, stored) = (draws.below(MOST_ROWS), 1 + draws.below(4));
    let start = starts(draws, planes, entries);
    let row =
        draws.many(entries, |draws| if draws.rarely() { count(draws) } else { draws.below(stored) as i64 });
    let mut t = draws.many(entries, count);
    let mut step = draws.many(entries, Draws::any_float);
    let bias = draws.many(entries, Draws::float);
    if draws.rarely() {
        draws.damage(&mut step, Draws::any_float);
    }
    if draws.rarely() {
        draws.damage(&mut t, count);
    }
    let own: Vec<f64> = draws.many(stored * d, Draws::float);
    let own = Dense::new(&own, stored, d).expect("shape");
    let length = 1 + draws.below(9);
    let pattern = draws.many(length, Draws::float);
    let x: Vec<f64> = pattern.iter().copied().cycle().take(n * d).collect();
    let rows = Dense::new(&x, n, d).expect("shape");
    let coef = draws.many(planes * d, Draws::float);
    let intercept = draws.many(planes, Draws::float);
    let mut counts = draws.many(entries + planes, count);
    if draws.rarely() {
        draws.damage(&mut counts, count);
    }
    let log = Log::new(&start, &row, &step, &bias, stored);
    let rises =
        start.len() >= 2 && start[0] == 0 && start.is_sorted() && start[start.len() - 1] == entries as i64;
    let sound = rises
        && step.len() == entries
        && step.iter().all(|c| c.is_finite())
        && row.iter().all(|&row| row >= 0 && (row as usize) < stored);
    assert_eq!(log.is_ok(), sound, "{:?}", log.err());
    let Ok(log) = log else { return };
    let upto = draws.many(planes, count);
    let sums = Sums {
        coef: coef.clone(),
        intercept: intercept.clone(),
        coef_u: vec![0.0; planes * d],
        intercept_u: vec![0.0; planes],
    };
    if log.planes() == planes {
        let _ = replay(&own, &log, (&t, &upto), sums, &());
    }
    let vectors = VoteVectors {
        stored: &own,
        log,
        coef: &coef,
        intercept: &intercept,
        counts: &counts,
        tie: Tie::Mistake,
    };
    agreed(|threads| {
        let mut out = vec![0; n * log.planes()];
        online::votes(&rows, &vectors, threads, &(), &mut out).map(|()| out)
    });
    let (seen, drawn) = (draws.many(planes, count), draws.many(planes, count));
    let norms = draws.many(entries + planes, Draws::float);
    let kernel = draws.one_of(&[
        Kernel::Linear,
        Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 3 },
        Kernel::Rbf { gamma: 0.1 },
        Kernel::Sigmoid { gamma: 0.1, coef0: -1.0 },
        Kernel::Precomputed,
    ]);
    let vectors = kernel::SupportVectors {
        stored: &own,
        kernel,
        log,
        t: &t,
        intercept: &intercept,
        seen: &seen,
        counts: &counts,
        tie: Tie::Mistake,
        norms: &norms,
        drawn: &drawn,
    };
    let answers = [
        Answer::Sum,
        Answer::Last,
        Answer::Average,
        Answer::Vote,
        Answer::Drawn,
        Answer::NormalisedLast,
        Answer::NormalisedAverage,
        Answer::NormalisedDrawn,
    ];
    let first = draws.below(answers.len());
    agreed(|threads| {
        let mut out = vec![0.0; n * answers[first..].len() * log.planes()];
        kernel::predict(&rows, &vectors, &answers[first..], threads, &(), &mut out).map(|()| bits(&out))
    });
}

fn state(draws: &mut Draws) {
    let (planes, n, d) = (1 + draws.below(4), draws.below(20), draws.below(6));
    let labels = draws.many(n, |draws| draws.below(planes + 1) as u32);
    let x: Vec<u8> = draws.many(n * d, Draws::byte);
    let rows = Dense::new(&x, n, d).expect("shape");
    let positive: Vec<u32> = (0..planes as u32).collect();
    let penalty = (draws.below(2) == 0)
        .then(|| Penalty { l1: draws.one_of(&[0.0, 0.1]), l2: draws.one_of(&[0.0, 0.1]) });
    let seed = (draws.below(2) == 0).then_some(1);
    let epochs = (count(draws).unsigned_abs() >> 1, 1 + draws.below(2) as u64);
    let mut coef = draws.many(planes * d, Draws::any_float);
    let mut state = State {
        coef: Table::zero([planes, d]),
        intercept: draws.many(planes, Draws::any_float),
        seen: draws.many(planes, |draws| count(draws).unsigned_abs() >> 1),
        ages: None,
    };
    if draws.below(2) == 0 {
        state.ages = Some(draws.many(planes * d, |draws| count(draws) & ((1 << 53) - 1)));
    }
    if draws.rarely() {
        draws.damage(&mut coef, Draws::any_float);
    }
    if let (true, Some(ages)) = (draws.rarely(), &mut state.ages) {
        draws.damage(ages, count);
    }
    let sums = (draws.many(planes * d, Draws::any_float), draws.many(planes, Draws::any_float));
    let averaged = draws.below(2) == 0;
    agreed(|threads| {
        let settings = Settings { penalty, seed, threads, ..Settings::new(positive.clone()) };
        let problem = Problem::new(&rows, &labels, None, &settings)?;
        let sums = Averaged::new(Table::new(sums.0.clone(), [planes, d])?, sums.1.clone(), true)?;
        let mut learner: Box<dyn Learner> = if averaged { Box::new(sums) } else { Box::new(Perceptron) };
        let state = State { coef: Table::new(coef.clone(), [planes, d])?, ..state.clone() };
        let (run, _) = learn(&problem, state, &mut *learner, epochs)?;
        let learnt = run.state(&())?;
        let numbers = [learnt.coef.by_plane(&())?, learnt.intercept].concat();
        assert!(numbers.iter().all(|w| w.is_finite() && w.to_bits() != 1 << 63));
        Ok([bits(&numbers), remembered(&*learner)].concat())
    });
}

/// A sparse matrix of columns by planes, damaged now and then.
fn sparse(draws: &mut Draws, columns: usize, planes: usize) -> Sparse<'static> {
    let (mut indptr, mut indices) = (vec![0], Vec::new());
    for _ in 0..columns {
        let mut plane = draws.below(3);
        while plane < planes {
            indices.push(plane as i32);
            plane += 1 + draws.below(5);
        }
        indptr.push(indices.len() as i64);
    }
    let mut data = draws.many(indices.len(), Draws::float);
    if draws.rarely() {
        draws.damage(&mut indptr, count);
    }
    if draws.rarely() {
        draws.damage(&mut indices, |draws| count(draws) as i32);
    }
    if draws.rarely() {
        draws.damage(&mut data, Draws::any_float);
    }
    Sparse { indptr: indptr.into(), indices: indices.into(), data: data.into() }
}

fn weights(draws: &mut Draws, d: usize, k: usize, with_pair: bool) -> ChainWeights<'static> {
    let mut numbers = |n: usize| {
        let mut numbers = draws.many(n, Draws::float);
        if draws.rarely() {
            draws.damage(&mut numbers, Draws::any_float);
        }
        numbers.into()
    };
    let (transition, start, end) = (numbers(k * k), numbers(k), numbers(k));
    let emission = sparse(draws, d, k);
    ChainWeights { emission, transition, start, end, pair: with_pair.then(|| sparse(draws, d, k * k)) }
}

fn chain(draws: &mut Draws) {
    let (k, n, d) = (1 + draws.below(5), draws.below(12), draws.below(5));
    let x = draws.many(n * d, Draws::float);
    let rows = Dense::new(&x, n, d).expect("shape");
    let mut lengths: Vec<i64> = Vec::new();
    let mut rest = n;
    while rest > 0 {
        let length = 1 + draws.below(rest);
        lengths.push(length as i64);
        rest -= length;
    }
    if draws.rarely() {
        draws.damage(&mut lengths, count);
    }
    let Ok(sequences) = Sequences::new(&lengths, n) else { return };
    let with_pair = draws.below(2) == 0;
    let state = structured::ChainState {
        weights: weights(draws, d, k, with_pair),
        sums: weights(draws, d, k, with_pair),
        seen: count(draws).unsigned_abs() >> 1,
    };
    let beam = (draws.below(3) == 0).then(|| draws.below(5));
    let allowed: Vec<bool> = draws.many(n * k, |draws| draws.below(8) > 0);
    let forbidden: Vec<bool> = draws.many(k * k, |draws| draws.below(8) == 0);
    let limits = Limits {
        beam,
        allowed: (draws.below(3) == 0).then_some(&allowed[..]),
        forbidden: (draws.below(3) == 0).then_some(&forbidden[..]),
    };
    agreed(|threads| {
        let (path, scores) = decode(&rows, &sequences, &state.weights, limits, threads, &())?;
        assert!(path.iter().all(|&label| (label as usize) < k));
        Ok((path, bits(&scores)))
    });
    let _ = averages(&state, &());
    let labels = draws.many(n, |draws| draws.below(k) as u32);
    let mending = draws.one_of(&[Mending::Full, Mending::Early, Mending::MaxViolation]);
    let settings = structured::ChainSettings {
        eta: 1.0,
        beam,
        mending,
        aggressive: None,
        seed: None,
        partition: 0,
        track_answers: true,
    };
    let Ok(chain) = Chain::new(labels, sequences, None, settings) else { return };
    let Ok(mut run) = structured::ChainRun::start(&rows, chain, &state, &()) else { return };
    if (0..2).all(|number| run.epoch(&rows, number, &()).is_ok()) {
        let _ = run.end(&());
        assert_eq!(run.state(&()).expect("memory").weights.labels(), k);
    }
}
