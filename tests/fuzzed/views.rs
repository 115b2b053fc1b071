//! Views of arrays: what is no CSR matrix is refused; what is one gives the bits of the same matrix
//! in dense rows, in all that rows can be asked for and in a whole fit.

use perceptron_rs::arith::value::{Index, Value};
use perceptron_rs::error::Error;
use perceptron_rs::online::averaged::Averaged;
use perceptron_rs::online::{self, Penalty, Problem, Settings, State};
use perceptron_rs::rows::{Csr, Dense, Entries, Matrix, Spread, Table, Tie, Tolerance};

use super::draws::Draws;
use super::epochs::{learn, remembered};

pub fn run(data: &[u8]) {
    let mut draws = Draws::new(data);
    // Each storage type, with one of the index types: a pair takes seconds to compile.
    let runs: [fn(&mut Draws); 7] = [
        |draws| view(draws, |v| v, |j| j),
        |draws| view(draws, |v| v as f32, |j| j as i32),
        |draws| view(draws, |v| v as i8, |j| j as i32),
        |draws| view(draws, |v| v as u8, |j| j),
        |draws| view(draws, |v| v as i16, |j| j),
        |draws| view(draws, |v| v as u16, |j| j as i32),
        |draws| view(draws, |v| v as i32, |j| j as i32),
    ];
    runs[draws.below(runs.len())](&mut draws);
}

struct Arrays {
    indptr: Vec<i64>,
    indices: Vec<i64>,
    columns: usize,
}

impl Arrays {
    /// Most often those of a matrix.
    fn new(draws: &mut Draws) -> Self {
        let columns = draws.below(40);
        let (mut indptr, mut indices) = (vec![0], Vec::new());
        for _ in 0..draws.below(10) {
            let mut column = draws.below(8);
            while column < columns && indices.len() < 200 {
                indices.push(column as i64);
                column += 1 + draws.below(8);
            }
            indptr.push(indices.len() as i64);
        }
        for _ in 0..draws.below(8).saturating_sub(4) {
            let array = if draws.below(2) == 0 { &mut indptr } else { &mut indices };
            draws.damage(array, Draws::place);
        }
        Self { indptr, indices, columns }
    }

    fn rows(&self) -> impl Iterator<Item = &[i64]> {
        self.indptr.windows(2).map(|pair| &self.indices[pair[0] as usize..pair[1] as usize])
    }

    /// Whether the arrays are a matrix.
    fn is_sound(&self, values: usize) -> bool {
        self.indptr.first() == Some(&0)
            && self.indptr.is_sorted()
            && self.indptr.last() == Some(&(self.indices.len() as i64))
            && values == self.indices.len()
            && self.indices.iter().all(|&j| j >= 0 && (j as usize) < self.columns)
    }

    fn is_canonical(&self) -> bool {
        self.rows().all(|row| row.is_sorted_by(|a, b| a < b))
    }
}

