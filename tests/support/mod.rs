//! What the integration tests share: data by rule, a scalar form of the contract to compare with,
//! and a short way to train.

pub mod driver;
pub mod golden;

use perceptron_rs::arith::value::{Index, Value};
use perceptron_rs::online::{Settings, State, feed};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{
    Csr, Cursor, Dense, Head, Mistake, Planes, Rows, Stop, Table, Tie, Visit, integer_step,
};

/// Weights that stand plane by plane.
pub fn table(weights: &[f64], planes: usize) -> Table {
    Table::new(weights.to_vec(), [planes, weights.len() / planes.max(1)]).expect("whole planes")
}

/// A state in numbers that can be compared and shown, the weights plane by plane.
pub fn numbers(state: State) -> (Vec<f64>, Vec<f64>, Vec<u64>, Option<Vec<i64>>) {
    (state.coef.by_plane(&()).expect("memory"), state.intercept, state.seen, state.ages)
}

/// Examples and all that is done with them, in float64.
#[derive(Clone)]
pub struct Case {
    pub x: Vec<f64>,
    pub n: usize,
    pub d: usize,
    pub labels: Vec<u32>,
    pub planes: usize,
    pub sample_weight: Option<Vec<f64>>,
    pub class_weight: [f64; 2],
    pub eta: f64,
    pub tie: Tie,
    pub fit_intercept: bool,
    pub start: Vec<f64>,
    pub intercept: Vec<f64>,
    pub seen: u64,
    pub order: Option<Vec<u32>>,
    pub epochs: usize,
}

/// Everything that a run leaves behind, floats as bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub weights: Vec<u64>,
    pub intercept: Vec<u64>,
    pub seen: Vec<u64>,
    pub loss: Vec<u64>,
    /// Row, plane, t, bits of c.
    pub log: Vec<(u32, u32, u64, u64)>,
}

impl Case {
    /// `n` x `d` values of a storage type, one plane for two classes, else one for each class.
    pub fn new(x: Vec<f64>, n: usize, d: usize, classes: u32, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let planes = if classes == 2 { 1 } else { classes as usize };
        Self {
            x,
            n,
            d,
            labels: (0..n).map(|_| random.below(u64::from(classes)) as u32).collect(),
            planes,
            sample_weight: None,
            class_weight: [1.0; 2],
            eta: 1.0,
            tie: Tie::Mistake,
            fit_intercept: true,
            start: vec![0.0; planes * d],
            intercept: vec![0.0; planes],
            seen: 0,
            order: None,
            epochs: 3,
        }
    }

    pub fn heads(&self) -> Vec<Head> {
        let head = |k: usize| Head {
            plane: k as u32,
            positive: if self.planes == 1 { 1 } else { k as u32 },
            class_weight: self.class_weight,
            intercept: self.intercept[k],
            seen: self.seen,
            loss: 0.0,
        };
        (0..self.planes).map(head).collect()
    }

    pub fn settings(&self) -> Settings {
        Settings {
            class_weight: vec![self.class_weight; self.planes],
            eta: self.eta,
            tie: self.tie,
            fit_intercept: self.fit_intercept,
            ..Settings::new(self.heads().iter().map(|head| head.positive).collect())
        }
    }

    pub fn state(&self) -> State {
        State {
            coef: table(&self.start, self.planes),
            intercept: self.intercept.clone(),
            seen: vec![self.seen; self.planes],
            ages: None,
        }
    }

    pub fn planes(&self) -> Planes {
        Planes::new(self.heads(), table(&self.start, self.planes))
    }

