//! The golden files (tests/golden/*.txt; their heads say how to read them), every line, dense and CSR
//! with both index types. The Python tests read the same files.

use super::support::driver::{Report, Schedule, drive};
use super::support::golden::{Case, Drawn, bits, cases, draw, each_layout, whole, with_type};
use super::support::table;
use perceptron_rs::arith::step::Aggressive;
use perceptron_rs::arith::value::Value;
use perceptron_rs::online::averaged::{Averaged, average};
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::pocket::{Check, Pocket};
use perceptron_rs::online::voted::{Log, Sums, Voted, replay};
use perceptron_rs::online::{self, Learner, Numbers, Problem, Settings, State, VoteVectors};
use perceptron_rs::order::{SplitMix64, shuffle};
use perceptron_rs::rows::{Matrix, Spread};
use perceptron_rs::structured::{self, Chain, ChainWeights, Limits, Mending, Sequences, Sparse};

#[test]
fn orders() {
    for case in cases("order") {
        let seed = case.number("seed");
        if case.text("kind") == "numbers" {
            let mut random = SplitMix64::new(seed);
            let count = case.list::<u64>("numbers").len();
            let drawn: Vec<u64> = (0..count).map(|_| random.draw()).collect();
            case.is("numbers", &whole(&drawn), "");
        } else {
            let mut order: Vec<u32> = (0..case.number("n")).collect();
            let key = (seed, case.number("epoch"), case.number("partition"));
            shuffle(&mut order, key, &()).expect("nobody interrupts");
            case.is("order", &whole(&order), "");
        }
    }
}

#[test]
fn dots() {
    for case in &cases("dot") {
        if case.text("kind") == "given" {
            dot(case, &case.floats("x"), &case.floats("w"));
        } else {
            with_type!(case, drawn_dot);
        }
    }
}

fn drawn_dot<T: Drawn + Default>(case: &Case) {
    let length = case.number("length");
    let x: Vec<T> = draw(case.number("x_seed"), length, case.number("zeros"));
    dot(case, &x, &draw(case.number("w_seed"), length, 0));
}

fn dot<T: Value>(case: &Case, x: &[T], w: &[f64]) {
    each_layout(x, 1, x.len(), |rows, layout| {
        let mut out = [f64::NAN];
        online::scores(rows, w.into(), &[0.0], 1, &(), &mut out).expect("shapes");
        case.is("dot", &bits(&out), layout);
    });
}

#[test]
fn perceptrons() {
    for case in &cases("perceptron") {
        with_type!(case, fit);
    }
}

#[test]
fn averaged_perceptrons() {
    for case in &cases("averaged") {
        with_type!(case, fit);
    }
}

#[test]
fn pocket_perceptrons() {
    for case in &cases("pocket") {
        with_type!(case, fit);
    }
}

#[test]
fn voted_perceptrons() {
    for case in &cases("voted") {
        with_type!(case, fit);
    }
}

#[test]
fn label_sequences() {
    for case in &cases("sequences") {
        with_type!(case, sequences);
    }
}

fn sequences<T: Drawn + Default>(case: &Case) {
    let [n, d, k] = ["n", "d", "classes"].map(|key| case.number::<usize>(key));
    let seed: u64 = case.number("seed");
    let mut random = SplitMix64::new(seed + 1);
    let labels: Vec<u32> = (0..n).map(|_| (random.draw() % k as u64) as u32).collect();
    let lengths = Sequences::new(&case.list::<i64>("lengths"), n).expect("lengths");
    let beam = (case.text("beam") != "none").then(|| case.number("beam"));
    let mending = match case.text("update") {
        "early" => Mending::Early,
        "max_violation" => Mending::MaxViolation,
        _ => Mending::Full,
    };
    let zero = || ChainWeights::zero(d, k, case.text("with_pair") == "1");
    let settings = structured::ChainSettings {
        eta: case.floats("eta0")[0],
        beam,
        mending,
        aggressive: aggressive(case),
        seed: (case.text("shuffle") != "none").then(|| case.number("shuffle")),
        partition: 0,
        track_answers: true,
    };
    let (first, most) = (case.number::<u64>("first_epoch"), case.number::<u64>("max_iter"));
    let values: Vec<T> = draw(seed, n * d, case.number("zeros"));
    each_layout(&values, n, d, |rows, layout| {
        let start = structured::ChainState {
            weights: zero().expect("memory"),
            sums: zero().expect("memory"),
            seen: 0,
        };
        let sequences = Sequences::new(&case.list::<i64>("lengths"), n).expect("lengths");
        let chain = Chain::new(labels.clone(), sequences, None, settings).expect("a problem");
        let mut run = structured::ChainRun::start(rows, chain, &start, &()).expect("a problem");
        let (mut wrong, mut tokens) = (Vec::new(), Vec::new());
        for number in first..first + most {
            let epoch = run.epoch(rows, number, &()).expect("finite");
            wrong.extend(epoch.mistakes);
            tokens.push(epoch.losses[0] as i64);
            if wrong.last() == Some(&0) {
                assert_eq!(run.answers(), labels, "an epoch without a mistake knows all answers");
                break;
            }
        }
        run.end(&()).expect("finite");
        let state = run.state(&()).expect("memory");
        let stopped = if wrong.last() == Some(&0) { "clean" } else { "max_iter" };
        case.is("sequence_errors", &whole(&wrong), layout);
        case.is("token_errors", &whole(&tokens), layout);
        case.is("stopped", stopped, layout);
        case.is("seen", &state.seen.to_string(), layout);
        let means = structured::averages(&state, &()).expect("finite");
        let of = |prefix: &str, suffix: &str, weights: &ChainWeights| {
            let emission = dense(&weights.emission, k);
            let pair = weights.pair.as_ref().map(|pair| dense(pair, k * k));
            let small = [&weights.transition, &weights.start, &weights.end].map(|w| w.to_vec());
            let names = ["emission", "transition", "start", "end", "pair"];
            for (name, values) in names.iter().zip([emission].into_iter().chain(small).chain(pair)) {
                case.is(&format!("{prefix}{name}{suffix}"), &bits(&values), layout);
            }
        };
        of("", "", &state.weights);
        of("", "_u", &state.sums);
        of("mean_", "", &means);
        for threads in [1, 2] {
            let limits = Limits { beam, ..Limits::default() };
            let (path, scores) =
                structured::decode(rows, &lengths, &means, limits, threads, &()).expect("finite");
            case.is("path", &whole(&path), layout);
            case.is("scores", &bits(&scores), layout);
        }
    });
}

