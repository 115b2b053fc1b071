//! Models: passes over sparse rows of few columns, as runs over dense ones; what others hold; what fails.

use perceptron_rs::online::averaged::Averaged;
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::{Learner, Model, Penalty, Problem, Run, Settings, State};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{Csr, Dense};

const PLANES: usize = 3;
const COLUMNS: usize = 100;
const ROWS: usize = 12;

/// Rows of one or two whole numbers, CSR and dense, and their labels.
struct Drawn {
    indptr: Vec<i64>,
    indices: Vec<i64>,
    values: Vec<f64>,
    dense: Vec<f64>,
    labels: Vec<u32>,
}

fn drawn() -> Drawn {
    let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
    let (mut dense, mut labels) = (vec![0.0; ROWS * COLUMNS], vec![]);
    let mut numbers = SplitMix64::new(5);
    let mut below = |n: u64| numbers.below(n);
    for row in 0..ROWS {
        let first = below(50) as usize;
        for column in [first, first + 1 + below(49) as usize] {
            let value = below(7) as f64 - 3.0;
            indices.push(column as i64);
            values.push(value);
            dense[row * COLUMNS + column] = value;
        }
        indptr.push(indices.len() as i64);
        labels.push(below(PLANES as u64) as u32);
    }
    Drawn { indptr, indices, values, dense, labels }
}

fn settings(penalty: Option<Penalty>) -> Settings {
    Settings { penalty, settle: false, ..Settings::new((0..PLANES as u32).collect()) }
}

fn learn(model: &mut Model, drawn: &Drawn, rows: std::ops::Range<usize>, settings: &Settings) {
    let range = drawn.indptr[rows.start] as usize..drawn.indptr[rows.end] as usize;
    let indptr: Vec<i64> =
        drawn.indptr[rows.start..=rows.end].iter().map(|at| at - range.start as i64).collect();
    let (indices, values) = (&drawn.indices[range.clone()], &drawn.values[range]);
    let csr = Csr::new(&indptr, indices, values, COLUMNS).expect("rows");
    let learnt = model.learnt(&csr, &drawn.labels[rows], None, settings, &()).expect("a pass");
    model.put_in(learnt, settings).expect("memory");
}

/// All that a model predicts with.
fn bits(model: &Model) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let (mut table, intercept) = model.answer(&()).expect("memory");
    let (numbers, stride) = table.numbers().expect("memory");
    let at = |k, j| stride.map_or(k * COLUMNS + j, |stride| j * stride + k);
    let coef = (0..PLANES).flat_map(|k| (0..COLUMNS).map(move |j| (k, j)));
    let coef = coef.map(|(k, j)| numbers[at(k, j)].to_bits()).collect();
    (coef, intercept.iter().map(|b| b.to_bits()).collect(), model.seen().to_vec())
}

#[test]
fn passes_over_few_columns_are_a_run_over_all() {
    let drawn = drawn();
    for averaged in [false, true] {
        let settings = settings(None);
        let mut model = Model::zero([PLANES, COLUMNS], averaged).expect("memory");
        for row in 0..ROWS - 4 {
            learn(&mut model, &drawn, row..row + 1, &settings);
        }
        learn(&mut model, &drawn, ROWS - 4..ROWS, &settings);

        let rows = Dense::new(&drawn.dense, ROWS, COLUMNS).expect("rows");
        let problem = Problem::new(&rows, &drawn.labels, None, &settings).expect("a problem");
        let zeros = |len| vec![0.0; len];
        let begin = State {
            coef: zeros(PLANES * COLUMNS),
            intercept: zeros(PLANES),
            seen: vec![0; PLANES],
            ages: None,
        };
        let (mut sums, mut plain) = (
            Averaged { coef: zeros(PLANES * COLUMNS), intercept: zeros(PLANES), fit_intercept: true },
            Perceptron,
        );
        let learner: &mut dyn Learner = if averaged { &mut sums } else { &mut plain };
        let mut run = Run::start(&problem, begin, learner, &()).expect("a state");
        run.epoch(&problem, learner, 0, &()).expect("an epoch");
        let state = run.finish(&problem, learner, &()).expect("memory");
        let mut other = Model::zero([PLANES, COLUMNS], averaged).expect("memory");
        let sums = averaged.then(|| (sums.coef.clone(), sums.intercept.clone()));
        other.put(state, sums, &settings, None, &()).expect("memory");
        assert_eq!(bits(&model), bits(&other), "averaged: {averaged}");
    }
}

#[test]
fn what_others_hold_does_not_change() {
    let drawn = drawn();
    for penalty in [None, Some(Penalty { l1: 0.0, l2: 0.25 }), Some(Penalty { l1: 0.125, l2: 0.0 })] {
        let settings = settings(penalty);
        let mut model = Model::zero([PLANES, COLUMNS], false).expect("memory");
        learn(&mut model, &drawn, 0..2, &settings);
        for row in 2..ROWS {
            let (held, before) = (model.clone(), bits(&model));
            learn(&mut model, &drawn, row..row + 1, &settings);
            assert_eq!(bits(&held), before);
            // Of the same start the other one learns the same.
            let mut again = held;
            learn(&mut again, &drawn, row..row + 1, &settings);
            assert_eq!(bits(&again), bits(&model));
        }
    }
}

#[test]
fn a_pass_that_fails_changes_nothing() {
    let mut drawn = drawn();
    let settings = settings(None);
    let mut model = Model::zero([PLANES, COLUMNS], true).expect("memory");
    learn(&mut model, &drawn, 0..6, &settings);
    let before = bits(&model);
    *drawn.values.last_mut().expect("values") = f64::INFINITY;
    let csr = Csr::new(&drawn.indptr, &drawn.indices, &drawn.values, COLUMNS).expect("rows");
    assert!(model.learnt(&csr, &drawn.labels, None, &settings, &()).is_err());
    assert_eq!(bits(&model), before);
}
