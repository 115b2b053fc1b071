//! The golden files of kernel and multilayer perceptrons, every line, dense and CSR with both index types.

use super::support::driver::{Report, Schedule, drive};
use super::support::golden::{Case, Drawn, bits, cases, draw, each_layout, whole, with_type};
use perceptron_rs::arith::neuron::Activation;
use perceptron_rs::kernel::{
    self, Answer, Dual, Kernel, RowSource, SupportVectors, kernel_matrix, scale_gamma,
};
use perceptron_rs::mlp::{self, Layer, Network};
use perceptron_rs::online::voted::{Log, Voted};
use perceptron_rs::online::{Problem, Settings, State};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{Matrix, Spread, Table, Tolerance};

const ANSWERS: [Answer; 8] = [
    Answer::Sum,
    Answer::Last,
    Answer::Average,
    Answer::Vote,
    Answer::Drawn,
    Answer::NormalisedLast,
    Answer::NormalisedAverage,
    Answer::NormalisedDrawn,
];

#[test]
fn kernel_perceptrons() {
    for case in &cases("kernel") {
        if case.text("type") == "float64" {
            scaled(case);
        } else {
            with_type!(case, drawn);
        }
    }
}

fn scaled(case: &Case) {
    let count = case.number::<usize>("n") * case.number::<usize>("d");
    let scale = 2.0_f64.powi(-case.number::<i32>("shift"));
    let values: Vec<f64> = draw(case.number("seed"), count, case.number("zeros"));
    each_kernel_layout(case, &values.iter().map(|value| value * scale).collect::<Vec<f64>>());
}

fn drawn<T: Drawn + Default>(case: &Case) {
    let count = case.number::<usize>("n") * case.number::<usize>("d");
    each_kernel_layout(case, &draw::<T>(case.number("seed"), count, case.number("zeros")));
}

fn each_kernel_layout<T: Drawn + Default>(case: &Case, values: &[T]) {
    let [gamma, coef0] = ["gamma", "coef0"].map(|key| case.floats(key)[0]);
    let kernel = Kernel::new(case.text("kernel"), gamma, coef0, case.number("degree")).expect("a kernel");
    each_layout(values, case.number("n"), case.number("d"), |rows, layout| {
        let n = rows.len();
        case.is("scale", &bits(&[scale_gamma(rows, &()).expect("memory")]), layout);
        let mut matrix = vec![0.0; n * n];
        kernel_matrix(rows, rows, kernel, 2, &(), &mut matrix).expect("shapes");
        case.is("values", &bits(&matrix[..3 * n]), layout);
        for (cache, threads) in [(0, 1), (8 * n + 1, 2), (1 << 20, 3)] {
            run(case, rows, kernel, None, cache, threads, layout);
        }
        // The same by a source of rows, which nothing but these numbers is known of.
        let matrix = GramMatrix { matrix, n };
        run(case, rows, kernel, Some(&matrix), 0, 1, layout);
        run(case, rows, kernel, Some(&matrix), 1 << 20, 2, layout);
    });
}

struct GramMatrix {
    matrix: Vec<f64>,
    n: usize,
}

impl RowSource for GramMatrix {
    fn row(&self, number: usize, out: &mut [f64]) -> bool {
        for (out, row) in out.iter_mut().zip(self.matrix.chunks(self.n)) {
            *out = row[number];
        }
        true
    }
}

