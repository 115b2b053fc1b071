//! Models: passes over sparse rows of few columns, as runs over dense ones; what others hold; what fails.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use perceptron_rs::error::{Error, Result};
use perceptron_rs::monitor::{Flow, Monitor};
use perceptron_rs::online::pocket::Check;
use perceptron_rs::online::{
    Form, Given, Kind, LEARNERS, Learner, Model, ModelRun, Numbers, Part, Penalty, Problem, Rule, Settings,
    State,
};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{Csr, Dense, Head, Matrix, Mistake, Spread, Visit};

const PLANES: usize = 3;
/// Many times as many as a row has entries.
const COLUMNS: usize = if cfg!(miri) { 160 } else { 300 };
const ROWS: usize = 12;
/// With and without the sums u, and of how many things the first are taken: Miri takes a second for a pass.
const AVERAGED: &[bool] = if cfg!(miri) { &[true] } else { &[false, true] };
const MANY: usize = if cfg!(miri) { 1 } else { 9 };
const EPOCHS: u64 = if cfg!(miri) { 1 } else { 3 };

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

/// Calls `f` on some rows, sparse or dense, and their labels.
fn with_rows<R>(
    drawn: &Drawn,
    rows: Range<usize>,
    sparse: bool,
    f: impl FnOnce(&dyn Matrix, &[u32]) -> R,
) -> R {
    let labels = &drawn.labels[rows.clone()];
    if !sparse {
        let values = &drawn.dense[rows.start * COLUMNS..rows.end * COLUMNS];
        return f(&Dense::new(values, rows.len(), COLUMNS).expect("rows"), labels);
    }
    let range = drawn.indptr[rows.start] as usize..drawn.indptr[rows.end] as usize;
    let indptr: Vec<i64> =
        drawn.indptr[rows.start..=rows.end].iter().map(|at| at - range.start as i64).collect();
    let (indices, values) = (&drawn.indices[range.clone()], &drawn.values[range]);
    f(&Csr::new(&indptr, indices, values, COLUMNS).expect("rows"), labels)
}

fn learn(model: &mut Model, drawn: &Drawn, rows: Range<usize>, settings: &Settings) {
    with_rows(drawn, rows, true, |rows, labels| model.learn(rows, labels, None, settings, &()))
        .expect("a pass");
}

/// The same, put in where the rows have made copies.
fn learn_apart(model: &mut Model, rows: &dyn Matrix, labels: &[u32], settings: &Settings) {
    let learnt = model.learnt(rows, labels, None, settings, &()).expect("a pass");
    model.put_in(learnt, &()).expect("memory");
}

/// All that a model predicts with.
fn bits(model: &Model) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let (table, intercept) = model.answer(&()).expect("memory");
    let coef = table.by_plane(&()).expect("memory").iter().map(|w| w.to_bits()).collect();
    (coef, intercept.iter().map(|b| b.to_bits()).collect(), model.seen().to_vec())
}

/// A model of the perceptron, or of the averaged one.
fn zero(averaged: bool) -> Model {
    Model::zero(LEARNERS[usize::from(averaged)].1, [PLANES, COLUMNS]).expect("memory")
}

/// What a run of some epochs makes of a model.
fn trained(rows: &dyn Matrix, drawn: &Drawn, kind: &'static Kind, epochs: u64) -> Model {
    let model = Model::zero(kind, [PLANES, COLUMNS]).expect("memory");
    let given = Given { rows, labels: (&drawn.labels).into(), sample_weight: None };
    let settings = Settings { check: Check::Epoch, ..settings(None) };
    let mut run = ModelRun::start(model, given, settings, &()).expect("a state");
    for number in 0..epochs {
        run.epoch(given, number, &()).expect("an epoch");
        // A look at what has been learnt so far changes nothing.
        let _ = run.model(&()).expect("memory");
        run.end(given, number as usize, &()).expect("finite");
    }
    run.model(&()).expect("memory")
}