    pub fn visit(&self) -> Visit<'_> {
        let class_weight = vec![self.class_weight; self.planes];
        Visit {
            order: self.order.as_deref(),
            labels: (&self.labels).into(),
            sample_weight: self.sample_weight.as_deref(),
            eta: self.eta,
            tie: self.tie,
            fit_intercept: self.fit_intercept,
            margin_threshold: 0.0,
            joint: None,
            aggressive: None,
            integer_step: integer_step(self.eta, self.sample_weight.as_deref(), &class_weight),
        }
    }

    /// All epochs on these rows, one `feed` each; also whether the planes were exact before the
    /// first block and after the last.
    pub fn learn(&self, rows: &dyn Rows) -> (Outcome, [bool; 2]) {
        let (visit, mut planes, mut log) = (self.visit(), self.planes(), Vec::new());
        rows.prepare(&visit, &mut planes, &()).expect("memory");
        let before = planes.is_exact();
        for _ in 0..self.epochs {
            let mut at = Cursor::default();
            let end = visit.len();
            let absorb = &mut |new: &[Mistake]| keep(&mut log, new);
            let stop = feed(rows, &visit, &mut at, end, &mut planes, absorb, &()).expect("nobody interrupts");
            assert_eq!((stop, at.pos), (Stop::Block, end));
        }
        (outcome(&planes, self.planes, &log), [before, planes.is_exact()])
    }

    /// The same by the text of the contract, one scalar operation after the other.
    pub fn expected(&self) -> Outcome {
        let (visit, mut heads, mut w) = (self.visit(), self.heads(), self.start.clone());
        let mut log = Vec::new();
        for pos in (0..self.epochs).flat_map(|_| 0..visit.len()) {
            let row = visit.row(pos);
            let x = &self.x[row * self.d..][..self.d];
            for (k, head) in heads.iter_mut().enumerate() {
                let w = &mut w[k * self.d..][..self.d];
                head.seen += 1;
                let a = eight_lanes(x, w) + head.intercept;
                let positive = self.labels[row] == head.positive;
                let y = if positive { 1.0 } else { -1.0 };
                let m = y * a;
                let right = m > 0.0 || (self.tie == Tie::Positive && positive && m == 0.0);
                if right {
                    continue;
                }
                let s = self.sample_weight.as_ref().map_or(1.0, |weights| weights[row]);
                let c = self.eta * (s * self.class_weight[usize::from(positive)]) * y;
                head.loss += (-m).max(0.0);
                for (w, x) in w.iter_mut().zip(x) {
                    *w += c * x;
                }
                if self.fit_intercept {
                    head.intercept += c;
                }
                log.push(Mistake { row: row as u32, plane: head.plane, t: head.seen, c });
            }
        }
        outcome(&Planes::new(heads, table(&w, self.planes)), self.planes, &log)
    }

    /// Runs dense and CSR rows of `T` and compares each with `want`; says which were exact.
    pub fn check<T: Value>(&self, want: &Outcome, to: impl Fn(f64) -> T, what: &str) -> [[bool; 2]; 2] {
        let values: Vec<T> = self.x.iter().map(|&v| to(v)).collect();
        let same = values.iter().zip(&self.x).all(|(v, x)| v.widen() == *x);
        assert!(same, "{what}: the storage type does not hold the values");
        let (dense, dense_exact) = self.learn(&Dense::new(&values, self.n, self.d).expect("shape"));
        assert_same(&dense, want, &format!("{what}, dense"));
        let mut sparse_exact = None;
        for wide in [false, true] {
            let (got, exact) = if wide {
                self.learn_csr(&values, |j| j as i64)
            } else {
                self.learn_csr(&values, |j| j as i32)
            };
            assert_same(&got, want, &format!("{what}, CSR, {} bits", if wide { 64 } else { 32 }));
            assert_eq!(*sparse_exact.get_or_insert(exact), exact);
        }
        [dense_exact, sparse_exact.unwrap_or_default()]
    }

    pub fn learn_csr<T: Value, I: Index>(
        &self,
        values: &[T],
        index: impl Fn(usize) -> I,
    ) -> (Outcome, [bool; 2]) {
        let (indptr, indices, stored) = compress(values, self.n, self.d, index);
        let csr = Csr::new(&indptr, &indices, &stored, self.d).expect("arrays of a matrix");
        assert!(csr.facts().canonical);
        self.learn(&csr)
    }
}