fn run(
    case: &Case,
    rows: &dyn Matrix,
    kernel: Kernel,
    source: Option<&dyn RowSource>,
    cache: usize,
    threads: usize,
    layout: &str,
) {
    let (n, seed) = (rows.len(), case.number::<u64>("seed"));
    let positive: Vec<u32> = case.list("positive");
    let planes = positive.len();
    let numbers = |seed: u64| {
        let mut random = SplitMix64::new(seed);
        (0..n).map(move |_| random.draw())
    };
    let classes: u64 = case.number("classes");
    let labels: Vec<u32> = numbers(seed + 1).map(|z| (z % classes) as u32).collect();
    let quarters: Vec<f64> = numbers(seed + 2).map(|z| (z >> 61) as f64 * 0.25).collect();
    let sample_weight = (case.text("weights") != "none").then_some(&quarters[..]);
    let class_weight = case.floats("class_weight").as_chunks::<2>().0.to_vec();
    let with_bias = case.text("fit_intercept") == "1";
    let used = if source.is_some() { Kernel::Precomputed } else { kernel };
    let asked = source.is_some();
    let mut dual =
        Dual::new(rows, used, asked, &vec![0.0; planes], cache, threads, &()).expect("a Gram matrix");
    let eta = case.floats("eta0")[0];
    let tolerance = Tolerance {
        margin_threshold: case.floats("margin")[0],
        added_feature: case.floats("added_feature")[0],
        max_mistakes: (case.text("most") != "none").then(|| case.number("most")),
    };
    let settings = Settings {
        class_weight,
        eta,
        tie: case.tie(),
        fit_intercept: with_bias,
        tolerance,
        joint: match case.text("joint") {
            "none" => None,
            "max" => Some(Spread::Max),
            "uniform" => Some(Spread::Uniform),
            _ => Some(Spread::Proportional),
        },
        seed: (case.text("shuffle") != "none").then(|| case.number("shuffle")),
        track_mistakes: true,
        ..Settings::new(positive)
    };
    let schedule = Schedule {
        first_epoch: case.number("first_epoch"),
        max_iter: case.number("max_iter"),
        ..Schedule::epochs(0)
    };
    let state = State {
        coef: Table::zero([planes, n]),
        intercept: vec![0.0; planes],
        seen: vec![0; planes],
        ages: None,
    };
    let examples = dual.rows(rows, source, &());
    let problem = Problem::new(&examples, &labels, sample_weight, &settings).expect("a problem");
    let report =
        drive(&problem, state, Box::new(Voted::new(planes).expect("memory")), schedule, &()).expect("finite");
    let (after, norms) = (report.state(), dual.norms());
    is_report(case, &report, layout);
    case.is("intercept", &bits(&after.intercept), layout);
    case.is("seen", &whole(&after.seen), layout);
    case.is("norm", &bits(&norms.iter().map(|norms| norms[norms.len() - 1]).collect::<Vec<_>>()), layout);
    case.is(
        "log_norm",
        &bits(&norms.iter().flat_map(|norms| &norms[1..]).copied().collect::<Vec<_>>()),
        layout,
    );
    let story = Story::of(case, &report, layout);
    story.is_judge(case, rows, kernel, &after.seen, norms, threads, layout);
}

fn is_report(case: &Case, report: &Report, layout: &str) {
    case.is("n_iter", &whole(&report.n_iter), layout);
    case.is("stopped", &report.stopped.join(","), layout);
    case.is("mistakes", &whole(&report.mistakes()), layout);
    case.is("per_example", &whole(&report.per_example()), layout);
}

/// The log of a run.
struct Story {
    start: Vec<i64>,
    row: Vec<i64>,
    t: Vec<i64>,
    step: Vec<f64>,
}

impl Story {
    fn of(case: &Case, report: &Report, layout: &str) -> Self {
        let [start, row, t] = ["log_start", "log_row", "log_t"].map(|name| report.integers(name));
        let step = report.floats("log_step");
        for (name, values) in [("log_start", &start), ("log_row", &row), ("log_t", &t)] {
            case.is(name, &whole(values), layout);
        }
        case.is("log_step", &bits(&step), layout);
        Self { start, row, t, step }
    }

    #[expect(clippy::too_many_arguments, reason = "all that one line of a file says")]
    fn is_judge(
        &self,
        case: &Case,
        rows: &dyn Matrix,
        kernel: Kernel,
        seen: &[u64],
        norms: &[Vec<f64>],
        threads: usize,
        layout: &str,
    ) {
        let Self { start, row, t, step } = self;
        let seen: Vec<i64> = seen.iter().map(|&seen| seen as i64).collect();
        let mut counts = Vec::new();
        for (k, &seen) in seen.iter().enumerate() {
            let mut begin = 1;
            for &t in t[start[k] as usize..start[k + 1] as usize].iter().chain(&[seen + 1]) {
                counts.push(t - begin);
                begin = t;
            }
        }
        let bias: Vec<f64> =
            step.iter().map(|&c| if case.text("fit_intercept") == "1" { c } else { 0.0 }).collect();
        let drawn: Vec<i64> = start.windows(2).map(|pair| (pair[1] - pair[0]) / 2).collect();
        let vectors = SupportVectors {
            stored: rows,
            kernel,
            log: Log::new(start, row, step, &bias, rows.len()).expect("a log"),
            t,
            intercept: &vec![0.0; seen.len()],
            seen: &seen,
            counts: &counts,
            tie: case.tie(),
            norms: &norms.concat(),
            drawn: &drawn,
        };
        let mut out = vec![0.0; rows.len() * ANSWERS.len() * seen.len()];
        kernel::predict(rows, &vectors, &ANSWERS, threads, &(), &mut out).expect("finite");
        case.is("scores", &bits(&out), layout);
    }
}