#[test]
fn passes_over_few_columns_are_a_run_over_all() {
    let drawn = drawn();
    for averaged in [false, true] {
        let settings = settings(None);
        let mut model = zero(averaged);
        for row in 0..ROWS - 4 {
            learn(&mut model, &drawn, row..row + 1, &settings);
        }
        learn(&mut model, &drawn, ROWS - 4..ROWS, &settings);
        let rows = Dense::new(&drawn.dense, ROWS, COLUMNS).expect("rows");
        let other = trained(&rows, &drawn, model.kind(), 1);
        assert_eq!(bits(&model), bits(&other), "averaged: {averaged}");
    }
}

#[test]
fn a_run_over_own_columns_is_one_over_all() {
    let drawn = drawn();
    let dense = Dense::new(&drawn.dense, ROWS, COLUMNS).expect("rows");
    let csr = Csr::new(&drawn.indptr, &drawn.indices, &drawn.values, COLUMNS).expect("rows");
    assert!(csr.own_columns(PLANES, &[], &()).expect("memory").is_some());
    for (_, kind) in LEARNERS {
        let [all, own] = [&dense as &dyn Matrix, &csr].map(|rows| trained(rows, &drawn, kind, EPOCHS));
        assert_eq!(bits(&all), bits(&own));
        let memory = |model: &Model| model.memory().parts.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(memory(&all), memory(&own));
    }
}

/// A learner that no list has: it counts the mistakes of each plane, and predicts the opposite.
struct Contrary(Vec<i64>);

struct ContraryRule<'a>(usize, &'a mut [i64]);

impl Rule for ContraryRule<'_> {
    fn absorb(&mut self, _: &Visit, log: &[Mistake], _: &dyn Monitor) -> Result<()> {
        for mistake in log {
            self.1[mistake.plane as usize - self.0] += 1;
        }
        Ok(())
    }

    fn is_finite(&self) -> bool {
        true
    }
}

impl Learner for Contrary {
    fn check(&self, _: &State) -> Result<()> {
        Ok(())
    }

    fn split<'a>(&'a mut self, ranges: &[Range<usize>], _: &'a Problem) -> Result<Vec<Box<dyn Rule + 'a>>> {
        let (mut rest, mut rules) = (&mut self.0[..], Vec::<Box<dyn Rule>>::new());
        for range in ranges {
            let (made, others) = rest.split_at_mut(range.len());
            rules.push(Box::new(ContraryRule(range.start, made)));
            rest = others;
        }
        Ok(rules)
    }

    fn memory(&self) -> Result<Vec<(&'static str, Numbers<'_>)>> {
        Ok(vec![("made", Numbers::Integers(vec![Cow::Borrowed(&self.0)]))])
    }

    fn answer_is_finite(&self, _: &Head, _: f64, _: &dyn Fn() -> Result<Vec<f64>>) -> Result<bool> {
        Ok(true)
    }
}

static CONTRARY: Kind = Kind {
    answer: Some(|model, coef, _, monitor| {
        Ok((coef.zipped(&coef, |_, w, _| -w, monitor)?, model.intercept().iter().map(|b| -b).collect()))
    }),
    memory: &[("made", Form::Integers)],
    ..Kind::new(|taken, _, _| Ok(Box::new(Contrary(vec![0; taken.state.intercept.len()]))))
};

#[test]
fn a_learner_is_its_kind() {
    let drawn = drawn();
    let rows = Csr::new(&drawn.indptr, &drawn.indices, &drawn.values, COLUMNS).expect("rows");
    let [plain, contrary] = [LEARNERS[0].1, &CONTRARY].map(|kind| trained(&rows, &drawn, kind, EPOCHS));
    let numbers = |model: &Model, sign: f64| {
        let (table, intercept) = model.answer(&()).expect("memory");
        let coef = table.by_plane(&()).expect("memory");
        coef.iter().chain(intercept.iter()).map(|w| sign * w).collect::<Vec<f64>>()
    };
    assert_eq!(numbers(&contrary, -1.0), numbers(&plain, 1.0));
    let Some(Part::Integers(made)) = contrary.memory().part("made") else { panic!("it remembers") };
    assert!(made.len() == PLANES && made.iter().all(|&made| made > 0));
}