fn view<T: Value + Default, I: Index>(draws: &mut Draws, to: impl Fn(f64) -> T, index: impl Fn(i64) -> I) {
    let mut arrays = Arrays::new(draws);
    // As the index type holds them.
    let narrow = |j: &mut i64| *j = index(*j).at() as isize as i64;
    arrays.indptr.iter_mut().for_each(narrow);
    arrays.indices.iter_mut().for_each(narrow);
    let mut values = draws.many(arrays.indices.len(), |draws| to(draws.float()));
    if values.iter().any(|v| !v.widen().is_finite()) {
        return; // a number too large for a float32
    }
    if draws.rarely() {
        values.push(to(1.0));
    }
    let (indptr, indices): (Vec<I>, Vec<I>) = (
        arrays.indptr.iter().map(|&j| index(j)).collect(),
        arrays.indices.iter().map(|&j| index(j)).collect(),
    );
    let csr = Csr::new(&indptr, &indices, &values, arrays.columns);
    assert_eq!(csr.is_ok(), arrays.is_sound(values.len()), "{:?}", csr.err());
    let Ok(csr) = csr else { return };
    assert_eq!(csr.facts().canonical, arrays.is_canonical());
    let whole = csr.whole(&()).expect("little");
    assert_eq!(whole.ones, values.iter().all(|v| v.widen() == 1.0));
    for ends in arrays.indptr.windows(2) {
        let sizes = values[ends[0] as usize..ends[1] as usize].iter().map(|v| v.widen().abs());
        assert!(whole.magnitude.is_none_or(|size| sizes.clone().all(|v| v <= size.value)));
        assert!(whole.magnitude.is_none_or(|size| sizes.sum::<f64>() <= size.row * (1.0 + 1e-9)));
    }
    if !csr.facts().canonical {
        return;
    }
    let (n, d) = (arrays.indptr.len() - 1, arrays.columns);
    let mut dense = vec![T::default(); n * d];
    for (i, row) in arrays.rows().enumerate() {
        let start = arrays.indptr[i] as usize;
        row.iter().zip(&values[start..]).for_each(|(&j, &v)| dense[i * d + j as usize] = v);
    }
    assert!(Dense::new(&dense, n + 1, d + 1).is_err());
    assert!(Dense::new(&dense, usize::MAX, 3).is_err());
    let dense = Dense::new(&dense, n, d).expect("shape");
    answers(draws, &dense, &csr);
    let fit = Trial::new(draws, n);
    let found = [(&dense as &dyn Matrix, 1), (&csr, 1), (&dense, 2), (&csr, 3)]
        .map(|(rows, threads)| fit.run(rows, threads));
    for other in &found[1..] {
        assert_eq!(*other, found[0], "dense, CSR, dense on 2 threads, CSR on 3: {found:?}");
    }
}

/// As bits; any NaN is as good as another.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() }).collect()
}

fn answers(draws: &mut Draws, dense: &dyn Matrix, csr: &dyn Matrix) {
    let both = [dense, csr];
    let same = |what: &str, ask: &mut dyn FnMut(&dyn Matrix) -> Vec<u64>| {
        let [dense, csr] = both.map(ask);
        assert_eq!(csr, dense, "{what} of CSR and of dense rows");
    };
    let (n, d) = (dense.len(), dense.columns());
    same("shape", &mut |rows| vec![rows.len() as u64, rows.columns() as u64]);
    same("integers", &mut |rows| vec![u64::from(rows.magnitude(&()).expect("nobody interrupts").is_some())]);
    let planes = 1 + draws.below(5);
    let (w, b) = (draws.many(planes * d, Draws::float), draws.many(planes, Draws::float));
    for threads in [1, 2] {
        same("scores", &mut |rows| {
            let mut out = vec![0.0; n * planes];
            online::scores(rows, (&w).into(), &b, threads, &(), &mut out).expect("shapes");
            bits(&out)
        });
    }
    same("squares", &mut |rows| {
        let mut out = vec![0.0; n];
        rows.squares(0..n, &vec![1.0; d], &mut out).expect("memory");
        bits(&out)
    });
    let numbers: Vec<u32> = (0..n as u32).rev().collect();
    same("dots", &mut |rows| {
        let mut out = vec![0.0; n];
        rows.dots(&numbers, &w[..d], &mut out);
        bits(&out)
    });
    let c = draws.float();
    same("rows", &mut |rows| {
        let (mut sum, mut entries) = (vec![0.0; d], Entries::default());
        let mut found = Vec::new();
        for row in 0..n {
            rows.axpy(row, c, &mut sum);
            let own = entries.only(rows, row).expect("memory");
            let stored: Vec<f64> = (0..d).map(|j| rows.value(row, j)).filter(|x| *x != 0.0).collect();
            assert_eq!(own.values, stored);
            found.extend(own.columns.iter().map(|j| *j as u64).chain(bits(own.values)));
        }
        found.into_iter().chain(bits(&sum)).collect()
    });
    same("entries", &mut |rows| {
        let entries = Entries::of(rows, &numbers).expect("memory");
        (0..n).flat_map(|i| bits(entries.row(i).values)).collect()
    });
}

/// What is learnt, floats as bits, or why not.
type Learnt = Result<Vec<u64>, Error>;