/// The steps of a case, if they are not constant.
fn aggressive(case: &Case) -> Option<Aggressive> {
    let rule = case.tokens.get("step")?;
    let c = case.floats("C")[0];
    Some(if rule == "pa1" { Aggressive::Pa1(c) } else { Aggressive::Pa2(c) })
}

fn dense(matrix: &Sparse, planes: usize) -> Vec<f64> {
    let mut out = vec![0.0; matrix.columns() * planes];
    for column in 0..matrix.columns() {
        for (plane, w) in matrix.row(column).0.iter().zip(matrix.row(column).1) {
            out[column * planes + *plane as usize] = *w;
        }
    }
    out
}

fn means(w: &[f64], u: &[f64], seen: &[u64], columns: usize) -> Vec<f64> {
    let mut means = vec![0.0; w.len()];
    average([w, u], seen, columns, &(), &mut means).expect("nobody interrupts");
    means
}

/// What the pocket remembers, by the names of the files.
fn is_pocket(case: &Case, pocket: &dyn Learner, layout: &str) {
    for (name, values) in pocket.memory().expect("memory") {
        let name = match name {
            "coef" => "pocket_coef",
            "intercept" => "pocket_intercept",
            name => name,
        };
        match values {
            Numbers::Weights(values) | Numbers::Floats(values) => {
                case.is(name, &bits(&values.concat()), layout);
            }
            Numbers::Integers(values) => case.is(name, &whole(&values.concat()), layout),
        }
    }
}

