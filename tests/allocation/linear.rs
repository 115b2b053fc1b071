//! Fits, scores and votes of the linear learners, on one thread: what starts another takes memory of a
//! constant size, which the standard library cannot be refused.

use std::cell::RefCell;

use perceptron_rs::arith::value::Value;
use perceptron_rs::error::Result;
use perceptron_rs::memory::{boxed, collected, filled};
use perceptron_rs::online::averaged::Averaged;
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::pocket::{Check, Pocket};
use perceptron_rs::online::voted::{Log, Sums, Voted, replay};
use perceptron_rs::online::{
    LEARNERS, Learner, Model, Penalty, Problem, Run, Settings, State, VoteVectors, scores, votes,
};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{Csr, Dense, Entries, Matrix, Rows, Spread, Table, Tie, Tolerance};

use super::every_request_refused;

const N: usize = 40;
const D: usize = 20;

#[derive(Clone, Copy)]
enum Rule {
    Plain,
    Averaged,
    Voted,
    Pocket(Check, bool),
}

const RULES: [Rule; 5] = [
    Rule::Plain,
    Rule::Averaged,
    Rule::Voted,
    Rule::Pocket(Check::Run, true),
    Rule::Pocket(Check::Update, false),
];

fn learner(rule: Rule, state: &State) -> Result<Box<dyn Learner>> {
    Ok(match rule {
        Rule::Plain => Box::new(Perceptron), // of no size
        Rule::Averaged => {
            let intercept = filled(0.0, state.intercept.len())?;
            boxed(Averaged::new(Table::zero(state.coef.shape()), intercept, true)?)?
        }
        Rule::Voted => boxed(Voted::new(state.intercept.len())?)?,
        Rule::Pocket(check, average) => boxed(Pocket::new(check, average, true, state, &())?)?,
    })
}

fn copy(state: &State) -> Result<State> {
    Ok(State {
        coef: state.coef.copy(&())?,
        intercept: collected(state.intercept.iter().copied())?,
        seen: collected(state.seen.iter().copied())?,
        ages: state.ages.as_ref().map(|ages| collected(ages.iter().copied())).transpose()?,
    })
}

/// Three epochs and all that a run can tell of itself.
fn fit(problem: &Problem, state: &State, rule: Rule) -> Result<State> {
    let mut learner = learner(rule, state)?;
    let mut run = Run::start(problem, copy(state)?, &mut *learner, &())?;
    for number in 0..3 {
        run.epoch(problem, &mut *learner, number, &())?;
        run.state(&())?;
    }
    for decision in (0..problem.settings.decisions()).rev() {
        run.end(problem, &mut *learner, decision, &())?;
    }
    run.mistakes_per_example(&())?;
    run.activations(&())?;
    learner.memory()?;
    run.state(&())
}

/// Fits on memory that is refused, then once more: what is handed in, `start`, is still good for it.
fn check(
    rows: &dyn Rows,
    labels: &[u32],
    weights: Option<&[f64]>,
    settings: &Settings,
    start: &State,
    rule: Rule,
) {
    let problem = Problem::new(rows, labels, weights, settings).expect("valid");
    let bits = |state: State| -> Vec<u64> {
        state.coef.by_plane(&()).expect("memory").iter().map(|w| w.to_bits()).collect()
    };
    let expected = bits(fit(&problem, start, rule).expect("memory"));
    let requests = every_request_refused(|| fit(&problem, start, rule));
    assert!(requests > 10, "{requests}");
    assert_eq!(bits(fit(&problem, start, rule).expect("memory")), expected);
}

fn numbers(n: usize, low: i64, high: i64, seed: u64) -> impl Iterator<Item = i64> {
    let mut random = SplitMix64::new(seed);
    (0..n).map(move |_| low + random.below((high - low) as u64 + 1) as i64)
}

fn labels(classes: u32) -> Vec<u32> {
    numbers(N, 0, i64::from(classes) - 1, 7).map(|label| label as u32).collect()
}

fn zeros(settings: &Settings) -> State {
    let planes = settings.planes();
    let ages = settings.penalty.map(|_| vec![0; planes * D]);
    State { coef: Table::zero([planes, D]), intercept: vec![0.0; planes], seen: vec![0; planes], ages }
}

/// A matrix as it may be stored: floats, bytes, small and large whole numbers, ones; with all entries or with
/// every second one.
struct Layouts {
    floats: Vec<f64>,
    bytes: Vec<u8>,
    small: Vec<i16>,
    indptr: Vec<i64>,
    indices: Vec<i64>,
    ones: Vec<i16>,
}

impl Layouts {
    fn new() -> Self {
        let bytes: Vec<u8> = numbers(N * D, 0, 255, 1).map(|v| v as u8).collect();
        Self {
            floats: bytes.iter().map(|&v| f64::from(v) / 3.0 - 40.0).collect(),
            small: bytes.iter().map(|&v| i16::from(v) - 120).collect(),
            bytes,
            indptr: (0..=N).map(|i| (i * D / 2) as i64).collect(),
            indices: (0..N * D / 2).map(|i| ((2 * i) % D) as i64).collect(),
            ones: vec![1; N * D / 2],
        }
    }

