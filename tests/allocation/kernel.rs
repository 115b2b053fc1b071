//! Kernel perceptrons: runs with and without a budget, Gram matrices, and what is predicted from them.

use perceptron_rs::error::Result;
use perceptron_rs::kernel::{
    Answer, Budget, Budgeted, Dual, Kernel, Policy, RowSource, SupportSet, SupportVectors, kernel_matrix,
    predict, scale_gamma,
};
use perceptron_rs::memory::{Grow, filled};
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::voted::{Log, Voted};
use perceptron_rs::online::{Learner, Problem, Run, Settings, State};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{Csr, Dense, Matrix, Spread, Table, Tie};

use super::every_request_refused;

const N: usize = 40;
const D: usize = 12;
const CLASSES: u32 = 3;

/// Small integers, of which every `fill`-th is not 0, times `unit`.
fn drawn(fill: u64, unit: f64) -> Vec<f64> {
    let mut random = SplitMix64::new(7);
    let mut draw = || (random.below(fill) == 0, random.below(9) as f64 - 4.0);
    (0..N * D).map(|_| draw()).map(|(filled, x)| if filled { unit * x } else { 0.0 }).collect()
}

fn labels() -> Vec<u32> {
    let mut random = SplitMix64::new(8);
    (0..N).map(|_| random.below(u64::from(CLASSES)) as u32).collect()
}

/// Calls `test` on rows that are laid out as integers, in float64 and as entries.
fn each_form(test: impl Fn(&dyn Matrix)) {
    for unit in [1.0, 0.25] {
        test(&Dense::new(&drawn(1, unit), N, D).expect("a matrix"));
    }
    let dense = drawn(9, 0.25);
    let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
    for row in dense.chunks(D) {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            indices.push(j as i32);
            values.push(*x);
        }
        indptr.push(indices.len() as i32);
    }
    test(&Csr::new(&indptr, &indices, &values, D).expect("a matrix"));
}

fn settings(joint: bool) -> Settings {
    Settings {
        joint: joint.then_some(Spread::Max),
        seed: Some(3),
        track_mistakes: true,
        ..Settings::new((0..CLASSES).collect())
    }
}

fn zeros(columns: usize) -> Result<State> {
    let planes = CLASSES as usize;
    let (coef, intercept) = (Table::zero([planes, columns]), filled(0.0, planes)?);
    Ok(State { coef, intercept, seen: filled(0, planes)?, ages: None })
}

/// Two epochs.
fn run(problem: &Problem, columns: usize, learner: &mut dyn Learner) -> Result<Run> {
    let mut run = Run::start(problem, zeros(columns)?, learner, &())?;
    for number in 0..2 {
        run.epoch(problem, learner, number, &())?;
    }
    run.mistakes_per_example(&())?;
    Ok(run)
}

/// A Gram matrix that somebody else has.
struct GramMatrix(Vec<f64>);

impl RowSource for GramMatrix {
    fn row(&self, number: usize, out: &mut [f64]) -> bool {
        out.copy_from_slice(&self.0[number * N..][..N]);
        true
    }
}

fn fits(
    rows: &dyn Matrix,
    kernel: Kernel,
    source: Option<&dyn RowSource>,
    cache: usize,
    joint: bool,
) -> usize {
    let (labels, settings) = (labels(), settings(joint));
    every_request_refused(|| {
        let norms = filled(0.0, CLASSES as usize)?;
        let mut dual = Dual::new(rows, kernel, source.is_some(), &norms, cache, 1, &())?;
        let examples = dual.rows(rows, source, &());
        let problem = Problem::new(&examples, &labels, None, &settings)?;
        run(&problem, N, &mut Voted::new(CLASSES as usize)?)?.state(&())?;
        Ok(dual.norms().len())
    })
}

#[test]
fn fits_of_every_form() {
    each_form(|rows| {
        // Room for half of the rows of the Gram matrix.
        for (joint, cache) in [(false, 20 * 8 * N), (true, 0)] {
            let requests = fits(rows, Kernel::Rbf { gamma: 0.1 }, None, cache, joint);
            assert!(requests > 100, "{requests}");
        }
    });
}