#[test]
fn what_others_hold_does_not_change() {
    let drawn = drawn();
    for penalty in [None, Some(Penalty { l1: 0.0, l2: 0.25 }), Some(Penalty { l1: 0.125, l2: 0.0 })] {
        let settings = settings(penalty);
        let mut model = zero(false);
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

/// Two models, one that has learnt from sparse rows, the other from dense ones, or of weights by plane.
fn begun(drawn: &Drawn, averaged: bool) -> Vec<Model> {
    let mut models = [(); 3].map(|()| zero(averaged));
    for (model, sparse) in models.iter_mut().zip([true, false]) {
        with_rows(drawn, 0..5, sparse, |rows, labels| learn_apart(model, rows, labels, &settings(None)));
    }
    models.into_iter().take(MANY).collect()
}

/// Each of them to learn from sparse rows, and from dense ones.
fn both(models: Vec<Model>) -> impl Iterator<Item = (Model, bool)> {
    models.into_iter().flat_map(|model| [(model.clone(), true), (model, false)].into_iter().take(MANY))
}

#[test]
fn a_pass_in_place_is_one_that_is_put_in() {
    let drawn = drawn();
    let joint = Settings { joint: Some(Spread::Max), ..settings(None) };
    for (averaged, settings) in
        AVERAGED.iter().flat_map(|&averaged| [(averaged, settings(None)), (averaged, joint.clone())])
    {
        for (mut model, sparse) in both(begun(&drawn, averaged)) {
            let mut other = model.clone();
            for rows in [6..9, 5..6, 9..12, 0..4].into_iter().take(MANY) {
                with_rows(&drawn, rows, sparse, |rows, labels| {
                    let passed = model.learn(rows, labels, None, &settings, &()).expect("a pass");
                    learn_apart(&mut other, rows, labels, &settings);
                    assert!(passed.mistakes.iter().all(|&made| made <= rows.len() as i64));
                });
                assert_eq!(bits(&model), bits(&other), "averaged: {averaged}, sparse: {sparse}");
            }
        }
    }
}

/// Breaks off at the question of this number.
struct Breaks(AtomicUsize);

impl Monitor for Breaks {
    fn block(&self) -> Flow {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.wrapping_sub(1), Ordering::Relaxed);
        if left == 0 { Flow::Break } else { Flow::Continue }
    }
}

#[test]
fn a_pass_that_fails_changes_nothing() {
    let (mut drawn, settings) = (drawn(), settings(None));
    let broken = |mut drawn: Drawn| {
        *drawn.values.last_mut().expect("values") = f64::INFINITY;
        let column = *drawn.indices.last().expect("indices") as usize;
        drawn.dense[(ROWS - 1) * COLUMNS + column] = f64::NAN;
        drawn
    };
    let models: Vec<Model> = AVERAGED.iter().flat_map(|&averaged| begun(&drawn, averaged)).collect();
    drawn = broken(drawn);
    for model in models {
        let before = bits(&model);
        for (rows, sparse) in
            [(5..ROWS, true), (ROWS - 4..ROWS, false), (5..ROWS, false)].into_iter().take(MANY)
        {
            with_rows(&drawn, rows, sparse, |rows, labels| {
                let mut model = model.clone();
                let failed = model.learn(rows, labels, None, &settings, &()).err();
                assert!(matches!(failed, Some(Error::Overflow { epoch: 0 })));
                assert_eq!(bits(&model), before);
                assert!(model.learnt(rows, labels, None, &settings, &()).is_err());
                assert_eq!(bits(&model), before);
            });
        }
    }
}

#[test]
fn a_pass_that_is_broken_off_changes_nothing() {
    let (drawn, settings) = (drawn(), settings(None));
    for (model, sparse) in both(AVERAGED.iter().flat_map(|&averaged| begun(&drawn, averaged)).collect()) {
        let (before, last) = (bits(&model), if sparse { ROWS } else { 9 });
        let mut broken = model;
        for question in 0.. {
            let done = with_rows(&drawn, 5..last, sparse, |rows, labels| {
                broken.learn(rows, labels, None, &settings, &Breaks(AtomicUsize::new(question)))
            });
            if done.is_ok() {
                assert!(question > 0 && bits(&broken) != before);
                break;
            }
            assert_eq!((done.err(), bits(&broken)), (Some(Error::Interrupted), before.clone()));
        }
    }
}