    fn csr<'a, T: Value>(&'a self, values: &'a [T]) -> Csr<'a, T, i64> {
        Csr::new(&self.indptr, &self.indices, &values[..N * D / 2], D).expect("a matrix")
    }

    /// Calls `f` on all forms.
    fn each(&self, f: impl Fn(&dyn Matrix)) {
        f(&Dense::new(&self.floats, N, D).expect("shape"));
        f(&Dense::new(&self.bytes, N, D).expect("shape"));
        f(&Dense::new(&self.small, N, D).expect("shape"));
        f(&self.csr(&self.floats));
        f(&self.csr(&self.small));
        f(&self.csr(&self.ones));
    }
}

#[test]
fn fits_of_one_plane_and_of_many() {
    for classes in [2, 4] {
        let positive = if classes == 2 { vec![1] } else { (0..classes).collect() };
        let settings = Settings { seed: Some(3), track_mistakes: true, ..Settings::new(positive) };
        for rule in RULES {
            Layouts::new()
                .each(|rows| check(rows, &labels(classes), None, &settings, &zeros(&settings), rule));
        }
    }
}

#[test]
fn fits_of_examples_that_weigh_nothing_or_less_than_others() {
    let weights: Vec<f64> = numbers(N, 0, 3, 5).map(|weight| weight as f64).collect();
    let settings = Settings {
        class_weight: vec![[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]],
        track_activations: true,
        ..Settings::new(vec![0, 1, 2])
    };
    for rule in RULES {
        Layouts::new()
            .each(|rows| check(rows, &labels(3), Some(&weights), &settings, &zeros(&settings), rule));
    }
}

#[test]
fn fits_with_a_margin_a_feature_and_a_bound() {
    let tolerance = Tolerance { margin_threshold: 0.5, added_feature: 2.0, max_mistakes: Some(2) };
    for positive in [vec![1], vec![0, 1, 2]] {
        let settings = Settings { tolerance, ..Settings::new(positive) };
        for rule in [Rule::Plain, Rule::Averaged, Rule::Voted] {
            Layouts::new().each(|rows| check(rows, &labels(3), None, &settings, &zeros(&settings), rule));
        }
    }
}

#[test]
fn joint_fits() {
    for joint in [Spread::Max, Spread::Uniform, Spread::Proportional] {
        let settings = Settings { joint: Some(joint), ..Settings::new(vec![0, 1, 2]) };
        for rule in [Rule::Plain, Rule::Averaged, Rule::Voted] {
            Layouts::new().each(|rows| check(rows, &labels(3), None, &settings, &zeros(&settings), rule));
        }
    }
}

#[test]
fn fits_under_a_penalty() {
    for penalty in [Penalty { l1: 0.0, l2: 1e-3 }, Penalty { l1: 1e-3, l2: 0.0 }] {
        for settle in [true, false] {
            let settings = Settings { penalty: Some(penalty), settle, ..Settings::new(vec![0, 1, 2]) };
            let mut start = zeros(&settings);
            let rule = Rule::Plain;
            Layouts::new().each(|rows| check(rows, &labels(3), None, &settings, &start, rule));
            // One plane has pending what the others have not.
            start.ages.as_mut().expect("a penalty")[D..2 * D].fill(3);
            Layouts::new().each(|rows| check(rows, &labels(3), None, &settings, &start, rule));
        }
    }
}

#[test]
fn fits_that_leave_the_exact_integers() {
    for positive in [vec![1], vec![0, 1, 2]] {
        let settings = Settings { eta: 1000.0, ..Settings::new(positive) };
        let mut start = zeros(&settings);
        start.coef.own(&()).expect("memory").fill(f64::from((1 << 30) - 1)); // the largest that may be exact
        for rule in [Rule::Plain, Rule::Averaged, Rule::Voted] {
            Layouts::new().each(|rows| check(rows, &labels(3), None, &settings, &start, rule));
        }
    }
}

/// All that a model has learnt.
fn learnt(model: &Model) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let bits = |numbers: &[f64]| -> Vec<u64> { numbers.iter().map(|w| w.to_bits()).collect() };
    let numbers = |table: &Table| bits(&table.clone().by_plane(&()).expect("memory"));
    let (sums, averages) = (model.sums().map(|(u, _)| numbers(u)), model.answer(&()).expect("memory").1);
    let weights = numbers(&model.weights(&()).expect("memory"));
    ([weights, sums.unwrap_or_default()].concat(), bits(&averages), model.seen().to_vec())
}