#[test]
fn multilayer_perceptrons() {
    for case in &cases("multilayer") {
        with_type!(case, layers);
    }
}

fn layers<T: Drawn + Default>(case: &Case) {
    let [n, d, classes] = ["n", "d", "classes"].map(|key| case.number::<usize>(key));
    let seed: u64 = case.number("seed");
    let mut random = SplitMix64::new(seed + 1);
    let labels: Vec<u32> = (0..n).map(|_| (random.draw() % classes as u64) as u32).collect();
    let outputs = if classes == 2 { 1 } else { classes };
    let sizes: Vec<usize> = [d].into_iter().chain(case.list("hidden")).chain([outputs]).collect();
    let activation = match case.text("activation") {
        "relu" => Activation::Relu,
        "tanh" => Activation::Tanh,
        _ => Activation::Logistic,
    };
    let settings = mlp::NetworkSettings {
        rate: case.floats("rate")[0],
        alpha: case.floats("alpha")[0],
        batch_size: case.number("batch_size"),
        seed: (case.text("shuffle") != "none").then(|| case.number("shuffle")),
    };
    let (first, epochs) = (case.number::<u64>("first_epoch"), case.floats("losses").len() as u64);
    let is_network = |name: &str, network: &Network, layout: &str| {
        for (number, Layer { coef, intercept }) in network.layers.iter().enumerate() {
            let all = [&coef[..], &intercept[..]].concat();
            case.is(&format!("{name}_{number}"), &bits(&all), layout);
        }
    };
    each_layout(&draw::<T>(seed, n * d, case.number("zeros")), n, d, |rows, layout| {
        let network =
            Network::start(&sizes, activation, case.number("start_seed"), &()).expect("sizes above 0");
        is_network("start", &network, layout);
        let mut run = mlp::NetworkRun::start(rows, labels.clone(), None, network, settings)
            .expect("layers for the rows");
        let mut losses = Vec::new();
        for number in first..first + epochs {
            losses.extend(run.epoch(rows, number, &()).expect("finite").losses);
        }
        case.is("losses", &bits(&losses), layout);
        let network = run.network();
        is_network("layer", network, layout);
        for (name, probabilities) in [("scores", false), ("probabilities", true)] {
            let mut out = vec![0.0; n * outputs];
            network.scores(rows, probabilities, 1, &(), &mut out).expect("shapes");
            case.is(name, &bits(&out), layout);
        }
    });
}

/// Gives nothing from the third row on.
struct Broken(std::sync::Mutex<usize>);

impl RowSource for Broken {
    fn row(&self, _number: usize, out: &mut [f64]) -> bool {
        let mut asked = self.0.lock().expect("one thread");
        *asked += 1;
        out.fill(0.0);
        *asked < 3
    }
}

#[test]
fn a_source_that_fails_ends_the_run() {
    let values = [0.0; 20];
    let rows = perceptron_rs::rows::Dense::new(&values, 20, 1).expect("shape");
    let source = Broken(std::sync::Mutex::new(0));
    let refused = Dual::new(&rows, Kernel::Linear, true, &[0.0], 0, 1, &()).err().expect("a kernel");
    assert!(refused.to_string().contains("kernel must be precomputed"), "{refused}");
    let dual = Dual::new(&rows, Kernel::Precomputed, true, &[0.0], 1 << 20, 1, &()).expect("a source");
    let (examples, labels) = (dual.rows(&rows, Some(&source), &()), [0; 20]);
    let settings = Settings { fit_intercept: false, ..Settings::new(vec![1]) };
    let problem = Problem::new(&examples, &labels, None, &settings).expect("a problem");
    let schedule = Schedule { keep_on_interrupt: true, ..Schedule::epochs(1) };
    let state = State { coef: Table::zero([1, 20]), intercept: vec![0.0], seen: vec![0], ages: None };
    let error = drive(&problem, state, Box::new(Voted::new(1).expect("memory")), schedule, &())
        .err()
        .expect("a failure");
    assert!(error.to_string().contains("could not be had"), "{error}");
    assert_eq!(*source.0.lock().expect("one thread"), 3, "nothing is asked for behind a failure");
}