/// All that a fit is told.
struct Trial {
    labels: Vec<u32>,
    planes: usize,
    sample_weight: Option<Vec<f64>>,
    class_weight: Vec<[f64; 2]>,
    eta: f64,
    tie: Tie,
    fit_intercept: bool,
    joint: Option<Spread>,
    penalty: Option<Penalty>,
    tolerance: Tolerance,
    start: f64,
    seen: u64,
    seed: Option<u64>,
    track_activations: bool,
    epochs: (u64, u64),
}

impl Trial {
    fn new(draws: &mut Draws, n: usize) -> Self {
        let planes = 1 + draws.below(5);
        let classes = planes.max(2);
        let weight = |draws: &mut Draws| draws.one_of(&[1.0, 1.0, 2.0, 0.5, 0.0, 1.0 / 3.0, 1e6]);
        Self {
            labels: draws.many(n, |draws| draws.below(classes) as u32),
            planes,
            sample_weight: (draws.below(3) == 0).then(|| draws.many(n, weight)),
            class_weight: draws.many(planes, |draws| [weight(draws), weight(draws)]),
            eta: draws.one_of(&[1.0, 1.0, 2.0, 0.1, 1e8, 1e-200, 1e200, 1_073_741_824.0]),
            tie: draws.one_of(&[Tie::Mistake, Tie::Positive]),
            fit_intercept: draws.below(2) == 0,
            joint: (draws.below(3) == 0)
                .then(|| draws.one_of(&[Spread::Max, Spread::Uniform, Spread::Proportional])),
            penalty: (draws.below(3) == 0).then(|| Penalty {
                l1: draws.one_of(&[0.0, 1e-3, 0.1, 5.0]),
                l2: draws.one_of(&[0.0, 1e-3, 0.1, 5.0]),
            }),
            tolerance: Tolerance {
                margin_threshold: draws.one_of(&[0.0, 0.0, 0.0, 1.5]),
                added_feature: draws.one_of(&[0.0, 0.0, 0.0, 0.7]),
                max_mistakes: draws.one_of(&[None, None, None, Some(1), Some(2)]),
            },
            start: draws.one_of(&[0.0, 0.0, 1.0, -0.1]),
            seen: draws.one_of(&[0, 0, 5, (1 << 53) - 3]),
            seed: (draws.below(2) == 0).then(|| u64::from(draws.byte())),
            track_activations: draws.below(4) == 0,
            epochs: (draws.one_of(&[0, 0, 7, u64::MAX >> 2]), 1 + draws.below(4) as u64),
        }
    }

    fn run(&self, rows: &dyn Matrix, threads: usize) -> Learnt {
        let (planes, columns, cells) = (self.planes, rows.columns(), self.planes * rows.columns());
        // One plane is that of the second of two classes.
        let positive: Vec<u32> = if planes == 1 { vec![1] } else { (0..planes as u32).collect() };
        let settings = Settings {
            class_weight: self.class_weight.clone(),
            eta: self.eta,
            tie: self.tie,
            fit_intercept: self.fit_intercept,
            tolerance: self.tolerance,
            joint: self.joint,
            penalty: self.penalty,
            seed: self.seed,
            track_mistakes: true,
            track_activations: self.track_activations,
            threads,
            ..Settings::new(positive)
        };
        let problem = Problem::new(rows, &self.labels, self.sample_weight.as_deref(), &settings)?;
        let state = State {
            coef: Table::new(vec![self.start; cells], [planes, columns])?,
            intercept: vec![self.start; planes],
            seen: vec![self.seen; planes],
            ages: self.penalty.is_some().then(|| vec![0; cells]),
        };
        let (coef, intercept) = (vec![self.start; cells], vec![0.0; planes]);
        let coef = Table::new(coef, [planes, columns])?;
        let mut learner = Averaged::new(coef, intercept, self.fit_intercept)?;
        let (run, epochs) = learn(&problem, state, &mut learner, self.epochs)?;
        let state = run.state(&())?;
        let mut floats = [state.coef.by_plane(&())?, state.intercept, run.activations(&())?].concat();
        floats.extend(epochs.iter().flat_map(|epoch| &epoch.losses));
        let mut learnt = [bits(&floats), remembered(&learner), state.seen].concat();
        learnt.extend(run.mistakes_per_example(&())?.iter().map(|&count| count as u64));
        Ok(learnt)
    }
}