#[test]
fn passes_in_place_leave_the_model_as_it_was() {
    const ROWS: usize = 4;
    let (all, labels, settings) = (Layouts::new(), labels(3), Settings::new(vec![0, 1, 2]));
    let dense = Dense::new(&all.floats[..ROWS * D], ROWS, D).expect("shape");
    let csr = all.csr(&all.floats);
    for (rows, averaged) in [(&dense as &dyn Matrix, false), (&dense, true), (&csr, false), (&csr, true)] {
        let labels = &labels[..rows.len()];
        let mut model = Model::zero(LEARNERS[usize::from(averaged)].1, [3, D]).expect("memory");
        model.learn(rows, labels, None, &settings, &()).expect("a pass");
        let (before, mut other) = (learnt(&model), model.clone());
        assert!(model.learns_in_place(rows, &settings));
        other.learn(rows, labels, None, &settings, &()).expect("a pass");
        let (expected, model) = (learnt(&other), RefCell::new(model));
        drop(other);
        let requests = every_request_refused(|| {
            let done = model.borrow_mut().learn(rows, labels, None, &settings, &());
            assert!(done.is_ok() || learnt(&model.borrow()) == before);
            done
        });
        assert!(requests > 10 && before != expected);
        assert_eq!(learnt(&model.borrow()), expected);
    }
}

#[test]
fn passes_over_few_rows() {
    let settings = Settings::new(vec![0, 1, 2]);
    let start = zeros(&settings);
    let labels = labels(3);
    Layouts::new().each(|rows| {
        let problem = Problem::new(rows, &labels, None, &settings).expect("valid");
        every_request_refused(|| {
            let state = copy(&start)?;
            let zeros = Table::zero(state.coef.shape());
            let mut sums = Averaged::new(zeros, filled(0.0, state.intercept.len())?, true)?;
            let mut run = Run::start(&problem, state, &mut sums, &())?;
            run.epoch(&problem, &mut sums, 0, &())?;
            run.end_all(&problem, &mut sums, &())?;
            let (state, sums) = (run.take(&())?, sums.take_sums()?);
            let Some((u, _)) = sums else { return Ok(()) };
            state.coef.zipped(&u, |_, w, u| w - u, &()).map(|_| ())
        });
    });
}

#[test]
fn scores_of_one_plane_and_of_many() {
    for planes in [1, 5] {
        let whole: Vec<f64> = numbers(planes * D, -50, 50, 9).map(|w| w as f64).collect();
        let fractions: Vec<f64> = whole.iter().map(|w| w / 3.0).collect();
        Layouts::new().each(|rows| {
            for coef in [&whole, &fractions] {
                every_request_refused(|| {
                    let mut out = filled(0.0, N * planes)?;
                    scores(rows, coef.into(), &filled(0.5, planes)?, 1, &(), &mut out)
                });
            }
        });
    }
}

#[test]
fn votes_and_the_vectors_made_again() {
    let step: Vec<f64> = numbers(60, -3, 3, 11).map(|c| c as f64).collect();
    let row: Vec<i64> = numbers(60, 0, N as i64 - 1, 12).collect();
    let counts: Vec<i64> = numbers(62, 0, 9, 13).collect();
    let (start, t) = ([0, 25, 60], counts.iter().copied().take(60).collect::<Vec<i64>>());
    let log = Log::new(&start, &row, &step, &step, N).expect("a log");
    Layouts::new().each(|stored| {
        for unit in [1.0, 0.1] {
            let coef = vec![unit; 2 * D];
            let vectors = VoteVectors {
                stored,
                log,
                coef: &coef,
                intercept: &[0.0; 2],
                counts: &counts,
                tie: Tie::Mistake,
            };
            every_request_refused(|| {
                let mut out = filled(0, N * 2)?;
                votes(stored, &vectors, 1, &(), &mut out)
            });
        }
        // Few entries: one vector after the other.
        let (indptr, one) = ([0_i32, 1], [0_i32]);
        let few = Csr::new(&indptr, &one, &[0.5], D).expect("a matrix");
        let vectors = VoteVectors {
            stored,
            log,
            coef: &[0.1; 2 * D],
            intercept: &[0.0; 2],
            counts: &counts,
            tie: Tie::Mistake,
        };
        every_request_refused(|| votes(&few, &vectors, 1, &(), &mut [0; 2]));
        every_request_refused(|| {
            let zeros = |len| filled(0.0, len);
            let (coef, coef_u) = (zeros(2 * D)?, zeros(2 * D)?);
            let sums = Sums { coef, intercept: zeros(2)?, coef_u, intercept_u: zeros(2)? };
            replay(stored, &log, (&t, &[25, 7]), sums, &())
        });
    });
}

#[test]
fn rows_that_are_read_one_by_one() {
    Layouts::new().each(|rows| {
        every_request_refused(|| {
            let mut entries = Entries::default();
            entries.clear();
            rows.gather(3..9, &mut entries)?;
            entries.only(rows, 3)?;
            rows.squares(0..N, &filled(1.0, D)?, &mut filled(0.0, N)?)
        });
    });
}