fn fit<T: Drawn + Default>(case: &Case) {
    let [n, d, seed] = ["n", "d", "seed"].map(|key| case.number::<u64>(key));
    let (rows, columns) = (n as usize, d as usize);
    let numbers = |seed: u64| {
        let mut random = SplitMix64::new(seed);
        (0..n).map(move |_| random.draw())
    };
    let classes: u64 = case.number("classes");
    let labels: Vec<u32> = numbers(seed + 1).map(|z| (z % classes) as u32).collect();
    let z = numbers(seed + 2);
    let sample_weight: Option<Vec<f64>> = match case.text("weights") {
        "none" => None,
        "quarters" => Some(z.map(|z| (z >> 61) as f64 * 0.25).collect()),
        "any" => Some(z.map(|z| (z >> 11) as f64 * 2.0_f64.powi(-53)).collect()),
        "whole" => Some(z.map(|z| (z >> 62) as f64).collect()),
        other => panic!("weights={other}"),
    };
    let positive: Vec<u32> = case.list("positive");
    let planes = positive.len();
    let class_weight = case.floats("class_weight").as_chunks::<2>().0.to_vec();
    let start = |offset: u64, count: usize| match case.text("start") {
        "zero" => vec![0.0; count],
        _ => draw::<f64>(seed + 3 + offset, count, 0),
    };
    let state = State {
        coef: table(&start(0, planes * columns), planes),
        intercept: start(1, planes),
        seen: case.list("start_seen"),
        ages: None,
    };
    let fit_intercept = case.text("fit_intercept") == "1";
    let settings = |threads| Settings {
        class_weight: class_weight.clone(),
        eta: case.floats("eta0")[0],
        tie: case.tie(),
        fit_intercept,
        seed: (case.text("shuffle") != "none").then(|| case.number("shuffle")),
        aggressive: aggressive(case),
        joint: case.tokens.get("joint").map(|_| Spread::Max),
        track_mistakes: true,
        threads,
        ..Settings::new(positive.clone())
    };
    let schedule = Schedule {
        first_epoch: case.number("first_epoch"),
        max_iter: case.number("max_iter"),
        tol: (case.text("tol") != "none").then(|| case.floats("tol")[0]),
        n_iter_no_change: case.number("n_iter_no_change"),
        keep_on_interrupt: false,
    };
    let values: Vec<T> = draw(seed, rows * columns, case.number("zeros"));
    each_layout(&values, rows, columns, |rows, layout| {
        for threads in [1, 2] {
            let check = match case.tokens.get("check").map(String::as_str) {
                Some("ratchet") => Check::Ratchet,
                Some("update") => Check::Update,
                Some("epoch") => Check::Epoch,
                _ => Check::Run,
            };
            let average = case.tokens.get("average").is_some_and(|average| average == "1");
            let learner: Box<dyn Learner> = match case.file {
                "averaged" => {
                    let coef = table(&start(2, planes * columns), planes);
                    Box::new(Averaged::new(coef, start(3, planes), fit_intercept).expect("little"))
                }
                "pocket" => {
                    Box::new(Pocket::new(check, average, fit_intercept, &state, &()).expect("memory"))
                }
                "voted" => Box::new(Voted::new(planes).expect("memory")),
                _ => Box::new(Perceptron),
            };
            let settings = settings(threads);
            let problem =
                Problem::new(rows, &labels, sample_weight.as_deref(), &settings).expect("a problem");
            let report = drive(&problem, state.clone(), learner, schedule, &()).expect("finite");
            let after = report.state();
            case.is("n_iter", &whole(&report.n_iter), layout);
            case.is("stopped", &report.stopped.join(","), layout);
            case.is("mistakes", &whole(&report.mistakes()), layout);
            case.is("losses", &bits(&report.losses()), layout);
            case.is("per_example", &whole(&report.per_example()), layout);
            case.is("coef", &bits(&after.coef.by_plane(&()).expect("memory")), layout);
            case.is("intercept", &bits(&after.intercept), layout);
            case.is("seen", &whole(&after.seen), layout);
            match case.file {
                "pocket" => is_pocket(case, &*report.learner, layout),
                "voted" => check_log(case, rows, &state, &report, fit_intercept, layout),
                "averaged" => check_average(case, &report, columns, layout),
                _ => {}
            }
        }
    });
}

fn check_average(case: &Case, report: &Report, columns: usize, layout: &str) {
    let (coef, intercept, after) = (report.floats("coef_u"), report.floats("intercept_u"), report.state());
    case.is("coef_u", &bits(&coef), layout);
    case.is("intercept_u", &bits(&intercept), layout);
    let w = after.coef.by_plane(&()).expect("memory");
    let mean = means(&w, &coef, &after.seen, columns);
    case.is("mean_coef", &bits(&mean), layout);
    let mean = means(&after.intercept, &intercept, &after.seen, 1);
    case.is("mean_intercept", &bits(&mean), layout);
}

fn check_log(
    case: &Case,
    rows: &dyn Matrix,
    start: &State,
    report: &Report,
    fit_intercept: bool,
    layout: &str,
) {
    let [starts, row, t] = ["log_start", "log_row", "log_t"].map(|name| report.integers(name));
    let (step, after) = (report.floats("log_step"), report.state());
    for (name, values) in [("log_start", &starts), ("log_row", &row), ("log_t", &t)] {
        case.is(name, &whole(values), layout);
    }
    case.is("log_step", &bits(&step), layout);

    let planes = start.intercept.len();
    let mut counts = Vec::new();
    for k in 0..planes {
        let mut begin = start.seen[k] as i64 + 1;
        for &t in t[starts[k] as usize..starts[k + 1] as usize].iter().chain(&[after.seen[k] as i64 + 1]) {
            counts.push(t - begin);
            begin = t;
        }
    }
    case.is("log_count", &whole(&counts), layout);
    let bias: Vec<f64> = step.iter().map(|&c| if fit_intercept { c } else { 0.0 }).collect();
    let log = Log::new(&starts, &row, &step, &bias, rows.len()).expect("a log");
    let coef = start.coef.clone().by_plane(&()).expect("memory");
    let vectors = VoteVectors {
        stored: rows,
        log,
        coef: &coef,
        intercept: &start.intercept,
        counts: &counts,
        tie: case.tie(),
    };
    for threads in [1, 2] {
        let mut votes = vec![0; rows.len() * planes];
        online::votes(rows, &vectors, threads, &(), &mut votes).expect("finite");
        case.is("votes", &whole(&votes), layout);
    }
    let upto: Vec<i64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) / 2).collect();
    let sums = Sums {
        coef: coef.clone(),
        intercept: start.intercept.clone(),
        coef_u: vec![0.0; coef.len()],
        intercept_u: vec![0.0; planes],
    };
    let half = replay(rows, &log, (&t, &upto), sums, &()).expect("a log");
    case.is("half_coef", &bits(&half.coef), layout);
    case.is("half_intercept", &bits(&half.intercept), layout);
    case.is("half_coef_u", &bits(&half.coef_u), layout);
    case.is("half_intercept_u", &bits(&half.intercept_u), layout);
}