/// What `feed` is to do with the log, where nothing else is needed.
#[expect(clippy::unnecessary_wraps, reason = "`feed` asks for it")]
pub fn keep(log: &mut Vec<Mistake>, new: &[Mistake]) -> perceptron_rs::error::Result<()> {
    log.extend_from_slice(new);
    Ok(())
}

/// The first place where two runs differ, in words.
pub fn assert_same(got: &Outcome, want: &Outcome, what: &str) {
    if let Some(i) = (0..got.log.len().min(want.log.len())).find(|&i| got.log[i] != want.log[i]) {
        panic!("{what}: mistake {i} is {:?}, not {:?}", got.log[i], want.log[i]);
    }
    assert_eq!(got.log.len(), want.log.len(), "{what}: number of mistakes");
    if let Some(i) = (0..want.weights.len()).find(|&i| got.weights[i] != want.weights[i]) {
        let [got, want] = [got.weights[i], want.weights[i]].map(f64::from_bits);
        panic!("{what}: weight {i} is {got:e}, not {want:e}");
    }
    assert_eq!(got, want, "{what}");
}

pub fn outcome(planes: &Planes, count: usize, log: &[Mistake]) -> Outcome {
    let bits = |v: f64| v.to_bits();
    let heads = &planes.heads;
    Outcome {
        weights: (0..count).flat_map(|k| planes.plane(k).expect("memory")).map(bits).collect(),
        intercept: heads.iter().map(|head| bits(head.intercept)).collect(),
        seen: heads.iter().map(|head| head.seen).collect(),
        loss: heads.iter().map(|head| bits(head.loss)).collect(),
        log: log.iter().map(|m| (m.row, m.plane, m.t, bits(m.c))).collect(),
    }
}

/// Rule 3 by its text.
pub fn eight_lanes(x: &[f64], w: &[f64]) -> f64 {
    let mut l = [0.0; 8];
    for (j, (x, w)) in x.iter().zip(w).enumerate() {
        l[j % 8] += w * x;
    }
    let t = [l[0] + l[4], l[1] + l[5], l[2] + l[6], l[3] + l[7]];
    let u = [t[0] + t[2], t[1] + t[3]];
    u[0] + u[1]
}

/// The three arrays of a CSR matrix, zeros left out.
pub fn compress<T: Value, I: Index>(
    values: &[T],
    n: usize,
    d: usize,
    index: impl Fn(usize) -> I,
) -> (Vec<I>, Vec<I>, Vec<T>) {
    let (mut indptr, mut indices, mut stored) = (vec![index(0)], Vec::new(), Vec::new());
    for i in 0..n {
        for (j, v) in values[i * d..][..d].iter().enumerate().filter(|(_, v)| v.widen() != 0.0) {
            indices.push(index(j));
            stored.push(*v);
        }
        indptr.push(index(stored.len()));
    }
    (indptr, indices, stored)
}

/// Whole numbers of `low..=high`, or 0 for `zeros` of eight.
pub fn whole(count: usize, low: i64, high: i64, zeros: u64, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let mut draw = || {
        let value = low + random.below((high - low) as u64 + 1) as i64;
        if random.below(8) < zeros { 0.0 } else { value as f64 }
    };
    (0..count).map(|_| draw()).collect()
}

/// Numbers of many magnitudes with all bits in use; `zeros` of eight are 0.
pub fn fractions(count: usize, zeros: u64, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let mut draw = || {
        let unit = (random.draw() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        let value = unit * 2.0_f64.powi(random.below(20) as i32 - 10);
        if random.below(8) < zeros { 0.0 } else { value }
    };
    (0..count).map(|_| draw()).collect()
}

/// 0 … n-1 in some order.
pub fn shuffled(n: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    perceptron_rs::order::shuffle(&mut order, (seed, 0, 0), &()).expect("nobody interrupts");
    order
}