#[test]
fn fits_on_a_gram_matrix() {
    let rows = drawn(1, 0.25);
    let rows = Dense::new(&rows, N, D).expect("a matrix");
    let mut gram = vec![0.0; N * N];
    kernel_matrix(&rows, &rows, Kernel::Linear, 1, &(), &mut gram).expect("shapes");
    fits(&Dense::new(&gram, N, N).expect("a matrix"), Kernel::Precomputed, None, 0, false);
    fits(&rows, Kernel::Precomputed, Some(&GramMatrix(gram)), 1 << 20, true);
}

#[test]
fn gram_matrices() {
    each_form(|rows| {
        let mut out = vec![0.0; N * N];
        let out = std::cell::RefCell::new(&mut out);
        every_request_refused(|| {
            let gamma = scale_gamma(rows, &())?;
            kernel_matrix(rows, rows, Kernel::Rbf { gamma }, 1, &(), &mut out.borrow_mut())
        });
    });
}

const ANSWERS: [Answer; 9] = [
    Answer::Sum,
    Answer::Last,
    Answer::Average,
    Answer::Vote,
    Answer::JointVote,
    Answer::Drawn,
    Answer::NormalisedLast,
    Answer::NormalisedAverage,
    Answer::NormalisedDrawn,
];

#[test]
fn answers_of_every_kind() {
    let planes = CLASSES as usize;
    // Mistakes on every second row, on one plane after another.
    let per_plane = N / 2 / planes;
    let start: Vec<i64> = (0..=planes).map(|k| (k * per_plane) as i64).collect();
    let row: Vec<i64> = (0..planes * per_plane).map(|i| 2 * i as i64).collect();
    let t: Vec<i64> = (0..planes * per_plane).map(|i| 2 + (i % per_plane) as i64).collect();
    let step: Vec<f64> = (0..row.len()).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
    let (counts, norms) = (vec![1; row.len() + planes], vec![2.0; row.len() + planes]);
    each_form(|rows| {
        let mut out = vec![0.0; N * ANSWERS.len() * planes];
        let out = std::cell::RefCell::new(&mut out);
        let vectors = SupportVectors {
            stored: rows,
            kernel: Kernel::Rbf { gamma: 0.1 },
            log: Log::new(&start, &row, &step, &step, N).expect("a log"),
            t: &t,
            intercept: &[0.0; 3],
            seen: &[N as i64; 3],
            counts: &counts,
            tie: Tie::Mistake,
            norms: &norms,
            drawn: &[1; 3],
        };
        every_request_refused(|| predict(rows, &vectors, &ANSWERS, 1, &(), &mut out.borrow_mut()));
    });
}

/// Two runs, the second of which goes on with what the first has kept.
fn fits_on_a_budget(rows: &dyn Matrix, policy: Policy, joint: bool) {
    let (labels, settings) = (labels(), settings(joint));
    let budget = Budget { size: 6, policy, seed: 5, distance: 0.1, eta: 1.0 };
    let width = if joint { CLASSES as usize } else { 1 };
    let kernel = Kernel::Rbf { gamma: 0.1 };
    let requests = every_request_refused(|| {
        let mut kept = Vec::new();
        for _ in 0..CLASSES as usize / width {
            kept.try_push(SupportSet::new(width)?)?;
        }
        let none = Dense::<f64>::new(&[], 0, D)?;
        for stored in [&none as &dyn Matrix, rows] {
            let budgeted = Budgeted::new(rows, stored, kernel, kept, budget, width, 1, &())?;
            let examples = budgeted.rows(rows, stored, &());
            let problem = Problem::new(&examples, &labels, None, &settings)?;
            run(&problem, 0, &mut Perceptron)?.state(&())?;
            kept = budgeted.sets()?;
        }
        Ok(kept)
    });
    assert!(requests > 50, "{requests}");
}

#[test]
fn fits_on_budgets() {
    let rows = drawn(1, 0.25);
    let rows = Dense::new(&rows, N, D).expect("a matrix");
    for (policy, joint) in [
        (Policy::Oldest, false),
        (Policy::Random, true),
        (Policy::Forgetron, true),
        (Policy::Projectron, false),
        (Policy::Projectron, true),
    ] {
        fits_on_a_budget(&rows, policy, joint);
    }
    each_form(|rows| fits_on_a_budget(rows, Policy::Forgetron, false));
}
